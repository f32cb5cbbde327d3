// Joints become logarithms of shares, shares or the best class, for one instruction set; included by
// loops_impl.hpp only.
#include "common/four_doubles.hpp"

namespace credo::naive {
namespace {

// ln x for x > 0: x = 2^k m with m in [0.7, 1.42], ln m = 2 (s + s^3/3 + ...), s = (m - 1)/(m + 1).
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

// Four rows at a time, a class after the other.
template <bool kLogarithms>
std::int64_t normalise_rows(const double* joint, std::size_t n, std::size_t stride,
                            std::size_t classes, double* answers) {
  constexpr std::size_t kHeld = 16;
  constexpr double kInfinity = __builtin_inf();
  for (std::size_t first = 0; first < n; first += 4) {
    const std::size_t rows = n - first < 4 ? n - first : 4;
    const double* s[4];
    double* out[4];
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t r = first + (i < rows ? i : 0);
      s[i] = joint + r * stride;
      out[i] = answers + r * classes;
    }
    const auto column = [&](std::size_t c) { return Four{s[0][c], s[1][c], s[2][c], s[3][c]}; };
    const auto put = [&](std::size_t c, Four v) {
      for (std::size_t i = 0; i < rows; ++i) out[i][c] = v[i];
    };
    Four held[kHeld];  // of the first classes; the others are read again
    Four top = column(0);
    for (std::size_t c = 0; c < classes; ++c) {
      const Four v = column(c);
      if (c < kHeld) held[c] = v;
      top = v > top ? v : top;
    }
    for (std::size_t i = 0; i < rows; ++i)
      if (top[i] == -kInfinity) return static_cast<std::int64_t>(first + i);
    Four total = {0, 0, 0, 0};
    for (std::size_t c = 0; c < classes; ++c) {
      const Four away = (c < kHeld ? held[c] : column(c)) - top;
      const Four e = four_exponentials(away);
      total += e;
      if (c < kHeld) held[c] = kLogarithms ? away : e;
      else put(c, kLogarithms ? away : e);
    }
    const Four last = kLogarithms ? four_logarithms(total) : 1.0 / total;
    for (std::size_t c = 0; c < classes; ++c) {
      Four v;
      if (c < kHeld) v = held[c];
      else for (std::size_t i = 0; i < 4; ++i) v[i] = out[i][c];
      put(c, kLogarithms ? v - last : v * last);
    }
  }
  return -1;
}

std::int64_t normalise(const double* joint, std::size_t n, std::size_t stride, std::size_t classes,
                       bool logarithms, double* answers) {
  return logarithms ? normalise_rows<true>(joint, n, stride, classes, answers)
                    : normalise_rows<false>(joint, n, stride, classes, answers);
}

std::int64_t best(const double* joint, std::size_t n, std::size_t stride, std::size_t classes,
                  std::int64_t* best) {
  constexpr double kLeast = -__builtin_inf();
  std::int64_t impossible = -1;
  for (std::size_t first = 0; classes < 12 && first < n; first += 4) {  // four rows at a time
    const std::size_t rows = n - first < 4 ? n - first : 4;
    const double* s[4];
    for (std::size_t i = 0; i < 4; ++i) s[i] = joint + (first + (i < rows ? i : 0)) * stride;
    Four top = {s[0][0], s[1][0], s[2][0], s[3][0]};
    FourBits at = {0, 0, 0, 0};
    for (std::size_t c = 1; c < classes; ++c) {
      const Four v = {s[0][c], s[1][c], s[2][c], s[3][c]};
      const auto place = static_cast<std::int64_t>(c);
      at = v > top ? FourBits{place, place, place, place} : at;
      top = v > top ? v : top;
    }
    for (std::size_t i = 0; i < rows; ++i) best[first + i] = at[i];
    for (std::size_t i = 0; i < rows && impossible < 0; ++i)
      if (top[i] == kLeast) impossible = static_cast<std::int64_t>(first + i);
  }
  for (std::size_t r = 0; classes >= 12 && r < n; ++r, joint += stride) {
    Four most = four(joint);
    std::size_t c = 4, at = 0;
    for (; c + 4 <= classes; c += 4) most = four(joint + c) > most ? four(joint + c) : most;
    double top = most[0];
    for (std::size_t i = 1; i < 4; ++i) top = most[i] > top ? most[i] : top;
    for (; c < classes; ++c) top = joint[c] > top ? joint[c] : top;
    while (at + 1 < classes && joint[at] != top) ++at;
    if (top == kLeast && impossible < 0) impossible = static_cast<std::int64_t>(r);
    best[r] = static_cast<std::int64_t>(at);
  }
  return impossible;
}

}  // namespace
}  // namespace credo::naive
