// Tasks over threads that live no longer than the call: nothing to break in a forked child.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace credo {

// Calls task(0) ... task(n_tasks - 1), each once, on up to `threads` threads, and rethrows the
// first exception. The order is free: a task must own what it writes.
template <class Task>
void parallel_for(std::size_t n_tasks, int threads, Task&& task) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_lock;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < n_tasks; i = next++) task(i);
    } catch (...) {
      next = n_tasks;
      const std::lock_guard guard(failure_lock);
      if (!failure) failure = std::current_exception();
    }
  };
  const std::size_t extra = std::min<std::size_t>(n_tasks, static_cast<std::size_t>(threads));
  std::vector<std::thread> helpers;
  try {
    for (std::size_t t = 1; t < extra; ++t) helpers.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads to be had: those that started, and this one, do the work.
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace credo
