// Lists from families that are known, and lists that grow around a DAG.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "search/parent_lists.hpp"

namespace credo::search {

using score::Families;

void ParentLists::take(const Families& families, std::span<const double> scores) {
  const std::size_t n = rules_.n;
  complete_ = false;
  // Where there are more than fit, the parents of the best sets become candidates.
  std::vector<std::vector<std::size_t>> of(n);
  for (std::size_t i = 0; i < families.size(); ++i)
    of[static_cast<std::size_t>(families.child[i])].push_back(i);
  for (std::size_t c = 0; c < n; ++c) {
    std::stable_sort(of[c].begin(), of[c].end(),
                     [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
    ParentList& list = lists_[c];
    list.candidates.clear();
    for (std::size_t p = 0; p < n; ++p)
      if (rules_.must(c, p)) list.candidates.push_back(static_cast<std::int32_t>(p));
    for (const std::size_t i : of[c])
      for (const std::int32_t p : families.parents[i])
        if (list.candidates.size() < kMostCandidates &&
            std::find(list.candidates.begin(), list.candidates.end(), p) == list.candidates.end())
          list.candidates.push_back(p);
    number(c);
    known_[c].clear();
    std::vector<std::pair<std::uint64_t, double>> sets;
    for (const std::size_t i : of[c]) {
      bool fits = false;
      const std::uint64_t mask = list.mask_of(families.parents[i], fits);
      if (fits && (mask & list.required) == list.required) sets.emplace_back(mask, scores[i]);
    }
    std::stable_sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) {
      return size_of(a.first) < size_of(b.first);
    });
    for (const auto& [mask, score] : sets)
      known_[c][mask] = {score, std::max(score, best_subset(c, mask))};
  }
  list_all();
}

// The bits of some parents; one from outside takes a free bit.
std::uint64_t ParentLists::join(std::size_t child, std::span<const std::int32_t> parents,
                                bool& fits) {
  ParentList& list = lists_[child];
  for (const std::int32_t p : parents)
    if (list.bit_of[static_cast<std::size_t>(p)] < 0 && list.candidates.size() < kMostCandidates) {
      list.bit_of[static_cast<std::size_t>(p)] = static_cast<std::int8_t>(list.candidates.size());
      list.candidates.push_back(p);
    }
  return list.mask_of(parents, fits);
}

// The candidates that are known to be worth most by themselves.
std::uint64_t ParentLists::best_alone(std::size_t child, std::size_t most) const {
  const ParentList& list = lists_[child];
  std::vector<std::pair<double, std::uint64_t>> alone;
  for (std::size_t b = 0; b < list.candidates.size(); ++b) {
    const std::uint64_t bit = std::uint64_t{1} << b;
    const auto found = known_[child].find(list.required | bit);
    if ((list.required & bit) == 0 && found != known_[child].end())
      alone.emplace_back(-found->second.score, bit);
  }
  std::stable_sort(alone.begin(), alone.end());
  std::uint64_t out = 0;
  for (std::size_t k = 0; k < std::min(most, alone.size()); ++k) out |= alone[k].second;
  return out;
}

// For each child the variables that sets of parents are grown from: its neighbours, and whoever
// shares a child with it, since an edge that is turned takes the other parents with it.
std::vector<std::vector<std::int32_t>> ParentLists::blankets(const Parents& parents) const {
  const std::size_t n = rules_.n;
  std::vector<std::vector<std::int32_t>> out(n);
  for (std::size_t c = 0; c < n; ++c)
    for (const std::int32_t p : parents[c]) {
      auto& near = out[static_cast<std::size_t>(p)];
      out[c].push_back(p);
      near.push_back(static_cast<std::int32_t>(c));
      for (const std::int32_t q : parents[c])
        if (q != p) near.push_back(q);
    }
  for (std::size_t c = 0; c < n; ++c) {
    std::erase_if(out[c], [&](std::int32_t p) { return !rules_.may(c, static_cast<std::size_t>(p)); });
    std::sort(out[c].begin(), out[c].end());
    out[c].erase(std::unique(out[c].begin(), out[c].end()), out[c].end());
  }
  return out;
}

// Of each child's candidates, those whose table together with the child's is not too large: the
// parents it has, then the best by themselves.
void ParentLists::fit(const Parents& parents, std::vector<std::uint64_t>& around) {
  const auto variable = [&](std::size_t c, std::uint64_t bit) {
    return lists_[c].candidates[static_cast<std::size_t>(__builtin_ctzll(bit))];
  };
  const auto cells_of = [&](std::size_t c, std::uint64_t mask) {
    double cells = scores_.states(static_cast<std::int32_t>(c));
    for_each_bit(mask, [&](std::uint64_t bit) { cells *= scores_.states(variable(c, bit)); });
    return cells;
  };
  Families alone;
  std::vector<std::pair<std::size_t, std::uint64_t>> where;
  for (std::size_t c = 0; c < rules_.n; ++c) {
    if (cells_of(c, around[c]) <= score::kMostJointCells) continue;
    bool fits = false;
    const std::uint64_t own = lists_[c].mask_of(parents[c], fits) & around[c];
    for_each_bit(around[c] & ~own, [&](std::uint64_t bit) {
      alone.add(static_cast<std::int32_t>(c), {}, variable(c, bit));
      where.emplace_back(c, bit);
    });
    around[c] = own;
  }
  if (where.empty()) return;
  std::vector<double> found(alone.size());
  scores_.score(alone, found.data());
  std::vector<std::size_t> order(found.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return found[a] > found[b]; });
  for (const std::size_t i : order) {
    const auto [c, bit] = where[i];
    if (cells_of(c, around[c] | bit) <= score::kMostJointCells) around[c] |= bit;
  }
}

