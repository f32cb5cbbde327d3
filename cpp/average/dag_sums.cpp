#include "average/dag_sums.hpp"

#include <algorithm>
#include <cmath>

#include "average/double_double.hpp"
#include "common/constants.hpp"
#include "common/cpu.hpp"
#include "common/parallel.hpp"

namespace credo::average {
namespace {

constexpr double kLog2 = 0.693147180559945309417232121458;

// ln x as a number between 1 and 2 times a power of 2.
struct Scaled {
  Wide value;
  std::int32_t exponent = kNever;
};

Scaled scaled_of(double log) {
  if (!(log > kMinusInfinity)) return {};
  const double power = std::floor(log / kLog2);
  return {{std::exp(log - power * kLog2), 0}, static_cast<std::int32_t>(power)};
}

Scaled added(const Scaled& a, const Scaled& b) {
  if (a.exponent < b.exponent) return added(b, a);
  const std::int32_t shift = a.exponent - b.exponent;
  if (shift > 1000) return a;
  Wide sum = a.value + b.value * std::ldexp(1.0, -shift);
  std::int32_t exponent = a.exponent;
  if (sum.high >= 2) sum = sum * 0.5, ++exponent;
  return {sum, exponent};
}

double log_added(double a, double b) {
  if (a < b) std::swap(a, b);
  return b > kMinusInfinity ? a + std::log1p(std::exp(b - a)) : a;
}

}  // namespace

DagSums dag_sums(std::size_t n, const double* log_weights, double* shares, int threads,
                 Monitor& monitor) {
  const std::size_t half = std::size_t{1} << (n - 1), sets = 2 * half;
  BigArray<double> high(n * half), low(n * half);
  BigArray<std::int32_t> exponent(n * half);
  parallel_for(n, threads, [&](std::size_t j) {
    double *h = high.data() + j * half, *l = low.data() + j * half;
    std::int32_t* e = exponent.data() + j * half;
    for (std::size_t s = 0; s < half; ++s) {
      const Scaled x = scaled_of(log_weights[j * half + s]);
      h[s] = x.value.high, l[s] = x.value.low, e[s] = x.exponent;
    }
    for (std::size_t bit = 1; bit < half; bit <<= 1) {
      monitor.poll();
      for (std::size_t s = 0; s < half; ++s) {
        if ((s & bit) == 0 || e[s ^ bit] == kNever) continue;
        const Scaled x = added({{h[s], l[s]}, e[s]}, {{h[s ^ bit], l[s ^ bit]}, e[s ^ bit]});
        h[s] = x.value.high, l[s] = x.value.low, e[s] = x.exponent;
      }
    }
  }, &monitor);

  BigArray<std::int32_t> scale(sets);
  scale[0] = 0;
  for (std::size_t s = 1; s < sets; ++s) {
    std::int32_t most = kNever;
    for (std::size_t rest = s; rest != 0; rest &= rest - 1) {
      const auto j = static_cast<std::size_t>(__builtin_ctzll(rest));
      const std::size_t w = s & ~(std::size_t{1} << j);
      const std::int32_t e = exponent[j * half + without_place(w, j)];
      if (scale[w] > kNever && e > kNever) most = std::max(most, scale[w] + e);
    }
    scale[s] = most;
  }
  DagSums out;
  out.path.assign(n * n, 0.0);
  out.log_total = kMinusInfinity;
  if (scale[sets - 1] == kNever) return out;

  const sums::Tables tables{n, high.data(), low.data(), exponent.data(), scale.data()};
  const sums::Passes& passes =
      available_paths().front() == "plain" ? sums::plain_passes() : sums::avx2_passes();
  BigArray<double> total(2 * sets, Filled::kZeros), above(2 * sets, Filled::kZeros);
  total[0] = 1;
  for (std::size_t size = 0; size < n; ++size)
    parallel_for(sums::kParts, threads, [&](std::size_t part) {
      monitor.poll();
      passes.up(tables, size, part, total.data());
    }, &monitor);
  const double whole = total[2 * (sets - 1)];
  out.log_total = std::log(whole) + scale[sets - 1] * kLog2;

  std::vector<std::size_t> by_size(sets);
  for (std::size_t s = 0; s < sets; ++s) by_size[s] = s;
  std::stable_sort(by_size.begin(), by_size.end(), [](std::size_t a, std::size_t b) {
    return __builtin_popcountll(a) > __builtin_popcountll(b);
  });
  BigArray<double> shares_of(n * half, Filled::kZeros);
  for (std::size_t begin = 0; begin < sets;) {
    std::size_t end = begin;
    const int size = __builtin_popcountll(by_size[begin]);
    while (end < sets && __builtin_popcountll(by_size[end]) == size) ++end;
    constexpr std::size_t kBlock = 64;
    parallel_for((end - begin + kBlock - 1) / kBlock, threads, [&](std::size_t block) {
      monitor.poll();
      for (std::size_t i = begin + block * kBlock; i < std::min(end, begin + (block + 1) * kBlock);
           ++i) {
        const std::size_t set = by_size[i];
        double of[kMostVariables] = {};
        if (scale[set] > kNever) passes.down(tables, set, total.data(), above.data(), of);
        for (std::size_t j = 0; j < n; ++j)
          if ((set >> j & 1) == 0) shares_of[j * half + without_place(set, j)] = of[j] / whole;
      }
    }, &monitor);
    begin = end;
  }

  std::vector<double> errors(n, 0.0);
  parallel_for(n, threads, [&](std::size_t j) {
    double* e = shares_of.data() + j * half;
    double* p = shares + j * half;
    double sum = 0;
    for (std::size_t s = 0; s < half; ++s) {
      sum += e[s];
      for (std::size_t u = 0, at = 0; u < n; ++u) {
        if (u == j) continue;
        if ((s >> at++ & 1) == 0) out.path[j * n + u] += e[s];
      }
      const std::size_t place = j * half + s;
      p[s] = e[s] > 0 && exponent[place] > kNever
                 ? std::log(e[s]) - std::log(high[place]) - exponent[place] * kLog2
                 : kMinusInfinity;
    }
    errors[j] = std::fabs(sum - 1);
    for (std::size_t bit = 1; bit < half; bit <<= 1) {
      monitor.poll();
      for (std::size_t s = 0; s < half; ++s)
        if ((s & bit) == 0) p[s] = log_added(p[s], p[s | bit]);
    }
    for (std::size_t s = 0; s < half; ++s)
      p[s] = std::min(1.0, std::exp(p[s] + log_weights[j * half + s]));
  }, &monitor);
  out.error = *std::max_element(errors.begin(), errors.end());
  for (double& p : out.path) p = std::clamp(p, 0.0, 1.0);
  return out;
}

}  // namespace credo::average
