#include "score/family_scores.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "common/constants.hpp"
#include "common/parallel.hpp"
#include "common/random.hpp"

namespace credo::score {
namespace {

constexpr std::size_t kBetween = 4096;  // families between two questions whether to stop

}  // namespace

// ---------------------------------------------------------------- the cache

Cache::Cache() : slots_(1024) {}

const SetValue* Cache::find(const Key& key) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = key.a & mask; slots_[i].used; i = (i + 1) & mask)
    if (slots_[i].key == key) return &slots_[i].value;
  return nullptr;
}

void Cache::insert(const Key& key, const SetValue& value) {
  if (2 * (size_ + 1) > slots_.size()) {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    size_ = 0;
    for (const Slot& slot : old)
      if (slot.used) insert(slot.key, slot.value);
  }
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = key.a & mask;
  while (slots_[i].used && !(slots_[i].key == key)) i = (i + 1) & mask;
  if (!slots_[i].used) ++size_;
  slots_[i] = {key, value, true};
}

// ---------------------------------------------------------------- families

// A table to count: its set, what to do with it, and under which keys the results are kept.
struct FamilyScores::Job {
  std::vector<std::int32_t> set;
  std::int32_t child = -1;  // for scores of families; else the values are f of the set
  Key key;
  struct Margin {
    std::int32_t variable;  // summed out
    Key key;
  };
  std::vector<Margin> margins;
  double cells = 1;
};

namespace {

std::vector<Cache::Key> keys(std::size_t n, std::uint64_t salt) {
  std::vector<Cache::Key> out;
  for (std::size_t v = 0; v < n; ++v)
    out.push_back({random::splitmix(2 * v + salt), random::splitmix(2 * v + 1 + salt)});
  return out;
}

}  // namespace

FamilyScores::FamilyScores(std::unique_ptr<TableSource> source, TableModel model, Extras extras,
                           int threads)
    : n_(source->arities().size()),
      source_(std::move(source)),
      tables_(model),
      extras_(std::move(extras)),
      threads_(threads),
      arities_(source_->arities()),
      variable_keys_(keys(n_, 0x1000003)),
      child_keys_(keys(n_, 0x7000000001)) {
  if (is_set_score(tables_.score)) {
    const double rows = tables_.rows;
    const SetValue nothing = set_value<double>(tables_, terms_, std::span(&rows, 1), 1);
    cache_.insert(Key{}, nothing);
  }
}

FamilyScores::FamilyScores(GaussianModel model, Extras extras)
    : n_(model.n),
      gaussian_(std::move(model)),
      extras_(std::move(extras)),
      variable_keys_(keys(n_, 0x1000003)),
      child_keys_(keys(n_, 0x7000000001)) {
  cache_.insert(Key{}, SetValue{});
}

FamilyScores::FamilyScores(std::size_t variables, LocalScores scores, Extras extras)
    : n_(variables),
      local_(std::move(scores)),
      extras_(std::move(extras)),
      variable_keys_(keys(n_, 0x1000003)),
      child_keys_(keys(n_, 0x7000000001)) {}

FamilyScores::Key FamilyScores::key_of(std::span<const std::int32_t> set) const {
  Key key;
  for (const std::int32_t v : set) key = key ^ variable_keys_[static_cast<std::size_t>(v)];
  return key;
}

double FamilyScores::extra(std::int32_t child, std::span<const std::int32_t> parents) const {
  double out = 0;
  const auto c = static_cast<std::size_t>(child);
  if (extras_.penalty != 0) {
    double free = static_cast<double>(parents.size()) + 2;
    if (!extras_.gaussian) {
      free = static_cast<double>(arities_[c]) - 1;
      for (const std::int32_t p : parents) free *= arities_[static_cast<std::size_t>(p)];
    }
    out -= extras_.penalty * free;
  }
  if (!extras_.by_parents.empty()) out += extras_.by_parents[parents.size()];
  if (!extras_.by_edge.empty())
    for (const std::int32_t p : parents) out += extras_.by_edge[c * n_ + static_cast<std::size_t>(p)];
  return out;
}

