// Long work can be stopped: the kernels poll, and whoever called them says whether to go on.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace credo {

struct Cancelled {};

// Asks about every 50 ms, on the thread that made it, whether to stop.
class Monitor {
 public:
  explicit Monitor(std::function<bool()> interrupted)
      : interrupted_(std::move(interrupted)), owner_(std::this_thread::get_id()) {}
  void poll() {
    if (stop_) throw Cancelled{};
    if (std::this_thread::get_id() != owner_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    if (interrupted_ && interrupted_()) {
      stop_ = true;
      throw Cancelled{};
    }
  }

 private:
  std::function<bool()> interrupted_;
  std::thread::id owner_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::atomic<bool> stop_ = false;
};

}  // namespace credo
