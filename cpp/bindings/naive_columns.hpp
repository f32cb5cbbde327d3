// Columns as naive Bayes is given them, at any stride and of any number type: they are only read.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "bindings/arrays.hpp"
#include "naive/cells.hpp"

namespace credo::bindings {

template <int N>
using Strided = View<const void, N, Layout::kStrided>;

// A list of vectors, a matrix, or a matrix and the places of columns in it.
using SomeOfMatrix = std::tuple<Strided<2>, Ints>;
using NaiveColumns = ListOr<Strided<1>, TupleOr<SomeOfMatrix, Strided<2>>>;

// The window of a column of states: low, span, look-up table or none, code of missing; a span of
// -1 stands for above 0 or not. Windows come one for each column, one for all, or as arrays: low,
// span, missing, look-up tables one after the other, and where each begins (-1: none).
using Lut = View<const std::uint16_t, 1>;
using Window = std::tuple<std::int64_t, std::int64_t, std::optional<Lut>, std::int64_t>;
using WindowArrays = std::tuple<Ints, Ints, Ints, Lut, Ints>;
using Windows = ListOr<Window, std::variant<Window, WindowArrays>>;

struct CellColumns {
  std::vector<naive::Cells> cells;
  std::size_t n_rows = 0;
};

CellColumns cells_of(const NaiveColumns& columns);

// The same, where there must be n rows.
CellColumns cells_of(const NaiveColumns& columns, std::size_t n);

std::vector<naive::CodeColumn> code_columns(const std::vector<naive::Cells>& cells,
                                            const Windows& windows);

}  // namespace credo::bindings
