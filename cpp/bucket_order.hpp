// The order of a block's rows that puts those of the same bucket together (counting sort).
#pragma once

#include <cstddef>
#include <cstdint>

#include "big_array.hpp"
#include "lane_kernels.hpp"

namespace credo {

class BucketOrder {
 public:
  BucketOrder(std::size_t n_buckets, std::size_t most_rows);

  // Takes the rows of a block. IN bucket [n].
  void sort(const std::uint32_t* bucket, std::size_t n);

  // The records of the block's rows in this order; they last until the next call.
  const Record* sorted(const Record* records);

  // Where the run of each bucket ends.
  const std::uint32_t* ends() const { return ends_.data(); }

 private:
  std::size_t n_streams_, n_buckets_, n_ = 0;
  BigArray<std::uint32_t> next_;   // [streams][buckets]: where the next row of each goes
  BigArray<std::uint32_t> place_;  // where each row goes
  BigArray<std::uint32_t> ends_;
  BigArray<Record> sorted_;
};

}  // namespace credo
