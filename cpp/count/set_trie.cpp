#include "count/set_trie.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

namespace credo {

void check_sets(const Columns& columns, const SetList& sets) {
  std::vector<std::size_t> last_seen(columns.n_variables(),
                                     std::numeric_limits<std::size_t>::max());
  for (std::size_t i = 0; i < sets.size(); ++i) {
    for (const std::int32_t v : sets[i]) {
      if (v < 0 || static_cast<std::size_t>(v) >= columns.n_variables())
        throw std::invalid_argument("Set " + std::to_string(i) + " names variable " +
                                    std::to_string(v) + ", but there are " +
                                    std::to_string(columns.n_variables()) + " variables.");
      if (last_seen[v] == i)
        throw std::invalid_argument("Set " + std::to_string(i) + " names variable " +
                                    std::to_string(v) + " twice.");
      last_seen[v] = i;
    }
  }
}

std::uint64_t cells_of(const Columns& columns, std::span<const std::int32_t> set) {
  std::uint64_t cells = 1;
  for (const std::int32_t v : set)
    if (__builtin_mul_overflow(cells, std::uint64_t{columns[v].arity}, &cells))
      return std::numeric_limits<std::uint64_t>::max();
  return cells;
}

std::vector<std::size_t> sorted_order(const SetList& sets) {
  std::vector<std::size_t> order(sets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto before = [&](std::size_t a, std::size_t b) {
    return std::ranges::lexicographical_compare(sets[a], sets[b]);
  };
  if (!std::is_sorted(order.begin(), order.end(), before))
    std::stable_sort(order.begin(), order.end(), before);
  return order;
}

std::size_t shared_prefix(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  return std::ranges::mismatch(a, b).in1 - a.begin();
}

std::size_t siblings_end(const SetList& sets, std::span<const std::size_t> order, std::size_t i) {
  const auto set = sets[order[i]];
  std::size_t end = i + 1;
  while (end < order.size() && !set.empty() && sets[order[end]].size() == set.size() &&
         shared_prefix(set, sets[order[end]]) + 1 >= set.size())
    ++end;
  return end;
}

SetTrie build_trie(const Columns& columns, const SetList& sets,
                   std::span<const std::size_t> chosen) {
  SetTrie trie;
  trie.nodes.push_back({-1, -1, 0, 1, false, false});
  trie.node_of.reserve(chosen.size());
  std::vector<std::int32_t> path{0};  // nodes from the root to the set inserted last
  std::span<const std::int32_t> last;
  for (const std::size_t position : chosen) {
    const auto set = sets[position];
    path.resize(1 + shared_prefix(last, set));
    while (path.size() <= set.size()) {
      const std::int32_t parent = path.back();
      const std::int32_t variable = set[path.size() - 1];
      trie.nodes[parent].has_children = true;
      path.push_back(static_cast<std::int32_t>(trie.nodes.size()));
      trie.nodes.push_back({variable, parent, trie.nodes[parent].depth + 1,
                            trie.nodes[parent].cells * columns[variable].arity, false, false});
    }
    trie.nodes[path.back()].requested = true;
    trie.node_of.push_back(path.back());
    trie.depth = std::max(trie.depth, static_cast<std::int32_t>(set.size()));
    last = set;
  }
  return trie;
}

}  // namespace credo
