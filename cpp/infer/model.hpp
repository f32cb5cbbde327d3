// A model for inference is a set of non-negative factors over discrete variables, and a request
// says what will be observed and what is asked. What the answer does not depend on is dropped here,
// before any graph is built: in a Bayesian network a node that is no ancestor of anything asked or
// observed is barren (it sums to one), and a part that the evidence separates from the targets
// matters to P(evidence) alone. (Shachter 1986; Baker and Boult 1990.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace credo::infer {

using Variables = std::vector<std::int32_t>;

struct Model {
  std::vector<std::int64_t> arity;
  std::vector<Variables> scopes;  // of each factor; tables in C order, the last variable fastest

  // Throws std::invalid_argument for a scope that repeats a variable or names one there is not.
  Model(std::vector<std::int64_t> arities, std::vector<Variables> factor_scopes);
  std::size_t n_variables() const { return arity.size(); }
  std::size_t n_factors() const { return scopes.size(); }
  double cells(const Variables& scope) const;
};

enum class Mode { kSum, kMax };

struct Request {
  Variables observed;         // hard evidence in every row
  Variables maybe;            // hard evidence in some rows
  Variables soft;             // likelihoods
  bool all_targets = true;    // every variable that is not observed
  Variables targets;          // else these
  Mode mode = Mode::kSum;
  bool families = false;      // P(scope of factor | evidence) of every factor too
  bool directed = true;       // factor = P(last variable of its scope | the others)
  bool evidence = true;       // P(evidence) in full, also of parts no target depends on
  double budget_ms = -1;      // for the search of an elimination order; < 0: by the expected cost
  std::uint64_t seed = 0;
};

// What is left of a model for a request.
struct Relevant {
  std::vector<bool> variable;  // neither dropped nor observed
  std::vector<bool> factor;
  Variables pruned;            // neither observed nor kept
};

// Throws std::invalid_argument for a request that does not fit the model.
void check(const Model& model, const Request& request);
Relevant relevant(const Model& model, const Request& request);

}  // namespace credo::infer
