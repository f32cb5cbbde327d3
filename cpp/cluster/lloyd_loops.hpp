// The inner loop of k-means over some rows, one for each instruction set (as in
// mixture_loops.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace credo::lloyd {

inline std::size_t padded(std::size_t n) { return (n + 3) / 4 * 4; }

// k centres of d coordinates, less the shift of the rows.
struct Centres {
  std::size_t k, d;
  const double* rows;     // [k][padded d], zeros beyond d
  const double* columns;  // [d][padded k]
  const double* half;     // [padded k]: |centre|^2 / 2, infinite beyond k; for `differ` 0 for it
};

// What the rows of a part give to the M step; INOUT, sums are added to: of weight times row less
// shift, or, of `differ`, less its centre.
struct Part {
  double* sums;        // [k][padded d]
  double* mass;        // [k] of weights
  std::int64_t* rows;  // [k]
  double objective;    // of weight times squared distance to the nearest centre
  std::int64_t moved;
};

struct Loops {
  // Each row goes to its nearest centre, of equally near ones to the first.
  // IN x [n][d], shift [d], weights [n] or null, before [n]. OUT labels [n]. OUT room [4][padded d].
  void (*assign)(const double* x, std::size_t n, const double* shift, const double* weights,
                 const Centres& centres, const std::int64_t* before, std::int64_t* labels,
                 double* room, Part& part);
  // The same from differences of coordinates: each square is right to the last digits, however far
  // the rows lie from each other. Sums are of ways from the centre, which lose none either.
  void (*differ)(const double* x, std::size_t n, const double* shift, const double* weights,
                 const Centres& centres, const std::int64_t* before, std::int64_t* labels,
                 double* room, Part& part);
  // Whether a row is as near to a second centre: halves of squares differ by `tie` at the most.
  // IN x [n][d], shift [d]. OUT close [n]. OUT room [4][padded d].
  void (*near)(const double* x, std::size_t n, const double* shift, const Centres& centres,
               double tie, double* room, std::uint8_t* close);
  // The least of each row's square before and its squared distance to each of four candidates.
  // IN x [n][d], side [d][4], weights [n] or null, before [n]. OUT left [some][n].
  // OUT sums [4] of weight times what is left.
  void (*leave)(const double* x, std::size_t n, std::size_t d, const double* side,
                const double* weights, const double* before, std::size_t some, double* const* left,
                double* sums);
};

inline constexpr std::size_t kSide = 4;  // candidates side by side

const Loops& plain_loops();
const Loops& avx2_loops();
const Loops& loops_for(const char* path);

}  // namespace credo::lloyd
