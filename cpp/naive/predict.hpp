// ln P(class, row) for every row, and what follows from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "naive/cells.hpp"
#include "naive/loops.hpp"

namespace credo::naive {

enum class Answer : std::uint8_t { kJoint, kLogPosterior, kPosterior, kBest };

// Columns of codes that are looked up together: group g has the columns member[end[g - 1]] ...
// member[end[g] - 1], and stands at the sum of code * times in its table.
struct Grouping {
  std::vector<std::size_t> end;
  std::vector<std::uint32_t> member;
  std::vector<std::uint16_t> times;  // of each column of codes
};

struct ScoreInput {
  std::vector<CodeColumn> codes;
  std::vector<Cells> reals, counts;
  const Grouping& grouping;
  ScoreTerms terms;
  std::size_t n_rows;
  std::size_t classes;  // as they are; terms.classes is padded
  const double* extra;  // IN [n_rows][classes], added to the joint, or null
  CountRule rule = {};
};

// What was met on the way.
struct Oddities {
  std::vector<char> unseen;    // [codes]: whether a value was not seen in training
  std::vector<char> infinite;  // [reals]: whether one is infinite
  bool no_count = false;       // whether a count is negative or infinite
};

// OUT answers [n_rows][classes], or for kBest the class of each row in best [n_rows] (the first of
// equal ones). Returns the first row that every class rules out, or -1; where there is one, what the
// answers of normalised kinds are is not said.
std::int64_t score(const ScoreInput& input, Answer answer, int threads, double* answers,
                   std::int64_t* best, Oddities& odd);

// The same from joints that are known: INOUT joint [n_rows][classes].
std::int64_t finish(double* joint, std::size_t n_rows, std::size_t classes, Answer answer,
                    int threads, std::int64_t* best);

}  // namespace credo::naive
