// The door to structure search: climbing, annealing, and lists of parents with searches over them.
//
// Searches tell how far they are at most every 20 ms. Ctrl-C, asked for as often, stops a search as
// its report does: what it found so far is returned.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/ctrl_c.hpp"
#include "bindings/record.hpp"
#include "bindings/score.hpp"
#include "search/parent_lists.hpp"

namespace credo::doors {

using Marks = View<const std::uint8_t, 2>;  // [child, parent]

// All give the parents of each variable, score, trace, moves, steps, whether stopped, interrupted.
Record climb(const CtrlC& ctrl_c, KeptScores& scores, const Marks& allowed, const Marks& required,
             const Numbers& most, const search::Parents& start, std::int64_t tabu,
             std::int64_t patience, bool downhill, std::int64_t restarts, std::int64_t kicks,
             std::int64_t most_steps, std::int64_t polish, bool lazy, std::int64_t alone,
             std::int64_t around, std::uint64_t seed, const search::Report& report);

// And the last graph, what was accepted of what was proposed, and samples [kept, child, parent].
Record anneal(const CtrlC& ctrl_c, KeptScores& scores, const Marks& allowed, const Marks& required,
              const Numbers& most, const search::Parents& start, double hot, double cold,
              std::int64_t steps, std::int64_t thin, std::uint64_t seed,
              const search::Report& report);

class ParentLists {
 public:
  ParentLists(std::shared_ptr<KeptScores> scores, const Marks& allowed, const Marks& required,
              const Numbers& most);

  // Whether it was done, and whether Ctrl-C stopped it.
  std::tuple<bool, bool> build(const CtrlC& ctrl_c, std::size_t candidates, std::size_t beam,
                               std::size_t most, const search::Report& report);
  // How many were added, and the same.
  std::tuple<std::size_t, bool> reach(const CtrlC& ctrl_c, std::size_t pairs, KeptScores& by,
                                      const search::Report& report);
  std::size_t add(const search::Parents& parents, bool around);
  Record order(const CtrlC& ctrl_c, const search::Parents& start, std::int64_t chains,
               std::int64_t patience, std::int64_t kicks, std::uint64_t seed, int threads,
               bool turns, const search::Report& report);
  Record exact(const CtrlC& ctrl_c, const search::Report& report);

  // The sets of a child, best first, and their scores.
  std::tuple<Lists, Array<double>> sets(std::int64_t child) const;
  Array<double> upper() const { return copied(lists_.upper()); }
  bool complete() const { return lists_.complete(); }
  std::int64_t scored() const { return lists_.scored(); }
  std::size_t size() const;

 private:
  std::shared_ptr<KeptScores> scores_;
  search::ParentLists lists_;
};

}  // namespace credo::doors
