// The plan of some families, as Python sees it.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "binding_arrays.hpp"
#include "family_tables.hpp"

namespace credo::binding {

// The items of `of` at some positions: a tuple. (Far cheaper than nb::tuple of a list.)
template <class Positions>
nb::object picked(nb::tuple of, const Positions& positions) {
  PyObject* out = PyTuple_New(static_cast<Py_ssize_t>(positions.size()));
  if (out == nullptr) nb::raise_python_error();
  Py_ssize_t k = 0;
  for (const std::int32_t p : positions) {
    PyObject* item = PyTuple_GetItem(of.ptr(), p);
    Py_INCREF(item);
    PyTuple_SetItem(out, k++, item);
  }
  return nb::steal(out);
}

// What `plan_families` gives. The names are put to the tables when they are asked for: a tally of
// hundreds of families would spend most of its time on tuples that nobody looks at.
class FamilyPlan {
 public:
  FamilyPlan(SetList families, const std::vector<std::int64_t>& states, std::uint64_t most)
      : families_(std::move(families)),
        tables_(family_tables(families_, states, most)),
        n_variables_(states.size()) {
    std::copy_if(states.begin(), states.end(), std::back_inserter(discrete_),
                 [](std::int64_t n) { return n >= 0; });
  }

  std::size_t size() const { return tables_.kept.size(); }
  const FamilyTables& tables() const { return tables_; }
  bool all_dense() const { return tables_.sparse.size() == 0 && tables_.mixed.size() == 0; }

  nb::dict spelled(nb::tuple names) const {
    check_names(names);
    nb::dict out;
    std::vector<std::int32_t> order;
    for (std::size_t i = 0; i < size(); ++i) {
      const auto set = family(i);
      order.assign(1, set.back());  // the child, then its parents
      order.insert(order.end(), set.begin(), set.end() - 1);
      out[picked(names, order)] = i;
    }
    return out;
  }

  nb::list axes(nb::tuple variables) const {
    check_names(variables);
    nb::list out;
    for (std::size_t i = 0; i < size(); ++i) out.append(picked(variables, family(i)));
    return out;
  }

  nb::list places(nb::tuple variables) const {
    const nb::list found = axes(variables);
    nb::list out;
    for (std::size_t i = 0; i < size(); ++i)
      out.append(nb::make_tuple(tables_.stack[i], tables_.at[i], found[i]));
    return out;
  }

  nb::list stacks() const {
    nb::list out;
    for (const TableStack& s : tables_.stacks) {
      nb::list shape, wanted;
      shape.append(s.end_table - s.first_table);
      wanted.append(0);
      for (const std::int32_t v : tables_.dense[s.first_table])
        shape.append(discrete_[static_cast<std::size_t>(v)]);
      for (const std::int32_t axis : s.axes) wanted.append(axis + 1);
      out.append(nb::make_tuple(s.first_cell, s.end_cell, nb::tuple(shape), nb::tuple(wanted)));
    }
    return out;
  }

  // Of each family, its item in the list of its stack.
  nb::list pick(const std::vector<nb::list>& stacks) const {
    require(stacks.size() == tables_.stacks.size(), "A list is needed for each stack.");
    for (std::size_t s = 0; s < stacks.size(); ++s)
      require(nb::len(stacks[s]) == tables_.stacks[s].end_table - tables_.stacks[s].first_table,
              "The list of a stack must have as many items as it has tables.");
    nb::list out;
    for (std::size_t i = 0; i < size(); ++i) {
      require(tables_.stack[i] >= 0, "Only dense tables are in a stack.");
      out.append(stacks[static_cast<std::size_t>(tables_.stack[i])][tables_.at[i]]);
    }
    return out;
  }

 private:
  std::span<const std::int32_t> family(std::size_t i) const {
    return families_[static_cast<std::size_t>(tables_.kept[i])];
  }
  void check_names(const nb::tuple& names) const {
    require(nb::len(names) == n_variables_, "A name is needed for each variable.");
  }

  SetList families_;
  FamilyTables tables_;
  std::size_t n_variables_;
  std::vector<std::int64_t> discrete_;  // the states of the discrete variables
};

inline const SetList& sets_of(const SetList& sets) { return sets; }
inline const SetList& sets_of(const FamilyPlan& plan) { return plan.tables().dense; }

}  // namespace credo::binding
