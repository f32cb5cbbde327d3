// Positional counts of records: for every bit, how many records of a bucket have it (Klarqvist,
// Mula and Lemire 2019, "Efficient computation of positional population counts").
//
// Numbers are kept bit-sliced: level k of a number holds bit k of all its 128 counts. A group of
// records is added up by full adders, which leave one number in the lowest levels and one
// carry for each group. The carries are added like the digits of a binary counter: level k takes
// part in every 2^k-th group, once two carries have come to it, so that a group costs one adder
// more on average. A vector holds several records, whose counts are added up at the end.
//
// Include it from one file per instruction set only, like lane_kernels_impl.hpp.
#pragma once

#include "lane_kernels_impl.hpp"

namespace credo {
namespace {

inline constexpr std::size_t kMostLevels = 16;  // of a number

template <class L>
struct RecordSums {
  using Vec = typename L::Bits;
  static constexpr std::size_t kRecords = sizeof(Vec) / sizeof(Record);  // in a vector
  static constexpr std::size_t kVectors = RecordBuckets::kGroup / kRecords;
  static constexpr std::size_t kLow = __builtin_ctzll(kVectors);  // levels that a group fills
  static constexpr std::size_t kHigh = kMostLevels - __builtin_ctzll(RecordBuckets::kGroup);
  static constexpr std::uint32_t kMostGroups = (1 << kHigh) - 1;

