// The inner loops that are compiled once per instruction set.
//
// Each instruction set fills one table of function pointers from the same templates
// (lane_kernels_impl.hpp); everything else in the library calls through the table and gets the
// same answer from every one. This header stays free of standard containers on purpose: an
// inline function compiled here with AVX2 must never be the copy the linker keeps for all.
#pragma once

#include <cstddef>
#include <cstdint>

namespace credo {

// `count` bit masks of the same rows, `stride` words apart.
struct MaskRows {
  const std::uint64_t* base;
  std::size_t stride;
  std::size_t count;
};

// Masks are read in units of 512 bits, whatever the lane.
inline constexpr std::size_t kMaskUnit = 8;

// The codes of one variable, `width` bytes each; code == arity means missing.
struct CodeView {
  const void* codes;
  std::uint8_t width;  // 1, 2 or 4
  std::uint32_t arity;
  bool missing;  // whether some code may be missing

  std::uint32_t at(std::size_t row) const {
    switch (width) {
      case 1: return static_cast<const std::uint8_t*>(codes)[row];
      case 2: return static_cast<const std::uint16_t*>(codes)[row];
      default: return static_cast<const std::uint32_t*>(codes)[row];
    }
  }
};

// Up to 128 bits of one row: for some variables, whether it has each of their states.
struct alignas(16) Record {
  std::uint64_t words[2];
};
inline constexpr std::size_t kRecordBits = 128;
inline constexpr std::size_t kRecordPart = 16;  // bits whose counts come together

// The bits of one variable in a record: bit + s says whether the row has state s.
struct RecordPlace {
  CodeView column;
  std::uint32_t bit;
  std::uint32_t states;
};

// As many codes as a vector of bytes looks up at once.
inline constexpr std::size_t kFewCodes = 16;

// An index just past such a table, and one more code, still fit 16 bits.
inline constexpr std::uint32_t kShortCells = 32767;

struct LaneKernels {
  // table[p * row + s] += popcount(prefix[p] & states[s]).
  // IN prefix, states; IN words per mask (a multiple of kMaskUnit); INOUT table; IN row length.
  void (*count_cells)(MaskRows prefix, MaskRows states, std::size_t words, std::int64_t* table,
                      std::size_t row);

  // out[(p * row + s) * words ...] = prefix[p] & states[s].
  // IN prefix, states, words; OUT out; IN row: masks of `out` per prefix (>= states.count).
  void (*intersect)(MaskRows prefix, MaskRows states, std::size_t words, std::uint64_t* out,
                    std::size_t row);

  // bitmap[s * stride + r / 64] bit r % 64 = (codes[r] == s).
  // IN column, n_rows; OUT bitmap (zero on entry), IN stride in words.
  void (*state_bits)(CodeView column, std::size_t n_rows, std::uint64_t* bitmap,
                     std::size_t stride);

  // The next digit of a mixed-radix cell index: out[i] = parent[i] * arity + code[first + i].
  // With `gaps`, a missing code, or a parent that is out of its own table, gives `cells`, the
  // one cell past the table. IN parent (may be null: all zero); IN cells; OUT out [n].
  void (*extend_index)(const std::uint32_t* parent, CodeView column, std::size_t first,
                       std::size_t n, std::uint32_t cells, bool gaps, std::uint32_t* out);
  // The same for tables of at most kShortCells cells: twice the rows in a vector.
  void (*extend_short)(const std::uint16_t* parent, CodeView column, std::size_t first,
                       std::size_t n, std::uint32_t cells, bool gaps, std::uint16_t* out);

  // keys[i] = keys[i] * radix + code[first + i]. INOUT keys [n].
  void (*extend_key)(std::uint64_t* keys, CodeView column, std::size_t first, std::size_t n,
                     std::uint64_t radix);

  // The same with keys of one byte, whatever their digits: keys[i] = keys[i] * radix + code, or
  // just the code if it is the first digit. INOUT keys [n].
  void (*extend_byte)(std::uint8_t* keys, CodeView column, std::size_t first, std::size_t n,
                      std::uint8_t radix, bool first_digit);

  // out[i] = lut[at[i]], of kFewCodes entries; those past them give anything. Returns the greatest
  // position, a negative one being a large one. IN at [n], lut [kFewCodes]; OUT out [n].
  std::uint32_t (*recode)(const std::int32_t* at, std::size_t n, const std::uint8_t* lut,
                          std::uint8_t* out);
  std::uint32_t (*recode_bytes)(const std::uint8_t* at, std::size_t n, const std::uint8_t* lut,
                                std::uint8_t* out);

  // records[i] bit place.bit + s = (code of place.column at first + i == s), for every place.
  // IN places; OUT records [n].
  void (*fill_records)(const RecordPlace* places, std::size_t n_places, std::size_t first,
                       std::size_t n, Record* records);

  // counts[b][i] += how many records of bucket b have bit i. Its rows are those up to ends[b].
  // IN records, rows [fewer than 2^16], ends [n_buckets]; IN parts: of 16 bits, that are counted;
  // INOUT counts [n_buckets][parts * kRecordPart].
  void (*add_runs)(const Record* records, const std::uint16_t* rows, const std::uint32_t* ends,
                   std::size_t n_buckets, std::size_t parts, std::uint32_t* counts);

  // products[i * n_right + j] += sum_r left[i * rows + r] * right[j * rows + r] for j < ends[i].
  // IN left [n_left][rows], right [n_right][rows], ends [n_left], which never falls; IN n_right (a
  // multiple of kProductTile), rows (a multiple of 8); INOUT products [n_left][n_right]: some of
  // those beyond the ends are scratch.
  void (*add_products)(const double* left, std::size_t n_left, const double* right,
                       std::size_t n_right, std::size_t rows, const std::size_t* ends,
                       double* products);

  // Takes off z what it has in multiples of the last bit of `shift`, which is far above it:
  // slice[r] = the nearest multiple, z[r] -= slice[r]. Returns the greatest size left in z.
  // INOUT z [rows]; OUT slice [rows]; IN rows (a multiple of 8).
  double (*take_slice)(double* z, std::size_t rows, double shift, double* slice);

  // Time of count_cells for one state and one mask unit that is in the cache, in ns: measured, for
  // the choice between counting by popcount and by histogram.
  double count_unit_ns;
};

inline constexpr std::size_t kProductTile = 4;

const LaneKernels& plain_kernels();
const LaneKernels& avx2_kernels();    // defined on x86-64 only
const LaneKernels& avx512_kernels();  // likewise

}  // namespace credo
