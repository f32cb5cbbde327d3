// A vector whose first kInside elements need no allocation. (A plan has thousands of short lists.)
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace credo::infer {

template <class T, std::size_t kInside>
class Small {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Small() = default;
  Small(const Small&) = delete;
  Small& operator=(const Small&) = delete;
  Small(Small&& other) noexcept { *this = std::move(other); }
  Small& operator=(Small&& other) noexcept {
    outside_ = std::move(other.outside_);
    room_ = other.room_;
    size_ = other.size_;
    for (std::size_t i = 0; i < kInside; ++i) inside_[i] = other.inside_[i];
    other.size_ = 0;
    other.room_ = kInside;
    return *this;
  }

  T* data() { return outside_ ? outside_.get() : inside_; }
  const T* data() const { return outside_ ? outside_.get() : inside_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }

  // New elements are not initialised.
  void resize(std::size_t size) {
    if (size > room_) {
      const std::size_t room = size > 2 * room_ ? size : 2 * room_;
      auto larger = std::make_unique_for_overwrite<T[]>(room);
      for (std::size_t i = 0; i < size_; ++i) larger[i] = data()[i];
      outside_ = std::move(larger);
      room_ = room;
    }
    size_ = size;
  }
  void push_back(const T& value) {
    const T copy = value;
    resize(size_ + 1);
    data()[size_ - 1] = copy;
  }
  void push_front(const T& value) {
    push_back(value);
    for (std::size_t i = size_ - 1; i > 0; --i) data()[i] = data()[i - 1];
    data()[0] = value;
  }

 private:
  std::unique_ptr<T[]> outside_;
  std::size_t room_ = kInside, size_ = 0;
  T inside_[kInside];
};

}  // namespace credo::infer
