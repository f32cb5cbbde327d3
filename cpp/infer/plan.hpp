// A plan: the elimination order turned into a tree of contractions out[S] = Σ a[A] b[B].
//
// The leaves are the factors, sliced at the evidence, and the likelihoods λ; each inner tensor is a
// message. Eliminating a variable multiplies the tensors that contain it pair by pair, smallest
// result first, and each product is summed at once over the variables that no other tensor
// contains: the table of a whole clique is never stored. The posteriors are derivatives of the root
// (Darwiche 2003): the adjoint of a is Σ adj(out) b, so going back needs no division.
#pragma once

#include <memory>

#include "infer/model.hpp"
#include "infer/order.hpp"

namespace credo::infer {

enum class Source { kFactor, kMaybe, kSoft, kOnes, kMessage };

struct Tensor {
  Source source;
  std::int32_t index;      // factor, position in `maybe` or `soft`; kOnes: a variable in no factor
  Variables scope;         // slowest axis first; the first eliminated is the slowest
  double cells;
  std::int32_t step = -1;  // that consumes it; -1: a root, without variables
  bool adjoint = false;    // is its adjoint needed?
};

struct Step {
  std::int32_t a, b, out;  // b = -1: a is only summed
  Variables scope;         // of the product
  Variables summed;
  double cells;            // of the product
};

// Where the posterior of a target is read.
struct Target {
  std::int32_t variable;
  std::int32_t tensor = -1;  // Σ tensor · adjoint; -1: the variable is observed
  bool from_out = false;     // Σ tensor · adjoint of what it is summed to, where there is no b
  std::int32_t column = -1;  // in the evidence, if observed
  std::size_t offset = 0;    // in a row of marginals
};

struct Plan {
  std::shared_ptr<const Model> model;
  Request request;
  Relevant relevant;
  Order order;
  std::vector<Tensor> tensors;      // inputs first
  std::size_t n_inputs = 0;
  std::vector<Step> steps;          // children before parents
  std::vector<std::int32_t> roots;  // tensors without variables: P(evidence) is their product
  std::vector<Target> targets;
  std::vector<std::vector<std::int32_t>> targets_of;  // per tensor
  std::size_t marginal_states = 0;
  std::vector<std::size_t> family_offsets;  // per factor, and the end; empty without families
  double largest = 0;                       // cells of the largest table that is stored
  double stored_cells = 0;                  // of inputs and messages
  double flops = 0;                         // multiply-adds of a row
};

std::shared_ptr<const Plan> compile(std::shared_ptr<const Model> model, Request request);

}  // namespace credo::infer