  Vec low[kLow];
  struct {
    Vec sum, waiting;  // the second carry has come if this bit of the number of groups is set
  } high[kHigh];
};

template <class Vec>
Vec full_adder(Vec& sum, Vec x, Vec y) {
  const Vec half = sum ^ x;
  const Vec carry = (sum & x) | (half & y);
  sum = half ^ y;
  return carry;
}

template <class Vec>
Vec vector_at(const void* p) {
  Vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

// Adds 2^level vectors to the levels below; returns the carry.
template <class Vec, std::size_t level>
Vec add_vectors(const char* records, Vec* low) {
  if constexpr (level == 0) {
    return vector_at<Vec>(records);
  } else {
    const Vec first = add_vectors<Vec, level - 1>(records, low);
    const Vec second =
        add_vectors<Vec, level - 1>(records + (sizeof(Vec) << (level - 1)), low);
    return full_adder(low[level - 1], first, second);
  }
}

template <class L>
RecordSums<L>& sums_of(const RecordBuckets& buckets, std::size_t bucket) {
  static_assert(sizeof(RecordSums<L>) <= RecordBuckets::kSumWords * sizeof(std::uint64_t));
  return *reinterpret_cast<RecordSums<L>*>(buckets.sums + bucket * RecordBuckets::kSumWords);
}

template <class L>
void clear_sums(const RecordBuckets& buckets, std::size_t bucket) {
  for (auto& level : sums_of<L>(buckets, bucket).low) level = typename RecordSums<L>::Vec{};
  buckets.groups[bucket] = 0;
}

typedef std::uint64_t Half __attribute__((vector_size(16)));     // one record
typedef std::uint16_t Counts __attribute__((vector_size(32)));  // of 16 bits

// counts += the bit-sliced counts of n levels.
inline void add_counts(const Half* levels, std::size_t n, std::uint32_t* counts) {
  constexpr std::size_t kParts = sizeof(Half) / sizeof(std::uint16_t);
  constexpr std::size_t kPart = kRecordBits / kParts;
  const Counts bits = {1 << 0, 1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
                       1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
  std::uint16_t parts[kMostLevels][kParts];
  __builtin_memcpy(parts, levels, n * sizeof(Half));
  for (std::size_t part = 0; part < kParts; ++part) {
    Counts sum{};
    for (std::size_t level = n; level-- > 0;) {
      const Counts all = Counts{} + parts[level][part];
      sum = sum + sum - reinterpret_cast<Counts>((all & bits) == bits);  // true is -1
    }
    std::uint16_t sums[kPart];
    __builtin_memcpy(sums, &sum, sizeof sums);
    for (std::size_t i = 0; i < kPart; ++i) counts[part * kPart + i] += sums[i];
  }
}

// Moves a bucket's sums to its counts.
template <class L>
void count_sums(const RecordBuckets& buckets, std::size_t bucket) {
  using Sums = RecordSums<L>;
  using Vec = typename Sums::Vec;
  const std::uint32_t groups = buckets.groups[bucket];
  if (groups == 0) return;
  const Sums& sums = sums_of<L>(buckets, bucket);
  Vec levels[kMostLevels];
  std::size_t n = 0;
  for (; n < Sums::kLow; ++n) levels[n] = sums.low[n];
  Vec carry{};
  for (std::size_t k = 0; groups >> k != 0; ++k) {
    levels[n] = sums.high[k].sum;
    carry = full_adder(levels[n++], groups >> k & 1 ? sums.high[k].waiting : Vec{}, carry);
  }
  // No carry is left, since fewer than 2^n vectors were added: nor below, with levels for the
  // records of a vector.
  for (std::size_t records = Sums::kRecords; records > 1; records /= 2) levels[n++] = Vec{};
  const auto record = [&](std::size_t level, std::size_t i) {
    return vector_at<Half>(reinterpret_cast<const char*>(&levels[level]) + i * sizeof(Half));
  };
  Half total[kMostLevels];
  for (std::size_t k = 0; k < n; ++k) total[k] = record(k, 0);
  for (std::size_t i = 1; i < Sums::kRecords; ++i) {
    Half up{};
    for (std::size_t k = 0; k < n; ++k) up = full_adder(total[k], record(k, i), up);
  }
  add_counts(total, n, buckets.counts + bucket * kRecordBits);
  buckets.rows[bucket] += groups * static_cast<std::uint32_t>(RecordBuckets::kGroup);
  clear_sums<L>(buckets, bucket);
}

// Adds a whole group of records to a bucket's sums.
template <class L>
void add_group(const RecordBuckets& buckets, std::size_t bucket, const Record* group) {
  using Sums = RecordSums<L>;
  using Vec = typename Sums::Vec;
  if (buckets.groups[bucket] == Sums::kMostGroups) count_sums<L>(buckets, bucket);
  Sums& sums = sums_of<L>(buckets, bucket);
  Vec low[Sums::kLow];
  for (std::size_t k = 0; k < Sums::kLow; ++k) low[k] = sums.low[k];
  Vec carry = add_vectors<Vec, Sums::kLow>(reinterpret_cast<const char*>(group), low);
  for (std::size_t k = 0; k < Sums::kLow; ++k) sums.low[k] = low[k];
  const std::uint32_t groups = buckets.groups[bucket]++;
  std::size_t k = 0;
  for (; groups >> k & 1; ++k) carry = full_adder(sums.high[k].sum, sums.high[k].waiting, carry);
  sums.high[k].waiting = carry;
  if ((groups & (groups + 1)) == 0) sums.high[k].sum = Vec{};  // the level's first carry
}

template <class L>
void clear_buckets(RecordBuckets buckets, std::size_t n_buckets) {
  for (std::size_t b = 0; b < n_buckets; ++b) {
    buckets.waits[b] = 0;
    buckets.rows[b] = 0;
    for (std::size_t i = 0; i < kRecordBits; ++i) buckets.counts[b * kRecordBits + i] = 0;
    clear_sums<L>(buckets, b);
  }
}

template <class L>
void add_runs(const Record* sorted, const std::uint32_t* ends, RecordBuckets buckets,
              std::size_t n_buckets) {
  constexpr std::size_t kGroup = RecordBuckets::kGroup;
  const Record* next = sorted;
  for (std::size_t b = 0; b < n_buckets; ++b) {
    const Record* end = sorted + ends[b];
    Record* waiting = buckets.waiting + b * kGroup;
    std::size_t waits = buckets.waits[b];
    if (waits > 0) {
      while (waits < kGroup && next < end) waiting[waits++] = *next++;
      if (waits == kGroup) {
        add_group<L>(buckets, b, waiting);
        waits = 0;
      }
    }
    for (; next + kGroup <= end; next += kGroup) add_group<L>(buckets, b, next);
    while (next < end) waiting[waits++] = *next++;
    buckets.waits[b] = static_cast<std::uint32_t>(waits);
  }
}

template <class L>
void finish_buckets(RecordBuckets buckets, std::size_t n_buckets) {
  for (std::size_t b = 0; b < n_buckets; ++b) {
    const std::uint32_t waits = buckets.waits[b];
    if (waits > 0) {
      Record* waiting = buckets.waiting + b * RecordBuckets::kGroup;
      for (std::size_t i = waits; i < RecordBuckets::kGroup; ++i) waiting[i] = {{0, 0}};
      add_group<L>(buckets, b, waiting);
      buckets.rows[b] -= static_cast<std::uint32_t>(RecordBuckets::kGroup) - waits;
    }
    count_sums<L>(buckets, b);
  }
}

// ---------------------------------------------------------------- making records

typedef std::uint8_t Bytes16 __attribute__((vector_size(16)));

// 16 columns of bytes, `stride` apart, become 16 rows: four rounds in which the first half of the
// columns is merged with the second.
inline void transpose_bytes(const std::uint8_t* columns, std::size_t stride, Record* rows) {
  Bytes16 from[16], to[16];
  for (std::size_t i = 0; i < 16; ++i) from[i] = vector_at<Bytes16>(columns + i * stride);
  for (int round = 0; round < 4; ++round) {
    for (std::size_t i = 0; i < 8; ++i) {
      to[2 * i] = __builtin_shufflevector(from[i], from[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20,
                                          5, 21, 6, 22, 7, 23);
      to[2 * i + 1] = __builtin_shufflevector(from[i], from[i + 8], 8, 24, 9, 25, 10, 26, 11, 27,
                                              12, 28, 13, 29, 14, 30, 15, 31);
    }
    for (std::size_t i = 0; i < 16; ++i) from[i] = to[i];
  }
  __builtin_memcpy(rows, from, sizeof from);
}

// Sets a bit in the bytes of the rows that have a state.
template <class Code>
void mark_rows(const Code* __restrict codes, Code state, std::size_t rows, std::uint8_t bit,
               std::uint8_t* __restrict bytes) {
  const auto mark = static_cast<std::uint8_t>(1u << bit);
  for (std::size_t i = 0; i < rows; ++i) bytes[i] |= codes[i] == state ? mark : std::uint8_t{0};
}

template <class L>
void fill_records(const RecordPlace* places, std::size_t n_places, std::size_t first, std::size_t n,
                  Record* records) {
  constexpr std::size_t kRows = 512;
  std::uint8_t bytes[sizeof(Record)][kRows];
  for (std::size_t begin = 0; begin < n; begin += kRows) {
    const std::size_t rows = n - begin < kRows ? n - begin : kRows;
    for (auto& column : bytes) __builtin_memset(column, 0, sizeof column);
    for (std::size_t place = 0; place < n_places; ++place) {
      const RecordPlace& at = places[place];
      with_codes(at.column, first + begin, [&]<class Code>(const Code* __restrict codes) {
        for (std::uint32_t s = 0; s < at.states; ++s)
          mark_rows(codes, static_cast<Code>(s), rows, static_cast<std::uint8_t>((at.bit + s) % 8),
                    bytes[(at.bit + s) / 8]);
      });
    }
    std::size_t i = 0;
    for (; i + 16 <= rows; i += 16) transpose_bytes(bytes[0] + i, kRows, records + begin + i);
    if (i == rows) continue;
    Record tile[16];
    transpose_bytes(bytes[0] + i, kRows, tile);
    for (std::size_t k = 0; i < rows; ++i, ++k) records[begin + i] = tile[k];
  }
}

}  // namespace
}  // namespace credo
