// Plain memory for large arrays: aligned to cache lines, in huge pages where the system has them,
// since in 4 kB pages the page faults of a fresh array can cost more than the work on it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace credo {

inline constexpr std::size_t kHugePage = std::size_t{1} << 21;

// Asks for huge pages in the part of the memory that can have them.
inline void advise_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
  if (bytes < kHugePage) return;
  constexpr std::uintptr_t kPage = 4096;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (address + kPage - 1) / kPage * kPage;
  madvise(reinterpret_cast<void*>(first), bytes - (first - address), MADV_HUGEPAGE);
#endif
}

// `size` values that are not initialised.
template <class T>
class BigArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  BigArray() = default;
  explicit BigArray(std::size_t size) : size_(size) {
    const std::size_t bytes = size * sizeof(T);
    const std::align_val_t alignment{bytes >= kHugePage ? kHugePage : 64};
    data_ = {static_cast<T*>(::operator new(bytes, alignment)), Free{alignment}};
    advise_huge_pages(data_.get(), bytes);
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

 private:
  struct Free {
    std::align_val_t alignment{64};
    void operator()(T* data) const { ::operator delete(data, alignment); }
  };
  std::size_t size_ = 0;
  std::unique_ptr<T[], Free> data_;
};

// `size` zeros, whose pages cost nothing until they are touched. (Freed with std::free, so that
// NumPy can own it.)
template <class T>
class ZeroArray {
 public:
  explicit ZeroArray(std::size_t size) : data_(static_cast<T*>(std::calloc(size + 1, sizeof(T)))) {
    if (!data_) throw std::bad_alloc();
    advise_huge_pages(data_.get(), size * sizeof(T));
  }
  T* data() { return data_.get(); }
  T* release() { return data_.release(); }

 private:
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };
  std::unique_ptr<T[], Free> data_;
};

}  // namespace credo
