#include "gower.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "parallel.hpp"

namespace credo {

namespace {

constexpr std::size_t kStrip = 512;  // pairs whose sums stay in the first cache

// Row i of a against rows j .. j + count − 1 of b.
std::size_t strip(const GowerRows& a, std::size_t i, const GowerRows& b, std::size_t j,
                  std::size_t count, double apart, double* out) {
  std::array<double, kStrip> seen;
  std::fill_n(out, count, 0.0);
  std::fill_n(seen.begin(), count, 0.0);
  for (std::size_t c = 0; c < a.reals.size(); ++c) {
    const double x = a.reals[c][i];
    if (std::isnan(x)) continue;
    const double* y = b.reals[c] + j;
    for (std::size_t t = 0; t < count; ++t) {
      const double away = std::fabs(x - y[t]);
      const bool there = away == away;
      out[t] += there ? away : 0.0;
      seen[t] += there ? 1.0 : 0.0;
    }
  }
  for (std::size_t c = 0; c < a.codes.size(); ++c) {
    const std::int32_t x = a.codes[c][i];
    if (x < 0) continue;
    const std::int32_t* y = b.codes[c] + j;
    for (std::size_t t = 0; t < count; ++t) {
      const bool there = y[t] >= 0;
      out[t] += (there && y[t] != x) ? 1.0 : 0.0;
      seen[t] += there ? 1.0 : 0.0;
    }
  }
  std::size_t lost = 0;
  for (std::size_t t = 0; t < count; ++t) {
    if (seen[t] > 0) {
      out[t] /= seen[t];
    } else {
      out[t] = apart;
      ++lost;
    }
  }
  return lost;
}

std::size_t line(const GowerRows& a, std::size_t i, const GowerRows& b, std::size_t first,
                 double apart, double* out) {
  std::size_t lost = 0;
  for (std::size_t j = first; j < b.n; j += kStrip)
    lost += strip(a, i, b, j, std::min(kStrip, b.n - j), apart, out + (j - first));
  return lost;
}

}  // namespace

std::size_t gower_pairs(const GowerRows& rows, double apart, double* out, int threads,
                        Monitor& monitor) {
  const std::size_t n = rows.n;
  if (n < 2) return 0;
  std::atomic<std::size_t> lost{0};
  parallel_for(n - 1, threads, [&](std::size_t i) {
    monitor.poll();
    const std::size_t at = i * n - i * (i + 1) / 2;  // pairs of the rows before
    lost += line(rows, i, rows, i + 1, apart, out + at);
  });
  return lost;
}

std::size_t gower_between(const GowerRows& a, const GowerRows& b, double apart, double* out,
                          int threads, Monitor& monitor) {
  std::atomic<std::size_t> lost{0};
  parallel_for(a.n, threads, [&](std::size_t i) {
    monitor.poll();
    lost += line(a, i, b, 0, apart, out + i * b.n);
  });
  return lost;
}

}  // namespace credo
