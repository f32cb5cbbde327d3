#include "em/chance.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace credo::em {
namespace {

constexpr double kFew = 10;  // expected ones, below which a binomial is drawn by inversion
constexpr double kSingly = 8;  // rows that are drawn one by one

// ln k! less Stirling's formula.
double tail(double k) {
  static constexpr double kFirst[] = {
      0.0810614667953272, 0.0413406959554093, 0.0276779256849983, 0.0207906721037650,
      0.0166446911898212, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
      0.00925546218271273, 0.00833056343336287};
  if (k < 10) return kFirst[static_cast<int>(k)];
  const double next = k + 1, square = next * next;
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / next;
}

}  // namespace

double Chance::uniform() {
  if (used_ == 4) {
    words_ = random::bits(seed_, place_, block_++, purpose_);
    used_ = 0;
  }
  const std::uint64_t high = words_[used_], low = words_[used_ + 1];
  used_ += 2;
  return (static_cast<double>((high << 32 | low) >> 11) + 0.5) * 0x1p-53;
}

double Chance::normal() {
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

double Chance::binomial(double n, double p) {
  if (n <= 0 || p <= 0) return 0;
  if (p >= 1) return n;
  if (p > 0.5) return n - binomial(n, 1 - p);
  const double ratio = p / (1 - p);
  if (n * p < kFew) {
    for (;;) {
      double u = uniform(), mass = std::exp(n * std::log1p(-p));
      double k = 0;
      while (u > mass && k <= n) {
        u -= mass;
        ++k;
        mass *= ratio * (n - k + 1) / k;
      }
      if (k <= n) return k;
    }
  }
  const double spread = std::sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * spread;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p, middle = n * p + 0.5;
  const double quick = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spread;
  const double mode = std::floor((n + 1) * p);
  for (;;) {
    const double u = uniform() - 0.5, v = uniform(), away = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / away + b) * u + middle);
    if (away >= 0.07 && v <= quick) return k;
    if (k < 0 || k > n) continue;
    const double height = (mode + 0.5) * std::log((mode + 1) / (ratio * (n - mode + 1))) +
                          (n + 1) * std::log((n - mode + 1) / (n - k + 1)) +
                          (k + 0.5) * std::log(ratio * (n - k + 1) / (k + 1)) + tail(mode) +
                          tail(n - mode) - tail(k) - tail(n - k);
    if (std::log(v * alpha / (a / (away * away) + b)) <= height) return k;
  }
}

std::size_t Chance::state(const double* p, std::size_t states) {
  double u = uniform();
  std::size_t last = 0;
  for (std::size_t s = 0; s < states; ++s) {
    if (p[s] <= 0) continue;
    last = s;
    if (u < p[s]) return s;
    u -= p[s];
  }
  return last;
}

void Chance::multinomial(double weight, const double* p, std::size_t states, double* counts) {
  std::fill_n(counts, states, 0.0);
  double whole = std::floor(weight);
  const double rest = weight - whole;
  if (rest > 0) counts[state(p, states)] += rest;
  for (; whole > 0 && whole < kSingly; --whole) ++counts[state(p, states)];
  if (whole == 0) return;
  std::size_t last = states - 1;
  while (last > 0 && p[last] <= 0) --last;
  double share = 1;
  for (std::size_t s = 0; s < last && whole > 0; ++s) {
    const double k = binomial(whole, p[s] < share ? p[s] / share : 1);
    counts[s] += k;
    whole -= k;
    share -= p[s];
  }
  counts[last] += whole;
}

}  // namespace credo::em
