// Numbers in a tree of buckets: messages of pairs, sums and maxima, one draw after the other.
//
//     (p, u) ⊗ (q, v) = (p q, p v + u q)
//
// A message is worked out when it is asked for and kept until a policy behind it changes (Shafer
// and Shenoy; nothing is divided). With full memory the policies are found on the way to the root.
// With limited memory each in turn is made the best beside the others until none alone can be
// improved, and only the messages towards the next decision are worked out anew.
#pragma once

#include <cstddef>
#include <vector>

#include "common/monitor.hpp"
#include "decide/tree.hpp"

namespace credo::decide {

// A table, or one for each draw.
struct Input {
  const double* data;
  bool drawn;
};

struct Inputs {
  std::vector<Input> tables;   // of the factors
  std::vector<Input> start;    // the policies to begin with; none: even ones
  std::vector<std::size_t> order;  // in which policies are improved with limited memory
  std::size_t draws;
};

// OUT, draws first: pairs over what is kept; where they are asked for (else null) the policies as 0
// and 1, how probable each situation of a decision is under the others, and the expected utility of
// each choice in it.
struct Outputs {
  double *p, *u, *rules, *situations, *utilities;
};

void run(const Tree& tree, const Inputs& inputs, const Outputs& outputs, Monitor& monitor);

}  // namespace credo::decide
