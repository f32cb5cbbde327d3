// The exact optimum by dynamic programming over sets of variables.
#pragma once

#include "search/parent_lists.hpp"

namespace credo::search {

// The best DAG of the lists: S(W) = max over x in W of S(W - x) + best(x | W - x)
// (Silander & Myllymaki 2006). At most 28 variables. Found.stopped if the report stopped it.
Found exact_search(const ParentLists& lists, const Report& report);

}  // namespace credo::search
