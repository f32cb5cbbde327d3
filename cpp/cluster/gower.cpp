#include "cluster/gower.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <utility>

#include "common/parallel.hpp"

namespace credo {

namespace {

constexpr std::size_t kStrip = 512;  // pairs whose sums stay in the first cache
constexpr std::size_t kMost = 255;   // columns that a byte can count
constexpr std::uint8_t kGone = 255;

// The rows of one side, with what pays if it is known before pairs are made: which columns have
// gaps, and states as bytes, sixteen of which are compared at once.
struct Side {
  explicit Side(const GowerRows& rows) : n(rows.n), reals(rows.reals) {
    for (const double* x : reals)
      gaps.push_back(std::any_of(x, x + n, [](double v) { return std::isnan(v); }));
    for (const std::int32_t* x : rows.codes) {
      wide.push_back(x);
      std::vector<std::uint8_t> bytes;
      if (std::all_of(x, x + n, [](std::int32_t v) { return v < kGone; })) {
        bytes.resize(n);
        for (std::size_t i = 0; i < n; ++i)
          bytes[i] = x[i] < 0 ? kGone : static_cast<std::uint8_t>(x[i]);
      }
      narrow.push_back(std::move(bytes));
      full.push_back(std::none_of(x, x + n, [](std::int32_t v) { return v < 0; }));
    }
  }
  std::size_t n;
  std::vector<const double*> reals;
  std::vector<bool> gaps;                         // of the columns of numbers
  std::vector<const std::int32_t*> wide;          // -1 is missing
  std::vector<std::vector<std::uint8_t>> narrow;  // empty where there are too many states
  std::vector<bool> full;                         // columns of states without a gap
};

// Row i of a against rows j .. j + count − 1 of b.
std::size_t strip(const Side& a, std::size_t i, const Side& b, std::size_t j, std::size_t count,
                  double apart, double* out) {
  std::array<std::int32_t, kStrip> seen, differ;
  std::array<std::uint8_t, kStrip> byte_seen, byte_differ;
  std::int32_t always = 0;  // columns that every row of b has
  std::fill_n(out, count, 0.0);
  std::fill_n(seen.begin(), count, 0);
  std::fill_n(differ.begin(), count, 0);
  for (std::size_t c = 0; c < a.reals.size(); ++c) {
    const double x = a.reals[c][i];
    if (std::isnan(x)) continue;
    const double* y = b.reals[c] + j;
    if (!b.gaps[c]) {
      for (std::size_t t = 0; t < count; ++t) out[t] += std::fabs(x - y[t]);
      ++always;
      continue;
    }
    for (std::size_t t = 0; t < count; ++t) {
      const double away = std::fabs(x - y[t]);
      const bool there = away == away;
      out[t] += there ? away : 0.0;
      seen[t] += there;
    }
  }
  for (std::size_t from = 0; from < a.wide.size(); from += kMost) {
    const std::size_t to = std::min(from + kMost, a.wide.size());
    std::fill_n(byte_seen.begin(), count, std::uint8_t{0});
    std::fill_n(byte_differ.begin(), count, std::uint8_t{0});
    for (std::size_t c = from; c < to; ++c) {
      const std::int32_t x = a.wide[c][i];
      if (x < 0) continue;
      if (b.full[c]) ++always;
      if (b.narrow[c].empty()) {
        const std::int32_t* y = b.wide[c] + j;
        for (std::size_t t = 0; t < count; ++t) {
          const bool there = y[t] >= 0;
          differ[t] += there & (y[t] != x);
          seen[t] += there & !b.full[c];
        }
        continue;
      }
      // a state that no row of b has is none of its bytes
      const std::uint8_t* y = b.narrow[c].data() + j;
      const std::uint8_t code = x < kGone ? static_cast<std::uint8_t>(x) : kGone;
      if (b.full[c]) {
        for (std::size_t t = 0; t < count; ++t)
          byte_differ[t] = static_cast<std::uint8_t>(byte_differ[t] + (y[t] != code));
        continue;
      }
      for (std::size_t t = 0; t < count; ++t) {
        const std::uint8_t there = y[t] != kGone, same = y[t] == code;
        byte_differ[t] = static_cast<std::uint8_t>(byte_differ[t] + (there & !same));
        byte_seen[t] = static_cast<std::uint8_t>(byte_seen[t] + there);
      }
    }
    for (std::size_t t = 0; t < count; ++t) {
      differ[t] += byte_differ[t];
      seen[t] += byte_seen[t];
    }
  }
  std::size_t lost = 0;
  for (std::size_t t = 0; t < count; ++t) {
    const std::int32_t shared = seen[t] + always;
    lost += shared == 0;
    out[t] = shared == 0 ? apart : (out[t] + differ[t]) / shared;
  }
  return lost;
}

std::size_t line(const Side& a, std::size_t i, const Side& b, std::size_t first, double apart,
                 double* out) {
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
  const Side side(rows);
  std::atomic<std::size_t> lost{0};
  parallel_for(n - 1, threads, [&](std::size_t i) {
    monitor.poll();
    const std::size_t at = i * n - i * (i + 1) / 2;  // pairs of the rows before
    lost += line(side, i, side, i + 1, apart, out + at);
  });
  return lost;
}

std::size_t gower_between(const GowerRows& a, const GowerRows& b, double apart, double* out,
                          int threads, Monitor& monitor) {
  const Side from(a), to(b);
  std::atomic<std::size_t> lost{0};
  parallel_for(a.n, threads, [&](std::size_t i) {
    monitor.poll();
    lost += line(from, i, to, 0, apart, out + i * b.n);
  });
  return lost;
}

}  // namespace credo
