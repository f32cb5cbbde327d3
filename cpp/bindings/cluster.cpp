// Clusters: points, k-means, Gower's distances and trees of merges in SciPy's form.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/module.hpp"
#include "cluster/chain.hpp"
#include "cluster/gower.hpp"
#include "cluster/links.hpp"
#include "cluster/lloyd.hpp"
#include "cluster/points.hpp"
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

Array<std::int64_t> labels_of_links(const Matrix& links, std::int64_t merges) {
  const std::size_t n = links.shape(0) + 1;
  require(links.shape(1) == 4, "A tree has four numbers for each merge.");
  require(merges >= 0 && merges < static_cast<std::int64_t>(n), "A tree has n - 1 merges.");
  for (std::int64_t t = 0; t < merges; ++t)
    for (int side = 0; side < 2; ++side) {
      const double part = links.data()[4 * t + side];
      require(part >= 0 && part < static_cast<double>(n + t), "A merge joins clusters before it.");
    }
  Array<std::int64_t> labels({n});
  credo::labels_of_links(links.data(), n, static_cast<std::size_t>(merges), labels.data());
  return labels;
}

Array<double> links_of_points(Monitor& monitor, const Matrix& points, const std::string& method,
                              const std::string& path) {
  const std::size_t n = points.shape(0), d = points.shape(1);
  require(n > 1 && n < (std::size_t{1} << 31) && d > 0, "A tree needs two rows and a coordinate.");
  require(method == "complete" || method == "average" || method == "ward",
          "A chain is for complete, average or ward link.");
  const chain::Link link = method == "ward"      ? chain::Link::kWard
                           : method == "average" ? chain::Link::kAverage
                                                 : chain::Link::kComplete;
  const chain::Loops& loops = chain::loops_for(path.c_str());
  Array<double> z({n - 1, 4});
  chain::links_of_points(points.data(), n, d, link, loops, z.data(), monitor);
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

// Least, greatest, mean and variance.
std::tuple<double, double, double, double> spread_of(const Reals& values,
                                                     const std::optional<Reals>& weights) {
  require(values.shape(0) > 0, "A spread needs a number.");
  require(!weights || weights->shape(0) == values.shape(0), "There must be a weight a number.");
  const Spread found = credo::spread_of(values.data(), values.shape(0), data_or_null(weights));
  return {found.low, found.high, found.mean, found.variance};
}

// Columns as rows [n][d].
Array<double> points_of(const std::vector<Reals>& columns, const std::optional<Reals>& centres,
                        const std::optional<Reals>& scales) {
  require(!columns.empty(), "Points need a column.");
  require(centres.has_value() == scales.has_value(), "Centres and scales come together.");
  const std::size_t n = columns[0].shape(0), d = columns.size();
  require(!centres || (centres->shape(0) == d && scales->shape(0) == d),
          "There must be a centre and a scale for each column.");
  std::vector<const double*> data;
  for (const Reals& column : columns) {
    require(column.shape(0) == n, "Every column must have as many rows as the first.");
    data.push_back(column.data());
  }
  Array<double> out({n, d});
  credo::points_of(data, n, data_or_null(centres), data_or_null(scales), out.data());
  return out;
}

// Rows for k-means, from as many starts as are wanted. The arrays are kept.
class LloydRows {
 public:
  LloydRows(Matrix x, std::optional<Reals> weights)
      : x_(std::move(x)), weights_(std::move(weights)) {
    const std::size_t n = x_.shape(0), d = x_.shape(1);
    require(n > 0 && d > 0, "k-means needs a row and a coordinate.");
    require(!weights_ || weights_->shape(0) == n, "There must be a weight for each row.");
    rows_ = lloyd::rows_of(x_.data(), n, d, data_or_null(weights_));
  }

  Array<std::int64_t> start(Monitor& monitor, std::int64_t k, const Reals& draws, int threads,
                            const std::string& path) const {
    require(k > 0 && threads > 0, "There must be a centre and a thread.");
    const std::size_t drawn = draws.shape(0) - 1, later = static_cast<std::size_t>(k) - 1;
    require(draws.shape(0) > 0 && (later ? drawn > 0 && drawn % later == 0 : drawn == 0),
            "There must be a draw for the first centre, and as many for each later one.");
    const lloyd::Loops& loops = lloyd::loops_for(path.c_str());
    return copied(lloyd::start_of(rows_, static_cast<std::size_t>(k), later ? drawn / later : 1,
                                  draws.data(), loops, threads, [&] { monitor.poll(); }));
  }

  // Labels, centres, W after each E and M step, rows moved at each E step, whether at rest.
  using Run = std::tuple<Array<std::int64_t>, Array<double>, std::vector<double>,
                         std::vector<std::int64_t>, bool>;
  LloydRows::Run climb(Monitor& monitor, const Matrix& centres, std::int64_t iterations,
                       double tolerance, int threads, const std::string& path) const {
    const std::size_t k = centres.shape(0), d = rows_.d;
    require(k > 0 && centres.shape(1) == d, "Centres must have the coordinates of the rows.");
    require(iterations > 0 && threads > 0, "There must be an iteration and a thread.");
    const lloyd::Loops& loops = lloyd::loops_for(path.c_str());
    lloyd::Run run = lloyd::climb(rows_, centres.data(), k, static_cast<std::size_t>(iterations),
                                  tolerance, loops, threads, [&] { monitor.poll(); });
    return {copied<std::int64_t>(run.labels, {rows_.n}), copied<double>(run.centres, {k, d}),
            std::move(run.objective), std::move(run.moved), run.settled};
  }

  // Rows as near to a second of the centres.
  Array<std::int64_t> near_ties(Monitor& monitor, const Matrix& centres, int threads,
                                const std::string& path) const {
    const std::size_t k = centres.shape(0);
    require(k > 0 && centres.shape(1) == rows_.d, "Centres must have the coordinates of the rows.");
    require(threads > 0, "There must be a thread.");
    const lloyd::Loops& loops = lloyd::loops_for(path.c_str());
    return copied(
        lloyd::near_ties(rows_, centres.data(), k, loops, threads, [&] { monitor.poll(); }));
  }

 private:
  Matrix x_;
  std::optional<Reals> weights_;
  lloyd::Rows rows_;
};

}  // namespace

