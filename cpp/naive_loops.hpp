// The inner loops of naive Bayes, compiled once per instruction set (as lane_kernels.hpp is).
#pragma once

#include <cstddef>
#include <cstdint>

namespace credo::naive {

inline constexpr std::size_t kClassUnit = 4;  // classes are padded to this

// What a row is scored by: one table look-up for each term, one Gaussian for each real column.
struct ScoreTerms {
  std::size_t classes;             // padded
  const double* bias;              // IN [classes]
  std::size_t n_codes;             // columns of codes
  std::size_t n_group;             // terms of a few columns: tables + offset[g] + place * classes,
  const std::size_t* group_end;    // IN [n_group]: where the columns of each end
  const std::uint32_t* member;     // IN: the columns of each, one group after the other
  const std::uint32_t* times;      // IN: place = sum of code * times
  const std::size_t* offset;       // IN [n_group]: in doubles
  std::size_t n_pair;              // terms of two: row code[a] * rows_b + code[b]
  const std::uint32_t* pair_a;     // IN [n_pair]
  const std::uint32_t* pair_b;     // IN [n_pair]
  const std::uint32_t* pair_rows;  // IN [n_pair]: rows_b
  const std::size_t* pair_offset;  // IN [n_pair]
  const double* tables;            // IN [rows][classes]: ln P(state | class); 0 for missing
  std::size_t n_real;              // real columns
  std::size_t real_stride;         // doubles from one row of them to the next
  const double* centre;            // IN [n_real][classes]
  const double* half;              // IN [n_real][classes]: 1 / (2 variance)
  const double* constant;          // IN [n_real][classes]: -ln(2 pi variance) / 2
};

// How whole numbers that lie row by row become codes: v is inside its window if v - low < span, and
// has then the code ((v - low) & mask) + one, else the code `outside`.
struct WindowCodes {
  std::size_t width;             // columns
  const std::int64_t* low;       // IN [width]
  const std::uint64_t* span;     // IN [width]
  const std::uint64_t* mask;     // IN [width]
  const std::uint64_t* one;      // IN [width]
  const std::uint64_t* outside;  // IN [width]
};

struct Loops {
  // OUT joint [n][classes] = bias + terms. IN codes [n][n_codes], reals [n][real_stride] (NaN:
  // missing).
  void (*score)(const ScoreTerms& terms, const std::uint16_t* codes, const double* reals,
                std::size_t n, double* joint);
  // INOUT x [n]: each becomes exp(x); x must be at most 0 (-inf is 0).
  void (*exponentials)(double* x, std::size_t n);
  // INOUT x [n]: each becomes ln x; x must be a normal number of at least 1.
  void (*logarithms)(double* x, std::size_t n);
  // Sums of rows by class. IN values [n][width], a row every `stride` numbers (NaN is skipped), IN
  // group [n] (groups: the row is skipped), IN weights [n] or null, IN centre [groups][width];
  // INOUT weight, first, second [groups][width]: sums of w, w z, w z z with z = x - centre.
  void (*add_moments)(const double* values, std::size_t stride, const std::uint32_t* group,
                      const double* weights, const double* centre, std::size_t n,
                      std::size_t width, std::size_t groups, double* weight, double* first,
                      double* second);
  // OUT codes [n][width] of IN x [n][width], a row every `stride` numbers;
  // INOUT strange [width]: not 0 once a value of the column was outside its window.
  void (*window_codes)(const WindowCodes& windows, const std::int64_t* x, std::size_t stride,
                       std::size_t n, std::uint16_t* codes, std::uint64_t* strange);
  // Whether one of x [n] is infinite (NaN is not).
  bool (*any_infinite)(const double* x, std::size_t n);
};

const Loops& plain_loops();
const Loops& avx2_loops();
const Loops& loops_for_this_cpu();

}  // namespace credo::naive