std::size_t ParentLists::grow(const Parents& parents, const GrowOptions& options,
                              const Report& report) {
  const std::size_t n = rules_.n;
  const auto near = blankets(parents);
  std::vector<std::uint64_t> around(n);
  std::vector<std::vector<std::uint64_t>> level(n), open(n);
  for (std::size_t c = 0; c < n; ++c) {
    bool fits = false;
    around[c] = join(c, near[c], fits) | best_alone(c, options.alone);
    level[c] = {lists_[c].required};
  }
  fit(parents, around);
  std::vector<score::Joint> joints(n);
  std::vector<char> joined(n);
  std::size_t worth = 0;
  std::vector<double> found;
  for (bool any = true; any;) {
    any = false;
    const auto learn = [&](std::size_t c, std::uint64_t mask, double score) {
      const double below = best_subset(c, mask);
      known_[c][mask] = {score, std::max(score, below)};
      worth += score > below;
      ++scored_;
    };
    // What is known; then, of children with several sets that are not, one table of all around.
    for (std::size_t c = 0; c < n; ++c) {
      open[c].clear();
      for (const std::uint64_t mask : level[c]) {
        if (known_[c].contains(mask)) continue;
        const auto set = lists_[c].parents_of(mask);
        if (scores_.knows(static_cast<std::int32_t>(c), set))
          learn(c, mask, scores_.score(joints[c], static_cast<std::int32_t>(c), set));
        else
          open[c].push_back(mask);
      }
    }
    SetList groups;
    std::vector<std::size_t> of;
    for (std::size_t c = 0; c < n; ++c) {
      if (joined[c] != 0 || open[c].size() < 2) continue;
      joined[c] = 1;
      of.push_back(c);
      const auto all = lists_[c].parents_of(around[c] | lists_[c].required);
      groups.variables.insert(groups.variables.end(), all.begin(), all.end());
      groups.variables.push_back(static_cast<std::int32_t>(c));
      groups.begin.push_back(groups.variables.size());
    }
    auto made = scores_.joints(groups);
    for (std::size_t i = 0; i < of.size(); ++i) joints[of[i]] = std::move(made[i]);
    Families batch;
    std::vector<std::pair<std::size_t, std::uint64_t>> where;
    for (std::size_t c = 0; c < n; ++c)
      for (const std::uint64_t mask : open[c]) {
        const auto set = lists_[c].parents_of(mask);
        if (!joints[c].empty()) {
          learn(c, mask, scores_.score(joints[c], static_cast<std::int32_t>(c), set));
        } else {
          batch.add(static_cast<std::int32_t>(c), set);
          where.emplace_back(c, mask);
        }
      }
    found.resize(batch.size());
    if (batch.size() != 0) scores_.score(batch, found.data());
    for (std::size_t i = 0; i < where.size(); ++i) learn(where[i].first, where[i].second, found[i]);
    if (!report(0, scored_, 0)) break;
    for (std::size_t c = 0; c < n; ++c) {
      auto& sets = level[c];
      std::erase_if(sets, [&](std::uint64_t mask) {
        const Known& known = known_[c].at(mask);
        return known.score < known.best || size_of(mask) >= static_cast<std::size_t>(rules_.most[c]);
      });
      std::stable_sort(sets.begin(), sets.end(), [&](std::uint64_t a, std::uint64_t b) {
        return known_[c].at(a).score > known_[c].at(b).score;
      });
      if (sets.size() > options.beam) sets.resize(options.beam);
      std::vector<std::uint64_t> wider;
      for (const std::uint64_t mask : sets)
        for_each_bit(around[c] & ~mask, [&](std::uint64_t bit) { wider.push_back(mask | bit); });
      std::sort(wider.begin(), wider.end());
      wider.erase(std::unique(wider.begin(), wider.end()), wider.end());
      sets.swap(wider);
      any |= !sets.empty();
    }
  }
  list_all();
  return worth;
}

