// Answers that are more than arrays: parts with names, and bytes.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/arrays.hpp"

namespace credo::doors {

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

}  // namespace credo::doors
