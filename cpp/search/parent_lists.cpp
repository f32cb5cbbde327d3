#include "search/parent_lists.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/constants.hpp"

namespace credo::search {
namespace {

using score::Families;


}  // namespace

std::uint64_t ParentList::mask_of(std::span<const std::int32_t> parents, bool& fits) const {
  std::uint64_t mask = 0;
  fits = true;
  for (const std::int32_t p : parents) {
    const int bit = bit_of[static_cast<std::size_t>(p)];
    if (bit < 0) fits = false;
    else mask |= std::uint64_t{1} << bit;
  }
  return mask;
}

std::vector<std::int32_t> ParentList::parents_of(std::uint64_t mask) const {
  std::vector<std::int32_t> out;
  for (; mask != 0; mask &= mask - 1)
    out.push_back(candidates[static_cast<std::size_t>(__builtin_ctzll(mask))]);
  std::sort(out.begin(), out.end());
  return out;
}

ParentLists::ParentLists(score::FamilyScores& scores, const Rules& rules)
    : scores_(scores), rules_(rules), lists_(rules.n), known_(rules.n) {}

// The variables that may be parents of the child, by their score beside some parents, best first.
std::vector<std::int32_t> ParentLists::ranked(std::size_t child, std::span<const std::int32_t> may,
                                              std::span<const std::int32_t> beside) {
  Families asked;
  std::vector<std::int32_t> left;
  for (const std::int32_t p : may) {
    if (std::find(beside.begin(), beside.end(), p) != beside.end()) continue;
    asked.add(static_cast<std::int32_t>(child), beside, p);
    left.push_back(p);
  }
  std::vector<double> found(asked.size());
  if (asked.size() != 0) scores_.score(asked, found.data());
  std::vector<std::size_t> order(left.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return found[a] > found[b]; });
  std::vector<std::int32_t> out;
  for (const std::size_t i : order) out.push_back(left[i]);
  return out;
}

// The best by themselves; in a wide table, for half of the places, the best beside the best one
// and beside the best two, since some parents tell nothing alone.
std::vector<std::int32_t> ParentLists::screened(std::size_t child,
                                                std::span<const std::int32_t> may,
                                                std::size_t most) {
  std::vector<std::int32_t> out;
  const auto take = [&](std::span<const std::int32_t> from, std::size_t until) {
    for (const std::int32_t p : from)
      if (out.size() < until && std::find(out.begin(), out.end(), p) == out.end())
        out.push_back(p);
  };
  for (const std::int32_t p : may)
    if (rules_.must(child, static_cast<std::size_t>(p))) out.push_back(p);
  const auto alone = ranked(child, may, {});
  const bool wide = may.size() > kMostCandidates;
  take(alone, wide ? std::max(out.size(), most / 2) : most);
  if (wide) {
    std::vector<std::int32_t> beside;
    std::vector<std::int32_t> next = alone;
    for (const std::size_t until : {most - most / 4, most}) {
      beside.push_back(next[0]);
      if (beside.size() >= static_cast<std::size_t>(rules_.most[child])) break;
      next = ranked(child, may, beside);
      take(next, until);
    }
    take(alone, most);
  }
  std::sort(out.begin(), out.end());
  return out;
}

void ParentLists::choose_candidates(std::size_t most) {
  const std::size_t n = rules_.n;
  most = std::min(most, kMostCandidates);
  complete_ = true;
  for (std::size_t c = 0; c < n; ++c) {
    ParentList& list = lists_[c];
    list.candidates.clear();
    const bool alone = scores_.idle(static_cast<std::int32_t>(c));
    for (std::size_t p = 0; p < n; ++p) {
      const auto parent = static_cast<std::int32_t>(p);
      if (p == c || !rules_.may(c, p)) continue;
      if (rules_.must(c, p) || !(alone || scores_.idle(parent))) list.candidates.push_back(parent);
    }
    if (list.candidates.size() > most) {
      complete_ = false;
      list.candidates = screened(c, list.candidates, most);
    }
    number(c);
  }
}

// Each candidate its bit.
void ParentLists::number(std::size_t child) {
  ParentList& list = lists_[child];
  list.bit_of.assign(rules_.n, -1);
  list.required = 0;
  for (std::size_t b = 0; b < list.candidates.size(); ++b) {
    const auto p = static_cast<std::size_t>(list.candidates[b]);
    list.bit_of[p] = static_cast<std::int8_t>(b);
    if (rules_.must(child, p)) list.required |= std::uint64_t{1} << b;
  }
}

double ParentLists::best_subset(std::size_t child, std::uint64_t mask) const {
  double best = kMinusInfinity;
  for_each_bit(mask & ~lists_[child].required, [&](std::uint64_t bit) {
    const auto found = known_[child].find(mask & ~bit);
    if (found != known_[child].end()) best = std::max(best, found->second.best);
  });
  return best;
}

// What a set or a superset of it may score at most: its own bound, or that of a set below it where
// its own needs counts that were not made.
double ParentLists::reaches(std::size_t child, std::uint64_t mask) const {
  const auto bound = [&](std::uint64_t of) {
    return scores_.bound(static_cast<std::int32_t>(child), lists_[child].parents_of(of));
  };
  double least = bound(mask);
  if (!std::isinf(least)) return least;
  for_each_bit(mask & ~lists_[child].required,
               [&](std::uint64_t bit) { least = std::min(least, bound(mask & ~bit)); });
  return least;
}

