// Scores that are looked at once and not kept: which of many variables would help a family most.
#include <algorithm>
#include <cmath>
#include <limits>

#include "common/parallel.hpp"
#include "score/family_scores.hpp"

namespace credo::score {

void FamilyScores::screen(std::int32_t child, std::span<const std::int32_t> parents,
                          std::span<const std::int32_t> more, double* out) {
  Families kept;  // what is scored the usual way
  std::vector<std::size_t> kept_at, counted;
  const auto arity = [&](std::int32_t v) {
    return static_cast<std::size_t>(arities_[static_cast<std::size_t>(v)]);
  };
  const bool sets = source_ && is_set_score(tables_.score);
  std::size_t above = 1;
  if (sets)
    for (const std::int32_t p : parents) above *= arity(p);
  for (std::size_t i = 0; i < more.size(); ++i) {
    if (sets && static_cast<double>(above * arity(child) * arity(more[i])) <= source_->dense_cells()) {
      counted.push_back(i);
    } else {
      kept.add(child, parents, more[i]);
      kept_at.push_back(i);
    }
  }
  if (!kept_at.empty()) {
    std::vector<double> found(kept_at.size());
    score(kept, found.data());
    for (std::size_t k = 0; k < kept_at.size(); ++k) out[kept_at[k]] = found[k];
  }
  Tables tables;
  for (std::size_t first = 0; first < counted.size();) {
    SetList asked;
    double cells = 0;
    std::size_t end = first;
    for (; end < counted.size(); ++end) {
      const std::int32_t last = more[counted[end]];
      cells += static_cast<double>(above * arity(child) * arity(last));
      if (end > first && cells > source_->chunk_cells()) break;
      asked.variables.insert(asked.variables.end(), parents.begin(), parents.end());
      asked.variables.push_back(child);
      asked.variables.push_back(last);  // the tables share all that comes before it
      asked.begin.push_back(asked.variables.size());
    }
    source_->count(asked, threads_, tables);
    ++counters_.batches;
    const auto value = [&]<class Cell>(std::size_t k, std::span<const Cell> table,
                                       std::vector<Cell>& margin) {
      const std::int32_t last = more[counted[first + k]];
      sum_middle(table, above, arity(child), arity(last), margin);
      const double with = set_value(tables_, terms_, table, static_cast<double>(table.size())).f;
      const double without =
          set_value<Cell>(tables_, terms_, margin, static_cast<double>(margin.size())).f;
      std::vector<std::int32_t> wider(parents.begin(), parents.end());
      wider.push_back(last);
      const bool never = std::isinf(with) || std::isinf(without);
      out[counted[first + k]] = never ? -std::numeric_limits<double>::infinity()
                                      : with - without + extra(child, wider);
    };
    constexpr std::size_t kShare = 64;  // tables that one task scores
    const std::size_t many = end - first, tasks = (many + kShare - 1) / kShare;
    parallel_for(tasks, tasks > 4 ? threads_ : 1, [&](std::size_t task) {
      std::vector<std::int64_t> whole;
      std::vector<double> real;
      for (std::size_t k = task * kShare; k < std::min((task + 1) * kShare, many); ++k) {
        const std::size_t at = tables.offsets[k], size = tables.offsets[k + 1] - at;
        if (tables.is_real) value(k, std::span<const double>(tables.real).subspan(at, size), real);
        else value(k, std::span<const std::int64_t>(tables.whole).subspan(at, size), whole);
      }
    });
    first = end;
  }
  counters_.asked += static_cast<std::int64_t>(counted.size());
  counters_.counted += static_cast<std::int64_t>(counted.size());
}

}  // namespace credo::score
