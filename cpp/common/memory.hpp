// Memory for large arrays: aligned to cache lines, in huge pages where the system has them, and kept
// when it is freed for the next array of about its size. The system clears every fresh page, which
// can cost more than the work on it, and the C library gives large blocks back at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

namespace credo {

inline constexpr std::size_t kHugePage = std::size_t{1} << 21;

enum class Filled { kZeros, kLater };

// At least so many bytes, to be given back with give_memory. Throws std::bad_alloc.
void* take_memory(std::size_t bytes, Filled filled);
void give_memory(void* memory) noexcept;

// `size` values: zeros (whose pages cost nothing until they are touched), or not initialised.
template <class T>
class BigArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  BigArray() = default;
  explicit BigArray(std::size_t size, Filled filled = Filled::kLater) : size_(size) {
    if (size > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
    data_.reset(static_cast<T*>(take_memory(size * sizeof(T), filled)));
  }
  BigArray(std::size_t size, T value) : BigArray(size) { std::fill_n(data(), size, value); }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T* begin() { return data_.get(); }
  T* end() { return data_.get() + size_; }
  const T* begin() const { return data_.get(); }
  const T* end() const { return data_.get() + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* release() { return data_.release(); }  // to be given back with give_memory

 private:
  struct Give {
    void operator()(T* data) const { give_memory(data); }
  };
  std::size_t size_ = 0;
  std::unique_ptr<T[], Give> data_;
};

}  // namespace credo
