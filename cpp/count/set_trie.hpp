// The variable sets of one request as a tree of shared prefixes.
//
// Sets are sorted, so that the nodes of the tree can be written down in preorder: a walk is one
// loop over an array, and what a node inherits from its parent waits on a stack at depth - 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "count/columns.hpp"

namespace credo {

// Variable sets one after the other: set i is variables[begin[i]] ... variables[begin[i + 1] - 1].
struct SetList {
  std::vector<std::int32_t> variables;
  std::vector<std::size_t> begin{0};

  bool operator==(const SetList&) const = default;
  std::size_t size() const { return begin.size() - 1; }
  void reserve(const SetList& other) {
    variables.reserve(other.variables.size());
    begin.reserve(other.begin.size());
  }
  std::span<const std::int32_t> operator[](std::size_t set) const {
    return {variables.data() + begin[set], begin[set + 1] - begin[set]};
  }
};

// Throws std::invalid_argument if a set names a variable that does not exist or names one twice.
void check_sets(const Columns& columns, const SetList& sets);

// Cells of a set's table (1 for no variables); saturates at the largest value.
std::uint64_t cells_of(const Columns& columns, std::span<const std::int32_t> set);

// The positions of the sets in lexicographic order.
std::vector<std::size_t> sorted_order(const SetList& sets);

// Variables at the start that two sets have in common.
std::size_t shared_prefix(std::span<const std::int32_t> a, std::span<const std::int32_t> b);

// Sets that share all but their last variable, as neighbours in sorted order: i .. the result.
std::size_t siblings_end(const SetList& sets, std::span<const std::size_t> order, std::size_t i);

struct TrieNode {
  std::int32_t variable;  // -1 at the root
  std::int32_t parent;    // -1 at the root
  std::int32_t depth;     // variables on the way from the root
  std::uint64_t cells;
  bool has_children;
  bool requested;
};

struct SetTrie {
  std::vector<TrieNode> nodes;        // preorder; nodes[0] is the root, the empty set
  std::vector<std::int32_t> node_of;  // for each chosen set, in the order given
  std::int32_t depth = 0;             // of the deepest node
};

// IN chosen: positions of sets, in sorted order.
SetTrie build_trie(const Columns& columns, const SetList& sets,
                   std::span<const std::size_t> chosen);

}  // namespace credo
