// Rows are walked in blocks small enough for the cache. In a block each inner node of the trie
// keeps the AND-masks of all its configurations, built once for all its children; a table is
// counted from the parent's masks and the variable's state masks without storing the ANDs.
#include "count/kernels.hpp"

#include <algorithm>

#include "count/popcount_plan.hpp"

namespace credo {
namespace {

constexpr std::size_t kMostBlockWords = 256;                // 16,384 rows: 2 kB a mask
constexpr std::size_t kMaskBytes = std::size_t{256} << 10;  // for all the masks on the stack

// The masks of one depth of the walk.
struct Level {
  MaskRows masks{};
  std::size_t most_cells = 0;  // of the inner nodes at this depth
  BigArray<std::uint64_t> buffer;
};

std::size_t block_words(std::vector<Level>& levels, const PopcountPlan& plan) {
  for (const PopcountNode& node : plan.nodes)
    if (node.has_children && node.depth >= 2)
      levels[node.depth].most_cells =
          std::max<std::size_t>(levels[node.depth].most_cells, node.cells);
  std::size_t masks = 1;
  for (const Level& level : levels) masks += level.most_cells;
  const std::size_t fitting = kMaskBytes / sizeof(std::uint64_t) / masks / kMaskUnit * kMaskUnit;
  return std::clamp(fitting, kMaskUnit, kMostBlockWords);
}

// Counts one block: `words` words of every mask, from word `first`.
void count_block(const Columns& columns, const PopcountPlan& plan, const LaneKernels& kernels,
                 const std::vector<MaskRows>& bitmaps, std::size_t first, std::size_t words,
                 std::vector<Level>& levels, std::int64_t* tables) {
  for (std::size_t i = 1; i < plan.nodes.size(); ++i) {
    const PopcountNode& node = plan.nodes[i];
    const std::size_t arity = columns[node.variable].arity;
    const MaskRows prefix = levels[node.depth - 1].masks;
    MaskRows states = bitmaps[i];
    states.base += first;
    if (node.counted) {
      states.count = node.count_states;
      std::int64_t* table = tables + node.table;
      if (node.aunt < 0) {
        kernels.count_cells(prefix, states, words, table, arity);
      } else {
        const std::size_t group = columns[plan.nodes[node.parent].variable].arity;
        MaskRows all_but_last{prefix.base, prefix.stride, group - 1};
        for (std::size_t q = 0; q < prefix.count; q += group) {
          all_but_last.base = prefix.base + q * prefix.stride;
          kernels.count_cells(all_but_last, states, words, table + q * arity, arity);
        }
      }
    }
    if (node.has_children) {
      Level& level = levels[node.depth];
      states.count = node.mask_states;
      if (node.depth == 1) {
        level.masks = {states.base, states.stride, arity};
      } else {
        kernels.intersect(prefix, states, words, level.buffer.data(), arity);
        level.masks = {level.buffer.data(), words, prefix.count * arity};
      }
    }
  }
}

}  // namespace

void count_by_popcount(const Columns& columns, const SetList& sets,
                       std::span<const std::size_t> chosen, RowRange rows,
                       const LaneKernels& kernels, const TableSink<std::int64_t>& sink) {
  const PopcountPlan plan = plan_popcount(columns, build_trie(columns, sets, chosen));
  std::vector<MaskRows> bitmaps(plan.nodes.size());
  for (std::size_t i = 1; i < plan.nodes.size(); ++i)
    bitmaps[i] = columns.bitmap(plan.nodes[i].variable, kernels);

  std::vector<Level> levels(plan.depth + 1);
  const std::size_t step = block_words(levels, plan);
  for (Level& level : levels) level.buffer = BigArray<std::uint64_t>(level.most_cells * step);
  levels[0].buffer = BigArray<std::uint64_t>(step, ~std::uint64_t{0});
  levels[0].masks = {levels[0].buffer.data(), step, 1};

  std::vector<std::int64_t> tables(plan.table_cells);
  const std::size_t first = rows.begin / 64;
  const std::size_t units = (rows.end - rows.begin + 64 * kMaskUnit - 1) / (64 * kMaskUnit);
  const std::size_t end = first + units * kMaskUnit;
  for (std::size_t word = first; word < end; word += step) {
    rows.poll();
    count_block(columns, plan, kernels, bitmaps, word, std::min(step, end - word), levels,
                tables.data());
  }
  tables[0] = static_cast<std::int64_t>(rows.end - rows.begin);
  subtract_cells(columns, plan, tables.data());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const PopcountNode& node = plan.nodes[plan.node_of[i]];
    sink(chosen[i], 0, {tables.data() + node.table, node.cells});
  }
}

}  // namespace credo
