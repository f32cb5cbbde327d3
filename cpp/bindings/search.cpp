// Structure search: climbing, annealing, and lists of parents with searches over them.
//
// Searches tell how far they are at most every 20 ms. Ctrl-C, asked for as often, stops a search as
// its report does: what it found so far is returned.
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "bindings/module.hpp"
#include "bindings/score.hpp"
#include "search/anneal.hpp"
#include "search/climb.hpp"
#include "search/exact.hpp"
#include "search/order.hpp"
#include "search/parent_lists.hpp"

namespace credo::bindings {
namespace {

using Marks = View<const std::uint8_t, 2>;  // [child, parent]

using search::Found;
using search::Parents;
using search::Report;
using search::Rules;

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

// All give the parents of each variable, score, trace, moves, steps, whether stopped, interrupted.
Record climb(const CtrlC& ctrl_c, KeptScores& scores, const Marks& allowed, const Marks& required,
             const Numbers& most, const Parents& start, std::int64_t tabu, std::int64_t patience,
             bool downhill, std::int64_t restarts, std::int64_t kicks, std::int64_t most_steps,
             std::int64_t polish, bool lazy, std::int64_t alone, std::int64_t around,
             std::uint64_t seed, const Report& report) {
  const Rules rules = read_rules(*scores, allowed, required, most);
  check_parents(start, rules.n);
  Teller teller(ctrl_c, report);
  Found found = search::climb(
      *scores, rules, start,
      {tabu, patience, downhill, restarts, kicks, most_steps, polish, lazy, alone, around, seed},
      teller.report());
  return record_of(std::move(found), teller.interrupted());
}

// And the last graph, what was accepted of what was proposed, and samples [kept, child, parent].
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

class ParentLists {
 public:
  ParentLists(std::shared_ptr<KeptScores> scores, const Marks& allowed, const Marks& required,
              const Numbers& most)
      : scores_(std::move(scores)),
        lists_(**scores_, read_rules(**scores_, allowed, required, most)) {}

  // Whether it was done, and whether Ctrl-C stopped it.
  std::tuple<bool, bool> build(const CtrlC& ctrl_c, std::size_t candidates, std::size_t beam,
                               std::size_t most, const Report& report) {
    Teller teller(ctrl_c, report);
    const bool done = lists_.build({candidates, beam, most}, teller.report());
    return {done, teller.interrupted()};
  }
  // How many were added, and the same.
  std::tuple<std::size_t, bool> reach(const CtrlC& ctrl_c, std::size_t pairs, KeptScores& by,
                                      const Report& report) {
    require(by->variables() == lists_.rules().n, "The scores are of other variables.");
    Teller teller(ctrl_c, report);
    const std::size_t added = lists_.reach(pairs, *by, teller.report());
    return {added, teller.interrupted()};
  }
  std::size_t add(const Parents& parents, bool around) {
    check_parents(parents, lists_.rules().n);
    return lists_.add(parents, around);
  }
  Record order(const CtrlC& ctrl_c, const Parents& start, std::int64_t chains,
               std::int64_t patience, std::int64_t kicks, std::uint64_t seed, int threads,
               bool turns, const Report& report) {
    check_parents(start, lists_.rules().n);
    Teller teller(ctrl_c, report);
    Found found = search::order_search(
        lists_, start, {chains, patience, kicks, seed, threads, turns}, teller.report());
    return record_of(std::move(found), teller.interrupted());
  }
  Record exact(const CtrlC& ctrl_c, const Report& report) {
    Teller teller(ctrl_c, report);
    Found found = search::exact_search(lists_, teller.report());
    return record_of(std::move(found), teller.interrupted());
  }

  // The sets of a child, best first, and their scores.
  std::tuple<Lists, Array<double>> sets(std::int64_t child) const {
    require(child >= 0 && static_cast<std::size_t>(child) < lists_.rules().n,
            "There is no such variable.");
    const auto& list = lists_.lists()[static_cast<std::size_t>(child)];
    Lists sets;
    for (const std::uint64_t mask : list.masks) sets.push_back(list.parents_of(mask));
    return {std::move(sets), copied(list.scores)};
  }
  Array<double> upper() const { return copied(lists_.upper()); }
  bool complete() const { return lists_.complete(); }
  std::int64_t scored() const { return lists_.scored(); }
  std::size_t size() const {
    std::size_t total = 0;
    for (const auto& list : lists_.lists()) total += list.masks.size();
    return total;
  }

 private:
  std::shared_ptr<KeptScores> scores_;
  search::ParentLists lists_;
};

}  // namespace

void bind_searches(nb::module_& m) {
  m.def("climb", bound(&climb), "scores"_a, "allowed"_a, "required"_a, "most"_a, "start"_a,
        "tabu"_a = 0, "patience"_a = 0, "downhill"_a = true, "restarts"_a = 0, "kicks"_a = 0,
        "most_steps"_a = 0, "polish"_a = 0, "lazy"_a = false, "alone"_a = 0, "around"_a = 0,
        "seed"_a = 0, "report"_a.none() = nb::none());
  m.def("anneal", bound(&anneal), "scores"_a, "allowed"_a, "required"_a, "most"_a, "start"_a,
        "hot"_a, "cold"_a, "steps"_a, "thin"_a = 0, "seed"_a = 0, "report"_a.none() = nb::none());
  nb::class_<ParentLists>(m, "ParentLists")
      .def(nb::init<std::shared_ptr<KeptScores>, const Marks&, const Marks&, const Numbers&>(),
           "scores"_a, "allowed"_a, "required"_a, "most"_a)
      .def("build", bound(&ParentLists::build), "candidates"_a = search::kMostCandidates,
           "beam"_a = 0, "most"_a = 0, "report"_a.none() = nb::none())
      .def("reach", bound(&ParentLists::reach), "pairs"_a, "by"_a, "report"_a.none() = nb::none())
      .def("add", bound(&ParentLists::add), "parents"_a, "around"_a)
      .def("order", bound(&ParentLists::order), "start"_a, "chains"_a = 4, "patience"_a = 100,
           "kicks"_a = 0, "seed"_a = 0, "threads"_a = 1, "turns"_a = false,
           "report"_a.none() = nb::none())
      .def("exact", bound(&ParentLists::exact), "report"_a.none() = nb::none())
      .def("sets", &ParentLists::sets, "child"_a)
      .def_prop_ro("upper", &ParentLists::upper)
      .def_prop_ro("complete", &ParentLists::complete)
      .def_prop_ro("scored", &ParentLists::scored)
      .def_prop_ro("size", &ParentLists::size);
}

}  // namespace credo::bindings
