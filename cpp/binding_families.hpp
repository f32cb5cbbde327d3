// Python's lists of families, read name by name, and the plan of their tables.
//
// A learner tallies hundreds of families at a time. Reading and planning them object by object in
// Python would cost more than counting them.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "door_arrays.hpp"
#include "family_tables.hpp"

namespace credo::binding {

namespace nb = nanobind;

// Reads families into sets of variables; false where one is not as families are usually written,
// so that the caller can say what is wrong with it.
class FamilyReader {
 public:
  explicit FamilyReader(nb::dict positions) : positions_(std::move(positions)) {}

  bool read(nb::handle families) {
    if (!is_sequence(families)) return false;
    const Py_ssize_t n = length(families);
    list_.begin.reserve(static_cast<std::size_t>(n) + 1);
    for (Py_ssize_t i = 0; i < n; ++i)
      if (!read_family(item(families, i))) return false;
    return true;
  }

  const SetList& list() const { return list_; }

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

inline nb::object plan_families(nb::handle families, nb::dict positions, nb::tuple variables,
                                const std::vector<std::int64_t>& states, std::uint64_t most) {
  doors::require(nb::len(variables) == states.size() && nb::len(positions) == states.size(),
                 "The 'positions', 'variables' and 'states' parameters must have the same length.");
  FamilyReader reader(positions);
  if (!reader.read(families)) return nb::none();
  FamilyTables made = family_tables(reader.list(), states, most);

  const auto names = nb::tuple(positions.keys());
  nb::dict spelled;
  nb::list places;
  std::vector<std::int32_t> order;
  for (std::size_t i = 0; i < made.kept.size(); ++i) {
    const auto family = reader.list()[static_cast<std::size_t>(made.kept[i])];
    places.append(nb::make_tuple(made.stack[i], made.at[i], picked(variables, family)));
    order.assign(1, family.back());  // the child, then its parents
    order.insert(order.end(), family.begin(), family.end() - 1);
    spelled[picked(names, order)] = i;
  }
  std::vector<std::int64_t> discrete;  // the states of the discrete variables
  std::copy_if(states.begin(), states.end(), std::back_inserter(discrete),
               [](std::int64_t n) { return n >= 0; });
  nb::list stacks;
  for (const TableStack& s : made.stacks) {
    nb::list shape, wanted;
    shape.append(s.end_table - s.first_table);
    wanted.append(0);
    for (const std::int32_t v : made.dense[s.first_table])
      shape.append(discrete[static_cast<std::size_t>(v)]);
    for (const std::int32_t axis : s.axes) wanted.append(axis + 1);
    stacks.append(
        nb::make_tuple(s.first_cell, s.end_cell, nb::tuple(shape), nb::tuple(wanted)));
  }
  return nb::make_tuple(spelled, places, stacks, nb::cast(std::move(made.dense)),
                        nb::cast(std::move(made.sparse)), nb::cast(std::move(made.mixed)),
                        made.cells);
}

}  // namespace credo::binding
