// The scores of families, asked for in batches and kept.
//
// For a set score only f(S) is kept: the local score of a family is f(parents and child) -
// f(parents), less a penalty in closed form, so that both directions of an edge, and all DAGs of
// an equivalence class, are made of the very same numbers. A set is known by a 128-bit key: the
// exclusive or of a random number for each variable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "count/set_trie.hpp"
#include "score/gaussian.hpp"
#include "score/joint_cache.hpp"
#include "score/table_source.hpp"
#include "score/tables.hpp"

namespace credo::score {

// Families one after the other: a child and a list of parents each.
struct Families {
  std::vector<std::int32_t> child;
  SetList parents;

  std::size_t size() const { return child.size(); }
  void add(std::int32_t of, std::span<const std::int32_t> given) {
    child.push_back(of);
    parents.variables.insert(parents.variables.end(), given.begin(), given.end());
    parents.begin.push_back(parents.variables.size());
  }
  // The parents and one more, last.
  void add(std::int32_t of, std::span<const std::int32_t> given, std::int32_t extra) {
    add(of, given);
    parents.variables.push_back(extra);
    parents.begin.back() = parents.variables.size();
  }
  void clear() { child.clear(), parents.variables.clear(), parents.begin.assign(1, 0); }
};

inline constexpr double kMostJointCells = 1 << 15;  // of one table for all around a child

// Whether whoever waits for scores has had enough.
using Stop = std::function<bool()>;

// OUT: one number per family; NaN for those that `stop` came before.
using LocalScores = std::function<void(const Families& families, double* out, const Stop& stop)>;

// What is added to every local score: penalties and the structure prior.
struct Extras {
  double penalty = 0;                // times the free parameters
  std::vector<double> by_parents;    // [k]: by the number of parents; empty for none
  std::vector<double> by_edge;       // [child, parent]: for each edge; empty for none
  bool gaussian = false;             // how parameters are counted
};

struct Counters {
  std::int64_t asked = 0;    // local scores asked for
  std::int64_t hits = 0;     // found in the cache
  std::int64_t counted = 0;  // tables counted, or sets and families scored otherwise
  std::int64_t batches = 0;  // passes over the data
};

class Cache {  // open addressing; keys are random numbers already
 public:
  struct Key {
    std::uint64_t a = 0, b = 0;
    bool operator==(const Key&) const = default;
    Key operator^(const Key& other) const { return {a ^ other.a, b ^ other.b}; }
  };
  Cache();
  const SetValue* find(const Key& key) const;
  void insert(const Key& key, const SetValue& value);
  std::size_t size() const { return size_; }

 private:
  struct Slot {
    Key key;
    SetValue value;
    bool used = false;
  };
  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

class FamilyScores {
 public:
  FamilyScores(std::unique_ptr<TableSource> source, TableModel model, Extras extras, int threads);
  FamilyScores(GaussianModel model, Extras extras);
  FamilyScores(std::size_t variables, LocalScores scores, Extras extras);

  std::size_t variables() const { return n_; }
  // OUT out: one local score a family. Not safe for two threads at once.
  void score(const Families& asked, double* out);
  double score(std::int32_t child, std::span<const std::int32_t> parents);
  // OUT out: the scores of a family with each of many variables as one more parent, not kept.
  void screen(std::int32_t child, std::span<const std::int32_t> parents,
              std::span<const std::int32_t> more, double* out);
  // One table for each group of variables, and families within a group scored from it, which costs
  // no rows. Empty where it would not pay, or the score is not one of sets.
  std::vector<Joint> joints(const SetList& groups);
  double joint_cells() const;
  // The states of a variable; 1 where tables are not what is scored.
  double states(std::int32_t variable) const {
    return arities_.empty() ? 1.0 : arities_[static_cast<std::size_t>(variable)];
  }
  bool knows(std::int32_t child, std::span<const std::int32_t> parents) const;  // both its sets
  double score(const Joint& within, std::int32_t child, std::span<const std::int32_t> parents);
  // From now on long work asks `stop` on its way. Once it says yes, what is not scored yet counts as
  // minus infinity and is not kept, until another is set; none: work is always done.
  void set_stop(Stop stop);
  bool stopped() const { return stopped_; }
  const Counters& counters() const { return counters_; }
  std::size_t cached() const { return cache_.size(); }

  // Whether a variable adds nothing as a parent, and nothing to it: a column of one state.
  bool idle(std::int32_t variable) const;

  // An upper bound on the score of a family with these parents or more: the penalty alone for a
  // likelihood, and for a marginal likelihood over tables minus ln(arity) for each parent
  // configuration seen (the first row of each is predicted with 1 / arity). Infinity if none.
  double bound(std::int32_t child, std::span<const std::int32_t> parents) const;

  // An upper bound on what one more parent adds to a family whose score is known, without
  // counting: rows · I(child; parent | parents) is at most what is left to explain of the child,
  // and of the parent beside any one of the parents. Infinity where nothing is known.
  double most_gain(std::int32_t child, std::span<const std::int32_t> parents,
                   std::int32_t more) const;

 private:
  using Key = Cache::Key;
  struct Job;
  Key key_of(std::span<const std::int32_t> set) const;
  double extra(std::int32_t child, std::span<const std::int32_t> parents) const;
  void fill_sets(const Families& asked);
  void fill_families(const Families& asked);
  void run(std::vector<Job>& jobs);
  bool enough(std::size_t work);
  template <class Cell>
  void value_dense(const Job& job, std::span<const Cell> table, std::vector<SetValue>& out) const;
  template <class Cell>
  void value_within(const Joint& within, std::int32_t child, std::span<const std::int32_t> parents);
  template <class Cell>
  void value_sparse(const Job& job, const SparseTable& table, std::span<const Cell> cells,
                    std::vector<SetValue>& out) const;

  std::size_t n_;
  std::unique_ptr<TableSource> source_;
  TableModel tables_;
  GaussianModel gaussian_;
  LocalScores local_;
  Extras extras_;
  int threads_ = 1;
  std::vector<std::uint32_t> arities_;
  std::vector<Key> variable_keys_, child_keys_;
  mutable CountTerms terms_;
  Cache cache_;
  Counters counters_;
  Stop stop_;
  std::size_t since_asked_ = 0;  // families scored since `stop` was asked
  bool stopped_ = false;
};

}  // namespace credo::score
