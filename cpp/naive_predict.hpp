// ln P(class, row) for every row, and what follows from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "naive_cells.hpp"
#include "naive_loops.hpp"

namespace credo::naive {

enum class Answer : std::uint8_t { kJoint, kLogPosterior, kPosterior, kBest };

struct ScoreInput {
  std::vector<CodeColumn> codes;
  std::vector<Cells> reals;
  ScoreTerms terms;  // n_codes and n_real are filled in
  std::size_t n_rows;
  std::size_t classes;  // as they are; terms.classes is padded
  const double* extra;  // IN [n_rows][classes], added to the joint, or null
};

// OUT answers [n_rows][classes], or for kBest the class of each row in best [n_rows] (the first of
// equal ones); unseen [codes] is set where a column holds a value not seen in training, infinite [reals]
// where one is infinite. Returns the
// first row that every class rules out, or -1; its answers are the joint.
std::int64_t score(const ScoreInput& input, Answer answer, int threads, double* answers,
                   std::int64_t* best, std::vector<char>& unseen, std::vector<char>& infinite);

// The same from joints that are known: INOUT joint [n_rows][classes].
std::int64_t finish(double* joint, std::size_t n_rows, std::size_t classes, Answer answer,
                    int threads, std::int64_t* best);

}  // namespace credo::naive
