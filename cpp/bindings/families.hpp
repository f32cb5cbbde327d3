// Python's lists of families, read name by name, and the plan of their tables.
//
// A learner tallies hundreds of families at a time. Reading and planning them object by object in
// Python would cost more than counting them.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/casters.hpp"
#include "count/family_tables.hpp"

namespace credo::bindings {

namespace nb = nanobind;
static_assert(kMostAxes <= NPY_MAXDIMS);

// Reads families into sets of variables; false where one is not as families are usually written,
// so that the caller can say what is wrong with it.
class FamilyReader {
 public:
  explicit FamilyReader(nb::dict positions) : positions_(std::move(positions)) {}

  bool read(nb::handle families) {
    if (read_all(families)) return true;
    if (!stopped_at_code_) return false;
    // The hash of such a name may do anything, also to the lists: what cannot change is read.
    copy_ = copied(families, 3);
    list_ = {};
    known_.fill({});
    return read_all(copy_);
  }

  SetList take() { return std::move(list_); }

 private:
  bool read_all(nb::handle families) {
    if (!is_sequence(families)) return false;
    const Py_ssize_t n = length(families);
    list_.begin.reserve(static_cast<std::size_t>(n) + 1);
    list_.variables.reserve(4 * static_cast<std::size_t>(n));
    for (Py_ssize_t i = 0; i < n; ++i)
      if (!read_family(item(families, i))) return false;
    return true;
  }

  static bool is_sequence(nb::handle x) {
    return PyTuple_Check(x.ptr()) != 0 || PyList_Check(x.ptr()) != 0;
  }
  static Py_ssize_t length(nb::handle x) {
    return PyTuple_Check(x.ptr()) != 0 ? PyTuple_Size(x.ptr()) : PyList_Size(x.ptr());
  }
  static nb::handle item(nb::handle x, Py_ssize_t i) {
    return PyTuple_Check(x.ptr()) != 0 ? PyTuple_GetItem(x.ptr(), i) : PyList_GetItem(x.ptr(), i);
  }

  // Sequences in sequences, so deep, as tuples.
  static nb::object copied(nb::handle x, int depth) {
    if (depth == 0 || !is_sequence(x)) return nb::borrow(x);
    const nb::object all =
        PyTuple_Check(x.ptr()) != 0 ? nb::borrow(x) : nb::steal(PyList_AsTuple(x.ptr()));
    if (!all.is_valid()) nb::raise_python_error();
    nb::object out = nb::steal(PyTuple_New(length(all)));
    if (!out.is_valid()) nb::raise_python_error();
    for (Py_ssize_t i = 0; i < length(all); ++i)
      PyTuple_SetItem(out.ptr(), i, copied(item(all, i), depth - 1).release().ptr());
    return out;
  }

  // Whether looking for a name runs code of Python's: it is of a class that was written there.
  static bool runs_code(nb::handle name) {
    return PyUnicode_CheckExact(name.ptr()) == 0 &&
           (PyType_GetFlags(Py_TYPE(name.ptr())) & Py_TPFLAGS_HEAPTYPE) != 0;
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
    // A name is often the same object as one before it, which the families keep alive.
    Known& known = known_[reinterpret_cast<std::uintptr_t>(name.ptr()) / 16 % known_.size()];
    if (known.name != name.ptr()) {
      if (PyUnicode_Check(name.ptr()) == 0) return false;
      if (!copy_.is_valid() && runs_code(name)) {
        stopped_at_code_ = true;
        return false;
      }
      PyObject* found = PyDict_GetItemWithError(positions_.ptr(), name.ptr());
      if (found == nullptr) {
        PyErr_Clear();
        return false;
      }
      known = {name.ptr(), static_cast<std::int32_t>(PyLong_AsLong(found))};
    }
    const std::int32_t position = known.position;
    const auto begin = list_.variables.begin() + static_cast<std::ptrdiff_t>(list_.begin.back());
    if (std::find(begin, list_.variables.end(), position) != list_.variables.end()) return false;
    list_.variables.push_back(position);
    return true;
  }

  struct Known {
    PyObject* name = nullptr;
    std::int32_t position = 0;
  };

  nb::dict positions_;
  nb::object copy_;  // of the families, where they may change while they are read
  bool stopped_at_code_ = false;
  std::array<Known, 64> known_;
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

// A slot of a Python class, which is set whatever the class says of setting attributes.
class Slot {
 public:
  Slot(nb::handle kind, const char* name) : descriptor_(nb::getattr(kind, name)) {
    set_ = reinterpret_cast<descrsetfunc>(
        PyType_GetSlot(Py_TYPE(descriptor_.ptr()), Py_tp_descr_set));
    require(set_ != nullptr, "The class has no such slot.");
  }
  void set(const nb::object& object, const nb::object& value) const {
    if (set_(descriptor_.ptr(), object.ptr(), value.ptr()) != 0) nb::raise_python_error();
  }

