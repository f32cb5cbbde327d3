// Rows are walked in blocks. In a block each inner node of the trie keeps the cell index of every
// row for the variables so far, so a set costs one multiply-add and one increment per row,
// however many variables it has. A row with a missing code lands in the one cell past the table.
// Without weights, sibling sets share the increment (packed_groups.hpp).
#include "count/kernels.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "common/memory.hpp"
#include "count/packed_groups.hpp"

namespace credo {
namespace {

// 64 kB of indices a level, in the second-level cache; shorter blocks read columns in short runs.
constexpr std::size_t kBlockRows = 16384;

// Copies of a small table that consecutive rows take in turn: incrementing the same cell twice
// in a row would wait for the first store.
std::size_t copies_for(std::uint64_t cells) { return cells <= 1024 ? 4 : cells <= 8192 ? 2 : 1; }

// IN index [n]; INOUT table: `copies` tables of cells + 1 counts.
template <class Index>
void increment(const Index* index, std::size_t n, std::uint64_t cells, std::size_t copies,
               std::uint32_t* table) {
  const std::size_t stride = cells + 1;
  std::size_t i = 0;
  if (copies == 4) {
    for (; i + 4 <= n; i += 4) {
      ++table[index[i]];
      ++table[stride + index[i + 1]];
      ++table[2 * stride + index[i + 2]];
      ++table[3 * stride + index[i + 3]];
    }
  } else if (copies == 2) {
    for (; i + 2 <= n; i += 2) {
      ++table[index[i]];
      ++table[stride + index[i + 1]];
    }
  }
  for (; i < n; ++i) ++table[index[i]];
}

template <class Index, class Cell>
void add_weights(const Index* index, const Cell* weights, std::size_t n, Cell* table) {
  for (std::size_t i = 0; i < n; ++i) table[index[i]] += weights[i];
}

struct HistogramTable {
  std::size_t offset = 0;
  std::size_t copies = 1;
};

// Whether every table is small enough for indices of 16 bits.
bool all_short(const SetTrie& trie) {
  return std::ranges::all_of(trie.nodes,
                             [](const TrieNode& node) { return node.cells <= kShortCells; });
}

// The walk of one trie; Count is what the tables hold while rows come in, Index a row's cell.
template <class Count, class Index>
class HistogramWalk {
 public:
  HistogramWalk(const Columns& columns, const PackedTrie& packed, const LaneKernels& kernels,
                RowRange rows, bool weighted)
      : columns_(columns),
        packed_(packed),
        kernels_(kernels),
        tables_of_(packed.trie.nodes.size()),
        gaps_(packed.trie.nodes.size()),
        levels_(packed.trie.depth + 1),
        block_rows_(std::min(kBlockRows, rows.end - rows.begin)),
        packed_codes_(packed.packings.size() * block_rows_) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < packed.trie.nodes.size(); ++i) {
      const TrieNode& node = packed.trie.nodes[i];
      if (node.depth > 0 && !is_packed(node))
        gaps_[i] = gaps_[node.parent] || columns[node.variable].missing;
      if (!node.requested) continue;
      tables_of_[i] = {size, weighted ? 1 : copies_for(node.cells)};
      size += tables_of_[i].copies * (node.cells + 1);
    }
    tables_ = BigArray<Count>(size, Filled::kZeros);
    for (auto& level : levels_) level.assign(block_rows_, 0);
  }

  // Calls put(indices, n, node, table) for every requested node of a block of rows.
  template <class Put>
  void block(std::size_t first, std::size_t n, Put&& put) {
    for (std::size_t k = 0; k < packed_.packings.size(); ++k)
      pack_codes(columns_, packed_.packings[k], first, n, kernels_,
                 packed_codes_.data() + k * block_rows_);
    for (std::size_t i = 0; i < packed_.trie.nodes.size(); ++i) {
      const TrieNode& node = packed_.trie.nodes[i];
      Index* index = levels_[node.depth].data();  // all zero at the root
      if (node.depth > 0) {
        const Index* parent = node.depth > 1 ? levels_[node.depth - 1].data() : nullptr;
        extend(parent, view(node), is_packed(node) ? 0 : first, n,
               static_cast<std::uint32_t>(node.cells), gaps_[i], index);
      }
      if (node.requested) put(index, n, node, tables_of_[i], counts(i));
    }
  }

  Count* counts(std::size_t node) { return tables_.data() + tables_of_[node].offset; }
  const HistogramTable& table(std::size_t node) const { return tables_of_[node]; }

 private:
  template <class... Given>
  void extend(Given... given) const {
    if constexpr (sizeof(Index) == 2) kernels_.extend_short(given...);
    else kernels_.extend_index(given...);
  }
  bool is_packed(const TrieNode& node) const {
    return node.variable >= static_cast<std::int32_t>(columns_.n_variables());
  }
  // The codes of a node's variable: of all rows, or of the block if it is packed.
  CodeView view(const TrieNode& node) const {
    if (!is_packed(node)) return columns_[node.variable];
    const std::size_t k = node.variable - columns_.n_variables();
    return {packed_codes_.data() + k * block_rows_, 1, packed_.packings[k].states, false};
  }

  const Columns& columns_;
  const PackedTrie& packed_;
  const LaneKernels& kernels_;
  std::vector<HistogramTable> tables_of_;
  std::vector<char> gaps_;  // whether a row may be missing from a node's table
  std::vector<std::vector<Index>> levels_;
  std::size_t block_rows_;
  std::vector<std::uint8_t> packed_codes_;  // of the block, by packing
  BigArray<Count> tables_;
};

