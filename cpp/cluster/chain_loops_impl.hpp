// The loops themselves; the includer says for which instruction set. No sum is fused or reordered,
// so that every set gives the same digits, and those of SciPy's distances.
#pragma once

#include "cluster/chain_loops.hpp"
#include "common/four_doubles.hpp"

namespace credo::chain {
namespace {

// OUT sums [kStep] of the squares between a point and those from `at` on.
inline void squares(const double* columns, std::size_t stride, std::size_t d, std::size_t at,
                    const double* point, double* sums) {
  for (std::size_t s = 0; s < kStep; ++s) sums[s] = 0;
  for (std::size_t j = 0; j < d; ++j) {
    const double* column = columns + j * stride + at;
    const double x = point[j];
    for (std::size_t s = 0; s < kStep; ++s) {
      const double away = x - column[s];
      sums[s] += away * away;
    }
  }
}

void distances(const double* columns, std::size_t stride, std::size_t d, std::size_t width,
               const double* point, double* row) {
  for (std::size_t i = 0; i < width; i += kStep) {
    double sums[kStep];
    squares(columns, stride, d, i, point, sums);
    for (std::size_t s = 0; s < kStep; ++s) row[i + s] = __builtin_sqrt(sums[s]);
  }
}

void costs(const double* columns, std::size_t stride, std::size_t d, std::size_t width,
           const double* sizes, const double* point, double size, double* row) {
  for (std::size_t i = 0; i < width; i += kStep) {
    double sums[kStep];
    squares(columns, stride, d, i, point, sums);
    for (std::size_t s = 0; s < kStep; ++s)
      row[i + s] = sums[s] * (size * sizes[i + s] / (size + sizes[i + s]));
  }
}

std::size_t least(const double* row, std::size_t width) {
  constexpr int kSide = 4;  // fours that are compared side by side
  Four low[kSide], place[kSide], where[kSide];
  for (int s = 0; s < kSide; ++s) {
    const double at = 4.0 * s;
    low[s] = Four{} + __builtin_inf();
    place[s] = Four{};
    where[s] = Four{at, at + 1, at + 2, at + 3};
  }
  for (std::size_t i = 0; i < width; i += 4 * kSide)
    for (int s = 0; s < kSide; ++s) {
      const Four here = four(row + i + 4 * s);
      const auto less = here < low[s];
      low[s] = less ? here : low[s];
      place[s] = less ? where[s] : place[s];
      where[s] += 4.0 * kSide;
    }
  double best = low[0][0], at = place[0][0];
  for (int s = 0; s < kSide; ++s)
    for (int lane = 0; lane < 4; ++lane)
      if (low[s][lane] < best || (low[s][lane] == best && place[s][lane] < at))
        best = low[s][lane], at = place[s][lane];
  return static_cast<std::size_t>(at);
}

void greater(const double* a, double* b, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) b[i] = a[i] > b[i] ? a[i] : b[i];
}

void mean(const double* a, double s, double* b, double t, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) b[i] = s * a[i] + t * b[i];
}

constexpr Loops kLoops = {distances, costs, least, greater, mean};

}  // namespace
}  // namespace credo::chain
