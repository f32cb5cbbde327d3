// Gibbs sampling: many chains side by side; each variable in turn is drawn from its distribution
// given all others, which is the product of the factors it is in.
//
//   P(x_v | rest) ∝ Π_{f ∋ v} f(x)
//
// What is kept for a question about one variable is that distribution itself, not the state that
// was drawn: its mean is the same and it varies less (Gelfand and Smith 1990). Every draw is a
// function of (seed, chain, sweep, variable), so threads do not change a bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/monitor.hpp"
#include "infer/model.hpp"

namespace credo::gibbs {

struct Request {
  std::vector<infer::Variables> queries;  // scopes of one variable, or of several together
  std::size_t sweeps = 1;
  std::uint64_t first = 0;   // number of the first sweep, for the random bits
  std::uint64_t seed = 0;
  bool collect = true;       // false: only move
  int threads = 1;
};

class Sampler {
 public:
  explicit Sampler(infer::Model model);
  const infer::Model& model() const { return model_; }
  std::size_t cells(const Request& request) const;  // of all queries together

  // IN tables: one per factor, C order, above zero. IN/OUT states [chains][variables]; OUT sums
  // [chains][cells]: over the sweeps, of the probabilities (one variable) or the visits (several).
  void run(const std::vector<const double*>& tables, const Request& request, std::size_t chains,
           std::int32_t* states, double* sums, Monitor& monitor) const;

 private:
  struct Term {
    std::size_t factor;
    std::size_t stride;  // of the variable itself
    std::vector<std::pair<std::int32_t, std::size_t>> others;  // variable, stride
  };
  std::vector<std::vector<Term>> terms_;  // of each variable
  std::size_t widest_ = 1;                // states
  infer::Model model_;

  friend class Group;
};

}  // namespace credo::gibbs
