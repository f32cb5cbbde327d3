// What the popcount walk counts and what it finds by subtraction.
//
// Two kinds of cells are never counted:
//   the last state x of a complete variable      t[p, last] = parent[p] - sum of t[p, x]
//   the last state v of the parent, if complete  t[q, last, x] = aunt[q, x] - sum of t[q, v, x]
// where the aunt is the table of the same set without v. For pairs the aunts are the marginals,
// which leaves (Kv - 1)(Kx - 1) cells to count. Aunts that nobody asked for are added where two
// or more tables can use them.
#pragma once

#include "count/columns.hpp"
#include "count/set_trie.hpp"

namespace credo {

struct PopcountNode {
  std::int32_t variable, parent, depth;
  std::uint64_t cells;
  bool has_children;
  bool counted = false;            // whether its table is needed
  std::int32_t aunt = -1;          // the node that gives its parent's last state
  std::uint32_t count_states = 0;  // states that are counted; the rest by subtraction
  std::uint32_t mask_states = 0;   // states whose masks its children read
  std::size_t table = 0;           // offset of its table
};

struct PopcountPlan {
  std::vector<PopcountNode> nodes;    // preorder, with the aunts added
  std::vector<std::int32_t> node_of;  // for each chosen set, in the order given
  std::size_t table_cells = 0;        // of all tables together
  std::int32_t depth = 0;
};

PopcountPlan plan_popcount(const Columns& columns, const SetTrie& trie);

// Fills the cells that were not counted. INOUT tables, each at its node's offset.
void subtract_cells(const Columns& columns, const PopcountPlan& plan, std::int64_t* tables);

}  // namespace credo
