// The loops of LaneKernels, written once over a `Lanes` type that says what one vector can do:
//
//   Vec, kWords                 a vector and the 64-bit words in it
//   load, store                 memory to vector, vector to memory
//   both, either, differ        bitwise and, or, exclusive or
//   counts                      bits set, as 64-bit fields that sum to the vector's count
//   add, total                  of 64-bit fields
//   kCarrySave                  whether counts costs more than a few bitwise operations
//   kMatchesBytes, match64      the 64-bit mask of 64 byte codes equal to a state
//   Doubles, Bits               a vector of doubles, of words (compiler's vector extension)
//   kCountUnitNs                see LaneKernels::count_unit_ns
//
// Include it from one file per instruction set only: everything is in an unnamed namespace so
// that no copy compiled for one CPU can serve another.
#pragma once

#include "common/lane_kernels.hpp"

namespace credo {
namespace {

// ---------------------------------------------------------------- bit masks

// Adds three masks bit by bit: the sum stays in `sum`, the carry is returned.
template <class L>
typename L::Vec add_bits(typename L::Vec& sum, typename L::Vec x, typename L::Vec y) {
  const auto half = L::differ(sum, x);
  const auto carry = L::either(L::both(sum, x), L::both(half, y));
  sum = L::differ(half, y);
  return carry;
}

// popcount(a & b). Where counting the bits of a vector is dear, eight vectors are first added
// bit by bit, so that only one in eight is counted (Harley and Seal's method).
template <class L>
std::int64_t count_both(const std::uint64_t* a, const std::uint64_t* b, std::size_t words) {
  constexpr std::size_t kStep = 8 * L::kWords;
  using Vec = typename L::Vec;
  const auto both = [&](std::size_t at) { return L::both(L::load(a + at), L::load(b + at)); };
  const auto twice = [](Vec v) { return L::add(v, v); };
  std::size_t w = 0;
  Vec total = L::zero();
  if constexpr (L::kCarrySave) {
    Vec ones = L::zero(), twos = L::zero(), fours = L::zero();
    for (; w + kStep <= words; w += kStep) {
      const auto pair = [&](std::size_t i) {
        return add_bits<L>(ones, both(w + i * L::kWords), both(w + (i + 1) * L::kWords));
      };
      const Vec two_a = pair(0), two_b = pair(2);
      const Vec four_a = add_bits<L>(twos, two_a, two_b);
      const Vec two_c = pair(4), two_d = pair(6);
      const Vec four_b = add_bits<L>(twos, two_c, two_d);
      total = L::add(total, L::counts(add_bits<L>(fours, four_a, four_b)));
    }
    total = L::add(twice(total), L::counts(fours));
    total = L::add(twice(total), L::counts(twos));
    total = L::add(twice(total), L::counts(ones));
  }
  for (; w < words; w += L::kWords) total = L::add(total, L::counts(both(w)));
  return L::total(total);
}

template <class L>
void count_cells(MaskRows prefix, MaskRows states, std::size_t words, std::int64_t* table,
                 std::size_t row) {
  for (std::size_t p = 0; p < prefix.count; ++p)
    for (std::size_t s = 0; s < states.count; ++s)
      table[p * row + s] +=
          count_both<L>(prefix.base + p * prefix.stride, states.base + s * states.stride, words);
}

template <class L>
void intersect(MaskRows prefix, MaskRows states, std::size_t words, std::uint64_t* out,
               std::size_t row) {
  for (std::size_t p = 0; p < prefix.count; ++p) {
    const std::uint64_t* mask = prefix.base + p * prefix.stride;
    for (std::size_t s = 0; s < states.count; ++s) {
      const std::uint64_t* state = states.base + s * states.stride;
      std::uint64_t* cell = out + (p * row + s) * words;
      for (std::size_t w = 0; w < words; w += L::kWords)
        L::store(cell + w, L::both(L::load(mask + w), L::load(state + w)));
    }
  }
}

// One bit at a time: good for many states, and for wide codes.
template <class Code>
void scatter_bits(const Code* codes, std::uint32_t arity, std::size_t n_rows, std::uint64_t* bitmap,
                  std::size_t stride) {
  for (std::size_t r = 0; r < n_rows; ++r) {
    const std::size_t code = codes[r];
    if (code < arity) bitmap[code * stride + r / 64] |= std::uint64_t{1} << (r % 64);
  }
}

// 64 rows at a time against every state.
template <class L>
void match_bits(const std::uint8_t* codes, std::uint32_t arity, std::size_t n_rows,
                std::uint64_t* bitmap, std::size_t stride) {
  const std::size_t whole = n_rows / 64;
  for (std::size_t w = 0; w < whole; ++w)
    for (std::uint32_t s = 0; s < arity; ++s)
      bitmap[s * stride + w] = L::match64(codes + 64 * w, static_cast<std::uint8_t>(s));
  std::uint8_t tail[64];
  for (std::size_t i = 0; i < 64; ++i)
    tail[i] = 64 * whole + i < n_rows ? codes[64 * whole + i] : 0xFF;
  if (n_rows % 64 != 0)
    for (std::uint32_t s = 0; s < arity; ++s)
      bitmap[s * stride + whole] = L::match64(tail, static_cast<std::uint8_t>(s));
}

// Calls f with the codes at row `first` as a pointer of their own type.
template <class F>
void with_codes(const CodeView& column, std::size_t first, F&& f) {
  if (column.width == 1) f(static_cast<const std::uint8_t*>(column.codes) + first);
  if (column.width == 2) f(static_cast<const std::uint16_t*>(column.codes) + first);
  if (column.width == 4) f(static_cast<const std::uint32_t*>(column.codes) + first);
}

template <class L>
void state_bits(CodeView column, std::size_t n_rows, std::uint64_t* bitmap, std::size_t stride) {
  constexpr std::uint32_t kMostMatched = 32;  // beyond this many states scattering is faster
  if constexpr (L::kMatchesBytes) {
    if (column.width == 1 && column.arity <= kMostMatched) {
      const auto* codes = static_cast<const std::uint8_t*>(column.codes);
      return match_bits<L>(codes, column.arity, n_rows, bitmap, stride);
    }
  }
  with_codes(column, 0,
             [&](const auto* codes) { scatter_bits(codes, column.arity, n_rows, bitmap, stride); });
}

// ---------------------------------------------------------------- mixed-radix indices

template <class L, class Index>
void extend_index(const Index* parent, CodeView column, std::size_t first, std::size_t n,
                  std::uint32_t cells, bool gaps, Index* out) {
  const auto arity = static_cast<Index>(column.arity), past = static_cast<Index>(cells);
  with_codes(column, first, [&](const auto* __restrict codes) {
    Index* __restrict to = out;
    const Index* __restrict from = parent;
    if (from == nullptr) {  // a missing code is arity, and cells == arity: right with gaps too
      for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<Index>(codes[i]);
    } else if (!gaps) {
      for (std::size_t i = 0; i < n; ++i)
        to[i] = static_cast<Index>(from[i] * arity + static_cast<Index>(codes[i]));
    } else {
      for (std::size_t i = 0; i < n; ++i) {
        const auto code = static_cast<Index>(codes[i]);
        const auto index = static_cast<Index>(from[i] * arity + code);
        to[i] = (code == arity || index > past) ? past : index;
      }
    }
  });
}

template <class L>
void extend_key(std::uint64_t* keys, CodeView column, std::size_t first, std::size_t n,
                std::uint64_t radix) {
  with_codes(column, first, [&](const auto* __restrict codes) {
    std::uint64_t* __restrict out = keys;
    for (std::size_t i = 0; i < n; ++i) out[i] = out[i] * radix + codes[i];
  });
}

template <class L>
void extend_byte(std::uint8_t* keys, CodeView column, std::size_t first, std::size_t n,
                 std::uint8_t radix, bool first_digit) {
  with_codes(column, first, [&](const auto* __restrict codes) {
    std::uint8_t* __restrict out = keys;
    if (first_digit) {
      for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(codes[i]);
    } else {
      for (std::size_t i = 0; i < n; ++i)
        out[i] = static_cast<std::uint8_t>(out[i] * radix + static_cast<std::uint8_t>(codes[i]));
    }
  });
}

// Sixteen bytes at a time are looked up in a vector, where there is an instruction for it.
template <class L, class Index>
std::uint32_t recode(const Index* __restrict at, std::size_t n, const std::uint8_t* __restrict lut,
                     std::uint8_t* __restrict out) {
  typedef std::uint8_t Bytes __attribute__((vector_size(kFewCodes), aligned(1)));
  constexpr std::size_t kBlock = 4096;  // looked at while in the cache
  std::uint32_t most = 0;
  for (std::size_t first = 0; first < n; first += kBlock) {
    const std::size_t end = first + kBlock < n ? first + kBlock : n;
    for (std::size_t i = first; i < end; ++i) {
      const auto position = static_cast<std::uint32_t>(at[i]);
      most = position > most ? position : most;
    }
    std::size_t i = first;
    if constexpr (L::kMatchesBytes) {
      const Bytes table = *reinterpret_cast<const Bytes*>(lut);
      for (; i + kFewCodes <= end; i += kFewCodes) {
        Bytes few;
        for (std::size_t k = 0; k < kFewCodes; ++k) few[k] = static_cast<std::uint8_t>(at[i + k]);
        *reinterpret_cast<Bytes*>(out + i) = __builtin_shuffle(table, few);
      }
    }
    for (; i < end; ++i) out[i] = lut[static_cast<std::uint32_t>(at[i]) % kFewCodes];
  }
  return most;
}

// ---------------------------------------------------------------- products of real columns

// `Rows` rows by kProductTile rows of dot products at once: as many independent sums.
template <class L, std::size_t Rows>
void add_product_tile(const double* left, const double* right, std::size_t rows, double* products,
                      std::size_t stride) {
  using Vec = typename L::Doubles;
  constexpr std::size_t kLanes = sizeof(Vec) / sizeof(double);
  const auto load = [](const double* p) {
    Vec v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  };
  Vec sum[Rows][kProductTile] = {};
  for (std::size_t r = 0; r < rows; r += kLanes) {
    Vec x[Rows];
    for (std::size_t a = 0; a < Rows; ++a) x[a] = load(left + a * rows + r);
    for (std::size_t b = 0; b < kProductTile; ++b) {
      const Vec y = load(right + b * rows + r);
      for (std::size_t a = 0; a < Rows; ++a) sum[a][b] += x[a] * y;
    }
  }
  for (std::size_t a = 0; a < Rows; ++a)
    for (std::size_t b = 0; b < kProductTile; ++b) {
      double total = 0;
      for (std::size_t k = 0; k < kLanes; ++k) total += sum[a][b][k];
      products[a * stride + b] += total;
    }
}

template <class L>
void add_products(const double* left, std::size_t n_left, const double* right, std::size_t n_right,
                  std::size_t rows, const std::size_t* ends, double* products) {
  constexpr std::size_t kRows = 3;    // with 12 sums and a row of the right they fill 16 registers
  constexpr std::size_t kPanel = 64;  // right rows kept in the second-level cache
  for (std::size_t panel = 0; panel < n_right; panel += kPanel) {
    for (std::size_t i = 0; i < n_left; i += kRows) {
      const std::size_t some = n_left - i < kRows ? n_left - i : kRows;
      const std::size_t all = ends[i + some - 1];
      const std::size_t end = panel + kPanel < all ? panel + kPanel : all;
      for (std::size_t j = panel; j < end; j += kProductTile) {
        const double *x = left + i * rows, *y = right + j * rows;
        double* out = products + i * n_right + j;
        if (some == kRows) add_product_tile<L, kRows>(x, y, rows, out, n_right);
        else if (some == 2) add_product_tile<L, 2>(x, y, rows, out, n_right);
        else add_product_tile<L, 1>(x, y, rows, out, n_right);
      }
    }
  }
}

// Beside `shift` a double has no bits below the unit, so that adding it rounds.
template <class L>
double take_slice(double* z, std::size_t rows, double shift, double* slice) {
  using Vec = typename L::Doubles;
  constexpr std::size_t kLanes = sizeof(Vec) / sizeof(double);
  const Vec far = Vec{} + shift;
  Vec greatest{};
  for (std::size_t r = 0; r < rows; r += kLanes) {
    Vec value;
    __builtin_memcpy(&value, z + r, sizeof value);
    const Vec nearest = (value + far) - far;
    const Vec left = value - nearest;
    __builtin_memcpy(slice + r, &nearest, sizeof nearest);
    __builtin_memcpy(z + r, &left, sizeof left);
    const Vec size = left < 0 ? -left : left;
    greatest = size > greatest ? size : greatest;
  }
  double most = 0;
  for (std::size_t k = 0; k < kLanes; ++k) most = greatest[k] > most ? greatest[k] : most;
  return most;
}

}  // namespace
}  // namespace credo
