// Loopy belief propagation: messages between the factors and the variables of a factor graph.
//
//   μ(v→f) = Π_{g≠f} m(g→v),   m(f→v)(x_v) = Σ_{x without x_v} f(x) Π_{u≠v} μ(u→f)(x_u)
//
// Exact where the graph is a tree; elsewhere an approximation without a guarantee, whose residual
// tells whether the messages agree. A message that is zero is a proof: what it rules out is
// impossible, in any graph. (Pearl 1988; Yedidia, Freeman and Weiss 2005.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/monitor.hpp"
#include "infer/model.hpp"

namespace credo::loopy {

struct Options {
  int sweeps = 200;         // passes over the factors, forward and backward in turn
  double tolerance = 1e-8;  // converged when no message changes by more
  double damping = 0;       // share of the old message that is kept
  double seconds = -1;      // stop after; < 0: no limit
};

struct Result {
  std::vector<double> beliefs;      // of the variables, one after the other
  std::vector<double> to_variable;  // m(f→v), of all edges: factors in order, their scopes in order
  std::vector<double> to_factor;    // μ(v→f), likewise
  std::vector<double> trace;        // the residual of each sweep
  double log_z = 0;                 // of Bethe: exact on a tree
  double damping = 0;               // that was used last
  bool converged = false;
  bool impossible = false;          // proved: the factors have no common support
};

class Graph {
 public:
  explicit Graph(infer::Model model);
  const infer::Model& model() const { return model_; }
  // Edge e of factor f, axis j: first_edge[f] + j. Its message begins at offset[e].
  std::vector<std::size_t> first_edge, offset, belief_offset;
  std::vector<std::vector<std::size_t>> edges_of;  // of each variable
  std::vector<std::int32_t> schedule;              // the factors, by their last variable

 private:
  infer::Model model_;
};

// IN tables: one per factor, C order, last variable fastest, not negative.
Result run(const Graph& graph, const std::vector<const double*>& tables, const Options& options,
           Monitor& monitor);

}  // namespace credo::loopy
