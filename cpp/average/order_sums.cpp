#include "average/order_sums.hpp"

#include <algorithm>
#include <cmath>

#include "average/dag_sums.hpp"
#include "common/constants.hpp"
#include "common/memory.hpp"
#include "common/parallel.hpp"

namespace credo::average {
namespace {

constexpr double kTooLittle = -40;  // nats
constexpr std::size_t kPoll = (std::size_t{1} << 16) - 1;

double log_added(double a, double b) {
  if (a < b) std::swap(a, b);
  const double below = b - a;
  return below > kTooLittle ? a + std::log1p(std::exp(below)) : a;
}

// ln of the sum of exp of some numbers.
struct Terms {
  double of[kMostOrdered];
  std::size_t count = 0;

  void add(double x) {
    if (x > kMinusInfinity) of[count++] = x;
  }
  double sum() const {
    if (count == 0) return kMinusInfinity;
    const double most = *std::max_element(of, of + count);
    double total = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (of[i] - most > kTooLittle) total += std::exp(of[i] - most);
    return most + std::log(total);
  }
};

// Sums over subsets (or, with `up`, over supersets) in place.
void summed(double* x, std::size_t size, bool up, Monitor& monitor) {
  for (std::size_t bit = 1; bit < size; bit <<= 1) {
    monitor.poll();
    for (std::size_t base = 0; base < size; base += 2 * bit)
      for (std::size_t s = base; s < base + bit; ++s) {
        double &into = up ? x[s] : x[s | bit], from = up ? x[s | bit] : x[s];
        if (from > kMinusInfinity) into = log_added(into, from);
      }
  }
}

std::size_t place_of(const std::vector<std::int32_t>& set, std::size_t child) {
  std::size_t mask = 0;
  for (const std::int32_t p : set) mask |= std::size_t{1} << p;
  return without_place(mask, child);
}

template <class F>
void each(std::size_t set, F&& f) {
  for (; set != 0; set &= set - 1) f(static_cast<std::size_t>(__builtin_ctzll(set)));
}

}  // namespace

OrderSums order_sums(const std::vector<FamilyList>& lists, std::size_t draws, std::uint64_t seed,
                     int threads, Monitor& monitor) {
  const std::size_t n = lists.size(), half = std::size_t{1} << (n - 1), all = 2 * half - 1;
  BigArray<double> within(n * half, kMinusInfinity);  // ln A_j(W), less the best score of j
  parallel_for(n, threads, [&](std::size_t j) {
    double* own = within.data() + j * half;
    for (std::size_t i = 0; i < lists[j].sets.size(); ++i)
      own[place_of(lists[j].sets[i], j)] = lists[j].scores[i] - lists[j].scores[0];
    summed(own, half, false, monitor);
  }, &monitor);
  const auto a = [&](std::size_t j, std::size_t set) {
    return within[j * half + without_place(set, j)];
  };

  BigArray<double> first(all + 1), last(all + 1);
  first[0] = last[all] = 0;
  for (std::size_t s = 1; s <= all; ++s) {
    if ((s & kPoll) == 0) monitor.poll();
    Terms terms;
    each(s, [&](std::size_t j) {
      const std::size_t w = s & ~(std::size_t{1} << j);
      terms.add(first[w] + a(j, w));
    });
    first[s] = terms.sum();
  }
  OrderSums out;
  out.log_total = first[all];
  out.share.resize(n);
  for (std::size_t j = 0; j < n; ++j) out.share[j].assign(lists[j].sets.size(), 0.0);
  if (!(out.log_total > kMinusInfinity)) return out;
  for (std::size_t s = all; s-- > 0;) {
    if ((s & kPoll) == 0) monitor.poll();
    Terms terms;
    each(all & ~s, [&](std::size_t j) { terms.add(a(j, s) + last[s | std::size_t{1} << j]); });
    last[s] = terms.sum();
  }

  search::Random random(seed);
  out.before.resize(draws * n);
  for (std::size_t d = 0; d < draws; ++d) {
    for (std::size_t s = all; s != 0;) {  // which of them is last
      double u = random.unit();
      std::size_t chosen = 0;
      bool found = false;
      each(s, [&](std::size_t j) {
        const std::size_t w = s & ~(std::size_t{1} << j);
        const double p = std::exp(first[w] + a(j, w) - first[s]);
        if (found || !(p > 0)) return;
        chosen = j;
        found = (u -= p) < 0;
      });
      s &= ~(std::size_t{1} << chosen);
      out.before[d * n + chosen] = static_cast<std::uint32_t>(s);
    }
  }

  std::vector<double> errors(n);
  parallel_for(n, threads, [&](std::size_t j) {
    double* own = within.data() + j * half;
    const std::size_t below = (std::size_t{1} << j) - 1;
    double sum = 0;
    for (std::size_t i = 0; i < half; ++i) {
      const std::size_t w = (i & below) | ((i & ~below) << 1);
      const double outside = first[w] + last[w | std::size_t{1} << j] - out.log_total;
      sum += std::exp(outside + own[i]);
      own[i] = outside;
    }
    errors[j] = std::fabs(sum - 1);
    summed(own, half, true, monitor);
    for (std::size_t i = 0; i < lists[j].sets.size(); ++i)
      out.share[j][i] = std::min(
          1.0, std::exp(lists[j].scores[i] - lists[j].scores[0] + own[place_of(lists[j].sets[i], j)]));
  }, &monitor);
  out.error = *std::max_element(errors.begin(), errors.end());
  for (const FamilyList& list : lists)
    if (!list.scores.empty()) out.log_total += list.scores[0];
  return out;
}

}  // namespace credo::average
