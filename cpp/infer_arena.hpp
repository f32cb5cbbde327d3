// Memory for tensors, kept between runs: the pages of a fresh array are cleared by the system,
// which would cost a quarter of a run.
#pragma once

#include "big_array.hpp"

namespace credo::infer {

class Arena {
 public:
  explicit Arena(std::size_t size);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  double* data() { return array_.data(); }

 private:
  BigArray<double> array_;  // may be larger than asked for
};

}  // namespace credo::infer
