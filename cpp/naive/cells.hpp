// Columns of any table as naive Bayes reads them: cells of any number type at any stride, so that
// an array of rows, an array of columns and a frame are the same thing and nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace credo::naive {

enum class CellType : std::uint8_t { kI8, kI16, kI32, kI64, kU8, kU16, kU32, kU64, kF32, kF64 };

struct Cells {
  const unsigned char* data;
  std::ptrdiff_t stride;  // bytes from one row to the next
  CellType type;
};

// A column of states. The value v has the code lut[v - low], or v - low without a look-up table;
// NaN has the code `missing`, every value outside the window `missing + 1`: not seen in training.
struct CodeColumn {
  Cells cells;
  std::int64_t low;
  std::uint64_t span;
  const std::uint16_t* lut;  // IN [span], or null
  std::uint16_t missing;
  bool above = false;  // no window: the code is 1 for numbers above 0, else 0
};

inline constexpr std::size_t kTileRows = 256;  // rows encoded at a time at most

// As many of them as stay in the cache, if a row takes this many bytes.
inline std::size_t tile_rows(std::size_t bytes) {
  constexpr std::size_t kCache = std::size_t{1} << 17;
  const std::size_t most = kCache / (bytes + 1) / 8 * 8;
  return most < 8 ? 8 : most > kTileRows ? kTileRows : most;
}

template <class F>
void with_type(CellType type, F&& f) {
  switch (type) {
    case CellType::kI8: return f(std::int8_t{});
    case CellType::kI16: return f(std::int16_t{});
    case CellType::kI32: return f(std::int32_t{});
    case CellType::kI64: return f(std::int64_t{});
    case CellType::kU8: return f(std::uint8_t{});
    case CellType::kU16: return f(std::uint16_t{});
    case CellType::kU32: return f(std::uint32_t{});
    case CellType::kU64: return f(std::uint64_t{});
    case CellType::kF32: return f(float{});
    case CellType::kF64: return f(double{});
  }
}

// Whether columns are the neighbouring columns of an array of doubles (or of another type), row by
// row: they can be read as they lie. OUT stride: numbers from one row to the next.
bool are_rows(const std::vector<Cells>& columns, std::size_t& stride,
              CellType type = CellType::kF64);

// Columns of states that are encoded tile by tile: together where they are neighbouring columns of
// an array of 64-bit integers or doubles without look-up tables, else one by one. The codes lie so:
// that of row r and column j at r * row_step() + j * column_step().
class CodeTiles {
 public:
  // IN times [columns]: the codes of each column are multiplied by it; 1 where there is none.
  explicit CodeTiles(const std::vector<CodeColumn>& columns,
                     const std::vector<std::uint16_t>& times = {});
  std::size_t row_step() const { return together_ ? columns_.size() : 1; }
  std::size_t column_step() const { return together_ ? 1 : kTileRows; }
  // Whether all are numbers above 0 or not, row by row, and as many as a multiple of four.
  bool four_above() const;
  // OUT places [n][columns / 4]: the sum of the codes of every four, where that is so. Returns whether
  // no cell was missing; if one was, the places are not right.
  bool add_above(std::size_t first, std::size_t n, const std::uint16_t* sums,
                 std::uint16_t* places) const;
  // OUT sums [columns / 4][16]: the sum of the codes of four, by which of them are above 0.
  std::vector<std::uint16_t> above_sums() const;
  // OUT codes [kTileRows * columns]; INOUT strange [columns], not 0 where a value was not seen in
  // training.
  void encode(std::size_t first, std::size_t n, std::uint16_t* codes,
              std::uint64_t* strange) const;

 private:
  const std::vector<CodeColumn>& columns_;
  bool together_, real_ = false;
  std::size_t stride_ = 0;
  std::vector<std::int64_t> low_;
  std::vector<std::uint64_t> span_, mask_, one_, outside_, missing_, above_;
  std::vector<std::uint16_t> times_;
};

// OUT values [n][columns]: the numbers of the rows first ... first + n - 1, NaN where missing.
// endless [columns] (or null) is set where one is infinite.
void encode_values(const std::vector<Cells>& columns, std::size_t first, std::size_t n,
                   double* values, char* endless);

// Counts as they are read: where they lie if they are rows of doubles, else as `scratch`.
struct CountTile {
  const double* values;  // [n][stride], none of them NaN
  std::size_t stride;
  bool wrong;  // whether one is negative or infinite
};

struct CountRule {
  bool present = false;  // a count above 0 is 1
  bool gaps = true;      // NaN is a missing count; else it is wrong
};

// The counts of rows first ... first + n - 1, 0 where missing. OUT scratch [n][columns].
CountTile read_counts(const std::vector<Cells>& columns, std::size_t first, std::size_t n,
                      const CountRule& rule, double* scratch);

}  // namespace credo::naive
