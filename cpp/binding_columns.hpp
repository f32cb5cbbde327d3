// Columns as Python sees them, and what comes with them: weights, and lists of variable sets.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>

#include "binding_arrays.hpp"
#include "columns.hpp"
#include "set_trie.hpp"

namespace credo::binding {

using AnyArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

template <class Array>
std::uint8_t code_width(const Array& array, const std::string& name) {
  if (array.ndim() == 1) {
    if (array.dtype() == nb::dtype<std::uint8_t>()) return 1;
    if (array.dtype() == nb::dtype<std::uint16_t>()) return 2;
    if (array.dtype() == nb::dtype<std::uint32_t>()) return 4;
  }
  throw std::invalid_argument(name + " must be a 1-D array of uint8, uint16 or uint32.");
}

// Weights of either type, or none.
struct Weights {
  const std::int64_t* integers = nullptr;
  const double* reals = nullptr;

  Weights(const std::optional<AnyArray>& array, std::size_t n_rows) {
    if (!array) return;
    require(
        array->ndim() == 1 && array->shape(0) == n_rows,
        "The 'weights' parameter must have one weight per row (" + std::to_string(n_rows) + ").");
    if (array->dtype() == nb::dtype<std::int64_t>())
      integers = static_cast<const std::int64_t*>(array->data());
    else if (array->dtype() == nb::dtype<double>())
      reals = static_cast<const double*>(array->data());
    else
      throw std::invalid_argument("The 'weights' parameter must be of int64 or float64.");
  }

  // Calls f with the integer weights (null: 1 each) or with the real ones.
  template <class F>
  auto visit(F&& f) const {
    return reals != nullptr ? f(reals) : f(integers);
  }
};

class PyColumns {
 public:
  PyColumns(std::vector<AnyArray> codes, const std::vector<std::int64_t>& arities,
            const std::vector<bool>& missing)
      : arrays_(std::move(codes)) {
    require(arities.size() == arrays_.size() && missing.size() == arrays_.size(),
            "The 'codes', 'arities' and 'missing' parameters must have the same length.");
    std::vector<credo::CodeView> views;
    const std::size_t n_rows = arrays_.empty() ? 0 : arrays_[0].size();
    for (std::size_t v = 0; v < arrays_.size(); ++v) {
      const std::string name = "The codes of variable " + std::to_string(v);
      const std::uint8_t width = code_width(arrays_[v], name);
      require(arrays_[v].size() == n_rows, name + " must have " + std::to_string(n_rows) +
                                               " rows, got " + std::to_string(arrays_[v].size()) +
                                               " instead.");
      require(arities[v] >= 1 && arities[v] <= 0xFFFFFFFF,
              "The arity of variable " + std::to_string(v) + " must be in 1..2^32 - 1, got " +
                  std::to_string(arities[v]) + " instead.");
      views.push_back(
          {arrays_[v].data(), width, static_cast<std::uint32_t>(arities[v]), missing[v]});
    }
    const nb::gil_scoped_release release;
    columns_ = std::make_unique<credo::Columns>(std::move(views), n_rows);
  }

  const credo::Columns& operator*() const { return *columns_; }
  const credo::Columns* operator->() const { return columns_.get(); }

 private:
  std::vector<AnyArray> arrays_;
  std::unique_ptr<credo::Columns> columns_;
};

// Calls f with each item; lists, the usual case, without an iterator.
template <class F>
void for_each_item(nb::handle sequence, F&& f) {
  if (nb::isinstance<nb::list>(sequence))
    for (const nb::handle item : nb::borrow<nb::list>(sequence)) f(item);
  else
    for (const nb::handle item : sequence) f(item);
}

// Any sequence of sequences of integers. (A nested std::vector would cost an allocation a set.)
inline credo::SetList read_sets(nb::handle sets) {
  credo::SetList list;
  for_each_item(sets, [&](nb::handle set) {
    for_each_item(set, [&](nb::handle variable) {
      std::int32_t v;
      require(nb::try_cast(variable, v), "The 'sets' parameter must be lists of variable numbers.");
      list.variables.push_back(v);
    });
    list.begin.push_back(list.variables.size());
  });
  return list;
}

}  // namespace credo::binding
