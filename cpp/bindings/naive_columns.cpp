#include "bindings/naive_columns.hpp"

#include <algorithm>

namespace credo::bindings {
namespace {

naive::CellType type_of(Number number) {
  using naive::CellType;
  switch (number) {
    case Number::kF64: return CellType::kF64;
    case Number::kF32: return CellType::kF32;
    case Number::kI64: return CellType::kI64;
    case Number::kI32: return CellType::kI32;
    case Number::kI16: return CellType::kI16;
    case Number::kI8: return CellType::kI8;
    case Number::kBool:
    case Number::kU8: return CellType::kU8;
    case Number::kU16: return CellType::kU16;
    case Number::kU32: return CellType::kU32;
    case Number::kU64: return CellType::kU64;
    default: throw std::invalid_argument("A column must hold integers, floats or booleans.");
  }
}

constexpr const char* kRows = "Every column must have as many rows as the first.";

CellColumns of_vectors(const std::vector<Strided<1>>& columns) {
  CellColumns out;
  out.n_rows = columns.empty() ? 0 : columns[0].shape(0);
  out.cells.reserve(columns.size());
  for (const Strided<1>& column : columns) {
    require(column.shape(0) == out.n_rows, kRows);
    out.cells.push_back({column.data_as<unsigned char>(),
                         column.stride(0) * bytes_of(column.number()), type_of(column.number())});
  }
  return out;
}

CellColumns of_matrix(const Strided<2>& m, const Ints* places) {
  const naive::CellType type = type_of(m.number());
  const std::ptrdiff_t size = bytes_of(m.number());
  const auto* data = m.data_as<unsigned char>();
  const std::size_t width = m.shape(1), n = places == nullptr ? width : places->size();
  CellColumns out{{}, m.shape(0)};
  out.cells.reserve(n);
  for (std::size_t j = 0; j < n; ++j) {
    const auto at = places == nullptr ? static_cast<std::int64_t>(j) : places->data()[j];
    require(at >= 0 && static_cast<std::size_t>(at) < width, "A column is not in the matrix.");
    out.cells.push_back({data + m.stride(1) * size * at, m.stride(0) * size, type});
  }
  return out;
}

naive::CodeColumn with_window(const naive::Cells& cells, std::int64_t low, std::int64_t span,
                              std::int64_t missing, const std::uint16_t* lut) {
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

naive::CodeColumn with_window(const naive::Cells& cells, const Window& window) {
  const auto& [low, span, lut, missing] = window;
  require(!lut || lut->size() == static_cast<std::size_t>(span),
          "A look-up table must fit its window.");
  return with_window(cells, low, span, missing, data_or_null(lut));
}

void with_arrays(const std::vector<naive::Cells>& cells, const WindowArrays& windows,
                 std::vector<naive::CodeColumn>& out) {
  const auto& [low, span, missing, luts, begin] = windows;
  const std::size_t d = cells.size();
  require(low.size() == d && span.size() == d && missing.size() == d && begin.size() == d,
          "Every column of states needs its window.");
  for (std::size_t j = 0; j < d; ++j) {
    const std::int64_t from = begin.data()[j], width = span.data()[j];
    require(from < 0 || (width >= 0 && from + width <= static_cast<std::int64_t>(luts.size())),
            "A look-up table must fit its window.");
    out.push_back(with_window(cells[j], low.data()[j], width, missing.data()[j],
                              from < 0 ? nullptr : luts.data() + from));
  }
}

}  // namespace

CellColumns cells_of(const NaiveColumns& columns) {
  if (columns.is_list()) return of_vectors(columns.list());
  const auto& matrix = columns.other();
  if (!matrix.is_tuple()) return of_matrix(matrix.other(), nullptr);
  const auto& [of, places] = matrix.tuple();
  return of_matrix(of, &places);
}

CellColumns cells_of(const NaiveColumns& columns, std::size_t n) {
  CellColumns found = cells_of(columns);
  require(found.cells.empty() || found.n_rows == n, kRows);
  return found;
}

std::vector<naive::CodeColumn> code_columns(const std::vector<naive::Cells>& cells,
                                            const Windows& windows) {
  std::vector<naive::CodeColumn> out;
  out.reserve(cells.size());
  if (windows.is_list()) {
    const std::vector<Window>& each = windows.list();
    require(cells.size() == each.size(), "Every column of states needs its window.");
    for (std::size_t j = 0; j < cells.size(); ++j) out.push_back(with_window(cells[j], each[j]));
  } else if (const auto* arrays = std::get_if<WindowArrays>(&windows.other())) {
    with_arrays(cells, *arrays, out);
  } else if (!cells.empty()) {
    out.assign(cells.size(), with_window(cells[0], std::get<Window>(windows.other())));
    for (std::size_t j = 1; j < cells.size(); ++j) out[j].cells = cells[j];
  }
  return out;
}

}  // namespace credo::bindings
