// Rows for moments: those that count, put in order of their group, and cut into tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/memory.hpp"
#include "count/moments.hpp"

namespace credo {

// The rows that count, in order of group: positions begin[g] ... begin[g + 1] - 1 are of group g.
// With one group and nothing to skip they are all rows; with one group their numbers are kept;
// with more their values are copied, row by row, since reading them by number would miss the
// cache every time.
struct OrderedRows {
  std::vector<std::size_t> begin;
  std::vector<std::uint32_t> rows;
  BigArray<double> values;   // [n, d]
  BigArray<double> weights;  // [n], with the values

  std::size_t row(std::size_t i) const { return rows.empty() ? i : rows[i]; }
};

inline constexpr std::size_t kRowUnit = 8;  // rows of a block are padded to this

inline std::size_t padded(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

// A row with a NaN, of weight 0, or of group n_groups is left out.
OrderedRows order_rows(const MomentsInput& in, int threads);

// OUT z [n]: column j less c, at positions first ... first + n - 1.
void read_column(const MomentsInput& in, const OrderedRows& ordered, std::size_t j,
                 std::size_t first, std::size_t n, double c, double* z);

double weight_at(const MomentsInput& in, const OrderedRows& ordered, std::size_t i);

struct Chunk {
  std::size_t group, begin, end;  // positions in the ordered rows
};

// Chunks of rows of one group each, cut at fixed places, and tasks, which are runs of them.
struct ChunkPlan {
  std::vector<Chunk> chunks;
  std::vector<std::size_t> runs;  // the first chunk of each, and the end of the last

  explicit ChunkPlan(const std::vector<std::size_t>& begin);
  std::size_t n_runs() const { return runs.size() - 1; }
};

inline bool whole_group(const Chunk& chunk, const OrderedRows& ordered) {
  return chunk.begin == ordered.begin[chunk.group] && chunk.end == ordered.begin[chunk.group + 1];
}

}  // namespace credo
