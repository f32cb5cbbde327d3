// Scores of families within a few variables, whose rows were counted once.
#include <algorithm>
#include <cmath>
#include <limits>

#include "score/family_scores.hpp"

namespace credo::score {

double FamilyScores::joint_cells() const {
  constexpr double kRows = 3;  // of a cell: with fewer, single tables are as soon counted
  if (!source_ || !is_set_score(tables_.score)) return 0;
  return std::min(kMostJointCells, tables_.rows / kRows);
}

std::vector<Joint> FamilyScores::joints(const SetList& groups) {
  std::vector<Joint> out(groups.size());
  std::vector<std::size_t> chosen;
  std::vector<double> cells;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    double all = 1;
    for (const std::int32_t v : groups[i])
      if (source_) all *= arities_[static_cast<std::size_t>(v)];
    if (all > joint_cells()) continue;
    chosen.push_back(i);
    cells.push_back(all);
  }
  Tables tables;
  for (std::size_t first = 0; first < chosen.size() && !enough(0);) {
    SetList sets;
    double together = 0;
    std::size_t end = first;
    for (; end < chosen.size(); ++end) {
      together += cells[end];
      if (end > first && together > source_->chunk_cells()) break;
      const auto group = groups[chosen[end]];
      sets.variables.insert(sets.variables.end(), group.begin(), group.end());
      sets.begin.push_back(sets.variables.size());
    }
    source_->count(sets, threads_, tables);
    ++counters_.batches;
    for (std::size_t k = 0; k < end - first; ++k) {
      const std::size_t at = tables.offsets[k], size = tables.offsets[k + 1] - at;
      if (tables.is_real)
        out[chosen[first + k]] =
            Joint(sets[k], arities_, std::span<const double>(tables.real).subspan(at, size));
      else
        out[chosen[first + k]] =
            Joint(sets[k], arities_, std::span<const std::int64_t>(tables.whole).subspan(at, size));
      ++counters_.counted;
    }
    since_asked_ += end - first;
    first = end;
  }
  return out;
}

bool FamilyScores::knows(std::int32_t child, std::span<const std::int32_t> parents) const {
  const Key given = key_of(parents);
  const Key whole = given ^ variable_keys_[static_cast<std::size_t>(child)];
  return cache_.find(given) != nullptr && cache_.find(whole) != nullptr;
}

double FamilyScores::score(const Joint& within, std::int32_t child,
                           std::span<const std::int32_t> parents) {
  ++counters_.asked;
  const Key given = key_of(parents);
  const Key whole = given ^ variable_keys_[static_cast<std::size_t>(child)];
  if (knows(child, parents)) {
    ++counters_.hits;
  } else if (within.is_real()) {
    value_within<double>(within, child, parents);
  } else {
    value_within<std::int64_t>(within, child, parents);
  }
  const double with = cache_.find(whole)->f, without = cache_.find(given)->f;
  const bool never = std::isinf(with) || std::isinf(without);
  return never ? -std::numeric_limits<double>::infinity()
               : with - without + extra(child, parents);
}

// Keeps the values of both sets of a family.
template <class Cell>
void FamilyScores::value_within(const Joint& within, std::int32_t child,
                                std::span<const std::int32_t> parents) {
  std::vector<std::int32_t> set(parents.begin(), parents.end());
  set.push_back(child);
  std::vector<Cell> table, rows;
  within.table_of(set, table);
  const std::size_t arity = arities_[static_cast<std::size_t>(child)];
  sum_middle<Cell>(table, table.size() / arity, arity, 1, rows);
  const auto keep = [&](const Key& key, std::span<const Cell> cells) {
    if (cache_.find(key) != nullptr) return;  // a value that was given out stays as it is
    cache_.insert(key, set_value<Cell>(tables_, terms_, cells, static_cast<double>(cells.size())));
  };
  const Key given = key_of(parents);
  keep(given ^ variable_keys_[static_cast<std::size_t>(child)], table);
  keep(given, rows);
}

}  // namespace credo::score
