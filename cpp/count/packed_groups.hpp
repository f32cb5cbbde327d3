// Sibling sets counted together: with one increment a row for several of them.
//
// Sets that differ in their last variable only, (p, a), (p, b), (p, c), are all margins of the
// table of (p, a, b, c). As long as that joint table is small it is cheaper to count it alone and
// to sum it up at the end. The last variables of such a group become one packed variable of at
// most 256 states, its code in mixed radix. A missing code is a digit like the others, which only
// the margin of its own variable leaves out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "count/columns.hpp"
#include "count/set_trie.hpp"

namespace credo {

// A trie in which groups of leaves are one leaf each.
struct PackedTrie {
  struct Packing {
    std::vector<std::int32_t> variables;  // the first is the slowest digit
    std::uint32_t states;                 // product of the radices
  };
  struct Group {
    std::int32_t node;                 // in `trie`
    std::vector<std::int32_t> leaves;  // in the trie that was packed, a variable each
  };

  // A variable past the last one of the columns is a packing. The table of such a leaf has room
  // for the rows that miss the prefix: they come last, as one more cell of the prefix.
  SetTrie trie;  // node_of: for each node of the trie that was packed
  std::vector<Packing> packings;
  std::vector<Group> groups;
};

// IN rows: how many will be counted, to weigh larger tables against fewer increments.
PackedTrie pack_leaves(const Columns& columns, const SetTrie& trie, std::size_t rows);

// The same trie with nothing packed: weights are summed set by set.
PackedTrie pack_nothing(const SetTrie& trie);

// OUT codes [n]: the packed codes of the rows from `first`.
void pack_codes(const Columns& columns, const PackedTrie::Packing& packing, std::size_t first,
                std::size_t n, const LaneKernels& kernels, std::uint8_t* codes);

// IN joint: the table of a group, [prefixes][packed states].
// Returns the table of each variable, [prefixes][arity].
std::vector<std::vector<std::uint32_t>> margins(const Columns& columns,
                                                const PackedTrie::Packing& packing,
                                                std::size_t prefixes, const std::uint32_t* joint);

// Times in ns to count the sets of one prefix by histogram, given their last variables.
std::vector<double> leaf_times(const Columns& columns, std::span<const std::int32_t> variables,
                               double prefixes, double rows);

}  // namespace credo