void bind_clusters(nb::module_& m) {
  m.def("gower_pairs", bound(&gower_pairs), "reals"_a, "codes"_a, "apart"_a, "threads"_a = 1);
  m.def("gower_between", bound(&gower_between), "reals_a"_a, "codes_a"_a, "reals_b"_a, "codes_b"_a,
        "apart"_a, "threads"_a = 1);
  m.def("spanning_tree", bound(&spanning_tree), "points"_a, "threads"_a = 1, "path"_a = "auto");
  m.def("links_of_tree", bound(&links_of_tree), "edges"_a, "lengths"_a);
  m.def("labels_of_links", bound(&labels_of_links), "links"_a, "merges"_a);
  m.def("links_of_points", bound(&links_of_points), "points"_a, "method"_a, "path"_a = "auto");
  m.def("links_of_ties", bound(&links_of_ties), "n"_a, "edges"_a, "strengths"_a, "average"_a,
        "most"_a);
  m.def("spread_of", bound(&spread_of), "values"_a, "weights"_a = nb::none());
  m.def("points_of", bound(&points_of), "columns"_a, "centres"_a = nb::none(),
        "scales"_a = nb::none());
  nb::class_<LloydRows>(m, "LloydRows")
      .def(nb::init<Matrix, std::optional<Reals>>(), "x"_a, "weights"_a = nb::none(),
           nb::call_guard<nb::gil_scoped_release>())
      .def("start", bound(&LloydRows::start), "k"_a, "draws"_a, "threads"_a = 1, "path"_a = "auto")
      .def("climb", bound(&LloydRows::climb), "centres"_a, "iterations"_a, "tolerance"_a,
           "threads"_a = 1, "path"_a = "auto")
      .def("near_ties", bound(&LloydRows::near_ties), "centres"_a, "threads"_a = 1,
           "path"_a = "auto");
}

}  // namespace credo::bindings
