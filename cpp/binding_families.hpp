// Python's lists of families, read name by name, and the plan of their tables.
//
// A learner tallies hundreds of families at a time. Reading and planning them object by object in
// Python would cost more than counting them.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "door_arrays.hpp"
#include "family_tables.hpp"

namespace credo::binding {

namespace nb = nanobind;
using doors::require;

// Reads families into sets of variables; false where one is not as families are usually written,
// so that the caller can say what is wrong with it.
class FamilyReader {
 public:
  explicit FamilyReader(nb::dict positions) : positions_(std::move(positions)) {}

  bool read(nb::handle families) {
    if (!is_sequence(families)) return false;
    const Py_ssize_t n = length(families);
    list_.begin.reserve(static_cast<std::size_t>(n) + 1);
    list_.variables.reserve(4 * static_cast<std::size_t>(n));
    for (Py_ssize_t i = 0; i < n; ++i)
      if (!read_family(item(families, i))) return false;
    return true;
  }

  SetList take() { return std::move(list_); }

 private:
  static bool is_sequence(nb::handle x) {
    return PyTuple_Check(x.ptr()) != 0 || PyList_Check(x.ptr()) != 0;
  }
  static Py_ssize_t length(nb::handle x) {
    return PyTuple_Check(x.ptr()) != 0 ? PyTuple_Size(x.ptr()) : PyList_Size(x.ptr());
  }
  static nb::handle item(nb::handle x, Py_ssize_t i) {
    return PyTuple_Check(x.ptr()) != 0 ? PyTuple_GetItem(x.ptr(), i) : PyList_GetItem(x.ptr(), i);
  }

  bool read_family(nb::handle family) {
    nb::handle child = family;
    if (PyUnicode_Check(family.ptr()) == 0) {
      if (!is_sequence(family) || length(family) != 2) return false;
      child = item(family, 0);
      const nb::handle parents = item(family, 1);
      if (PyUnicode_Check(parents.ptr()) != 0) {
        if (!read_name(parents)) return false;
      } else {
        if (!is_sequence(parents)) return false;
        const Py_ssize_t n = length(parents);
        for (Py_ssize_t i = 0; i < n; ++i)
          if (!read_name(item(parents, i))) return false;
      }
    }
    if (!read_name(child)) return false;
    list_.begin.push_back(list_.variables.size());
    return true;
  }

  bool read_name(nb::handle name) {
    if (PyUnicode_Check(name.ptr()) == 0) return false;
    PyObject* found = PyDict_GetItemWithError(positions_.ptr(), name.ptr());
    if (found == nullptr) {
      PyErr_Clear();
      return false;
    }
    const auto position = static_cast<std::int32_t>(PyLong_AsLong(found));
    const auto begin = list_.variables.begin() + static_cast<std::ptrdiff_t>(list_.begin.back());
    if (std::find(begin, list_.variables.end(), position) != list_.variables.end()) return false;
    list_.variables.push_back(position);
    return true;
  }

  nb::dict positions_;
  SetList list_;
};

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

// A list of so many items, which are put in later: all of them before Python sees it.
inline nb::list listed(std::size_t n) {
  PyObject* out = PyList_New(static_cast<Py_ssize_t>(n));
  if (out == nullptr) nb::raise_python_error();
  return nb::steal<nb::list>(out);
}

// What `plan_families` gives. The names are put to the tables when they are asked for: a tally of
// hundreds of families would spend most of its time on tuples that nobody looks at.
class FamilyPlan {
 public:
  FamilyPlan(SetList families, const std::vector<std::int64_t>& states, std::uint64_t most)
      : families_(std::move(families)),
        tables_(family_tables(families_, states, most)),
        n_variables_(states.size()),
        most_(most) {
    std::copy_if(states.begin(), states.end(), std::back_inserter(discrete_),
                 [](std::int64_t n) { return n >= 0; });
  }

  bool is_of(const SetList& families, std::size_t n_variables, std::uint64_t most) const {
    return most == most_ && n_variables == n_variables_ && families == families_;
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
      const nb::object key = picked(names, order);
      const nb::object value = nb::steal(PyLong_FromSize_t(i));
      if (!value.is_valid() || PyDict_SetItem(out.ptr(), key.ptr(), value.ptr()) != 0)
        nb::raise_python_error();
    }
    return out;
  }

  nb::list axes(nb::tuple variables) const {
    check_names(variables);
    nb::list out = listed(size());
    for (std::size_t i = 0; i < size(); ++i)
      PyList_SetItem(out.ptr(), static_cast<Py_ssize_t>(i),
                     picked(variables, family(i)).release().ptr());
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
    for (const std::int32_t stack : tables_.stack)
      require(stack >= 0, "Only dense tables are in a stack.");
    nb::list out = listed(size());
    for (std::size_t i = 0; i < size(); ++i) {
      const nb::list& stack = stacks[static_cast<std::size_t>(tables_.stack[i])];
      PyObject* item = PyList_GetItem(stack.ptr(), tables_.at[i]);
      Py_INCREF(item);
      PyList_SetItem(out.ptr(), static_cast<Py_ssize_t>(i), item);
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
  std::uint64_t most_;
  std::vector<std::int64_t> discrete_;  // the states of the discrete variables
};

// A plan, or None where the families are not as they are usually written; the last plan itself where
// it is of the same families. Each is compared: a list that has changed is another.
inline nb::object plan_families(nb::handle families, nb::dict positions, nb::list states,
                                std::uint64_t most, nb::object last) {
  require(nb::len(positions) == nb::len(states),
          "The 'positions' and 'states' parameters must have the same length.");
  FamilyReader reader(positions);
  if (!reader.read(families)) return nb::none();
  SetList read = reader.take();
  if (!last.is_none() && nb::cast<const FamilyPlan&>(last).is_of(read, nb::len(states), most))
    return last;
  return nb::cast(FamilyPlan(std::move(read), nb::cast<std::vector<std::int64_t>>(states), most));
}

}  // namespace credo::binding