// `open`: the sets of each child above which nothing was looked at. All others are scored, or were
// left out since nothing above them is better than what there is.
void ParentLists::bound_all(const std::vector<std::vector<std::uint64_t>>& open) {
  for (std::size_t c = 0; c < rules_.n; ++c) {
    double top = kMinusInfinity;
    for (const auto& [mask, known] : known_[c]) top = std::max(top, known.score);
    for (const std::uint64_t mask : open[c]) {
      const auto found = known_[c].find(mask);
      const bool scored = found != known_[c].end() && !std::isinf(found->second.score);
      if (scored && size_of(mask) >= static_cast<std::size_t>(rules_.most[c])) continue;
      top = std::max(top, reaches(c, mask));
    }
    upper_[c] = top;
  }
}

bool ParentLists::build(const ListOptions& options, const Report& report) {
  upper_.assign(rules_.n, std::numeric_limits<double>::infinity());
  choose_candidates(options.candidates);
  const bool all = complete_ && options.beam == 0;
  const std::size_t n = rules_.n;
  std::vector<std::vector<std::uint64_t>> level(n);
  for (std::size_t c = 0; c < n; ++c) {
    known_[c].clear();
    level[c] = {lists_[c].required};
  }
  bool going = true;
  std::vector<std::pair<std::size_t, std::uint64_t>> where;
  std::vector<double> found;
  for (std::size_t size = 0; going; ++size) {
    // Score the level, in pieces so that the report is heard.
    Families batch;
    where.clear();
    const auto flush = [&] {
      found.resize(batch.size());
      scores_.score(batch, found.data());
      scored_ += static_cast<std::int64_t>(batch.size());
      for (std::size_t i = 0; i < where.size(); ++i) {
        const auto [c, mask] = where[i];
        known_[c][mask] = {found[i], std::max(found[i], best_subset(c, mask))};
      }
      batch.clear();
      where.clear();
      if (!report(0, scored_, 0)) going = false;
    };
    bool any = false;
    for (std::size_t c = 0; c < n && going; ++c)
      for (const std::uint64_t mask : level[c]) {
        any = true;
        batch.add(static_cast<std::int32_t>(c), lists_[c].parents_of(mask));
        where.emplace_back(c, mask);
        if (batch.size() >= 20000) flush();
        if (!going) break;
      }
    if (batch.size() != 0) flush();
    if (!any || !going) break;
    // Extend what may still lead to something better.
    std::size_t wanted = 0;
    std::vector<std::vector<std::uint64_t>> next(n);
    std::size_t asked = 0;
    const auto heard = [&] {  // the report, now and then
      if (++asked % 4096 == 0 && !report(0, scored_, 0)) going = false;
      return going;
    };
    for (std::size_t c = 0; c < n && going; ++c) {
      const ParentList& list = lists_[c];
      std::vector<std::uint64_t> parents = level[c];
      if (options.beam > 0 && parents.size() > options.beam) {
        std::stable_sort(parents.begin(), parents.end(), [&](std::uint64_t a, std::uint64_t b) {
          return known_[c].at(a).score > known_[c].at(b).score;
        });
        parents.resize(options.beam);
        complete_ = false;
      }
      std::vector<std::uint64_t> wider;
      for (const std::uint64_t mask : parents) {
        if (size_of(mask) >= static_cast<std::size_t>(rules_.most[c])) continue;
        if (!heard()) break;
        const Known& known = known_[c].at(mask);
        // A beam follows what gets better; two parents together are looked at in any case.
        if (options.beam > 0 && size > 1 && known.score < known.best) {
          complete_ = false;
          continue;
        }
        const auto set = list.parents_of(mask);
        if (known.best >= scores_.bound(static_cast<std::int32_t>(c), set) -
                              slack_of(known.best))
          continue;  // neither it nor a superset can be better than what there is
        for (std::size_t b = 0; b < list.candidates.size(); ++b)
          if ((mask >> b & 1) == 0) wider.push_back(mask | std::uint64_t{1} << b);
      }
      std::sort(wider.begin(), wider.end());
      wider.erase(std::unique(wider.begin(), wider.end()), wider.end());
      // Every subset of a set worth scoring was extended, unless it ended; and the bound of the
      // set itself may say so before it is counted.
      for (const std::uint64_t mask : wider) {
        if (!heard()) break;
        const double best = best_subset(c, mask);
        const double bound = scores_.bound(static_cast<std::int32_t>(c), list.parents_of(mask));
        if (best < bound - slack_of(best)) next[c].push_back(mask);
      }
      wanted += next[c].size();
    }
    if (!going) break;
    if (options.most > 0 && static_cast<std::size_t>(scored_) + wanted > options.most && size > 0) {
      complete_ = false;
      break;
    }
    level.swap(next);
  }
  if (!going) complete_ = false;
  if (all) bound_all(level);
  list_all();
  return going;
}

void ParentLists::list_all() {
  for (std::size_t c = 0; c < rules_.n; ++c) {
    std::vector<std::pair<double, std::uint64_t>> kept;
    for (const auto& [mask, known] : known_[c]) {
      if (std::isinf(known.score)) continue;
      const double below = best_subset(c, mask);
      if (known.score > below + (std::isinf(below) ? 0 : slack_of(below)))
        kept.emplace_back(known.score, mask);
    }
    std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first > b.first;
      const std::size_t x = size_of(a.second), y = size_of(b.second);
      return x != y ? x < y : a.second < b.second;
    });
    ParentList& list = lists_[c];
    list.masks.clear();
    list.scores.clear();
    for (const auto& [score, mask] : kept) {
      list.masks.push_back(mask);
      list.scores.push_back(score);
    }
  }
}

}  // namespace credo::search
