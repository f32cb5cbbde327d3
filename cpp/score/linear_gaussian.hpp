// The marginal likelihood of lines, one for each configuration u of the discrete parents, under a
// prior of imagined rows that look like all rows together:
//
//   sigma_u^2 ~ nu sigma_w^2 / chi^2(nu),   value at the centre ~ N(mean of all, sigma_u^2 / kappa),
//   slopes ~ N(b, sigma_u^2 / ridge),       kappa = sigma_w^2 / sigma_p^2,  ridge = kappa s_j^2
//
// sigma_p^2 is what the line of all rows leaves, sigma_w^2 what lines with one common slope b leave
// within the configurations (and within one imagined row like all), s_j^2 the variance of parent j.
// So a configuration of few rows has the line and the spread of the others; none can collapse. Alone
// (no discrete parents) it is the unit-information prior, whose marginal likelihood is BIC's (Kass &
// Wasserman 1995). Slopes are priced as in a small sample (McQuarrie 1999): ln N N / (N - k - 3).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace credo::score {

// The moments of some continuous columns by configuration, and of all of them together.
struct LineMoments {
  std::vector<double> n;        // [G]: weight of the rows
  std::vector<double> mean;     // [G, m]
  std::vector<double> scatter;  // [G, m, m]

  double rows = 0;
  std::vector<double> all_mean;     // [m]
  std::vector<double> all_scatter;  // [m, m]
  std::vector<double> within;       // [m, m]: the sum of the configurations' scatter

  void add_up(std::size_t columns);  // what all configurations are together
};

struct LineScratch {
  std::vector<double> matrix, factor, slope, away;
  std::vector<std::size_t> parents;
};

// IN at: the columns of the parents, then of the child. IN nu: rows that a variance is worth.
// Minus infinity only where there are fewer rows than the slopes ask for.
double line_marginal(const LineMoments& moments, std::size_t columns,
                     std::span<const std::size_t> at, double nu, LineScratch& scratch);

}  // namespace credo::score
