// Greedy search over DAGs: add, delete or reverse the edge that raises the score most.
//
// For each child a column of differences is kept, one for each variable that could join or leave
// its parents; a move changes one column, or two. Differences are scored only once their move is
// legal, all of a round in one batch. Tabu search goes on through the best move that leads to no
// recent graph, and restarts begin again from the best graph after random moves.
//
// Lazy: when a child's parents change, a variable that was worth nothing to it before is looked at
// again only where nothing else raises the score, so that most tables are never counted, and the
// end is a local optimum all the same. Polish: where the climb ends, the families it has scored, and
// sets of each child's Markov blanket, are put together anew by a search over orders, which counts
// nothing; from a better graph it goes on.
#pragma once

#include "score/family_scores.hpp"
#include "search/graph.hpp"

namespace credo::search {

struct ClimbOptions {
  std::int64_t tabu = 0;      // recent graphs that are not returned to; 0: plain hill climbing
  std::int64_t patience = 0;  // tabu moves without a new best
  bool downhill = true;       // whether those may lower the score, or only keep it
  std::int64_t restarts = 0;
  std::int64_t kicks = 0;     // random moves before each restart
  std::int64_t most_steps = 0;  // 0: no limit
  std::int64_t polish = 0;      // kicks of the last search over orders, 0: no such searches
  bool lazy = false;            // hopeless parents are looked at last
  std::int64_t alone = 0;       // before it, sets grow in the Markov blanket and so many more,
  std::int64_t around = 0;      // so many of a level
  std::uint64_t seed = 0;
};

Found climb(score::FamilyScores& scores, const Rules& rules, const Parents& start,
            const ClimbOptions& options, const Report& report);

}  // namespace credo::search
