// The inner loops of naive Bayes, compiled once per instruction set (as common/lane_kernels.hpp is).
#pragma once

#include <cstddef>
#include <cstdint>

namespace credo::naive {

inline constexpr std::size_t kClassUnit = 4;  // classes are padded to this

// What a row is scored by: one table look-up for each term, one Gaussian for each real column, one
// product for each column of counts.
struct ScoreTerms {
  std::size_t classes;             // padded
  const double* bias;              // IN [classes]
  std::size_t n_group;             // terms of a few columns: tables + offset[g] + place * classes
  const std::size_t* offset;       // IN [n_group]: in doubles
  const std::uint32_t* member;     // IN: the columns of the groups, whose tables are then not
                                   // multiplied out: tables + member_offset[m] + code * classes
  const std::size_t* member_end;   // IN [n_group]: members of a group end here
  const std::size_t* member_offset;  // IN [members]: in doubles
  std::size_t n_pair;              // terms of two: row code[a] * rows_b + code[b]
  const std::uint32_t* pair_a;     // IN [n_pair]
  const std::uint32_t* pair_b;     // IN [n_pair]
  const std::uint32_t* pair_rows;  // IN [n_pair]: rows_b
  const std::size_t* pair_offset;  // IN [n_pair]
  const double* tables;            // IN [rows][classes]: ln P(state | class); 0 for missing
  std::size_t n_real;              // real columns
  const double* centre;            // IN [n_real][classes]
  const double* half;              // IN [n_real][classes]: 1 / (2 variance)
  const double* constant;          // IN [n_real][classes]: -ln(2 pi variance) / 2
  const double* constants;         // IN [classes]: their sum over the columns
  std::size_t n_count;             // columns of counts
  const double* weights;           // IN [n_count][classes]: ln P(word | class)
  bool impossible_words;           // whether a weight is -infinity
};

// Rows as they are scored. What stands at row r and column j is at r * row + j * column.
template <class T>
struct Grid {
  const T* data;
  std::size_t row, column;
};

struct ScoreTile {
  Grid<std::uint16_t> places;  // IN [n][n_group]
  Grid<std::uint16_t> codes;   // IN [n][columns], of members and pairs
  const double* reals;         // IN [n][real_stride] (NaN: missing)
  std::size_t real_stride;
  const double* counts;        // IN [n][count_stride], none of them NaN
  std::size_t count_stride;
};

// How numbers that lie row by row become codes: v is inside its window if v - low < span, and has
// then the code ((v - low) & mask) + one, else the code `outside`; the code is multiplied by
// `times`. Of doubles, whose windows lie within 2^50 of 0, only whole ones are inside, with the code
// v - low; NaN has the code `missing`; where `above` is all ones, the code is 1 above 0, else 0.
struct WindowCodes {
  std::size_t width;             // columns
  const std::int64_t* low;       // IN [width]
  const std::uint64_t* span;     // IN [width]
  const std::uint64_t* mask;     // IN [width]
  const std::uint64_t* one;      // IN [width]
  const std::uint64_t* outside;  // IN [width]
  const std::uint64_t* missing;  // IN [width]
  const std::uint64_t* above;    // IN [width]
  const std::uint16_t* times;    // IN [width]
};

// The same for one column whose numbers lie side by side.
struct ColumnCodes {
  std::int64_t low;
  std::uint64_t span;
  bool above;  // no window: the code is 1 for numbers above 0, else 0
  std::uint16_t outside, times;
};

// Sparse documents and what their words weigh. The types of the arrays are told apart by place:
// indices int32, int64; values double, float, int64, int32.
struct SparseTerms {
  const void* begin;    // IN [rows + 1]
  const void* columns;  // IN [begin[rows]]
  const void* values;   // IN
  const double* table;  // IN [n_words][classes]
  const double* bias;   // IN [classes]
  std::size_t n_words, classes;
  bool present;  // a word counts once
};

inline constexpr unsigned kBadColumn = 1, kBadValue = 2;  // what may be wrong with sparse documents
inline constexpr std::size_t kIndexTypes = 2, kValueTypes = 4;

using ColumnLoop = bool (*)(const void* x, std::size_t n, const ColumnCodes& window,
                            std::uint16_t* codes);
using SparseLoop = unsigned (*)(const SparseTerms& terms, std::size_t first, std::size_t end,
                                double* joint);

struct Loops {
  // OUT joint [n][classes] = bias + terms. Returns whether it met an infinite number.
  bool (*score)(const ScoreTerms& terms, const ScoreTile& tile, std::size_t n, double* joint);
  // INOUT codes [n][width]: that of the first of every `step` columns (2 or 4) becomes the sum of
  // them, of which none passes 65535; what the others become is not said.
  void (*add_codes)(std::uint16_t* codes, std::size_t n, std::size_t width, std::size_t step);
  // OUT answers [n][classes]: ln of the shares of each row, s - max - ln sum exp(s - max), or the
  // shares themselves, of IN joint [n][stride]; answers may be the joint where stride is classes.
  // Returns the first row of which all are -infinity, where it stops, or -1.
  std::int64_t (*normalise)(const double* joint, std::size_t n, std::size_t stride,
                            std::size_t classes, bool logarithms, double* answers);
  // OUT best [n]: the place of the largest of IN joint [n][stride], the first of equal ones, among
  // the first `classes`. Returns the first row of which all are -infinity, or -1.
  std::int64_t (*best)(const double* joint, std::size_t n, std::size_t stride,
                       std::size_t classes, std::int64_t* best);
  // INOUT x [n]: each becomes ln x; x must be a normal number above 0.
  void (*logarithms)(double* x, std::size_t n);
  // Sums of rows by class. IN values [n][width], a row every `stride` numbers (NaN is skipped), IN
  // group [n] (groups: the row is skipped), IN weights [n] or null, IN centre [groups][width];
  // INOUT weight, first, second [groups][width]: sums of w, w z, w z z with z = x - centre.
  void (*add_moments)(const double* values, std::size_t stride, const std::uint32_t* group,
                      const double* weights, const double* centre, std::size_t n,
                      std::size_t width, std::size_t groups, double* weight, double* first,
                      double* second);
  // OUT mean, scatter [width] of the n given rows of values, a row every `stride` numbers: of zeros
  // if there are none; a mean is not finite where a value, or their sum, is not. IN weights, of all
  // rows, or null.
  void (*few_moments)(const double* values, std::size_t stride, const std::uint32_t* rows,
                      const double* weights, std::size_t n, std::size_t width, double* mean,
                      double* scatter);
  // INOUT totals [groups][width]: sums of w x. IN values [n][width], a row every `stride` numbers,
  // none of them NaN.
  void (*add_totals)(const double* values, std::size_t stride, const std::uint32_t* group,
                     const double* weights, std::size_t n, std::size_t width, std::size_t groups,
                     double* totals);
  // OUT values [n][width] of columns of doubles, or of 64-bit integers, whose numbers lie side by
  // side: IN columns [width], each [n]. Returns whether all are finite, and integers below 2^51; if
  // not, integers are not right.
  bool (*turn_reals)(const void* const* columns, std::size_t n, std::size_t width, double* values);
  bool (*turn_wholes)(const void* const* columns, std::size_t n, std::size_t width,
                      double* values);
  // Whether all x [n][width], a row every `stride` numbers, are finite and not negative.
  bool (*are_counts)(const double* x, std::size_t stride, std::size_t n, std::size_t width);
  // Whether all moments [size] are what numbers usually have: means that are finite, scatters from
  // 1e-290 to what doubles hold, or 0 where there is one row or a mean that is not next to 0.
  bool (*usual_moments)(const double* n, const double* mean, const double* scatter,
                        std::size_t size);
  // OUT codes [n][width] of IN x [n][width], a row every `stride` numbers;
  // INOUT strange [width]: not 0 once a value of the column was outside its window. Of int64, double.
  void (*window_codes[2])(const WindowCodes& windows, const void* x, std::size_t stride,
                          std::size_t n, std::uint16_t* codes, std::uint64_t* strange);
  // OUT out [n][groups] of IN x [n][4 * groups], a row every `stride` numbers: which of four are
  // above 0, a bit for each, says where in IN places [groups][16]. Of int64, double; returns whether
  // none was NaN, for which there is no place.
  bool (*above_places[2])(const void* x, std::size_t stride, std::size_t n, std::size_t groups,
                          const std::uint16_t* places, std::uint16_t* out);
  // OUT codes [n] of numbers that lie side by side: int8, int16, int32, int64, uint8, uint16.
  // Returns whether one was outside the window.
  ColumnLoop column_codes[6];
  // OUT values [n][width] of IN x [n][width], a row every `stride` numbers. Returns whether one is
  // negative or 2^51 or more; its value is then not right.
  bool (*whole_counts)(const std::int64_t* x, std::size_t stride, std::size_t n, std::size_t width,
                       double* values);
  // OUT joint [rows][classes], of rows first ... end - 1, = bias + sum value * table[column].
  // Returns kBadColumn, kBadValue (negative or not finite), both or 0.
  SparseLoop sparse_scores[kIndexTypes][kValueTypes];
};

const Loops& plain_loops();
const Loops& avx2_loops();
const Loops& loops_for_this_cpu();

}  // namespace credo::naive