bool FamilyScores::idle(std::int32_t variable) const {
  const bool of_tables = source_ && !arities_.empty() && !extras_.gaussian;
  return of_tables && extras_.by_edge.empty() && extras_.by_parents.empty() &&
         arities_[static_cast<std::size_t>(variable)] == 1;
}

double FamilyScores::bound(std::int32_t child, std::span<const std::int32_t> parents) const {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  if (!extras_.by_edge.empty()) return kNone;
  if (!source_) return kNone;
  if (tables_.score == TableScore::kLogLikelihood || tables_.score == TableScore::kAvailable ||
      tables_.score == TableScore::kFnml || tables_.score == TableScore::kQnml)
    return extras_.penalty > 0 ? extra(child, parents) : kNone;
  const SetValue* found = cache_.find(key_of(parents));
  if (tables_.score != TableScore::kBdeu || found == nullptr) return kNone;
  return -found->seen * std::log(static_cast<double>(arities_[static_cast<std::size_t>(child)]));
}

double FamilyScores::most_gain(std::int32_t child, std::span<const std::int32_t> parents,
                               std::int32_t more) const {
  double least = std::numeric_limits<double>::infinity();
  if (!source_ || tables_.score != TableScore::kLogLikelihood) return least;
  const auto left = [&](const Key& given, std::int32_t of) {  // rows · H(of | given)
    const SetValue* a = cache_.find(given);
    const SetValue* b = cache_.find(given ^ variable_keys_[static_cast<std::size_t>(of)]);
    if (a != nullptr && b != nullptr) least = std::min(least, a->f - b->f);
  };
  left(key_of(parents), child);
  left(Key{}, more);
  for (const std::int32_t q : parents) left(variable_keys_[static_cast<std::size_t>(q)], more);
  std::vector<std::int32_t> wider(parents.begin(), parents.end());
  wider.push_back(more);
  return least + extra(child, wider) - extra(child, parents);
}

double FamilyScores::score(std::int32_t child, std::span<const std::int32_t> parents) {
  Families one;
  one.add(child, parents);
  double out = 0;
  score(one, &out);
  return out;
}

void FamilyScores::score(const Families& asked, double* out) {
  counters_.asked += static_cast<std::int64_t>(asked.size());
  const bool sets = gaussian_.n > 0 || (source_ && is_set_score(tables_.score));
  if (sets) fill_sets(asked);
  else fill_families(asked);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto parents = asked.parents[i];
    const auto child = static_cast<std::size_t>(asked.child[i]);
    const Key given = key_of(parents);
    const auto value = [&](const Key& key) {  // what was stopped has none
      const SetValue* found = cache_.find(key);
      return found == nullptr ? kMinusInfinity : found->f;
    };
    if (sets) {
      const double with = value(given ^ variable_keys_[child]), without = value(given);
      out[i] = std::isinf(with) || std::isinf(without) ? kMinusInfinity : with - without;
    } else {
      out[i] = value(given ^ child_keys_[child]);
    }
    if (!std::isinf(out[i])) out[i] += extra(asked.child[i], parents);
  }
}

void FamilyScores::set_stop(Stop stop) {
  stop_ = std::move(stop);
  stopped_ = false;
}

// Whether to stop, asked once in a while.
bool FamilyScores::enough(std::size_t work) {
  since_asked_ += work;
  if (stop_ && !stopped_ && since_asked_ >= kBetween) {
    since_asked_ = 0;
    stopped_ = stop_();
  }
  return stopped_;
}

