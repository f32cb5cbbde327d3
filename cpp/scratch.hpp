// Memory for the length of a call, which its thread keeps for the next call: the page faults of
// fresh memory can cost more than the work on it.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "big_array.hpp"

namespace credo {

// Arrays that go when it goes. One may live inside another of the same thread, not beyond it.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // `size` values that are not initialised, aligned to cache lines.
  template <class T>
  T* array(std::size_t size) {
    static_assert(std::is_trivially_copyable_v<T>);
    return static_cast<T*>(take(size * sizeof(T)));
  }

 private:
  void* take(std::size_t bytes);

  std::size_t before_;                     // what was in use of the kept memory
  std::vector<BigArray<std::byte>> more_;  // what the kept memory had no room for
};

}  // namespace credo
