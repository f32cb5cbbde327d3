// The inner loops of mixtures over one block of rows, compiled once per instruction set (as
// naive/loops.hpp is). A block is [column][kRows]: four rows are one vector. `n` rows of it are in
// use, a multiple of 8; those beyond the real ones have weight 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace credo::mixture {

inline constexpr std::size_t kRows = 128;  // rows in a block; a multiple of 8

inline std::size_t padded(std::size_t n) { return (n + 3) / 4 * 4; }

// Doubles of a packed inverse root of side p: for each four of its rows, four numbers a column.
inline std::size_t packed_size(std::size_t p) {
  std::size_t size = 0;
  for (std::size_t b = 0; b < p; b += 4) size += 4 * (b + 4 < p ? b + 4 : p);
  return size;
}

// Where row i, column j <= i of an inverse root lies when packed.
inline std::size_t packed_place(std::size_t p, std::size_t i, std::size_t j) {
  std::size_t at = 0;
  for (std::size_t b = 0; b + 4 <= i; b += 4) at += 4 * (b + 4 < p ? b + 4 : p);
  return at + 4 * j + i % 4;
}

struct Loops {
  // INOUT joint [kRows] += constant - |root x - shift|^2 / 2. IN x [p][kRows], IN root packed,
  // IN shift [padded(p)].
  void (*add_distances)(const double* x, std::size_t n, std::size_t p, const double* root,
                        const double* shift, double constant, double* joint);
  // INOUT joint [kRows] += constant + z (slope - half z), z = x - centre, where x is not NaN.
  void (*add_column)(const double* x, std::size_t n, bool gaps, double centre, double slope,
                     double half, double constant, double* joint);
  // INOUT joint [classes padded][kRows] += the tables' rows of each row's codes.
  // IN codes [rows][groups], IN offset [groups] (rows of tables), IN tables [.][classes padded].
  void (*add_tables)(const std::uint16_t* codes, std::size_t rows, std::size_t groups,
                     const std::int64_t* offset, const double* tables, std::size_t classes,
                     double* joint);
  // INOUT joint [k][kRows]: ln P(row, class) becomes P(class | row) times the row's weight.
  // IN weights [kRows] (0 beyond the rows). OUT logs [kRows]: ln P(row), -inf where impossible.
  // INOUT mass [k][4]: sums of what joint has become.
  void (*share)(double* joint, std::size_t n, std::size_t k, const double* weights, double* logs,
                double* mass);
  // Sums of r z and r z z^T with z = x - centre. IN x [p][kRows], IN r [kRows];
  // INOUT first [padded(p)], second [p][padded(p)]: rows j, columns i >= j - j % 2.
  // OUT z, rz [padded(p)][kRows]: room to work in.
  void (*add_scatter)(const double* x, std::size_t n, const double* r, const double* centre,
                      std::size_t p, double* first, double* second, double* z, double* rz);
  // INOUT sums [3][4]: of r, r z, r z z where x is not NaN.
  void (*add_moments)(const double* x, std::size_t n, bool gaps, const double* r, double centre,
                      double* sums);
  // INOUT counts [.][classes padded]: each row's r is added at each of its codes.
  void (*add_counts)(const std::uint16_t* codes, std::size_t rows, std::size_t groups,
                     const std::int64_t* offset, std::size_t classes, const double* r,
                     double* counts);
  // INOUT row [n] -= by[t * stride] * above[t * stride + j] for t = 0 .. count - 1, in turn.
  void (*take_rows)(double* row, std::size_t n, const double* above, const double* by,
                    std::size_t stride, std::size_t count);
};

const Loops& plain_loops();
const Loops& avx2_loops();
const Loops& loops_for(const char* path);

}  // namespace credo::mixture
