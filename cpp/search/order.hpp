// Search over orders of the variables.
//
// An order allows each variable the parents before it; the best DAG of an order takes each
// child's best list entry within them. Moving one variable x through all positions costs one
// sweep: total(p) = sum of what the others get without x before them (k < p), what x gets from
// the first p, and what the others get with x before them (k >= p). Only those change whose
// candidate x is. Local optima are left by a few random insertions (iterated local search), in
// several chains. Turns: before that, each edge of the order's graph is turned, by moving one end
// past the other, and only those are moved again whom it concerns.
#pragma once

#include "search/parent_lists.hpp"

namespace credo::search {

struct OrderOptions {
  std::int64_t chains = 4;
  std::int64_t patience = 100;  // kicks of a chain without a better order
  std::int64_t kicks = 0;       // insertions of a kick; 0: n / 8, from 2 to 12
  std::uint64_t seed = 0;
  int threads = 1;
  bool turns = false;  // before the kicks, every edge of the graph is turned
};

// IN start: a DAG within the lists' rules.
Found order_search(const ParentLists& lists, const Parents& start, const OrderOptions& options,
                   const Report& report);

}  // namespace credo::search
