#include "score/mixed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/constants.hpp"
#include "common/parallel.hpp"

namespace credo::score {
namespace {

constexpr std::size_t kShare = 256;   // families that one task scores
constexpr std::size_t kFamiliesAtOnce = 1 << 14;  // families between two questions whether to stop

// The share of the last variable's variance that the others leave, from the scatter matrix of a
// configuration; minus infinity where one of them is constant or collinear. `l`: scratch.
double share_left(const double* scatter, std::size_t columns, std::span<const std::size_t> at,
                  std::vector<double>& l) {
  const std::size_t k = at.size();
  l.resize(k * k + k);
  double* scale = l.data() + k * k;
  double pivot = 1;
  for (std::size_t i = 0; i < k; ++i) {
    const double own = scatter[at[i] * columns + at[i]];
    if (!(own > 0)) return kMinusInfinity;
    scale[i] = 1 / std::sqrt(own);
    double* row = l.data() + i * k;
    pivot = 1;
    for (std::size_t j = 0; j < i; ++j) {
      double sum = scatter[at[j] * columns + at[i]] * scale[i] * scale[j];
      const double* other = l.data() + j * k;
      for (std::size_t m = 0; m < j; ++m) sum -= row[m] * other[m];
      row[j] = sum * other[j];  // the diagonal holds inverse roots of the pivots
      pivot -= row[j] * row[j];
    }
    if (!(pivot > kCollinear)) return kMinusInfinity;
    row[i] = 1 / std::sqrt(pivot);
  }
  return pivot;
}

// Minus infinity where a configuration has too few rows, or its columns are constant or collinear.
double log_likelihood(const LineMoments& moments, std::size_t columns,
                      std::span<const std::size_t> at, std::vector<double>& scratch) {
  const std::size_t parents = at.size() - 1, child = at.back();
  double sum = 0;
  for (std::size_t g = 0; g < moments.n.size(); ++g) {
    const double n = moments.n[g];
    if (!(n > 0)) continue;
    const double* scatter = moments.scatter.data() + g * columns * columns;
    if (parents > 0 && n <= static_cast<double>(parents) + 1) return kMinusInfinity;
    const double share = share_left(scatter, columns, at, scratch);
    if (std::isinf(share)) return kMinusInfinity;
    sum += n * (kLogTwoPi + std::log(scatter[child * columns + child] * share / n) + 1);
  }
  return -0.5 * sum;
}

}  // namespace

MixedScores::MixedScores(MixedModel model, FamilyScores& tables, MomentsOf moments)
    : model_(std::move(model)), tables_(tables), moments_(std::move(moments)) {
  std::int32_t discrete = 0;
  for (std::size_t v = 0; v < model_.arities.size(); ++v) {
    if (model_.arities[v] > 0) {
      number_.push_back(discrete++);
    } else {
      number_.push_back(static_cast<std::int32_t>(continuous_.size()));
      continuous_.push_back(static_cast<std::int32_t>(v));
    }
  }
}

double MixedScores::configurations(const std::vector<std::int32_t>& group) const {
  double out = 1;
  for (const std::int32_t d : group) out *= model_.arities[static_cast<std::size_t>(d)];
  return out;
}

void MixedScores::score_tables(const Families& asked, Indices which, double* out) {
  Families families;
  std::vector<std::size_t> where;
  std::vector<std::int32_t> parents;
  for (const std::size_t i : which) {
    parents.clear();
    bool fine = true;  // a discrete child has no continuous parents
    for (const std::int32_t p : asked.parents[i]) {
      fine = fine && model_.arities[static_cast<std::size_t>(p)] > 0;
      parents.push_back(number_[static_cast<std::size_t>(p)]);
    }
    out[i] = kMinusInfinity;
    if (!fine) continue;
    families.add(number_[static_cast<std::size_t>(asked.child[i])], parents);
    where.push_back(i);
  }
  std::vector<double> found(families.size());
  if (families.size() != 0) tables_.score(families, found.data());
  for (std::size_t i = 0; i < where.size(); ++i) {
    const bool unknown = tables_.stopped() && std::isinf(found[i]);
    out[where[i]] = unknown ? std::numeric_limits<double>::quiet_NaN() : found[i];
  }
}

// The matrices over all continuous variables, kept; room is made by what was not used for longest.
const LineMoments& MixedScores::all_columns(const std::vector<std::int32_t>& group) {
  const auto found = where_.find(group);
  if (found != where_.end()) {
    kept_.splice(kept_.begin(), kept_, found->second);
    return kept_.front().moments;
  }
  LineMoments moments = moments_(group, continuous_);
  moments.add_up(continuous_.size());
  numbers_ += static_cast<double>(moments.scatter.size());
  kept_.push_front({group, std::move(moments)});
  where_[group] = kept_.begin();
  while (kept_.size() > 1 && numbers_ > model_.most_numbers) {
    numbers_ -= static_cast<double>(kept_.back().moments.scatter.size());
    where_.erase(kept_.back().group);
    kept_.pop_back();
  }
  return kept_.front().moments;
}

// IN place [n]: where a variable stands among the columns of the moments.
void MixedScores::score_parts(const Families& asked, Indices which, const LineMoments& moments,
                              std::span<const std::int32_t> place, std::size_t columns,
                              double penalty, double* out) const {
  const std::size_t tasks = (which.size() + kShare - 1) / kShare;
  parallel_for(tasks, tasks > 4 ? model_.threads : 1, [&](std::size_t task) {
    std::vector<std::size_t> at;
    std::vector<double> scratch;
    LineScratch lines;
    for (std::size_t k = task * kShare; k < std::min((task + 1) * kShare, which.size()); ++k) {
      const std::size_t i = which[k];
      at.clear();
      for (const std::int32_t p : asked.parents[i])
        if (model_.arities[static_cast<std::size_t>(p)] == 0)
          at.push_back(static_cast<std::size_t>(place[static_cast<std::size_t>(p)]));
      std::sort(at.begin(), at.end());  // one value whatever the order asked in
      const double free = 2 + static_cast<double>(at.size());
      at.push_back(static_cast<std::size_t>(place[static_cast<std::size_t>(asked.child[i])]));
      out[i] = model_.like_all > 0 ? line_marginal(moments, columns, at, model_.like_all, lines)
                                   : log_likelihood(moments, columns, at, scratch) - penalty * free;
    }
  });
}

// The families of one set of discrete parents; false if `stop` ended it before all were scored.
bool MixedScores::score_group(const Families& asked, Indices which,
                              const std::vector<std::int32_t>& group, double* out,
                              const Stop& stop) {
  const double penalty = model_.penalty * configurations(group);
  const double most = std::min(configurations(group), std::max(model_.rows, 1.0));  // seen
  const auto width = static_cast<double>(continuous_.size());
  if (most * width * width <= model_.most_numbers) {
    if (where_.find(group) == where_.end() && stop()) return false;
    const LineMoments& moments = all_columns(group);
    for (std::size_t first = 0; first < which.size(); first += kFamiliesAtOnce) {
      if (first > 0 && stop()) return false;
      const Indices part = which.subspan(first, std::min(kFamiliesAtOnce, which.size() - first));
      score_parts(asked, part, moments, number_, continuous_.size(), penalty, out);
    }
    return true;
  }
  const double widest = std::max(std::sqrt(model_.most_numbers / most), 1.0);
  std::vector<std::int32_t> place(model_.arities.size(), -1);
  for (std::size_t first = 0; first < which.size();) {
    std::vector<std::int32_t> columns, more;
    std::size_t end = first;
    for (; end < which.size() && end - first < kFamiliesAtOnce; ++end) {
      more = columns;
      const auto take = [&](std::int32_t v) {
        if (model_.arities[static_cast<std::size_t>(v)] == 0 &&
            std::find(more.begin(), more.end(), v) == more.end())
          more.push_back(v);
      };
      take(asked.child[which[end]]);
      for (const std::int32_t p : asked.parents[which[end]]) take(p);
      if (end > first && static_cast<double>(more.size()) > widest) break;
      columns.swap(more);
    }
    std::sort(columns.begin(), columns.end());
    for (std::size_t k = 0; k < columns.size(); ++k)
      place[static_cast<std::size_t>(columns[k])] = static_cast<std::int32_t>(k);
    if (stop()) return false;
    LineMoments moments = moments_(group, columns);
    moments.add_up(columns.size());
    score_parts(asked, which.subspan(first, end - first), moments, place, columns.size(), penalty,
                out);
    first = end;
  }
  return true;
}

void MixedScores::score(const Families& asked, double* out, const Stop& stop) {
  std::fill(out, out + asked.size(), std::numeric_limits<double>::quiet_NaN());
  std::vector<std::size_t> tables;
  std::map<std::vector<std::int32_t>, std::vector<std::size_t>> groups;
  std::vector<std::int32_t> group;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (model_.arities[static_cast<std::size_t>(asked.child[i])] > 0) {
      tables.push_back(i);
      continue;
    }
    group.clear();
    for (const std::int32_t p : asked.parents[i])
      if (model_.arities[static_cast<std::size_t>(p)] > 0) group.push_back(p);
    std::sort(group.begin(), group.end());
    groups[group].push_back(i);
  }
  if (!tables.empty()) score_tables(asked, tables, out);
  for (const auto& [of, which] : groups)
    if (!score_group(asked, which, of, out, stop)) return;
}

}  // namespace credo::score
