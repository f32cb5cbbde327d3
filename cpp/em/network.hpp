// What expectation maximisation knows of a network: its families, and where their numbers lie.
//
// Every discrete table has its place in one flat array of cells. A continuous child has a line for
// each configuration of its discrete parents, [a, b_1 ... b_k, variance] in a flat array of lines,
// and a statistic of z = (1, parents, child), the sums of w z z', in a flat array of moments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace credo::em {

struct Family {
  bool discrete = false;
  std::vector<std::int32_t> scope;      // the parents, then the child
  std::vector<std::int32_t> states;     // the discrete ones of the scope
  std::vector<std::uint32_t> strides;   // of `states`, in cells or in configurations
  std::vector<std::int32_t> line;       // the continuous ones of the scope, the child last
  std::uint64_t cells = 0;              // or configurations
  std::uint64_t at = 0;                 // first cell; for a line, its first number
  std::uint64_t moments_at = 0;         // for a line, where its moments begin
  std::uint64_t parents_at = 0;         // first of its parents' configurations (discrete)
  bool leaf = false;                    // no family has the child as a parent

  std::size_t k() const { return line.size() - 1; }         // continuous parents
  std::size_t line_size() const { return k() + 2; }         // numbers of one line
  std::size_t side() const { return k() + 2; }              // of z
  std::size_t moments_size() const { return side() * side(); }
};

struct Network {
  std::vector<std::int64_t> arity;  // 0: continuous
  std::vector<Family> families;     // family i is that of variable i
  std::vector<std::vector<std::int32_t>> families_of;  // in which a variable takes part
  std::uint64_t cells = 0, configurations = 0, line_numbers = 0, moment_numbers = 0;

  // IN scopes: of each variable, its parents and then itself. Throws std::invalid_argument for a
  // scope that does not end in its variable, or a discrete child with a continuous parent.
  Network(std::vector<std::int64_t> arities, std::vector<std::vector<std::int32_t>> scopes);
  std::size_t size() const { return arity.size(); }
};

}  // namespace credo::em