std::size_t ParentLists::add(const Parents& parents, bool around) {
  Families batch;
  std::vector<std::pair<std::size_t, std::uint64_t>> where;
  for (std::size_t c = 0; c < rules_.n; ++c) {
    ParentList& list = lists_[c];
    bool fits = false;
    const std::uint64_t own = join(c, parents[c], fits);
    if (!fits) continue;
    std::vector<std::uint64_t> near{own};
    if (around) {
      const std::uint64_t all = list.candidates.size() == 64
                                    ? ~std::uint64_t{0}
                                    : (std::uint64_t{1} << list.candidates.size()) - 1;
      for_each_bit(own & ~list.required, [&](std::uint64_t out) {
        near.push_back(own & ~out);
        for_each_bit(own & ~list.required & ~out,
                     [&](std::uint64_t other) { near.push_back(own & ~out & ~other); });
        for_each_bit(all & ~own, [&](std::uint64_t in) { near.push_back((own & ~out) | in); });
      });
      for_each_bit(all & ~own, [&](std::uint64_t in) { near.push_back(own | in); });
    }
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    for (const std::uint64_t mask : near)
      if (size_of(mask) <= static_cast<std::size_t>(rules_.most[c]) && !known_[c].contains(mask)) {
        batch.add(static_cast<std::int32_t>(c), list.parents_of(mask));
        where.emplace_back(c, mask);
      }
  }
  if (batch.size() == 0) return 0;
  std::vector<double> found(batch.size());
  scores_.score(batch, found.data());
  scored_ += static_cast<std::int64_t>(batch.size());
  std::vector<std::size_t> order(where.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return size_of(where[a].second) < size_of(where[b].second);
  });
  std::size_t worth = 0;
  for (const std::size_t i : order) {
    const auto [c, mask] = where[i];
    const double below = best_subset(c, mask);
    known_[c][mask] = {found[i], std::max(found[i], below)};
    worth += found[i] > below;
  }
  list_all();
  return worth;
}

}  // namespace credo::search
