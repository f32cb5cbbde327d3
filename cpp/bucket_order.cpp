// Every row's place is found before the first record is moved. To do both in one loop is slow: the
// CPU would have to know where one record went before it could trust what it read for the next. For
// the like reason the block is cut into streams with counters of their own: a bucket that comes
// twice in a row need not wait for itself.
#include "bucket_order.hpp"

#include <algorithm>
#include <utility>

namespace credo {
namespace {

constexpr std::size_t kStreams = 4;
constexpr std::size_t kFewBuckets = 1024;  // beyond, the same one seldom comes twice in a row

// Calls f(counter, row) for every row, in its stream.
template <class F>
void for_rows(const std::uint32_t* bucket, std::size_t n, std::size_t n_streams,
              std::size_t n_buckets, std::uint32_t* counters, F&& f) {
  std::size_t i = 0;
  if (n_streams == kStreams) {
    const std::size_t rows = n / kStreams;
    std::uint32_t* const second = counters + n_buckets;
    std::uint32_t* const third = second + n_buckets;
    std::uint32_t* const last = third + n_buckets;
    for (; i < rows; ++i) {
      f(counters[bucket[i]], i);
      f(second[bucket[rows + i]], rows + i);
      f(third[bucket[2 * rows + i]], 2 * rows + i);
      f(last[bucket[3 * rows + i]], 3 * rows + i);
    }
    i = kStreams * rows;
    counters = last;
  }
  for (; i < n; ++i) f(counters[bucket[i]], i);
}

}  // namespace

BucketOrder::BucketOrder(std::size_t n_buckets, std::size_t most_rows)
    : n_streams_(n_buckets <= kFewBuckets ? kStreams : 1),
      n_buckets_(n_buckets),
      next_(n_streams_ * n_buckets),
      place_(most_rows),
      ends_(n_buckets),
      sorted_(most_rows) {}

void BucketOrder::sort(const std::uint32_t* bucket, std::size_t n) {
  n_ = n;
  std::uint32_t* next = next_.data();
  std::uint32_t* place = place_.data();
  std::fill(next_.begin(), next_.end(), 0);
  for_rows(bucket, n, n_streams_, n_buckets_, next,
           [](std::uint32_t& counter, std::size_t) { ++counter; });
  std::uint32_t end = 0;
  for (std::size_t b = 0; b < n_buckets_; ++b) {
    for (std::size_t s = 0; s < n_streams_; ++s)
      end += std::exchange(next[s * n_buckets_ + b], end);
    ends_[b] = end;
  }
  for_rows(bucket, n, n_streams_, n_buckets_, next,
           [place](std::uint32_t& counter, std::size_t row) { place[row] = counter++; });
}

const Record* BucketOrder::sorted(const Record* records) {
  Record* to = sorted_.data();
  const std::uint32_t* place = place_.data();
  for (std::size_t i = 0; i < n_; ++i) to[place[i]] = records[i];
  return to;
}

}  // namespace credo
