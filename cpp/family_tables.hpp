// Which tables some families need, and where each family's numbers lie in them.
//
// Families with the same variables share a table. Small tables are dense: all of them lie in one
// array, those of one shape one after the other, so that one view holds a whole stack of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "set_trie.hpp"

namespace credo {

// Dense tables of one shape, seen with their axes in one order: axis k of the view is axis
// axes[k] of the tables.
struct TableStack {
  std::size_t first_table, end_table;
  std::size_t first_cell, end_cell;
  std::vector<std::int32_t> axes;

  bool operator==(const TableStack&) const = default;
};

struct FamilyTables {
  std::vector<std::int32_t> kept;   // the families that differ, by their numbers among those given
  std::vector<std::int32_t> stack;  // where the table of each is seen; -1 if it is not dense
  std::vector<std::int32_t> at;     // its place there; else among the sparse tables and the mixed
  SetList dense, sparse, mixed;     // the variables of the tables; of dense ones, numbered among
                                    // the discrete variables alone
  std::vector<TableStack> stacks;
  std::uint64_t cells = 0;  // of all dense tables; saturates
};

// IN families: their variables, the parents first and the child last, no variable twice.
// IN states: of each variable; -1 for a continuous one, whose tables are mixed.
// IN most: a table of more cells is sparse.
FamilyTables family_tables(const SetList& families, std::span<const std::int64_t> states,
                           std::uint64_t most);

}  // namespace credo
