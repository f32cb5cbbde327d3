// The door to clusters: points, k-means, Gower's distances and trees of merges in SciPy's form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/arrays.hpp"
#include "cluster/lloyd.hpp"
#include "common/monitor.hpp"

namespace credo::doors {

using States = View<const std::int32_t, 1>;
using Edges = View<const std::int64_t, 2>;

// Gower's distances of every pair i < j, and of every row of a to every row of b; and how many
// pairs share no column.
using Distances = std::tuple<Array<double>, std::size_t>;
Distances gower_pairs(Monitor& monitor, const std::vector<Reals>& reals,
                      const std::vector<States>& codes, double apart, int threads);
Distances gower_between(Monitor& monitor, const std::vector<Reals>& reals_a,
                        const std::vector<States>& codes_a, const std::vector<Reals>& reals_b,
                        const std::vector<States>& codes_b, double apart, int threads);

// The edges of the least spanning tree, the shortest first, and their lengths.
std::tuple<Array<std::int64_t>, Array<double>> spanning_tree(Monitor& monitor, const Matrix& points,
                                                             int threads, const std::string& path);

Array<double> links_of_tree(const Edges& edges, const Reals& lengths);
Array<std::int64_t> labels_of_links(const Matrix& links, std::int64_t merges);
Array<double> links_of_points(Monitor& monitor, const Matrix& points, const std::string& method,
                              const std::string& path);
Array<double> links_of_ties(Monitor& monitor, std::int64_t n, const Edges& edges,
                            const Reals& strengths, bool average, double most);

// Least, greatest, mean and variance.
std::tuple<double, double, double, double> spread_of(const Reals& values,
                                                     const std::optional<Reals>& weights);

// Columns as rows [n][d].
Array<double> points_of(const std::vector<Reals>& columns, const std::optional<Reals>& centres,
                        const std::optional<Reals>& scales);

// Rows for k-means, from as many starts as are wanted. The arrays are kept.
class LloydRows {
 public:
  LloydRows(Matrix x, std::optional<Reals> weights);

  Array<std::int64_t> start(Monitor& monitor, std::int64_t k, const Reals& draws, int threads,
                            const std::string& path) const;

  // Labels, centres, W after each E and M step, rows moved at each E step, whether at rest.
  using Run = std::tuple<Array<std::int64_t>, Array<double>, std::vector<double>,
                         std::vector<std::int64_t>, bool>;
  Run climb(Monitor& monitor, const Matrix& centres, std::int64_t iterations, double tolerance,
            int threads, const std::string& path) const;

  // Rows as near to a second of the centres.
  Array<std::int64_t> near_ties(Monitor& monitor, const Matrix& centres, int threads,
                                const std::string& path) const;

 private:
  Matrix x_;
  std::optional<Reals> weights_;
  lloyd::Rows rows_;
};

}  // namespace credo::doors
