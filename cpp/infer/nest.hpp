// A contraction out[S] = Σ a[A] b[B] laid out as loops, computed once and then swept many times.
//
// All tensors have their axes in the same global order, and rows of a batch (lanes) are one more
// axis, the innermost. Neighbouring axes that are present in the same tensors are fused. The
// innermost one is the run: there every stride is 1 or 0, so that it is swept by vectors. The
// summed axes become a table of offsets inside, the others are loops outside: each cell of out is
// written once, from registers. The outer loops go in the order of out, so that any range of outer
// cells is a contiguous part of out; but where the tensors are larger than the cache, axes that all
// three share come first, so that each part of the work stays in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "infer/model.hpp"

namespace credo::infer {

// A vector whose first kInside elements need no allocation. (A plan has thousands of short lists.)
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

struct Loop {
  std::size_t extent;
  std::size_t a, b, out;  // strides
};

struct Nest {
  Small<Loop, 5> outer;                 // over cells of out, slowest first
  Small<Loop, 1> again;                 // sums too long for the table; out is added to
  Small<std::uint32_t, 8> at_a, at_b;   // offsets of the terms of a sum
  std::size_t run = 1;
  bool run_a = true, run_b = true;      // is the run an axis of a (b)? Then its stride is 1.
  bool run_out = true;                  // else the run is summed
  bool swapped = false;                 // a and b have changed places, so that run_a >= run_b
  std::size_t n_outer = 1;
  bool in_order = true;                 // is a range of outer cells a range of out?
  double work = 1;                      // multiply-adds

  std::size_t out_per_outer() const { return run_out ? run : 1; }
};

struct Operand {
  const Variables* scope;  // null: the constant 1
  std::size_t lanes;       // 1: the same for all rows
};

// `scope` is that of the product, in the global order.
Nest make_nest(const std::vector<std::int64_t>& arity, const Variables& scope, Operand a, Operand b,
               Operand out);

}  // namespace credo::infer