 private:
  nb::object descriptor_;
  descrsetfunc set_;
};

// What `plan_families` gives. The names are put to the tables when they are asked for: a tally of
// hundreds of families would spend most of its time on tuples that nobody looks at.
class FamilyPlan {
 public:
  FamilyPlan(SetList families, const std::vector<std::int64_t>& states, std::uint64_t most)
      : families_(std::move(families)),
        tables_(family_tables(families_, states, most)),
        n_variables_(states.size()),
        most_(most) {
    for (std::size_t v = 0; v < states.size(); ++v) {
      if (states[v] < 0) continue;
      discrete_.push_back(states[v]);
      among_all_.push_back(static_cast<std::int32_t>(v));
    }
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

  // The place of a family among the sparse tables, then the mixed; -1 if it is dense.
  std::int32_t other(std::size_t i) const {
    require(i < size(), "There is no such family.");
    return tables_.other_at[i];
  }

  // The table of a family, or of each, as a view of the array that all dense ones lie in.
  nb::object view(nb::handle all, std::size_t i) const {
    require(i < size(), "There is no such family.");
    return Views(*this, all).of(i);
  }

  nb::list views(nb::handle all) const {
    Views views(*this, all);
    nb::list out = listed(size());
    for (std::size_t i = 0; i < size(); ++i)
      PyList_SetItem(out.ptr(), static_cast<Py_ssize_t>(i), views.of(i).release().ptr());
    return out;
  }

  // The same as counts of Python's: objects of the type `kind`, which has these slots, in a list.
  nb::list counts(nb::handle kind, nb::tuple variables, nb::handle all) const {
    check_names(variables);
    Views views(*this, all);
    const Slot variables_slot(kind, "variables"), values(kind, "values"), skipped(kind, "skipped"),
        configurations(kind, "configurations");
    const nb::object zero = nb::steal(PyLong_FromLong(0));
    nb::list out = listed(size());
    for (std::size_t i = 0; i < size(); ++i) {
      const nb::object made =
          nb::steal(PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(kind.ptr()), 0));
      if (!made.is_valid()) nb::raise_python_error();
      variables_slot.set(made, picked(variables, family(i)));
      values.set(made, views.of(i));
      skipped.set(made, zero);
      configurations.set(made, nb::none());
      PyList_SetItem(out.ptr(), static_cast<Py_ssize_t>(i), nb::object(made).release().ptr());
    }
    return out;
  }

 private:
  // Makes views of dense tables, their axes in the order of the family.
  class Views {
   public:
    Views(const FamilyPlan& plan, nb::handle all) : plan_(plan), all_(all) {
      if (!numpy_is_there()) nb::raise_python_error();
      require(PyArray_Check(all.ptr()), "The tables must be a NumPy array.");
      require(PyArray_NDIM(array()) == 1 && PyArray_IS_C_CONTIGUOUS(array()) &&
                  static_cast<std::uint64_t>(PyArray_DIM(array(), 0)) == plan.tables_.cells,
              "The tables must lie one after the other in one array.");
    }

    nb::object of(std::size_t i) {
      const FamilyTables& tables = plan_.tables_;
      require(tables.dense_at[i] >= 0, "Only dense tables are in the array.");
      const auto table = static_cast<std::size_t>(tables.dense_at[i]);
      const auto axes = tables.dense[table];
      const auto wanted = plan_.family(i);
      npy_intp shape[kMostAxes], strides[kMostAxes];
      npy_intp stride = PyArray_ITEMSIZE(array());
      for (std::size_t a = axes.size(); a-- > 0;) {
        const std::int32_t variable = plan_.among_all_[static_cast<std::size_t>(axes[a])];
        const auto k = static_cast<std::size_t>(
            std::find(wanted.begin(), wanted.end(), variable) - wanted.begin());
        shape[k] = static_cast<npy_intp>(plan_.discrete_[static_cast<std::size_t>(axes[a])]);
        strides[k] = stride;
        stride *= shape[k];
      }
      PyArray_Descr* type = PyArray_DESCR(array());
      Py_INCREF(reinterpret_cast<PyObject*>(type));
      char* data = PyArray_BYTES(array()) +
                   tables.first_cell[table] * static_cast<std::size_t>(PyArray_ITEMSIZE(array()));
      Py_INCREF(all_.ptr());
      PyObject* made = array_over(type, wanted.size(), shape, strides, data, 0, all_.ptr());
      if (made == nullptr) nb::raise_python_error();
      return nb::steal(made);
    }

   private:
    PyArrayObject* array() const { return reinterpret_cast<PyArrayObject*>(all_.ptr()); }

    const FamilyPlan& plan_;
    nb::handle all_;
  };

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
  std::vector<std::int64_t> discrete_;   // the states of the discrete variables
  std::vector<std::int32_t> among_all_;  // their numbers among all
};

}  // namespace credo::bindings