void FamilyScores::fill_sets(const Families& asked) {
  std::vector<Job> jobs;
  Cache pending;  // key -> 1 + job, or 0 for a margin of one
  std::vector<std::int32_t> set;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto parents = asked.parents[i];
    const std::int32_t child = asked.child[i];
    const Key given = key_of(parents);
    const Key whole = given ^ variable_keys_[static_cast<std::size_t>(child)];
    const bool has_whole = cache_.find(whole) != nullptr, has_given = cache_.find(given) != nullptr;
    if (has_whole && has_given) {
      ++counters_.hits;
      continue;
    }
    if (gaussian_.n > 0) {
      if (enough(1)) return;
      set.assign(parents.begin(), parents.end());
      std::sort(set.begin(), set.end());  // one value whatever the order asked in
      if (!has_given) cache_.insert(given, {gaussian_set_value(gaussian_, set), 0});
      set.assign(parents.begin(), parents.end());
      set.push_back(child);
      std::sort(set.begin(), set.end());
      if (!has_whole) cache_.insert(whole, {gaussian_set_value(gaussian_, set), 0});
      ++counters_.counted;
      continue;
    }
    const auto add = [&](const Key& key, std::int32_t last_child) {
      Job job;
      job.key = key;
      job.set.assign(parents.begin(), parents.end());
      // Families that differ in their last parent share all that comes before it.
      if (last_child >= 0)
        job.set.insert(job.set.empty() ? job.set.end() : job.set.end() - 1, last_child);
      for (const std::int32_t v : job.set) job.cells *= arities_[static_cast<std::size_t>(v)];
      jobs.push_back(std::move(job));
      pending.insert(key, {static_cast<double>(jobs.size()), 0});
    };
    if (!has_whole && pending.find(whole) == nullptr) add(whole, child);
    if (!has_given && pending.find(given) == nullptr) {
      const SetValue* job = has_whole ? nullptr : pending.find(whole);
      Job* of = job != nullptr && job->f > 0 ? &jobs[static_cast<std::size_t>(job->f) - 1] : nullptr;
      if (of != nullptr && of->cells <= source_->dense_cells()) {
        of->margins.push_back({child, given});
        pending.insert(given, {0, 0});
      } else {
        add(given, -1);
      }
    }
  }
  if (!jobs.empty()) run(jobs);
}

void FamilyScores::fill_families(const Families& asked) {
  std::vector<Job> jobs;
  Families missing;
  std::vector<Key> missing_keys;
  Cache pending;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto parents = asked.parents[i];
    const std::int32_t child = asked.child[i];
    const Key key = key_of(parents) ^ child_keys_[static_cast<std::size_t>(child)];
    if (cache_.find(key) != nullptr) {
      ++counters_.hits;
      continue;
    }
    if (pending.find(key) != nullptr) continue;
    pending.insert(key, {});
    if (local_) {
      missing.add(child, parents);
      missing_keys.push_back(key);
      continue;
    }
    Job job;
    job.key = key;
    job.child = child;
    job.set.assign(parents.begin(), parents.end());
    job.set.push_back(child);
    for (const std::int32_t v : job.set) job.cells *= arities_[static_cast<std::size_t>(v)];
    if (job.cells <= source_->dense_cells() && job.set.size() > 1)
      std::swap(job.set.back(), job.set[job.set.size() - 2]);
    jobs.push_back(std::move(job));
  }
  if (!jobs.empty()) run(jobs);
  if (missing.size() == 0) return;
  if (enough(missing.size())) return;
  std::vector<double> found(missing.size());
  local_(missing, found.data(), [this] { return enough(kBetween); });
  ++counters_.batches;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(found[i])) continue;  // stopped before
    cache_.insert(missing_keys[i], {found[i], 0});
    ++counters_.counted;
  }
}

