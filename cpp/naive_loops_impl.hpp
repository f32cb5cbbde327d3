// The loops themselves; the includer says for which instruction set. No standard containers here:
// an inline function compiled with AVX2 must not be the copy the linker keeps for all.
#include "four_doubles.hpp"

namespace credo::naive {
namespace {

typedef std::uint64_t FourCodes __attribute__((vector_size(32), aligned(8), may_alias));
typedef std::uint16_t FourShort __attribute__((vector_size(8), aligned(2), may_alias));

constexpr double kFarthest = 1e290;  // a squared distance stays finite, so that classes cancel

template <std::size_t N>
void score_rows(const ScoreTerms& t, const std::uint16_t* codes, const double* reals,
                std::size_t n, double* joint) {
  const Four farthest = {kFarthest, kFarthest, kFarthest, kFarthest};
  for (std::size_t r = 0; r < n; ++r, codes += t.n_codes, reals += t.real_stride) {
    Four sum[N];
    for (std::size_t k = 0; k < N; ++k) sum[k] = four(t.bias + 4 * k);
    for (std::size_t g = 0, m = 0; g < t.n_group; ++g) {
      std::uint32_t place = 0;
      for (; m < t.group_end[g]; ++m) place += codes[t.member[m]] * t.times[m];
      const double* row = t.tables + t.offset[g] + std::size_t{place} * (4 * N);
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
  for (std::size_t r = 0; r < n; ++r, codes += t.n_codes, reals += t.real_stride, joint += c) {
    for (std::size_t k = 0; k < c; ++k) joint[k] = t.bias[k];
    for (std::size_t g = 0, m = 0; g < t.n_group; ++g) {
      std::uint32_t place = 0;
      for (; m < t.group_end[g]; ++m) place += codes[t.member[m]] * t.times[m];
      const double* row = t.tables + t.offset[g] + std::size_t{place} * c;
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

bool any_infinite(const double* x, std::size_t n) {
  Four found = {0, 0, 0, 0};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {  // x - x is NaN for both; NaN is the one that differs from itself
    const Four v = four(x + i), none = {0, 0, 0, 0};
    found += v - v == none ? none : (v == v ? none + 1.0 : none);
  }
  bool any = found[0] + found[1] + found[2] + found[3] > 0;
  for (; i < n; ++i) any |= x[i] - x[i] != 0 && x[i] == x[i];
  return any;
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

// ln x for x >= 1: x = 2^k m with m in [0.7, 1.42], ln m = 2 (s + s^3/3 + ...), s = (m - 1)/(m + 1).
// Ten terms leave less than 1e-17 (s is at most 0.172).
inline Four four_logarithms(Four x) {
  constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
  const FourBits bits = (FourBits)x;
  const FourBits up = ((bits & 0xFFFFFFFFFFFFF) > 0x6A09E667F3BCC) & 1;  // above the root of 2
  const FourBits k = (bits >> 52) - 1023 + up;
  const Four m = (Four)(bits - (k << 52));
  const Four e = {double(k[0]), double(k[1]), double(k[2]), double(k[3])};
  const Four s = (m - 1.0) / (m + 1.0), z = s * s;
  Four p = {1.0 / 19, 1.0 / 19, 1.0 / 19, 1.0 / 19};
  p = p * z + 1.0 / 17;
  p = p * z + 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  return e * kLn2High + (e * kLn2Low + (2.0 * s + 2.0 * s * z * p));
}

void logarithms(double* x, std::size_t n) {
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) four(x + i) = four_logarithms(four(x + i));
  if (i < n) {
    double last[4] = {1, 1, 1, 1};
    for (std::size_t k = i; k < n; ++k) last[k - i] = x[k];
    four(last) = four_logarithms(four(last));
    for (std::size_t k = i; k < n; ++k) x[k] = last[k - i];
  }
}

void add_moments(const double* values, std::size_t stride, const std::uint32_t* group,
                 const double* weights, const double* centre, std::size_t n, std::size_t width,
                 std::size_t groups, double* weight, double* first, double* second) {
  const Four zero = {0, 0, 0, 0};
  for (std::size_t r = 0; r < n; ++r, values += stride) {
    if (group[r] >= groups) continue;
    const double w = weights == nullptr ? 1.0 : weights[r];
    const Four all = {w, w, w, w};
    const std::size_t at = group[r] * width;
    std::size_t j = 0;
    for (; j + 4 <= width; j += 4) {
      const Four x = four(values + j);
      const Four wj = x == x ? all : zero;
      const Four z = x == x ? x - four(centre + at + j) : zero;
      const Four wz = wj * z;
      four(weight + at + j) += wj;
      four(first + at + j) += wz;
      four(second + at + j) += wz * z;
    }
    for (; j < width; ++j) {
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

void window_codes(const WindowCodes& t, const std::int64_t* x, std::size_t stride, std::size_t n,
                  std::uint16_t* codes, std::uint64_t* strange) {
  const auto at = [](const auto* p) -> const FourCodes& {
    return *reinterpret_cast<const FourCodes*>(p);
  };
  for (std::size_t r = 0; r < n; ++r, x += stride, codes += t.width) {
    std::size_t j = 0;
    for (; j + 4 <= t.width; j += 4) {
      const FourCodes u = at(x + j) - at(t.low + j);
      const FourCodes inside = (FourCodes)(u < at(t.span + j));
      *reinterpret_cast<FourCodes*>(strange + j) |= ~inside;
      const FourCodes code =
          (inside & ((u & at(t.mask + j)) + at(t.one + j))) | (~inside & at(t.outside + j));
      *reinterpret_cast<FourShort*>(codes + j) = __builtin_convertvector(code, FourShort);
    }
    for (; j < t.width; ++j) {
      const std::uint64_t u =
          static_cast<std::uint64_t>(x[j]) - static_cast<std::uint64_t>(t.low[j]);
      const bool inside = u < t.span[j];
      strange[j] |= !inside;
      codes[j] = static_cast<std::uint16_t>(inside ? (u & t.mask[j]) + t.one[j] : t.outside[j]);
    }
  }
}

constexpr Loops kLoops = {score, exponentials, logarithms, add_moments, window_codes, any_infinite};

}  // namespace
}  // namespace credo::naive
