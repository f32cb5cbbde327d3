// Python's lists of families, read name by name, and the plan of their tables.
//
// A learner tallies hundreds of families at a time. Reading and planning them object by object in
// Python would cost more than counting them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "binding_columns.hpp"
#include "binding_families.hpp"

namespace credo::binding {
namespace {

using namespace nb::literals;

// Reads families into sets of variables; false where one is not as families are usually written,
// so that the caller can say what is wrong with it.
class Reader {
 public:
  explicit Reader(nb::dict positions) : positions_(std::move(positions)) {}

  bool read(nb::handle families) {
    if (!is_sequence(families)) return false;
    const Py_ssize_t n = length(families);
    list_.begin.reserve(static_cast<std::size_t>(n) + 1);
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

nb::list lists(const SetList& sets) {
  nb::list out;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    nb::list set;
    for (const std::int32_t v : sets[s]) set.append(v);
    out.append(set);
  }
  return out;
}

std::optional<FamilyPlan> plan(nb::handle families, nb::dict positions,
                               const std::vector<std::int64_t>& states, std::uint64_t most) {
  require(nb::len(positions) == states.size(),
          "The 'positions' and 'states' parameters must have the same length.");
  Reader reader(positions);
  if (!reader.read(families)) return std::nullopt;
  return FamilyPlan(reader.take(), states, most);
}

template <SetList FamilyTables::* sets>
const SetList& tables_of(const FamilyPlan& plan) {
  return plan.tables().*sets;
}

}  // namespace

void bind_families(nb::module_& m) {
  nb::class_<SetList>(m, "Sets")
      .def("__init__", [](SetList* self, nb::object sets) { new (self) SetList(read_sets(sets)); },
           "sets"_a)
      .def("__len__", &SetList::size)
      .def("lists", &lists);
  nb::class_<FamilyPlan>(m, "FamilyPlan")
      .def("__len__", &FamilyPlan::size)
      .def_prop_ro("n_dense", [](const FamilyPlan& self) { return self.tables().dense.size(); })
      .def_prop_ro("all_dense", &FamilyPlan::all_dense)
      .def_prop_ro("cells", [](const FamilyPlan& self) { return self.tables().cells; })
      .def_prop_ro("dense", &tables_of<&FamilyTables::dense>, nb::rv_policy::reference_internal)
      .def_prop_ro("sparse", &tables_of<&FamilyTables::sparse>, nb::rv_policy::reference_internal)
      .def_prop_ro("mixed", &tables_of<&FamilyTables::mixed>, nb::rv_policy::reference_internal)
      .def("spelled", &FamilyPlan::spelled, "names"_a)
      .def("axes", &FamilyPlan::axes, "variables"_a)
      .def("places", &FamilyPlan::places, "variables"_a)
      .def("stacks", &FamilyPlan::stacks)
      .def("pick", &FamilyPlan::pick, "stacks"_a);
  m.def("plan_families", &plan, "families"_a, "positions"_a, "states"_a, "most"_a);
}

}  // namespace credo::binding
