// Scores of Gaussian networks: set functions of one matrix, whatever the number of rows.
//
//   log-likelihood  f(S) = -N/2 (ln |C_S| + |S| (1 + ln 2 pi)),  C the covariance (by N)
//   BGe             f(S) = ln marginal likelihood of the columns S under a normal-Wishart prior
//                   (Geiger & Heckerman 2002; Kuipers, Moffa & Heckerman 2014)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace credo::score {

struct GaussianModel {
  bool bge = false;
  double rows = 0;
  std::size_t n = 0;             // variables
  std::vector<double> matrix;    // [n, n]: the covariance, or for BGe the scatter of the rows
  double prior_rows = 1;         // BGe: alpha_mu
  double freedom = 0;            // BGe: alpha_w
  double prior_scale = 1;        // BGe: t, the prior scale matrix is t I
};

// f(S); minus infinity where the columns of S are collinear.
double gaussian_set_value(const GaussianModel& model, std::span<const std::int32_t> set);

}  // namespace credo::score
