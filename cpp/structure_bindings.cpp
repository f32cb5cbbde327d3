// ParentLists and the searches of credo._core: learning the structure.
//
// Searches run without the GIL. Their report comes back to Python at most every 20 ms, and looks
// for Ctrl-C, which stops a search as its report does: what it found so far is returned.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <chrono>

#include "binding_arrays.hpp"
#include "binding_scores.hpp"
#include "score_cache.hpp"
#include "search_anneal.hpp"
#include "search_climb.hpp"
#include "search_exact.hpp"
#include "search_lists.hpp"
#include "search_order.hpp"

namespace credo::binding {

using namespace nb::literals;

namespace {

using search::Found;
using search::ParentLists;
using search::Parents;
using search::Rules;
using Marks = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::object real_array(std::span<const double> values) {
  NewArray<double> out({values.size()});
  std::copy(values.begin(), values.end(), out.data());
  return out.release();
}

// ---------------------------------------------------------------- rules, reports, results

Rules read_rules(const Marks& allowed, const Marks& required,
                 const std::vector<std::int32_t>& most) {
  const std::size_t n = most.size();
  for (const Marks* marks : {&allowed, &required})
    require(marks->shape(0) == n && marks->shape(1) == n,
            "The 'allowed' and 'required' parameters must be [n, n].");
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

class PyReport {
 public:
  explicit PyReport(nb::object function) : function_(std::move(function)) {}
  search::Report report() {
    return [this](double best, std::int64_t steps, std::int64_t edges) {
      const auto now = std::chrono::steady_clock::now();
      if (now < next_) return !stopped_;
      const nb::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() != 0) {
        PyErr_Clear();
        interrupted_ = stopped_ = true;
      } else if (!function_.is_none() && !nb::cast<bool>(function_(best, steps, edges))) {
        stopped_ = true;
      }
      next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
      return !stopped_;
    };
  }
  bool interrupted() const { return interrupted_; }

 private:
  nb::object function_;
  std::chrono::steady_clock::time_point next_{};
  bool stopped_ = false, interrupted_ = false;
};

nb::dict found_dict(const Found& found, bool interrupted) {
  nb::dict out;
  nb::list parents, moves;
  for (const auto& list : found.parents) parents.append(to_list(list));
  static constexpr const char* kNames[] = {"add", "delete", "reverse", "orders", "restart"};
  for (const search::Move& move : found.moves)
    moves.append(
        nb::make_tuple(kNames[static_cast<int>(move.change)], move.parent, move.child));
  out["parents"] = parents;
  out["score"] = found.score;
  out["trace"] = real_array(found.trace);
  out["moves"] = moves;
  out["steps"] = found.steps;
  out["stopped"] = found.stopped;
  out["interrupted"] = interrupted;
  return out;
}

nb::dict py_climb(PyScores& scores, const Marks& allowed, const Marks& required,
                  const std::vector<std::int32_t>& most, const Parents& start, std::int64_t tabu,
                  std::int64_t patience, bool downhill, std::int64_t restarts, std::int64_t kicks,
                  std::int64_t most_steps, std::int64_t polish, bool lazy, std::int64_t alone,
                  std::int64_t around,
                  std::uint64_t seed,
                  nb::object report) {
  const Rules rules = read_rules(allowed, required, most);
  require(rules.n == scores.scores->variables(), "The rules are for other variables.");
  check_parents(start, rules.n);
  PyReport teller(std::move(report));
  Found found;
  {
    const nb::gil_scoped_release release;
    found = search::climb(*scores.scores, rules, start,
                          {tabu, patience, downhill, restarts, kicks, most_steps, polish, lazy,
                           alone, around, seed},
                          teller.report());
  }
  return found_dict(found, teller.interrupted());
}

nb::dict py_anneal(PyScores& scores, const Marks& allowed, const Marks& required,
                   const std::vector<std::int32_t>& most, const Parents& start, double hot,
                   double cold, std::int64_t steps, std::int64_t thin, std::uint64_t seed,
                   nb::object report) {
  const Rules rules = read_rules(allowed, required, most);
  require(rules.n == scores.scores->variables(), "The rules are for other variables.");
  require(hot > 0 && cold > 0, "Temperatures must be above 0.");
  require(steps >= 1 && thin >= 0, "The 'steps' parameter must be at least 1.");
  check_parents(start, rules.n);
  PyReport teller(std::move(report));
  search::Annealed found;
  {
    const nb::gil_scoped_release release;
    found = search::anneal(*scores.scores, rules, start, {hot, cold, steps, thin, seed},
                           teller.report());
  }
  nb::dict out = found_dict(found.best, teller.interrupted());
  nb::list last;
  for (const auto& list : found.last) last.append(to_list(list));
  out["last"] = last;
  out["last_score"] = found.last_score;
  out["accepted"] = found.accepted;
  out["proposed"] = found.proposed;
  out["acceptance"] = real_array(found.acceptance);
  NewArray<std::uint8_t> samples({static_cast<std::size_t>(found.kept), rules.n, rules.n});
  std::copy(found.samples.begin(), found.samples.end(), samples.data());
  out["samples"] = samples.release();
  return out;
}

struct PyLists {
  nb::object scores;
  std::unique_ptr<ParentLists> lists;
};

}  // namespace

void bind_structure(nb::module_& m) {
  m.def("climb", &py_climb, "scores"_a, "allowed"_a.noconvert(), "required"_a.noconvert(),
        "most"_a, "start"_a, "tabu"_a = 0, "patience"_a = 0, "downhill"_a = true, "restarts"_a = 0,
        "kicks"_a = 0, "most_steps"_a = 0, "polish"_a = 0, "lazy"_a = false, "alone"_a = 0, "around"_a = 0, "seed"_a = 0, "report"_a = nb::none());
  m.def("anneal", &py_anneal, "scores"_a, "allowed"_a.noconvert(), "required"_a.noconvert(),
        "most"_a, "start"_a, "hot"_a, "cold"_a, "steps"_a, "thin"_a = 0, "seed"_a = 0,
        "report"_a = nb::none());

  nb::class_<PyLists>(m, "ParentLists")
      .def("__init__",
           [](PyLists* self, nb::handle_t<PyScores> scores, const Marks& allowed,
              const Marks& required, const std::vector<std::int32_t>& most) {
             PyScores& held = nb::cast<PyScores&>(scores);
             const Rules rules = read_rules(allowed, required, most);
             require(rules.n == held.scores->variables(), "The rules are for other variables.");
             new (self) PyLists{nb::borrow(scores),
                                std::make_unique<ParentLists>(*held.scores, rules)};
           },
           "scores"_a, "allowed"_a.noconvert(), "required"_a.noconvert(), "most"_a)
      .def("build",
           [](PyLists& self, std::size_t candidates, std::size_t beam, std::size_t most,
              nb::object report) {
             PyReport teller(std::move(report));
             bool done;
             {
               const nb::gil_scoped_release release;
               done = self.lists->build({candidates, beam, most}, teller.report());
             }
             return nb::make_tuple(done, teller.interrupted());
           },
           "candidates"_a = search::kMostCandidates, "beam"_a = 0, "most"_a = 0,
           "report"_a = nb::none())
      .def("reach",
           [](PyLists& self, std::size_t pairs, PyScores& by, nb::object report) {
             require(by.scores->variables() == self.lists->rules().n,
                     "The scores are of other variables.");
             PyReport teller(std::move(report));
             std::size_t added;
             {
               const nb::gil_scoped_release release;
               added = self.lists->reach(pairs, *by.scores, teller.report());
             }
             return nb::make_tuple(added, teller.interrupted());
           },
           "pairs"_a, "by"_a, "report"_a = nb::none())
      .def("add",
           [](PyLists& self, const Parents& parents, bool around) {
             check_parents(parents, self.lists->rules().n);
             const nb::gil_scoped_release release;
             return self.lists->add(parents, around);
           },
           "parents"_a, "around"_a)
      .def("order",
           [](PyLists& self, const Parents& start, std::int64_t chains, std::int64_t patience,
              std::int64_t kicks, std::uint64_t seed, int threads, bool turns, nb::object report) {
             check_parents(start, self.lists->rules().n);
             PyReport teller(std::move(report));
             Found found;
             {
               const nb::gil_scoped_release release;
               found = search::order_search(*self.lists, start,
                                            {chains, patience, kicks, seed, threads, turns},
                                            teller.report());
             }
             return found_dict(found, teller.interrupted());
           },
           "start"_a, "chains"_a = 4, "patience"_a = 100, "kicks"_a = 0, "seed"_a = 0,
           "threads"_a = 1, "turns"_a = false, "report"_a = nb::none())
      .def("exact",
           [](PyLists& self, nb::object report) {
             PyReport teller(std::move(report));
             Found found;
             {
               const nb::gil_scoped_release release;
               found = search::exact_search(*self.lists, teller.report());
             }
             return found_dict(found, teller.interrupted());
           },
           "report"_a = nb::none())
      .def("sets",
           [](const PyLists& self, std::int64_t child) {
             require(child >= 0 && static_cast<std::size_t>(child) < self.lists->rules().n,
                     "There is no such variable.");
             const auto& list = self.lists->lists()[static_cast<std::size_t>(child)];
             nb::list sets;
             for (const std::uint64_t mask : list.masks) sets.append(to_list(list.parents_of(mask)));
             return nb::make_tuple(sets, real_array(list.scores));
           },
           "child"_a)
      .def_prop_ro("upper", [](const PyLists& self) { return real_array(self.lists->upper()); })
      .def_prop_ro("complete", [](const PyLists& self) { return self.lists->complete(); })
      .def_prop_ro("scored", [](const PyLists& self) { return self.lists->scored(); })
      .def_prop_ro("size", [](const PyLists& self) {
        std::size_t total = 0;
        for (const auto& list : self.lists->lists()) total += list.masks.size();
        return total;
      });
}

}  // namespace credo::binding