template <class Cell>
void FamilyScores::value_dense(const Job& job, std::span<const Cell> table,
                               std::vector<SetValue>& out) const {
  std::vector<Cell> scratch;
  const auto around = [&](std::int32_t variable) {
    std::array<std::size_t, 3> sizes{1, 1, 1};
    std::size_t at = 0;
    for (const std::int32_t v : job.set) {
      if (v == variable) at = 1;
      else if (at == 1) at = 2;
      sizes[at] *= arities_[static_cast<std::size_t>(v)];
    }
    return sizes;
  };
  if (job.child < 0) {
    out.push_back(set_value(tables_, terms_, table, job.cells));
    for (const auto& [variable, key] : job.margins) {
      const auto [before, middle, after] = around(variable);
      sum_middle(table, before, middle, after, scratch);
      out.push_back(set_value<Cell>(tables_, terms_, scratch,
                                    static_cast<double>(before) * static_cast<double>(after)));
    }
    return;
  }
  const auto [before, middle, after] = around(job.child);
  std::span<const Cell> rows = table;
  if (after > 1) {  // the child's axis last
    scratch.resize(table.size());
    for (std::size_t a = 0; a < before; ++a)
      for (std::size_t m = 0; m < middle; ++m)
        for (std::size_t b = 0; b < after; ++b)
          scratch[(a * after + b) * middle + m] = table[(a * middle + m) * after + b];
    rows = scratch;
  }
  std::vector<std::size_t> begin(before * after + 1);
  for (std::size_t j = 0; j < begin.size(); ++j) begin[j] = j * middle;
  out.push_back({family_value(tables_, terms_, rows, std::span<const std::size_t>(begin),
                              static_cast<double>(middle)),
                 0});
}

template <class Cell>
void FamilyScores::value_sparse(const Job& job, const SparseTable& table,
                                std::span<const Cell> cells, std::vector<SetValue>& out) const {
  if (job.child < 0) {
    out.push_back(set_value(tables_, terms_, cells, job.cells));
    return;
  }
  const double arity = arities_[static_cast<std::size_t>(job.child)];
  out.push_back({family_value(tables_, terms_, cells, std::span(table.begin), arity), 0});
}

void FamilyScores::run(std::vector<Job>& jobs) {
  std::vector<std::vector<SetValue>> found(jobs.size());
  std::vector<std::size_t> dense;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].cells <= source_->dense_cells()) {
      dense.push_back(i);
      continue;
    }
    if (enough(kBetween / 16)) continue;
    SparseTable table;
    source_->count_sparse(jobs[i].set, table);
    if (table.is_real) value_sparse<double>(jobs[i], table, table.real, found[i]);
    else value_sparse<std::int64_t>(jobs[i], table, table.whole, found[i]);
    ++counters_.batches;
  }
  Tables tables;
  for (std::size_t first = 0; first < dense.size() && !enough(first > 0 ? kBetween : 0);) {
    SetList sets;
    double cells = 0, work = 0;
    std::size_t end = first;
    for (; end < dense.size(); ++end) {
      const Job& job = jobs[dense[end]];
      cells += job.cells;
      if (end > first && (cells > source_->chunk_cells() || work >= source_->chunk_sets())) break;
      const double wide = static_cast<double>(job.set.size()) - 2;
      work += std::max(1.0, wide * wide);  // tables of many variables take longer
      sets.variables.insert(sets.variables.end(), job.set.begin(), job.set.end());
      sets.begin.push_back(sets.variables.size());
    }
    source_->count(sets, threads_, tables);
    ++counters_.batches;
    constexpr std::size_t kShare = 64;  // jobs that one task scores
    const std::size_t tasks = (end - first + kShare - 1) / kShare;
    parallel_for(tasks, tasks > 4 ? threads_ : 1, [&](std::size_t task) {
      for (std::size_t k = task * kShare; k < std::min((task + 1) * kShare, end - first); ++k) {
        const std::size_t i = dense[first + k];
        const std::size_t at = tables.offsets[k], size = tables.offsets[k + 1] - at;
        if (tables.is_real)
          value_dense<double>(jobs[i], std::span(tables.real).subspan(at, size), found[i]);
        else
          value_dense<std::int64_t>(jobs[i], std::span(tables.whole).subspan(at, size), found[i]);
      }
    });
    since_asked_ += end - first;
    first = end;
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (found[i].empty()) continue;  // stopped before
    ++counters_.counted;
    cache_.insert(jobs[i].key, found[i][0]);
    for (std::size_t m = 0; m < jobs[i].margins.size(); ++m)
      cache_.insert(jobs[i].margins[m].key, found[i][m + 1]);
  }
}

}  // namespace credo::score
