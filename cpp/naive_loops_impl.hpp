// The loops themselves; the includer says for which instruction set. No standard containers here:
// an inline function compiled with AVX2 must not be the copy the linker keeps for all.
#include "four_doubles.hpp"

namespace credo::naive {
namespace {

constexpr double kFarthest = 1e290;  // a squared distance stays finite, so that classes cancel

template <std::size_t N>
void score_rows(const ScoreTerms& t, const std::uint16_t* codes, const double* reals,
                std::size_t n, double* joint) {
  const Four farthest = {kFarthest, kFarthest, kFarthest, kFarthest};
  for (std::size_t r = 0; r < n; ++r, codes += t.n_codes, reals += t.n_real) {
    Four sum[N];
    for (std::size_t k = 0; k < N; ++k) sum[k] = four(t.bias + 4 * k);
    for (std::size_t j = 0; j < t.n_single; ++j) {
      const double* row = t.tables + t.offset[j] + std::size_t{codes[t.single[j]]} * (4 * N);
      for (std::size_t k = 0; k < N; ++k) sum[k] += four(row + 4 * k);
    }
    for (std::size_t j = 0; j < t.n_pair; ++j) {
      const std::size_t at =
          std::size_t{codes[t.pair_a[j]]} * t.pair_rows[j] + codes[t.pair_b[j]];
      const double* row = t.tables + t.pair_offset[j] + at * (4 * N);
      for (std::size_t k = 0; k < N; ++k) sum[k] += four(row + 4 * k);
    }
    for (std::size_t j = 0; j < t.n_real; ++j) {
      const double x = reals[j];
      if (x != x) continue;
      for (std::size_t k = 0; k < N; ++k) {
        const std::size_t at = j * (4 * N) + 4 * k;
        const Four z = x - four(t.centre + at);
        const Four far = z * z * four(t.half + at);
        sum[k] += four(t.constant + at) - (far < farthest ? far : farthest);
      }
    }
    for (std::size_t k = 0; k < N; ++k) four(joint + (r * N + k) * 4) = sum[k];
  }
}

// Any number of classes, four at a time.
void score_wide(const ScoreTerms& t, const std::uint16_t* codes, const double* reals,
                std::size_t n, double* joint) {
  const std::size_t c = t.classes;
  for (std::size_t r = 0; r < n; ++r, codes += t.n_codes, reals += t.n_real, joint += c) {
    for (std::size_t k = 0; k < c; ++k) joint[k] = t.bias[k];
    for (std::size_t j = 0; j < t.n_single; ++j) {
      const double* row = t.tables + t.offset[j] + std::size_t{codes[t.single[j]]} * c;
      for (std::size_t k = 0; k < c; ++k) joint[k] += row[k];
    }
    for (std::size_t j = 0; j < t.n_pair; ++j) {
      const std::size_t at =
          std::size_t{codes[t.pair_a[j]]} * t.pair_rows[j] + codes[t.pair_b[j]];
      const double* row = t.tables + t.pair_offset[j] + at * c;
      for (std::size_t k = 0; k < c; ++k) joint[k] += row[k];
    }
    for (std::size_t j = 0; j < t.n_real; ++j) {
      const double x = reals[j];
      if (x != x) continue;
      for (std::size_t k = 0; k < c; ++k) {
        const double z = x - t.centre[j * c + k];
        const double far = z * z * t.half[j * c + k];
        joint[k] += t.constant[j * c + k] - (far < kFarthest ? far : kFarthest);
      }
    }
  }
}

void score(const ScoreTerms& t, const std::uint16_t* codes, const double* reals, std::size_t n,
           double* joint) {
  switch (t.classes / kClassUnit) {
    case 1: return score_rows<1>(t, codes, reals, n, joint);
    case 2: return score_rows<2>(t, codes, reals, n, joint);
    case 3: return score_rows<3>(t, codes, reals, n, joint);
    case 4: return score_rows<4>(t, codes, reals, n, joint);
    default: return score_wide(t, codes, reals, n, joint);
  }
}

void exponentials(double* x, std::size_t n) {
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) four(x + i) = four_exponentials(four(x + i));
  if (i < n) {
    double last[4] = {0, 0, 0, 0};
    for (std::size_t k = i; k < n; ++k) last[k - i] = x[k];
    four(last) = four_exponentials(four(last));
    for (std::size_t k = i; k < n; ++k) x[k] = last[k - i];
  }
}

void add_moments(const double* values, const std::uint32_t* group, const double* weights,
                 const double* centre, std::size_t n, std::size_t width, std::size_t groups,
                 double* weight, double* first, double* second) {
  for (std::size_t r = 0; r < n; ++r, values += width) {
    if (group[r] >= groups) continue;
    const double w = weights == nullptr ? 1.0 : weights[r];
    const std::size_t at = group[r] * width;
    for (std::size_t j = 0; j < width; ++j) {
      const double x = values[j];
      const bool there = x == x;
      const double wj = there ? w : 0.0;
      const double z = there ? x - centre[at + j] : 0.0;
      weight[at + j] += wj;
      first[at + j] += wj * z;
      second[at + j] += wj * z * z;
    }
  }
}

constexpr Loops kLoops = {score, exponentials, add_moments};

}  // namespace
}  // namespace credo::naive
