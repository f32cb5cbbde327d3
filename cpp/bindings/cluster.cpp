// Clusters: points, k-means, Gower's distances and trees of merges in SciPy's form.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/module.hpp"
#include "cluster/gower.hpp"
#include "cluster/links.hpp"
#include "cluster/spanning_tree.hpp"

namespace credo::bindings {
namespace {

using States = View<const std::int32_t, 1>;
using Edges = View<const std::int64_t, 2>;

// Gower's distances of every pair i < j, and of every row of a to every row of b; and how many
// pairs share no column.
using Distances = std::tuple<Array<double>, std::size_t>;

GowerRows rows_of(const std::vector<Reals>& reals, const std::vector<States>& codes) {
  require(!reals.empty() || !codes.empty(), "Distances need a column.");
  GowerRows rows;
  rows.n = reals.empty() ? codes[0].shape(0) : reals[0].shape(0);
  for (const Reals& column : reals) {
    require(column.shape(0) == rows.n, "Every column must have as many rows as the first.");
    rows.reals.push_back(column.data());
  }
  for (const States& column : codes) {
    require(column.shape(0) == rows.n, "Every column must have as many rows as the first.");
    rows.codes.push_back(column.data());
  }
  return rows;
}

Distances gower_pairs(Monitor& monitor, const std::vector<Reals>& reals,
                      const std::vector<States>& codes, double apart, int threads) {
  const GowerRows rows = rows_of(reals, codes);
  const std::size_t n = rows.n;
  Array<double> out({n < 2 ? 0 : n * (n - 1) / 2});
  const std::size_t lost = credo::gower_pairs(rows, apart, out.data(), threads, monitor);
  return {std::move(out), lost};
}

Distances gower_between(Monitor& monitor, const std::vector<Reals>& reals_a,
                        const std::vector<States>& codes_a, const std::vector<Reals>& reals_b,
                        const std::vector<States>& codes_b, double apart, int threads) {
  require(reals_a.size() == reals_b.size() && codes_a.size() == codes_b.size(),
          "Both sides must have the same columns.");
  const GowerRows a = rows_of(reals_a, codes_a), b = rows_of(reals_b, codes_b);
  Array<double> out({a.n, b.n});
  const std::size_t lost = credo::gower_between(a, b, apart, out.data(), threads, monitor);
  return {std::move(out), lost};
}

// The edges of the least spanning tree, the shortest first, and their lengths.
std::tuple<Array<std::int64_t>, Array<double>> spanning_tree(Monitor& monitor, const Matrix& points,
                                                             int threads, const std::string& path) {
  const std::size_t n = points.shape(0), d = points.shape(1);
  require(n > 0 && n < (std::size_t{1} << 31) && d > 0, "A tree needs a row and a coordinate.");
  require(threads >= 1, "The 'threads' parameter must be at least 1.");
  require(std::all_of(points.data(), points.data() + n * d, [](double x) { return x - x == 0; }),
          "The coordinates of points must be finite.");
  const std::vector<Edge> found = credo::spanning_tree(points.data(), n, d, threads, path, monitor);
  Array<std::int64_t> edges({found.size(), 2});
  Array<double> lengths({found.size()});
  for (std::size_t i = 0; i < found.size(); ++i) {
    edges.data()[2 * i] = found[i].a;
    edges.data()[2 * i + 1] = found[i].b;
    lengths.data()[i] = found[i].length;
  }
  return {std::move(edges), std::move(lengths)};
}

Array<double> links_of_tree(const Edges& edges, const Reals& lengths) {
  const std::size_t n = edges.shape(0) + 1;
  require(edges.shape(1) == 2 && lengths.shape(0) + 1 == n, "A tree needs a length for each edge.");
  for (std::size_t i = 0; i < 2 * (n - 1); ++i)
    require(edges.data()[i] >= 0 && edges.data()[i] < static_cast<std::int64_t>(n),
            "An edge of a tree must join two of its rows.");
  Array<double> z({n - 1, 4});
  require(credo::links_of_tree(edges.data(), lengths.data(), n, Ties::kByCluster, z.data()),
          "The edges close a circle: they are no tree.");
  return z;
}

Array<double> links_of_ties(Monitor& monitor, std::int64_t n, const Edges& edges,
                            const Reals& strengths, bool average, double most) {
  require(n > 0 && edges.shape(1) == 2 && edges.shape(0) == strengths.shape(0),
          "A graph needs a strength for each tie.");
  std::vector<Tie> list;
  for (std::size_t i = 0; i < edges.shape(0); ++i) {
    const std::int64_t a = edges.data()[2 * i], b = edges.data()[2 * i + 1];
    require(a >= 0 && b >= 0 && a < n && b < n && a != b, "A tie must join two nodes.");
    require(strengths.data()[i] > 0, "The strength of a tie must be above 0.");
    list.push_back({a, b, strengths.data()[i]});
  }
  const std::vector<double> z =
      credo::links_of_ties(static_cast<std::size_t>(n), list, average, most, monitor);
  return copied(z, {z.size() / 4, 4});
}

}  // namespace

void bind_clusters(nb::module_& m) {
  m.def("gower_pairs", bound(&gower_pairs), "reals"_a, "codes"_a, "apart"_a, "threads"_a = 1);
  m.def("gower_between", bound(&gower_between), "reals_a"_a, "codes_a"_a, "reals_b"_a, "codes_b"_a,
        "apart"_a, "threads"_a = 1);
  m.def("spanning_tree", bound(&spanning_tree), "points"_a, "threads"_a = 1, "path"_a = "auto");
  m.def("links_of_tree", bound(&links_of_tree), "edges"_a, "lengths"_a);
  m.def("links_of_ties", bound(&links_of_ties), "n"_a, "edges"_a, "strengths"_a, "average"_a,
        "most"_a);
}

}  // namespace credo::bindings
