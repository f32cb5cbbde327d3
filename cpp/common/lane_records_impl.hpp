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

#include "common/lane_kernels_impl.hpp"

namespace credo {
namespace {

inline constexpr std::size_t kGroupLevels = 5;
inline constexpr std::size_t kGroup = 1 << kGroupLevels;  // records that are added up together
inline constexpr std::size_t kMostLevels = 16;  // of a number: a run has fewer than 2^16 records

typedef std::uint64_t Half __attribute__((vector_size(16)));     // one record
typedef std::uint16_t Counts __attribute__((vector_size(32)));  // of 16 bits

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

// A vector of the records of the next rows.
template <class Vec>
Vec records_at(const Record* records, const std::uint16_t* rows) {
  const auto half = [&](std::size_t i) { return vector_at<Half>(records + rows[i]); };
  if constexpr (sizeof(Vec) == sizeof(Half)) {
    return half(0);
  } else if constexpr (sizeof(Vec) == 2 * sizeof(Half)) {
    return __builtin_shufflevector(half(0), half(1), 0, 1, 2, 3);
  } else {
    typedef std::uint64_t Two __attribute__((vector_size(32)));
    const Two first = records_at<Two>(records, rows), second = records_at<Two>(records, rows + 2);
    return __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7);
  }
}

// Adds 2^level vectors to the levels below; returns the carry.
template <class Vec, std::size_t level>
Vec add_vectors(const Record* records, const std::uint16_t* rows, Vec* low) {
  if constexpr (level == 0) {
    return records_at<Vec>(records, rows);
  } else {
    constexpr std::size_t kHalf = sizeof(Vec) / sizeof(Record) << (level - 1);
    const Vec first = add_vectors<Vec, level - 1>(records, rows, low);
    const Vec second = add_vectors<Vec, level - 1>(records, rows + kHalf, low);
    return full_adder(low[level - 1], first, second);
  }
}

// counts += the bit-sliced counts of n levels, of the first 16 * parts bits.
inline void add_counts(const Half* levels, std::size_t n, std::size_t parts, std::uint32_t* counts) {
  constexpr std::size_t kParts = kRecordBits / kRecordPart;
  const Counts bits = {1 << 0, 1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
                       1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
  std::uint16_t words[kMostLevels][kParts];
  __builtin_memcpy(words, levels, n * sizeof(Half));
  for (std::size_t part = 0; part < parts; ++part) {
    Counts sum{};
    for (std::size_t level = n; level-- > 0;) {
      const Counts all = Counts{} + words[level][part];
      sum = sum + sum - reinterpret_cast<Counts>((all & bits) == bits);  // true is -1
    }
    std::uint16_t sums[kRecordPart];
    __builtin_memcpy(sums, &sum, sizeof sums);
    for (std::size_t i = 0; i < kRecordPart; ++i) counts[part * kRecordPart + i] += sums[i];
  }
}

// total = the bit-sliced counts of fewer than kGroup records; returns the number of levels.
inline std::size_t sum_few(const Record* records, const std::uint16_t* rows, std::size_t n,
                           Half* total) {
  for (std::size_t k = 0; k < kGroupLevels; ++k) total[k] = Half{};
  for (std::size_t i = 0; i < n; ++i) {
    Half carry = vector_at<Half>(records + rows[i]);
    for (std::size_t k = 0; k < kGroupLevels; ++k) {
      const Half up = total[k] & carry;
      total[k] ^= carry;
      carry = up;
    }
  }
  return n == 0 ? 0 : 64 - __builtin_clzll(n);
}

// total += the counts of whole groups. INOUT total: of kGroupLevels; returns the number of levels.
template <class L>
std::size_t add_groups(const Record* records, const std::uint16_t* rows, std::size_t n_groups,
                       Half* total) {
  using Vec = typename L::Bits;
  constexpr std::size_t kRecords = sizeof(Vec) / sizeof(Record);    // in a vector
  constexpr std::size_t kLow = __builtin_ctzll(kGroup / kRecords);  // levels that a group fills
  Vec low[kLow] = {};
  struct {
    Vec sum, waiting;  // the second carry has come if this bit of the number of groups is set
  } high[kMostLevels];
  for (std::size_t group = 0; group < n_groups; ++group, rows += kGroup) {
    Vec carry = add_vectors<Vec, kLow>(records, rows, low);
    std::size_t k = 0;
    for (; group >> k & 1; ++k) carry = full_adder(high[k].sum, high[k].waiting, carry);
    high[k].waiting = carry;
    if ((group & (group + 1)) == 0) high[k].sum = Vec{};  // the level's first carry
  }
  Vec levels[kMostLevels];
  std::size_t n = 0;
  for (; n < kLow; ++n) levels[n] = low[n];
  Vec carry{};
  for (std::size_t k = 0; n_groups >> k != 0; ++k) {
    levels[n] = high[k].sum;
    carry = full_adder(levels[n++], n_groups >> k & 1 ? high[k].waiting : Vec{}, carry);
  }
  // No carry is left, since fewer than 2^n vectors were added: nor below, with levels for the
  // records of a vector.
  for (std::size_t some = kRecords; some > 1; some /= 2) levels[n++] = Vec{};
  for (std::size_t k = kGroupLevels; k < n; ++k) total[k] = Half{};
  for (std::size_t i = 0; i < kRecords; ++i) {
    Half up{};
    for (std::size_t k = 0; k < n; ++k) {
      const char* level = reinterpret_cast<const char*>(&levels[k]);
      up = full_adder(total[k], vector_at<Half>(level + i * sizeof(Half)), up);
    }
  }
  return n;
}

template <class L>
void add_runs(const Record* records, const std::uint16_t* rows, const std::uint32_t* ends,
              std::size_t n_buckets, std::size_t parts, std::uint32_t* counts) {
  std::size_t begin = 0;
  for (std::size_t b = 0; b < n_buckets; ++b, counts += parts * kRecordPart) {
    const std::size_t n = ends[b] - begin;
    if (n > 0) {
      Half total[kMostLevels];
      const std::size_t groups = n / kGroup;
      std::size_t levels = sum_few(records, rows + begin + groups * kGroup, n % kGroup, total);
      if (groups > 0) levels = add_groups<L>(records, rows + begin, groups, total);
      add_counts(total, levels, parts, counts);
    }
    begin = ends[b];
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
