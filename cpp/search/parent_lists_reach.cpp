// Parents that are worth nothing alone: found beside two others, among all variables.
#include <algorithm>
#include <limits>

#include "search/parent_lists.hpp"

namespace credo::search {
namespace {

struct Set {
  std::vector<std::int32_t> parents;
  double score;
};

}  // namespace

// Scores every pair of a child's candidates, beside the parents it must have.
void ParentLists::score_pairs(std::size_t child) {
  score::Families batch;
  std::vector<std::uint64_t> masks;
  const ParentList& list = lists_[child];
  for (std::size_t a = 0; a < list.candidates.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const std::uint64_t pair = std::uint64_t{1} << a | std::uint64_t{1} << b;
      if ((pair & list.required) != 0 || known_[child].contains(pair | list.required)) continue;
      masks.push_back(pair | list.required);
      batch.add(static_cast<std::int32_t>(child), list.parents_of(masks.back()));
    }
  std::vector<double> found(masks.size());
  if (!masks.empty()) scores_.score(batch, found.data());
  scored_ += static_cast<std::int64_t>(masks.size());
  for (std::size_t i = 0; i < masks.size(); ++i)
    known_[child][masks[i]] = {found[i], std::max(found[i], best_subset(child, masks[i]))};
}

std::size_t ParentLists::reach(std::size_t pairs, score::FamilyScores& by, const Report& report) {
  constexpr std::size_t kBest = 2;  // variables that complete a pair
  const std::size_t n = rules_.n;
  std::size_t added = 0;
  std::vector<std::int32_t> may;
  std::vector<double> found;
  for (std::size_t c = 0; c < n; ++c) {
    if (static_cast<std::size_t>(rules_.most[c]) < size_of(lists_[c].required) + 3) continue;
    if (!report(0, scored_, 0)) break;
    const auto child = static_cast<std::int32_t>(c);
    score_pairs(c);
    const std::uint64_t required = lists_[c].required;
    std::vector<std::pair<double, std::uint64_t>> best;
    for (const auto& [mask, known] : known_[c])
      if (size_of(mask & ~required) == 2 &&
          size_of(mask) < static_cast<std::size_t>(rules_.most[c]))
        best.emplace_back(-known.score, mask);
    std::sort(best.begin(), best.end());
    if (best.size() > pairs) best.resize(pairs);
    std::vector<Set> wider;
    for (const auto& [minus, mask] : best) {
      const std::vector<std::int32_t> pair = lists_[c].parents_of(mask);
      if (-minus >= scores_.bound(child, pair)) continue;
      may.clear();
      for (std::size_t p = 0; p < n; ++p)
        if (p != c && rules_.may(c, p) && lists_[c].bit_of[p] < 0)
          may.push_back(static_cast<std::int32_t>(p));
      if (may.empty()) break;
      const double alone = by.score(child, pair);
      found.resize(may.size());
      by.screen(child, pair, may, found.data());
      scored_ += static_cast<std::int64_t>(may.size());
      for (std::size_t k = 0; k < std::min(kBest, may.size()); ++k) {
        const auto at = static_cast<std::size_t>(
            std::max_element(found.begin(), found.end()) - found.begin());
        if (!(found[at] > alone + slack_of(alone))) break;
        wider.push_back({pair, 0});
        wider.back().parents.push_back(may[at]);
        found[at] = -std::numeric_limits<double>::infinity();
      }
    }
    for (Set& set : wider) set.score = scores_.score(child, set.parents);
    std::stable_sort(wider.begin(), wider.end(),
                     [](const Set& a, const Set& b) { return a.score > b.score; });
    for (const Set& set : wider) {
      bool fits = false;
      const std::uint64_t mask = join(c, set.parents, fits);
      if (!fits || known_[c].contains(mask)) continue;
      known_[c][mask] = {set.score, std::max(set.score, best_subset(c, mask))};
      ++added;
    }
  }
  list_all();
  return added;
}

}  // namespace credo::search
