// Sets of variables as Python writes them, and tables as it reads them.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <optional>
#include <utility>

#include "bindings/casters.hpp"
#include "bindings/columns.hpp"
#include "bindings/families.hpp"

namespace credo::binding {

// Calls f with each item, until it says no; lists, the usual case, without an iterator.
template <class F>
bool for_each_item(nb::handle sequence, F&& f) {
  if (nb::isinstance<nb::list>(sequence)) {
    for (const nb::handle item : nb::borrow<nb::list>(sequence))
      if (!f(item)) return false;
  } else {
    for (const nb::handle item : sequence)
      if (!f(item)) return false;
  }
  return true;
}

// Any sequence of sequences of integers, or nothing. (A nested std::vector would cost an allocation
// a set.)
inline std::optional<SetList> read_sets(nb::handle sets) {
  SetList list;
  const auto read_variable = [&](nb::handle variable) {
    std::int32_t v;
    if (!nb::try_cast(variable, v)) return false;
    list.variables.push_back(v);
    return true;
  };
  const bool all = for_each_item(sets, [&](nb::handle set) {
    if (!for_each_item(set, read_variable)) return false;
    list.begin.push_back(list.variables.size());
    return true;
  });
  return all ? std::optional(std::move(list)) : std::nullopt;
}

inline nb::list lists_of(const SetList& sets) {
  nb::list out;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    nb::list set;
    for (const std::int32_t v : sets[s]) set.append(v);
    out.append(set);
  }
  return out;
}

// Flat tables and where each begins, as a list: each table is a view of the one array.
inline nb::list tables_of(std::tuple<doors::Counts, doors::Array<std::int64_t>> counted) {
  auto& [tables, offsets] = counted;
  const nb::object all = nb::cast(std::move(tables));
  nb::list views;
  for (std::size_t i = 0; i + 1 < offsets.shape().lengths()[0]; ++i)
    views.append(nb::steal(PySequence_GetSlice(all.ptr(),
                                               static_cast<Py_ssize_t>(offsets.data()[i]),
                                               static_cast<Py_ssize_t>(offsets.data()[i + 1]))));
  return views;
}

}  // namespace credo::binding

namespace nanobind::detail {

template <>
struct type_caster<credo::doors::GivenSets> {
  NB_TYPE_CASTER(credo::doors::GivenSets, const_name("collections.abc.Sequence"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    try {
      value = credo::doors::GivenSets(credo::binding::read_sets(source));
    } catch (const std::exception&) {  // not sequences at all
      return false;
    }
    return true;
  }
};

// A plan of families stands for its dense tables.
template <>
struct type_caster<credo::doors::KnownSets> {
  NB_TYPE_CASTER(credo::doors::KnownSets, const_name("FamilyPlan | Sets"))

  bool from_python(handle source, std::uint32_t, cleanup_list* cleanup) noexcept {
    make_caster<credo::binding::FamilyPlan> plan;
    make_caster<credo::SetList> sets;
    if (plan.from_python(source, 0, cleanup))
      value.list = &plan.operator credo::binding::FamilyPlan&().tables().dense;
    else if (sets.from_python(source, 0, cleanup)) value.list = &sets.operator credo::SetList&();
    else return false;
    return true;
  }
};

}  // namespace nanobind::detail
