// Tasks over threads that live no longer than the call: nothing to break in a forked child.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "common/monitor.hpp"

namespace credo {

// Calls task(0) ... task(n_tasks - 1), each once, on up to `threads` threads, and rethrows the
// first exception. The order is free: a task must own what it writes. A monitor, which the tasks
// poll, is also polled while this thread has nothing left to do but wait for the others.
template <class Task>
void parallel_for(std::size_t n_tasks, int threads, Task&& task, Monitor* monitor = nullptr) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex lock;  // of the failure and of how many are busy
  std::condition_variable one_less;
  std::ptrdiff_t busy = 0;
  const auto guarded = [&](auto&& some) {
    try {
      some();
    } catch (...) {
      next = n_tasks;
      const std::lock_guard guard(lock);
      if (!failure) failure = std::current_exception();
    }
  };
  const auto work = [&] {
    guarded([&] {
      for (std::size_t i = next++; i < n_tasks; i = next++) task(i);
    });
  };
  const auto help = [&] {
    work();
    const std::lock_guard guard(lock);
    --busy;
    one_less.notify_one();
  };
  const std::size_t extra = std::min<std::size_t>(n_tasks, static_cast<std::size_t>(threads));
  std::vector<std::thread> helpers;
  try {
    for (std::size_t t = 1; t < extra; ++t) {
      helpers.emplace_back(help);
      const std::lock_guard guard(lock);
      ++busy;
    }
  } catch (const std::exception&) {
    // No more threads, or no memory for one: those that started, and this one, do the work. An
    // exception that left here would end the process, for they are joined below.
  }
  work();
  if (monitor != nullptr) {
    guarded([&] {
      const auto idle = [&] { return busy == 0; };
      std::unique_lock waiting(lock);
      while (!one_less.wait_for(waiting, std::chrono::milliseconds(50), idle)) {
        waiting.unlock();
        monitor->poll();
        waiting.lock();
      }
    });
  }
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace credo
