#include "average/family_lists.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/constants.hpp"

namespace credo::average {
namespace {

// All sets of k of m things, by their number: the sum of C(c_i, i + 1) over its things c_0 < c_1 ...
class Combinations {
 public:
  explicit Combinations(std::size_t m, std::size_t most) : choose_((m + 1) * (most + 2), 0) {
    width_ = most + 2;
    for (std::size_t a = 0; a <= m; ++a) {
      choose_[a * width_] = 1;
      for (std::size_t k = 1; k < width_ && a > 0; ++k)
        choose_[a * width_ + k] = choose_[(a - 1) * width_ + k - 1] + choose_[(a - 1) * width_ + k];
    }
  }
  std::size_t count(std::size_t m, std::size_t k) const { return choose_[m * width_ + k]; }
  // The number of a set without its thing `left`; with it if that is none of its.
  std::size_t number(const std::vector<std::size_t>& set, std::size_t left) const {
    std::size_t at = 0, i = 0;
    for (std::size_t k = 0; k < set.size(); ++k)
      if (k != left) at += choose_[set[k] * width_ + ++i];
    return at;
  }
  static bool next(std::vector<std::size_t>& set, std::size_t m) {  // in the order of the numbers
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (set[i] + 1 < (i + 1 < set.size() ? set[i + 1] : m)) {
        ++set[i];
        for (std::size_t k = 0; k < i; ++k) set[k] = k;
        return true;
      }
    }
    return false;
  }

 private:
  std::size_t width_;
  std::vector<std::size_t> choose_;
};

struct Best {
  double score;
  std::size_t place;  // in the list of its child
};

}  // namespace

FamilyLists list_families(score::FamilyScores& scores, const search::Rules& rules,
                          const std::vector<double>& by_size, double gap,
                          const search::Report& report) {
  FamilyLists out;
  constexpr std::size_t kBatch = 1 << 14;
  for (std::size_t child = 0; child < rules.n; ++child) {
    std::vector<std::int32_t> must, may;
    for (std::size_t p = 0; p < rules.n; ++p) {
      if (rules.must(child, p)) must.push_back(static_cast<std::int32_t>(p));
      else if (rules.may(child, p)) may.push_back(static_cast<std::int32_t>(p));
    }
    const std::size_t more =
        std::min(may.size(), static_cast<std::size_t>(rules.most[child]) - must.size());
    const Combinations sets(may.size(), more);
    FamilyList list;
    std::vector<double> lost;          // by what was preferred to the sets left out
    std::vector<Best> before, now;     // the best subset of each set of one size
    score::Families batch;
    std::vector<double> values;
    for (std::size_t k = 0; k <= more; ++k) {
      now.assign(sets.count(may.size(), k), {});
      std::vector<std::size_t> set(k);
      std::iota(set.begin(), set.end(), std::size_t{0});
      std::size_t number = 0;
      for (bool going = true; going;) {
        batch.clear();
        const std::size_t first = number;
        const std::vector<std::size_t> begin = set;
        for (; going && batch.size() < kBatch; ++number) {
          std::vector<std::int32_t> parents = must;
          for (const std::size_t s : set) parents.push_back(may[s]);
          std::sort(parents.begin(), parents.end());
          batch.add(static_cast<std::int32_t>(child), parents);
          going = Combinations::next(set, may.size());
        }
        values.resize(batch.size());
        scores.score(batch, values.data());
        out.scored += static_cast<std::int64_t>(batch.size());
        if (scores.stopped() || !report(0, out.scored, 0)) {
          out.stopped = true;
          return out;
        }
        std::vector<std::size_t> one = begin;
        for (std::size_t i = 0; i < batch.size(); ++i, Combinations::next(one, may.size())) {
          const double s = values[i] + by_size[k + must.size()];
          Best best{kMinusInfinity, 0};
          for (std::size_t left = 0; left < k; ++left) {
            const Best& with = before[sets.number(one, left)];
            if (with.score > best.score) best = with;
          }
          if (s > kMinusInfinity && s >= best.score - gap) {
            const std::size_t from = batch.parents.begin[i], to = batch.parents.begin[i + 1];
            list.sets.emplace_back(batch.parents.variables.begin() + static_cast<std::ptrdiff_t>(from),
                                   batch.parents.variables.begin() + static_cast<std::ptrdiff_t>(to));
            list.scores.push_back(s);
            lost.push_back(0);
            if (s > best.score) best = {s, list.scores.size() - 1};
          } else if (s > kMinusInfinity) {
            lost[best.place] += std::exp(s - best.score);
          }
          now[first + i] = best;
        }
      }
      std::swap(before, now);
    }
    for (const double l : lost) list.outside = std::max(list.outside, l);
    std::vector<std::size_t> order(list.scores.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return list.scores[a] > list.scores[b]; });
    FamilyList sorted;
    sorted.outside = list.outside;
    for (const std::size_t i : order) {
      sorted.sets.push_back(std::move(list.sets[i]));
      sorted.scores.push_back(list.scores[i]);
    }
    out.of.push_back(std::move(sorted));
  }
  return out;
}

}  // namespace credo::average
