// The same tasks again and again, on threads that stay for all rounds and go with the team: to
// start a thread takes longer than a short round. A round waits for what has been begun, not for
// who is not there yet: on a busy machine one thread does all of it.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace credo {

class Team {
 public:
  // task(0) ... task(n_tasks - 1), at least one, are a round. The order is free: a task must own
  // what it writes.
  Team(std::size_t n_tasks, int threads, std::function<void(std::size_t)> task)
      : n_(static_cast<std::uint32_t>(n_tasks)),
        extra_(std::min(n_tasks, static_cast<std::size_t>(threads)) - 1),
        task_(std::move(task)) {}
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() {
    {
      const std::lock_guard guard(lock_);
      over_ = true;
    }
    changed_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
  }

  // Does each task once, and rethrows the first exception; the tasks not begun are then left out.
  void round() {
    if (extra_ == 0) {
      for (std::uint32_t i = 0; i < n_; ++i) task_(i);
      return;
    }
    done_.store(0, std::memory_order_relaxed);
    const std::uint64_t number = (next_.load(std::memory_order_relaxed) >> 32) + 1;
    bool wake;
    {
      const std::lock_guard guard(lock_);
      next_.store(number << 32);
      wake = asleep_ > 0;
    }
    if (wake) changed_.notify_all();
    if (helpers_.empty()) start();
    work(number);
    for (int i = 0; i < kSpins && done_.load() < n_; ++i) pause();
    if (done_.load() < n_) {
      std::unique_lock waiting(lock_);
      ended_.wait(waiting, [&] { return done_.load() == n_; });
    }
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  static constexpr int kSpins = 2000;  // some 20 µs, before a thread sleeps

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  void start() {
    try {
      while (helpers_.size() < extra_) helpers_.emplace_back([this] { help(); });
    } catch (const std::exception&) {  // no more threads, or no memory for one
      extra_ = helpers_.size();        // those that started do the work
    }
  }

  // `next_` holds the number of the round and the next task of it, so that nobody who comes late
  // takes a task of another round.
  void work(std::uint64_t number) {
    std::uint64_t next = next_.load();
    while (next >> 32 == number && static_cast<std::uint32_t>(next) < n_) {
      if (!next_.compare_exchange_weak(next, next + 1)) continue;
      try {
        task_(static_cast<std::uint32_t>(next));
      } catch (...) {
        fail(number);
      }
      finish(1);
      next = next_.load();
    }
  }

  void fail(std::uint64_t number) {
    {
      const std::lock_guard guard(lock_);
      if (!failure_) failure_ = std::current_exception();
    }
    const std::uint64_t left = next_.exchange(number << 32 | n_);
    finish(n_ - static_cast<std::uint32_t>(left));
  }

  void finish(std::uint32_t some) {
    if (some == 0 || done_.fetch_add(some) + some < n_) return;
    { const std::lock_guard guard(lock_); }  // who waits has looked, and hears
    ended_.notify_one();
  }

  void help() {
    std::uint64_t seen = 0;
    while (true) {
      for (int i = 0; i < kSpins && next_.load() >> 32 == seen && !over_.load(); ++i) pause();
      if (next_.load() >> 32 == seen) {
        std::unique_lock waiting(lock_);
        ++asleep_;
        changed_.wait(waiting, [&] { return over_.load() || next_.load() >> 32 != seen; });
        --asleep_;
      }
      if (over_.load()) return;
      seen = next_.load() >> 32;
      work(seen);
    }
  }

  const std::uint32_t n_;
  std::size_t extra_;  // threads beside the caller's
  const std::function<void(std::size_t)> task_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint32_t> done_{0};
  std::atomic<bool> over_{false};
  std::size_t asleep_ = 0;
  std::mutex lock_;
  std::condition_variable changed_, ended_;
  std::exception_ptr failure_;
  std::vector<std::thread> helpers_;
};

}  // namespace credo
