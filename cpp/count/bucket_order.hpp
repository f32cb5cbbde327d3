// The order of a block's rows that puts those of the same bucket together (counting sort).
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/memory.hpp"

namespace credo {

class BucketOrder {
 public:
  static constexpr std::size_t kMostRows = 127 * 512;  // of a block: numbers of rows fit 16 bits

  BucketOrder(std::size_t n_buckets, std::size_t most_rows);

  // Takes the rows of a block. IN bucket [n].
  void sort(const std::uint16_t* bucket, std::size_t n);

  // The rows of the block in this order, and where the run of each bucket ends.
  const std::uint16_t* rows() const { return rows_.data(); }
  const std::uint32_t* ends() const { return ends_.data(); }

 private:
  void count(const std::uint16_t* bucket, std::size_t n);
  void place(const std::uint16_t* bucket, std::size_t n);

  std::size_t n_streams_, n_buckets_;
  BigArray<std::uint32_t> next_;  // [buckets][streams]: where the next row of each goes
  BigArray<std::uint32_t> ends_;
  BigArray<std::uint16_t> rows_;
};

}  // namespace credo