// Adds the sum of `copies` tables of the cells, each `stride` after the last, to the sink.
void put_sums(const std::uint32_t* tables, std::size_t cells, std::size_t copies,
              std::size_t stride, std::size_t set, const TableSink<std::int64_t>& sink) {
  std::array<std::int64_t, 1024> sums;
  for (std::size_t first = 0; first < cells; first += sums.size()) {
    const std::size_t n = std::min(sums.size(), cells - first);
    const std::uint32_t* counts = tables + first;
    std::copy_n(counts, n, sums.begin());
    for (std::size_t copy = 1; copy < copies; ++copy) {
      counts += stride;
      for (std::size_t c = 0; c < n; ++c) sums[c] += counts[c];
    }
    sink(set, first, {sums.data(), n});
  }
}

template <class Index>
void count_rows(const Columns& columns, const SetTrie& trie, const PackedTrie& packed,
                std::span<const std::size_t> chosen, RowRange rows, const LaneKernels& kernels,
                const TableSink<std::int64_t>& sink) {
  HistogramWalk<std::uint32_t, Index> walk(columns, packed, kernels, rows, false);
  for (std::size_t first = rows.begin; first < rows.end; first += kBlockRows) {
    rows.poll();
    walk.block(first, std::min(kBlockRows, rows.end - first),
               [](const Index* index, std::size_t n, const TrieNode& node,
                  const HistogramTable& table, std::uint32_t* counts) {
                 increment(index, n, node.cells, table.copies, counts);
               });
  }
  std::vector<std::vector<std::uint32_t>> margin_of(trie.nodes.size());
  for (const PackedTrie::Group& group : packed.groups) {
    const TrieNode& node = packed.trie.nodes[group.node];
    std::uint32_t* joint = walk.counts(group.node);
    for (std::size_t copy = 1; copy < walk.table(group.node).copies; ++copy) {
      const std::uint32_t* more = joint + copy * (node.cells + 1);
      for (std::size_t c = 0; c < node.cells; ++c) joint[c] += more[c];
    }
    auto tables = margins(columns, packed.packings[node.variable - columns.n_variables()],
                          packed.trie.nodes[node.parent].cells, joint);
    for (std::size_t k = 0; k < tables.size(); ++k)
      margin_of[group.leaves[k]] = std::move(tables[k]);
  }
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::vector<std::uint32_t>& margin = margin_of[trie.node_of[i]];
    const std::int32_t node = packed.trie.node_of[trie.node_of[i]];
    const std::size_t cells = packed.trie.nodes[node].cells;
    if (margin.empty())
      put_sums(walk.counts(node), cells, walk.table(node).copies, cells + 1, chosen[i], sink);
    else
      put_sums(margin.data(), margin.size(), 1, 0, chosen[i], sink);
  }
}

void count_rows(const Columns& columns, const SetTrie& trie, std::span<const std::size_t> chosen,
                RowRange rows, const LaneKernels& kernels, const TableSink<std::int64_t>& sink) {
  const PackedTrie packed = pack_leaves(columns, trie, rows.end - rows.begin);
  if (all_short(packed.trie))
    count_rows<std::uint16_t>(columns, trie, packed, chosen, rows, kernels, sink);
  else
    count_rows<std::uint32_t>(columns, trie, packed, chosen, rows, kernels, sink);
}

template <class Cell>
void sum_weights(const Columns& columns, const SetTrie& trie, std::span<const std::size_t> chosen,
                 RowRange rows, const Cell* weights, const LaneKernels& kernels,
                 const TableSink<Cell>& sink) {
  const PackedTrie packed = pack_nothing(trie);
  HistogramWalk<Cell, std::uint32_t> walk(columns, packed, kernels, rows, true);
  for (std::size_t first = rows.begin; first < rows.end; first += kBlockRows) {
    rows.poll();
    walk.block(
        first, std::min(kBlockRows, rows.end - first),
        [&](const std::uint32_t* index, std::size_t n, const TrieNode&, const HistogramTable&,
            Cell* sums) { add_weights(index, weights + first, n, sums); });
  }
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::int32_t node = trie.node_of[i];
    sink(chosen[i], 0, {walk.counts(node), trie.nodes[node].cells});
  }
}

}  // namespace

template <class Cell>
void count_by_histogram(const Columns& columns, const SetList& sets,
                        std::span<const std::size_t> chosen, RowRange rows, const Cell* weights,
                        const LaneKernels& kernels, const TableSink<Cell>& sink) {
  const SetTrie trie = build_trie(columns, sets, chosen);
  if (weights != nullptr) return sum_weights(columns, trie, chosen, rows, weights, kernels, sink);
  if constexpr (std::is_same_v<Cell, std::int64_t>)
    for (std::size_t first = rows.begin; first < rows.end; first += kFlushRows)
      count_rows(columns, trie, chosen, {first, std::min(first + kFlushRows, rows.end), rows.monitor},
                 kernels, sink);
}

template void count_by_histogram(const Columns&, const SetList&, std::span<const std::size_t>,
                                 RowRange, const std::int64_t*, const LaneKernels&,
                                 const TableSink<std::int64_t>&);
template void count_by_histogram(const Columns&, const SetList&, std::span<const std::size_t>,
                                 RowRange, const double*, const LaneKernels&,
                                 const TableSink<double>&);

}  // namespace credo
