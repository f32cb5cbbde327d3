#include "sample/weighted_sums.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "common/parallel.hpp"

namespace credo::weigh {
namespace {

constexpr std::size_t kTogether = 8;
using Pair = double __attribute__((vector_size(16)));

template <class Code>
void check(const Column& column, std::size_t rows) {
  const Code* codes = static_cast<const Code*>(column.codes);
  if (rows > 0 && *std::max_element(codes, codes + rows) >= column.arity)
    throw std::invalid_argument("A code is not below its arity of " +
                                std::to_string(column.arity) + ".");
}

// N columns of the same width, each with cells of its own.
template <class Code, std::size_t N>
void add(const Column* columns, const double* weights, std::size_t rows, Pair* const* cells) {
  const Code* codes[N];
  for (std::size_t c = 0; c < N; ++c) codes[c] = static_cast<const Code*>(columns[c].codes);
  for (std::size_t r = 0; r < rows; ++r) {
    const double w = weights[r];
    const Pair both = {w, w * w};
    for (std::size_t c = 0; c < N; ++c) cells[c][codes[c][r]] += both;
  }
}

template <class Code>
void group(const Column* columns, std::size_t n, const double* weights, std::size_t rows,
           double* out) {
  std::size_t states = 0;
  for (std::size_t c = 0; c < n; ++c) {
    check<Code>(columns[c], rows);
    states += columns[c].arity;
  }
  std::vector<Pair> memory(states, Pair{0, 0});
  Pair* cells[kTogether];
  Pair* at = memory.data();
  for (std::size_t c = 0; c < n; ++c) {
    cells[c] = at;
    at += columns[c].arity;
  }
  if (n == kTogether)
    add<Code, kTogether>(columns, weights, rows, cells);
  else
    for (std::size_t c = 0; c < n; ++c) add<Code, 1>(columns + c, weights, rows, cells + c);
  for (std::size_t c = 0; c < n; ++c)
    for (std::size_t k = 0; k < columns[c].arity; ++k) {
      out[2 * (columns[c].offset + k)] = cells[c][k][0];
      out[2 * (columns[c].offset + k) + 1] = cells[c][k][1];
    }
}

}  // namespace

void sums(const std::vector<Column>& columns, const double* weights, std::size_t rows, int threads,
          double* out) {
  std::vector<Column> sorted = columns;
  const auto wide = std::stable_partition(sorted.begin(), sorted.end(),
                                          [](const Column& c) { return !c.wide; });
  struct Task {
    std::size_t first, n;
    bool wide;
  };
  std::vector<Task> tasks;
  const auto split = [&](std::size_t first, std::size_t end, bool is_wide) {
    for (; first < end; first += kTogether)
      tasks.push_back({first, std::min(kTogether, end - first), is_wide});
  };
  const auto narrow = static_cast<std::size_t>(wide - sorted.begin());
  split(0, narrow, false);
  split(narrow, sorted.size(), true);
  parallel_for(tasks.size(), threads, [&](std::size_t t) {
    const Task& task = tasks[t];
    if (task.wide)
      group<std::uint16_t>(&sorted[task.first], task.n, weights, rows, out);
    else
      group<std::uint8_t>(&sorted[task.first], task.n, weights, rows, out);
  });
}

}  // namespace credo::weigh
