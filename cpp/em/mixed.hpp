// Problems with continuous families: Gaussian given the states of the missing discrete variables.
//
//     ln joint(s) = Σ ln θ + Σ_lines ln N(c_s; L_s' m, σ²_s),     m: the missing continuous values
//     K = Σ L L'/σ²,  h = Σ L c/σ²,   ∫ dm gives ½ h'K⁻¹h − ½ ln |K| + ...,   m ~ N(K⁻¹h, K⁻¹)
#pragma once

#include "em/chance.hpp"
#include "em/rows.hpp"

namespace credo::em {

// exp and normalise; returns the logarithm of the sum.
double softmax(double* logs, std::size_t n);

// The numbers of a step, with what the lines need of them.
struct Lines {
  Lines(const Network& net, const double* theta, const double* lines);
  const double* log_theta(std::size_t at) const { return log_theta_.data() + at; }
  std::vector<double> lines;  // with 1/σ² in place of σ²
  std::vector<double> norm;   // beside it −½ ln 2πσ²

 private:
  std::vector<double> log_theta_;
};

// Σ ln p of the rows whose moments these are.
double lines_log_likelihood(const Family& family, const double* moments, const double* lines);

class MixedSolver {
 public:
  MixedSolver(const Rows& rows, const Lines& lines) : rows_(rows), lines_(lines) {}
  // ln Z; OUT posterior [states].
  double solve(const Shape& shape, const Problem& problem, double* posterior);
  // Adds the expected moments of the problem just solved.
  void scatter(const Shape& shape, const Problem& problem, const double* posterior, double weight,
               double* moments);
  // Adds the moments of as many draws of the missing values as `counts` [states] says, for the
  // problem just solved.
  void draw(const Shape& shape, const Problem& problem, const double* counts, Chance& chance,
            double* moments);

 private:
  void add(const Shape& shape, const Problem& problem, std::size_t state, double weight,
           const double* missing, double* moments);

  const Rows& rows_;
  const Lines& lines_;
  std::vector<double> precision_, mean_, covariance_, row_, z_;  // of each state
  const Shape* known_ = nullptr;     // whose where_ this is
  std::vector<std::int32_t> where_;  // of each number of each line: missing i, or ~observed
};

}  // namespace credo::em
