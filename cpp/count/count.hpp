// Tables of counts for many variable sets in one call.
//
// Four kernels give the same integers: popcount (small tables), records (siblings, which differ in
// their last variable only), histogram (single tables of middling size, and weighted rows) and
// sparse (tables much larger than the number of rows). A cost model, measured by benchmarks on
// AVX2, picks one for each set; threads share out the sets, or the rows when there are few sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/monitor.hpp"
#include "count/columns.hpp"
#include "count/set_trie.hpp"

namespace credo {

struct RowRange {
  std::size_t begin;  // a multiple of 512
  std::size_t end;
  Monitor* monitor = nullptr;

  void poll() const {
    if (monitor != nullptr) monitor->poll();
  }
};

// Receives finished cells of one set's table (by its position in the request), from cell `first`.
template <class Cell>
using TableSink =
    std::function<void(std::size_t set, std::size_t first, std::span<const Cell> cells)>;

// The largest dense table, in cells: indices are 32 bits.
inline constexpr std::uint64_t kMostCells = std::uint64_t{1} << 31;

struct CountOptions {
  std::string kernel = "auto";  // or popcount, records, histogram, sparse
  std::string path = "auto";
  int threads = 1;  // at most, or just so many where the kernel is not "auto"
  Monitor* monitor = nullptr;  // polled as the rows go by, unless it is null
};

// The first cell of each set's table in one long array, and its length at the end.
// Throws std::invalid_argument for a bad set or a table of more than kMostCells.
std::vector<std::size_t> table_offsets(const Columns& columns, const SetList& sets);

// IN weights: one per row, or null for 1. Cell is std::int64_t or double (weights needed).
// OUT tables: zero on entry; the table of each set at its offset, last variable fastest.
template <class Cell>
void count(const Columns& columns, const SetList& sets, const Cell* weights,
           const CountOptions& options, std::span<const std::size_t> offsets, Cell* tables);

}  // namespace credo
