// Every eighth row is in the same stream, and a stream has counters of its own. So the counters of
// eight rows can be read before any of them is written: one by one, the CPU would have to know where
// a row went before it could trust what it reads for the next.
#include "count/bucket_order.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace credo {
namespace {

constexpr std::size_t kStreams = 8;
constexpr std::size_t kFewBuckets = 512;  // beyond, the same one seldom comes twice in a row

}  // namespace

BucketOrder::BucketOrder(std::size_t n_buckets, std::size_t most_rows)
    : n_streams_(n_buckets <= kFewBuckets ? kStreams : 1),
      n_buckets_(n_buckets),
      next_(n_streams_ * n_buckets),
      ends_(n_buckets),
      rows_(most_rows) {}

void BucketOrder::sort(const std::uint16_t* bucket, std::size_t n) {
  std::fill_n(next_.data(), next_.size(), 0);
  count(bucket, n);
  std::uint32_t end = 0;
  for (std::size_t b = 0; b < n_buckets_; ++b) {
    for (std::size_t s = 0; s < n_streams_; ++s)
      end += std::exchange(next_[b * n_streams_ + s], end);
    ends_[b] = end;
  }
  place(bucket, n);
}

void BucketOrder::count(const std::uint16_t* bucket, std::size_t n) {
  std::uint32_t* const next = next_.data();
  std::size_t i = 0;
  if (n_streams_ == kStreams)
    for (; i + kStreams <= n; i += kStreams)
      for (std::size_t s = 0; s < kStreams; ++s) ++next[kStreams * bucket[i + s] + s];
  for (; i < n; ++i) ++next[n_streams_ * bucket[i]];
}

void BucketOrder::place(const std::uint16_t* bucket, std::size_t n) {
  std::uint16_t* const rows = rows_.data();
  std::uint32_t* const next = next_.data();
  std::size_t i = 0;
  if (n_streams_ == kStreams) {
    for (; i + kStreams <= n; i += kStreams) {
      std::array<std::uint32_t, kStreams> at;
      for (std::size_t s = 0; s < kStreams; ++s) at[s] = next[kStreams * bucket[i + s] + s];
      for (std::size_t s = 0; s < kStreams; ++s) next[kStreams * bucket[i + s] + s] = at[s] + 1;
      for (std::size_t s = 0; s < kStreams; ++s) rows[at[s]] = static_cast<std::uint16_t>(i + s);
    }
  }
  for (; i < n; ++i) rows[next[n_streams_ * bucket[i]]++] = static_cast<std::uint16_t>(i);
}

}  // namespace credo
