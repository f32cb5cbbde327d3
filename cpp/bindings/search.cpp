#include "bindings/search.hpp"

#include <chrono>

#include "search/anneal.hpp"
#include "search/climb.hpp"
#include "search/exact.hpp"
#include "search/order.hpp"

namespace credo::doors {

using search::Found;
using search::Parents;
using search::Report;
using search::Rules;

namespace {

Rules read_rules(const score::FamilyScores& scores, const Marks& allowed, const Marks& required,
                 const Numbers& most) {
  const std::size_t n = most.size();
  for (const Marks* marks : {&allowed, &required})
    require(marks->shape(0) == n && marks->shape(1) == n,
            "The 'allowed' and 'required' parameters must be [n, n].");
  require(n == scores.variables(), "The rules are for other variables.");
  return {n,
          {allowed.data(), allowed.data() + n * n},
          {required.data(), required.data() + n * n},
          most};
}

void check_parents(const Parents& parents, std::size_t n) {
  require(parents.size() == n, "The graph must have a list of parents for each variable.");
  for (const auto& list : parents)
    for (const std::int32_t p : list)
      require(p >= 0 && static_cast<std::size_t>(p) < n, "A parent is out of range.");
  require(search::Graph(n, parents).order().size() == n, "The graph has a cycle.");
}

// Tells now and then, and listens for Ctrl-C.
class Teller {
 public:
  Teller(const CtrlC& ctrl_c, const Report& told) : ctrl_c_(ctrl_c), told_(told) {}
  Report report() {
    return [this](double best, std::int64_t steps, std::int64_t edges) {
      if (std::chrono::steady_clock::now() < next_) return !stopped_;
      if (ctrl_c_.pressed()) interrupted_ = stopped_ = true;
      else if (told_ && !told_(best, steps, edges)) stopped_ = true;
      next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
      return !stopped_;
    };
  }
  bool interrupted() const { return interrupted_; }

 private:
  const CtrlC& ctrl_c_;
  const Report& told_;
  std::chrono::steady_clock::time_point next_{};
  bool stopped_ = false, interrupted_ = false;
};

Record record_of(Found found, bool interrupted) {
  static constexpr const char* kNames[] = {"add", "delete", "reverse", "orders", "restart"};
  Moves moves;
  for (const search::Move& move : found.moves)
    moves.emplace_back(kNames[static_cast<int>(move.change)], move.parent, move.child);
  Record out;
  out.add("parents", std::move(found.parents));
  out.add("score", found.score);
  out.add("trace", copied(found.trace));
  out.add("moves", std::move(moves));
  out.add("steps", found.steps);
  out.add("stopped", found.stopped);
  out.add("interrupted", interrupted);
  return out;
}

}  // namespace

Record climb(const CtrlC& ctrl_c, KeptScores& scores, const Marks& allowed, const Marks& required,
             const Numbers& most, const Parents& start, std::int64_t tabu, std::int64_t patience,
             bool downhill, std::int64_t restarts, std::int64_t kicks, std::int64_t most_steps,
             std::int64_t polish, bool lazy, std::int64_t alone, std::int64_t around,
             std::uint64_t seed, const Report& report) {
  const Rules rules = read_rules(*scores, allowed, required, most);
  check_parents(start, rules.n);
  Teller teller(ctrl_c, report);
  Found found = search::climb(*scores, rules, start,
                              {tabu, patience, downhill, restarts, kicks, most_steps, polish, lazy,
                               alone, around, seed},
                              teller.report());
  return record_of(std::move(found), teller.interrupted());
}

Record anneal(const CtrlC& ctrl_c, KeptScores& scores, const Marks& allowed, const Marks& required,
              const Numbers& most, const Parents& start, double hot, double cold,
              std::int64_t steps, std::int64_t thin, std::uint64_t seed, const Report& report) {
  const Rules rules = read_rules(*scores, allowed, required, most);
  require(hot > 0 && cold > 0, "Temperatures must be above 0.");
  require(steps >= 1 && thin >= 0, "The 'steps' parameter must be at least 1.");
  check_parents(start, rules.n);
  Teller teller(ctrl_c, report);
  search::Annealed found =
      search::anneal(*scores, rules, start, {hot, cold, steps, thin, seed}, teller.report());
  Record out = record_of(std::move(found.best), teller.interrupted());
  out.add("last", std::move(found.last));
  out.add("last_score", found.last_score);
  out.add("accepted", found.accepted);
  out.add("proposed", found.proposed);
  out.add("acceptance", copied(found.acceptance));
  out.add("samples",
          copied(found.samples, {static_cast<std::size_t>(found.kept), rules.n, rules.n}));
  return out;
}

// ---------------------------------------------------------------- lists of parents

ParentLists::ParentLists(std::shared_ptr<KeptScores> scores, const Marks& allowed,
                         const Marks& required, const Numbers& most)
    : scores_(std::move(scores)),
      lists_(**scores_, read_rules(**scores_, allowed, required, most)) {}

std::tuple<bool, bool> ParentLists::build(const CtrlC& ctrl_c, std::size_t candidates,
                                          std::size_t beam, std::size_t most,
                                          const Report& report) {
  Teller teller(ctrl_c, report);
  const bool done = lists_.build({candidates, beam, most}, teller.report());
  return {done, teller.interrupted()};
}

std::tuple<std::size_t, bool> ParentLists::reach(const CtrlC& ctrl_c, std::size_t pairs,
                                                 KeptScores& by, const Report& report) {
  require(by->variables() == lists_.rules().n, "The scores are of other variables.");
  Teller teller(ctrl_c, report);
  const std::size_t added = lists_.reach(pairs, *by, teller.report());
  return {added, teller.interrupted()};
}

std::size_t ParentLists::add(const Parents& parents, bool around) {
  check_parents(parents, lists_.rules().n);
  return lists_.add(parents, around);
}

Record ParentLists::order(const CtrlC& ctrl_c, const Parents& start, std::int64_t chains,
                          std::int64_t patience, std::int64_t kicks, std::uint64_t seed,
                          int threads, bool turns, const Report& report) {
  check_parents(start, lists_.rules().n);
  Teller teller(ctrl_c, report);
  Found found = search::order_search(lists_, start, {chains, patience, kicks, seed, threads, turns},
                                     teller.report());
  return record_of(std::move(found), teller.interrupted());
}

Record ParentLists::exact(const CtrlC& ctrl_c, const Report& report) {
  Teller teller(ctrl_c, report);
  Found found = search::exact_search(lists_, teller.report());
  return record_of(std::move(found), teller.interrupted());
}

std::tuple<Lists, Array<double>> ParentLists::sets(std::int64_t child) const {
  require(child >= 0 && static_cast<std::size_t>(child) < lists_.rules().n,
          "There is no such variable.");
  const auto& list = lists_.lists()[static_cast<std::size_t>(child)];
  Lists sets;
  for (const std::uint64_t mask : list.masks) sets.push_back(list.parents_of(mask));
  return {std::move(sets), copied(list.scores)};
}

std::size_t ParentLists::size() const {
  std::size_t total = 0;
  for (const auto& list : lists_.lists()) total += list.masks.size();
  return total;
}

}  // namespace credo::doors
