// Which tables some families need, and where each family's numbers lie in them.
//
// Families with the same variables share a table. Small tables are dense: all of them lie in one
// array, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "count/set_trie.hpp"

namespace credo {

// Of a dense table: NumPy has 64, of which sums of exact numbers need two. Counts know it too.
inline constexpr std::size_t kMostAxes = 62;

struct FamilyTables {
  std::vector<std::int32_t> kept;  // the families that differ, by their numbers among those given
  std::vector<std::int32_t> dense_at;  // the dense table of each; -1 if it is not dense
  std::vector<std::int32_t> other_at;  // else its place among the sparse tables, then the mixed
  SetList dense, sparse, mixed;  // the variables of the tables; of dense ones, which lie in the order
                                 // that they are counted in, numbered among the discrete ones alone
  std::vector<std::uint64_t> first_cell;  // of each dense table
  std::uint64_t cells = 0;                // of all dense tables; saturates
};

// IN families: their variables, the parents first and the child last, no variable twice.
// IN states: of each variable; -1 for a continuous one, whose tables are mixed.
// IN most: a table of more cells, or of more than kMostAxes variables, is sparse.
FamilyTables family_tables(const SetList& families, std::span<const std::int64_t> states,
                           std::uint64_t most);

}  // namespace credo
