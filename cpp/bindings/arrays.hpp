// Arrays as Python and the kernels exchange them: views of somebody's, new ones that become
// somebody's, and answers that are more than arrays.
//
// A binding takes views, checks them (the kernels trust what they are given; a std::invalid_argument
// becomes a ValueError), makes the arrays of the answer and calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "common/memory.hpp"

namespace credo::bindings {

inline void require(bool holds, const char* otherwise) {  // costs nothing where it holds
  if (!holds) throw std::invalid_argument(otherwise);
}

inline void require(bool holds, const std::string& otherwise) {
  if (!holds) throw std::invalid_argument(otherwise);
}

// ---------------------------------------------------------------- views

enum class Number : std::uint8_t {
  kOther, kBool, kU8, kU16, kU32, kU64, kI8, kI16, kI32, kI64, kF32, kF64
};

template <class T>
constexpr Number number_of() {
  if constexpr (std::is_same_v<T, bool>) return Number::kBool;
  else if constexpr (std::is_same_v<T, std::uint8_t>) return Number::kU8;
  else if constexpr (std::is_same_v<T, std::uint16_t>) return Number::kU16;
  else if constexpr (std::is_same_v<T, std::uint32_t>) return Number::kU32;
  else if constexpr (std::is_same_v<T, std::uint64_t>) return Number::kU64;
  else if constexpr (std::is_same_v<T, std::int8_t>) return Number::kI8;
  else if constexpr (std::is_same_v<T, std::int16_t>) return Number::kI16;
  else if constexpr (std::is_same_v<T, std::int32_t>) return Number::kI32;
  else if constexpr (std::is_same_v<T, std::int64_t>) return Number::kI64;
  else if constexpr (std::is_same_v<T, float>) return Number::kF32;
  else if constexpr (std::is_same_v<T, double>) return Number::kF64;
  else return Number::kOther;
}

constexpr std::ptrdiff_t bytes_of(Number number) {
  switch (number) {
    case Number::kU16: case Number::kI16: return 2;
    case Number::kU32: case Number::kI32: case Number::kF32: return 4;
    case Number::kU64: case Number::kI64: case Number::kF64: return 8;
    case Number::kOther: return 0;
    default: return 1;
  }
}

// Holds an object whose type is forgotten, without an allocation: a view keeps alive what it is of.
class Keeper {
 public:
  Keeper() = default;
  template <class Held>
    requires(!std::is_reference_v<Held> && !std::is_same_v<Held, Keeper>)
  explicit Keeper(Held&& held) {
    static_assert(sizeof(Held) <= sizeof(room_) && alignof(Held) <= alignof(void*));
    new (room_) Held(std::move(held));
    move_ = [](void* from, void* to) noexcept {
      auto* object = static_cast<Held*>(from);
      if (to != nullptr) new (to) Held(std::move(*object));
      object->~Held();
    };
  }
  Keeper(Keeper&& other) noexcept { take(other); }
  Keeper& operator=(Keeper&& other) noexcept {
    if (this == &other) return *this;
    drop();
    take(other);
    return *this;
  }
  ~Keeper() { drop(); }

 private:
  void take(Keeper& other) {
    move_ = std::exchange(other.move_, nullptr);
    if (move_ != nullptr) move_(other.room_, room_);
  }
  void drop() {
    if (move_ != nullptr) move_(room_, nullptr);
  }

  alignas(void*) std::byte room_[64];
  void (*move_)(void* from, void* to) noexcept = nullptr;  // to null: drop
};

inline constexpr int kAnyRank = -1;
enum class Layout { kContiguous, kStrided };

// An array of somebody's, of N dimensions and of the type T (void: of any), in C order or, where
// kStrided says so, in any.
template <class T, int N = 1, Layout layout = Layout::kContiguous>
class View {
 public:
  View() = default;
  template <class Held>
  View(T* data, Number number, std::size_t rank, const std::int64_t* shape,
       const std::int64_t* strides, Held&& held)
      : data_(data), shape_(shape), strides_(strides), rank_(static_cast<std::uint32_t>(rank)),
        number_(number), keeper_(std::move(held)) {}

  T* data() const { return data_; }
  template <class Cell>
  const Cell* data_as() const { return static_cast<const Cell*>(data_); }
  Number number() const { return number_; }
  template <class Cell>
  bool is() const { return number_ == number_of<Cell>(); }

  std::size_t ndim() const { return rank_; }
  std::size_t shape(std::size_t i) const { return static_cast<std::size_t>(shape_[i]); }
  std::int64_t stride(std::size_t i) const { return strides_[i]; }  // in cells
  std::size_t size() const {
    std::size_t size = 1;
    for (std::size_t i = 0; i < rank_; ++i) size *= shape(i);
    return size;
  }

