#include "naive/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace credo::naive {
namespace {

std::uint64_t hash_of(std::string_view word) {
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15ull;
  std::uint64_t h = word.size() * kMix;
  const char* p = word.data();
  std::size_t left = word.size();
  for (; left >= 8; left -= 8, p += 8) {
    std::uint64_t x;
    std::memcpy(&x, p, 8);
    h = (h ^ x) * kMix;
    h ^= h >> 29;
  }
  std::uint64_t x = 0;
  std::memcpy(&x, p, left);
  h = (h ^ x) * kMix;
  return h ^ (h >> 32);
}

}  // namespace

std::int32_t Vocabulary::number(std::string_view word, bool learn) {
  const std::uint64_t h = hash_of(word);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = h & mask;
  for (; slots_[at] >= 0; at = (at + 1) & mask)
    if (hashes_[slots_[at]] == h && this->word(slots_[at]) == word) return slots_[at];
  if (!learn) return -1;
  const std::int32_t number = static_cast<std::int32_t>(size());
  slots_[at] = number;
  hashes_.push_back(h);
  letters_.insert(letters_.end(), word.begin(), word.end());
  begin_.push_back(letters_.size());
  if (2 * size() > slots_.size()) grow();
  return number;
}

void Vocabulary::grow() {
  slots_.assign(2 * slots_.size(), -1);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    std::size_t at = hashes_[i] & mask;
    while (slots_[at] >= 0) at = (at + 1) & mask;
    slots_[at] = static_cast<std::int32_t>(i);
  }
}

void text_table(TextForm form, const double* totals, const double* weight, std::size_t classes,
                std::size_t words, const double* l, double* table, double* bias) {
  constexpr std::size_t kBlock = 64;  // words at a time: their rows of the table stay in the cache
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const Loops& loops = loops_for_this_cpu();
  std::vector<double> all(words), sum(classes);
  for (std::size_t c = 0; c < classes; ++c) {
    const double* n = totals + c * words;
    for (std::size_t w = 0; w < words; ++w) all[w] += n[w];
  }
  for (std::size_t c = 0; c < classes; ++c) {
    const double* n = totals + c * words;
    if (form == TextForm::kMultinomial)
      sum[c] = std::accumulate(n, n + words, 0.0) + std::accumulate(l, l + words, 0.0);
    else
      for (std::size_t w = 0; w < words; ++w) sum[c] += all[w] + l[w] - n[w];
  }
  const auto logarithms = [&](double* x, std::size_t n) {  // 0 may be there without smoothing
    bool normal = true;
    for (std::size_t i = 0; i < n; ++i) normal &= x[i] >= std::numeric_limits<double>::min();
    if (normal) return loops.logarithms(x, n);
    for (std::size_t i = 0; i < n; ++i) x[i] = x[i] > 0 ? std::log(x[i]) : kNone;
  };
  std::vector<double> there(kBlock), gone(kBlock), total(kBlock);
  for (std::size_t first = 0; first < words; first += kBlock) {
    const std::size_t m = std::min(kBlock, words - first);
    for (std::size_t c = 0; c < classes; ++c) {
      const double* n = totals + c * words + first;
      const double *of_all = all.data() + first, *more = l + first;
      double* out = table + first * classes + c;
      if (form == TextForm::kMultinomial && sum[c] == 0) {  // nothing is known of the class
        for (std::size_t w = 0; w < m; ++w) out[w * classes] = -std::log(double(words));
        continue;
      }
      if (form == TextForm::kComplement)
        for (std::size_t w = 0; w < m; ++w) there[w] = of_all[w] + more[w] - n[w];
      else
        for (std::size_t w = 0; w < m; ++w) there[w] = n[w] + more[w];
      logarithms(there.data(), m);
      if (form == TextForm::kBernoulli) {
        for (std::size_t w = 0; w < m; ++w) {
          gone[w] = std::max(weight[c] - n[w] + more[w], more[w] / 2);
          total[w] = weight[c] + 2 * more[w];
        }
        logarithms(gone.data(), m);
        logarithms(total.data(), m);
        double part = 0;  // small numbers, a block at a time: a long sum of large ones loses digits
        for (std::size_t w = 0; w < m; ++w) {
          out[w * classes] = there[w] - gone[w];
          part += gone[w] - total[w];
        }
        bias[c] += part;
        continue;
      }
      const double log_sum = std::log(sum[c]), sign = form == TextForm::kComplement ? -1.0 : 1.0;
      for (std::size_t w = 0; w < m; ++w) out[w * classes] = sign * (there[w] - log_sum);
    }
  }
}

void log_kernel_density(const double* x, std::size_t n, const double* points,
                        const double* weights, std::size_t m, double h, double* density) {
  constexpr double kNegligible = 40;  // exp(-40) of the nearest kernel is below rounding
  double total = 0;
  for (std::size_t i = 0; i < m; ++i) total += weights[i];
  const double constant = -std::log(total) - std::log(h) - 0.91893853320467274178;
  for (std::size_t k = 0; k < n; ++k) {
    if (x[k] != x[k]) {
      density[k] = 0;
      continue;
    }
    const std::size_t right =
        static_cast<std::size_t>(std::lower_bound(points, points + m, x[k]) - points);
    double nearest = right < m ? points[right] - x[k] : HUGE_VAL;
    if (right > 0) nearest = std::min(nearest, x[k] - points[right - 1]);
    const double z = nearest / h;
    const double peak = std::min(0.5 * z * z, 1e290);
    double sum = 0;
    const auto add = [&](std::size_t i) {
      const double d = (points[i] - x[k]) / h;
      const double below = std::min(0.5 * d * d, 1e290) - peak;
      if (below > kNegligible) return false;
      sum += weights[i] * std::exp(-below);
      return true;
    };
    for (std::size_t i = right; i < m && add(i); ++i) {
    }
    for (std::size_t i = right; i > 0 && add(i - 1); --i) {
    }
    density[k] = constant - peak + std::log(sum);
  }
}

}  // namespace credo::naive
