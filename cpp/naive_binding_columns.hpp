// Columns as the binding files of naive Bayes are given them: a list of vectors, or the columns of
// one matrix (all, or those at some places), of any stride and number type; they are only read.
#pragma once

#include <algorithm>
#include <vector>

#include "naive_binding_arrays.hpp"
#include "naive_cells.hpp"

namespace credo::binding {

template <class Array>
naive::CellType type_of(const Array& array) {
  using naive::CellType;
  const auto is = [&]<class T>(T) { return array.dtype() == nb::dtype<T>(); };
  if (is(double{})) return CellType::kF64;
  if (is(float{})) return CellType::kF32;
  if (is(std::int64_t{})) return CellType::kI64;
  if (is(std::int32_t{})) return CellType::kI32;
  if (is(std::int16_t{})) return CellType::kI16;
  if (is(std::int8_t{})) return CellType::kI8;
  if (is(std::uint8_t{}) || is(bool{})) return CellType::kU8;
  if (is(std::uint16_t{})) return CellType::kU16;
  if (is(std::uint32_t{})) return CellType::kU32;
  if (is(std::uint64_t{})) return CellType::kU64;
  throw std::invalid_argument("A column must hold integers, floats or booleans.");
}

// The cells of the columns, and the arrays they are in.
struct GivenColumns {
  std::vector<naive::Cells> cells;
  std::size_t n_rows = 0;
  std::vector<Column> columns;
  AnyMatrix matrix;
};

inline void take_matrix(GivenColumns& out, nb::handle given, const Places* places) {
  out.matrix = nb::cast<AnyMatrix>(given, false);
  const AnyMatrix& m = out.matrix;
  const naive::CellType type = type_of(m);
  const auto size = static_cast<std::ptrdiff_t>(m.itemsize());
  const auto* data = static_cast<const unsigned char*>(m.data());
  const std::size_t width = m.shape(1), n = places == nullptr ? width : places->size();
  out.n_rows = m.shape(0);
  out.cells.reserve(n);
  for (std::size_t j = 0; j < n; ++j) {
    const auto at = places == nullptr ? static_cast<std::int64_t>(j) : places->data()[j];
    require(at >= 0 && static_cast<std::size_t>(at) < width, "A column is not in the matrix.");
    out.cells.push_back({data + m.stride(1) * size * at, m.stride(0) * size, type});
  }
}

// A list of vectors, a matrix, or a pair of a matrix and the places of columns in it.
inline GivenColumns columns_given(nb::handle given) {
  GivenColumns out;
  if (nb::isinstance<nb::list>(given)) {
    for (const nb::handle item : nb::borrow<nb::list>(given))
      out.columns.push_back(nb::cast<Column>(item, false));
    out.n_rows = out.columns.empty() ? 0 : out.columns[0].shape(0);
    for (const Column& column : out.columns) {
      require(column.shape(0) == out.n_rows, "Every column must have as many rows as the first.");
      out.cells.push_back({static_cast<const unsigned char*>(column.data()),
                           column.stride(0) * static_cast<std::ptrdiff_t>(column.itemsize()),
                           type_of(column)});
    }
  } else if (nb::isinstance<nb::tuple>(given)) {
    const nb::tuple pair = nb::borrow<nb::tuple>(given);
    require(pair.size() == 2, "Some columns of a matrix are the matrix and their places.");
    const Places places = nb::cast<Places>(pair[1], false);
    take_matrix(out, pair[0], &places);
  } else {
    take_matrix(out, given, nullptr);
  }
  return out;
}

inline void require_rows(const GivenColumns& given, std::size_t n) {
  require(given.cells.empty() || given.n_rows == n,
          "Every column must have as many rows as the first.");
}

inline naive::CodeColumn with_window(const naive::Cells& cells, std::int64_t low,
                                     std::int64_t span, std::int64_t missing,
                                     const std::uint16_t* lut) {
  require(span >= -1 && missing >= 0 && missing < 65535, "A window must have 0..65534 codes.");
  const auto width = static_cast<std::uint64_t>(std::max<std::int64_t>(span, 0));
  if (span == -1) {
    require(missing == 2, "A column of numbers above 0 or not has two states.");
  } else if (lut == nullptr) {
    require(span <= missing + 2, "A window without a look-up table must fit its codes.");
  } else {
    bool inside = true;
    for (std::uint64_t i = 0; i < width; ++i) inside &= lut[i] <= missing + 1;
    require(inside, "A code of a look-up table is too large.");
  }
  return {cells, low, width, span == -1 ? nullptr : lut, static_cast<std::uint16_t>(missing),
          span == -1};
}

// The window of a column of states is a tuple: low, span, look-up table or None, code of missing;
// a span of -1 stands for above 0 or not. The windows come as a list of such tuples, as one tuple
// for all columns, or as a tuple of arrays: low, span, missing, look-up tables one after the other,
// and where each begins (-1: none).
inline std::vector<naive::CodeColumn> code_columns(const GivenColumns& given, nb::handle windows) {
  std::vector<naive::CodeColumn> out;
  out.reserve(given.cells.size());
  const auto of_tuple = [&](const naive::Cells& cells, const nb::tuple& window) {
    const auto span = nb::cast<std::int64_t>(window[1]);
    const std::uint16_t* data = nullptr;
    if (!window[2].is_none()) {
      const Lut lut = nb::cast<Lut>(window[2], false);
      require(lut.size() == static_cast<std::size_t>(span), "A look-up table must fit its window.");
      data = lut.data();
    }
    out.push_back(with_window(cells, nb::cast<std::int64_t>(window[0]), span,
                              nb::cast<std::int64_t>(window[3]), data));
  };
  if (nb::isinstance<nb::list>(windows)) {
    const nb::list each = nb::borrow<nb::list>(windows);
    require(given.cells.size() == each.size(), "Every column of states needs its window.");
    for (std::size_t j = 0; j < given.cells.size(); ++j)
      of_tuple(given.cells[j], nb::cast<nb::tuple>(each[j]));
    return out;
  }
  const nb::tuple all = nb::cast<nb::tuple>(windows);
  if (all.size() == 4) {
    for (const naive::Cells& cells : given.cells) {
      if (out.empty()) {
        of_tuple(cells, all);
        continue;
      }
      out.push_back(out.front());
      out.back().cells = cells;
    }
    return out;
  }
  require(all.size() == 5, "Windows are a list, one window, or five arrays.");
  const Places low = nb::cast<Places>(all[0], false), span = nb::cast<Places>(all[1], false),
               missing = nb::cast<Places>(all[2], false), begin = nb::cast<Places>(all[4], false);
  const Lut luts = nb::cast<Lut>(all[3], false);
  const std::size_t d = given.cells.size();
  require(low.size() == d && span.size() == d && missing.size() == d && begin.size() == d,
          "Every column of states needs its window.");
  for (std::size_t j = 0; j < d; ++j) {
    const std::int64_t from = begin.data()[j], width = span.data()[j];
    require(from < 0 || (width >= 0 && from + width <= static_cast<std::int64_t>(luts.size())),
            "A look-up table must fit its window.");
    out.push_back(with_window(given.cells[j], low.data()[j], width, missing.data()[j],
                              from < 0 ? nullptr : luts.data() + from));
  }
  return out;
}

}  // namespace credo::binding