 private:
  T* data_ = nullptr;
  const std::int64_t* shape_ = nullptr;
  const std::int64_t* strides_ = nullptr;
  std::uint32_t rank_ = 0;
  Number number_ = Number::kOther;
  Keeper keeper_;
};

using AnyArray = View<const void, kAnyRank>;
using AnyVector = View<const void, 1>;
using Reals = View<const double, 1>;
using Matrix = View<const double, 2>;
using Table = View<const double, kAnyRank>;
using Ints = View<const std::int64_t, 1>;

template <class T, int N, Layout layout>
T* data_or_null(const std::optional<View<T, N, layout>>& view) {
  return view ? view->data() : nullptr;
}

// The bytes of a code: 1, 2 or 4; 0 where the array is not one of codes.
template <class T, int N>
std::uint8_t code_bytes(const View<T, N>& view) {
  if (view.ndim() != 1) return 0;
  return view.template is<std::uint8_t>()    ? 1
         : view.template is<std::uint16_t>() ? 2
         : view.template is<std::uint32_t>() ? 4
                                             : 0;
}

// A list of As, or else a B. What is no list is never tried as one: an array is a sequence too.
template <class A, class B>
class ListOr {
 public:
  ListOr() = default;
  explicit ListOr(std::vector<A>&& list) : value_(std::in_place_index<0>, std::move(list)) {}
  explicit ListOr(B&& other) : value_(std::in_place_index<1>, std::move(other)) {}
  bool is_list() const { return value_.index() == 0; }
  const std::vector<A>& list() const { return std::get<0>(value_); }
  const B& other() const { return std::get<1>(value_); }

 private:
  std::variant<std::vector<A>, B> value_;
};

// A tuple, or else a B.
template <class Tuple, class B>
class TupleOr {
 public:
  TupleOr() = default;
  explicit TupleOr(Tuple&& tuple) : value_(std::in_place_index<0>, std::move(tuple)) {}
  explicit TupleOr(B&& other) : value_(std::in_place_index<1>, std::move(other)) {}
  bool is_tuple() const { return value_.index() == 0; }
  const Tuple& tuple() const { return std::get<0>(value_); }
  const B& other() const { return std::get<1>(value_); }

 private:
  std::variant<Tuple, B> value_;
};

// ---------------------------------------------------------------- new arrays

class Shape {
 public:
  static constexpr std::size_t kMostRank = 3;

  Shape(std::initializer_list<std::size_t> lengths) : rank_(lengths.size()) {
    std::copy(lengths.begin(), lengths.end(), lengths_.begin());
  }
  std::size_t rank() const { return rank_; }
  const std::size_t* lengths() const { return lengths_.data(); }
  std::size_t size() const {  // of all cells
    std::size_t size = 1;
    for (std::size_t i = 0; i < rank_; ++i)
      if (__builtin_mul_overflow(size, lengths_[i], &size)) throw std::bad_alloc();
    return size;
  }

 private:
  std::array<std::size_t, kMostRank> lengths_{};
  std::size_t rank_;
};

// An array of zeros, or of cells that its maker fills later.
template <class T>
class Array {
 public:
  explicit Array(Shape shape, Filled filled = Filled::kZeros)
      : shape_(shape), memory_(shape.size(), filled) {}
  T* data() { return memory_.data(); }
  const Shape& shape() const { return shape_; }
  T* release() { return memory_.release(); }  // to be given back with give_memory

 private:
  Shape shape_;
  BigArray<T> memory_;
};

template <class T, class Values>
Array<T> copied(const Values& values, Shape shape) {
  Array<T> array(shape, Filled::kLater);
  std::copy(values.begin(), values.end(), array.data());
  return array;
}

template <class Values>
auto copied(const Values& values, Shape shape) {
  return copied<typename Values::value_type>(values, shape);
}

template <class Values>
auto copied(const Values& values) {
  return copied(values, {values.size()});
}

// ---------------------------------------------------------------- answers with names

using Lists = std::vector<std::vector<std::int32_t>>;
using Moves = std::vector<std::tuple<const char*, std::int32_t, std::int32_t>>;

// Parts with names, in the order in which they were added.
class Record {
 public:
  Record() { parts_.reserve(16); }
  using Part = std::variant<bool, std::int64_t, double, Array<double>, Array<std::uint8_t>, Lists,
                            Moves>;
  template <class T>
  void add(const char* name, T part) {
    parts_.emplace_back(name, Part(std::in_place_type<T>, std::move(part)));
  }
  std::vector<std::pair<const char*, Part>>& parts() { return parts_; }

 private:
  std::vector<std::pair<const char*, Part>> parts_;
};

struct Bytes {
  std::vector<std::uint8_t> data;
};

}  // namespace credo::bindings
