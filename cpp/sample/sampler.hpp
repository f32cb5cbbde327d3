// Ancestral sampling: the story a Bayesian network tells, told row by row.
//
//   x_v ~ P(x_v | parents),  parents before children
//   ln w = Σ_free ln(w_v[x] / θ_v[x]) + Σ_fixed ln w_v[x]
//
// Column by column in blocks that stay in the cache. The random bits of a cell are a function of
// the seed, the variable and the number of the row alone (random.hpp), so threads, blocks and
// instruction sets never change a row. The weights make the same sampler serve likelihood weighting
// and importance sampling.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/monitor.hpp"
#include "sample/kernels.hpp"

namespace credo::sample {

using Variables = std::vector<std::int32_t>;

struct Inputs {
  std::vector<const double*> tables;   // IN, per scope: rows normalised over the child
  std::vector<const double*> weights;  // IN, per scope, or null: no weight; or empty: none at all
  const std::int32_t* fixed = nullptr;  // IN [variables]: a code, or -1; or null
  std::uint64_t seed = 0, first = 0;
  std::size_t rows = 0;
};

struct Outputs {
  std::vector<void*> columns;     // OUT, per variable [rows]: bytes, or two where wide()
  double* log_weights = nullptr;  // OUT [rows], or null
};

class Sampler {
 public:
  // Each scope: the parents, then the child. Throws std::invalid_argument unless every variable is
  // the child of one scope and no variable is its own ancestor.
  Sampler(std::vector<std::int64_t> arities, std::vector<Variables> scopes);

  std::size_t n_variables() const { return arities_.size(); }
  std::size_t cells(std::size_t scope) const { return cells_[scope]; }
  bool wide(std::size_t variable) const { return arities_[variable] > 256; }
  std::int64_t arity(std::size_t variable) const { return arities_[variable]; }
  const Variables& order() const { return order_; }  // of the variables: parents first

  // Throws std::invalid_argument for a table that is no conditional distribution, Cancelled.
  void run(const Inputs& inputs, const std::string& path, int threads, Monitor& monitor,
           const Outputs& out) const;

 private:
  std::vector<std::int64_t> arities_;
  std::vector<Variables> scopes_;  // by child
  std::vector<std::size_t> at_;    // by child: the scope's place in what was given
  std::vector<std::size_t> cells_;
  Variables order_;
};

}  // namespace credo::sample
