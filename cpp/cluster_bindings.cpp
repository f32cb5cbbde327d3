// Clusters in credo._core: points, k-means, Gower's distances and trees of merges.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "binding_arrays.hpp"
#include "binding_signals.hpp"
#include "chain.hpp"
#include "gower.hpp"
#include "links.hpp"
#include "lloyd.hpp"
#include "lloyd_start.hpp"
#include "points.hpp"

namespace credo::binding {

using namespace nb::literals;

namespace {

using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Edges = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

GowerRows rows_of(const std::vector<Reals>& reals, const std::vector<Codes>& codes) {
  require(!reals.empty() || !codes.empty(), "Distances need a column.");
  GowerRows rows;
  rows.n = reals.empty() ? codes[0].shape(0) : reals[0].shape(0);
  for (const Reals& column : reals) {
    require(column.shape(0) == rows.n, "Every column must have as many rows as the first.");
    rows.reals.push_back(column.data());
  }
  for (const Codes& column : codes) {
    require(column.shape(0) == rows.n, "Every column must have as many rows as the first.");
    rows.codes.push_back(column.data());
  }
  return rows;
}

nb::tuple pairs(const std::vector<Reals>& reals, const std::vector<Codes>& codes, double apart,
                int threads) {
  const GowerRows rows = rows_of(reals, codes);
  const std::size_t n = rows.n;
  NewArray<double> out({n < 2 ? 0 : n * (n - 1) / 2});
  std::size_t lost = 0;
  interruptible([&](Monitor& m) { lost = gower_pairs(rows, apart, out.data(), threads, m); });
  return nb::make_tuple(out.release(), lost);
}

nb::tuple between(const std::vector<Reals>& reals_a, const std::vector<Codes>& codes_a,
                  const std::vector<Reals>& reals_b, const std::vector<Codes>& codes_b,
                  double apart, int threads) {
  require(reals_a.size() == reals_b.size() && codes_a.size() == codes_b.size(),
          "Both sides must have the same columns.");
  const GowerRows a = rows_of(reals_a, codes_a), b = rows_of(reals_b, codes_b);
  NewArray<double> out({a.n, b.n});
  std::size_t lost = 0;
  interruptible([&](Monitor& m) { lost = gower_between(a, b, apart, out.data(), threads, m); });
  return nb::make_tuple(out.release(), lost);
}

nb::object tree(const Edges& edges, const Reals& lengths) {
  const std::size_t n = edges.shape(0) + 1;
  require(edges.shape(1) == 2 && lengths.shape(0) + 1 == n, "A tree needs a length for each edge.");
  for (std::size_t i = 0; i < 2 * (n - 1); ++i)
    require(edges.data()[i] >= 0 && edges.data()[i] < static_cast<std::int64_t>(n),
            "An edge of a tree must join two of its rows.");
  NewArray<double> z({n - 1, 4});
  bool whole = false;
  {
    const nb::gil_scoped_release release;
    whole = links_of_tree(edges.data(), lengths.data(), n, z.data());
  }
  require(whole, "The edges close a circle: they are no tree.");
  return z.release();
}

nb::object cut(const Matrix& links, std::int64_t merges) {
  const std::size_t n = links.shape(0) + 1;
  require(links.shape(1) == 4, "A tree has four numbers for each merge.");
  require(merges >= 0 && merges < static_cast<std::int64_t>(n), "A tree has n - 1 merges.");
  for (std::int64_t t = 0; t < merges; ++t)
    for (int side = 0; side < 2; ++side) {
      const double part = links.data()[4 * t + side];
      require(part >= 0 && part < static_cast<double>(n + t), "A merge joins clusters before it.");
    }
  NewArray<std::int64_t> labels({n});
  {
    const nb::gil_scoped_release release;
    labels_of_links(links.data(), n, static_cast<std::size_t>(merges), labels.data());
  }
  return labels.release();
}

nb::tuple spread(const Reals& values, const std::optional<Reals>& weights) {
  require(values.shape(0) > 0, "A spread needs a number.");
  require(!weights || weights->shape(0) == values.shape(0), "There must be a weight a number.");
  Spread found;
  {
    const nb::gil_scoped_release release;
    found = spread_of(values.data(), values.shape(0), weights ? weights->data() : nullptr);
  }
  return nb::make_tuple(found.low, found.high, found.mean, found.variance);
}

nb::object points(const std::vector<Reals>& columns, const std::optional<Reals>& centres,
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
  NewArray<double> out({n, d});
  {
    const nb::gil_scoped_release release;
    points_of(data, n, centres ? centres->data() : nullptr, scales ? scales->data() : nullptr,
              out.data());
  }
  return out.release();
}

// Rows for k-means, from as many starts as are wanted.
class PyLloydRows {
 public:
  PyLloydRows(Matrix x, std::optional<Reals> weights) : x_(x), weights_(weights) {
    const std::size_t n = x_.shape(0), d = x_.shape(1);
    require(n > 0 && d > 0, "k-means needs a row and a coordinate.");
    require(!weights_ || weights_->shape(0) == n, "There must be a weight for each row.");
    const nb::gil_scoped_release release;
    rows_ = lloyd::rows_of(x_.data(), n, d, weights_ ? weights_->data() : nullptr);
  }

  nb::object start(std::int64_t k, const Reals& draws, int threads,
                   const std::string& path) const {
    require(k > 0 && threads > 0, "There must be a centre and a thread.");
    const std::size_t drawn = draws.shape(0) - 1, later = static_cast<std::size_t>(k) - 1;
    require(draws.shape(0) > 0 && (later ? drawn > 0 && drawn % later == 0 : drawn == 0),
            "There must be a draw for the first centre, and as many for each later one.");
    const lloyd::Loops& loops = lloyd::loops_for(path.c_str());
    std::vector<std::int64_t> rows;
    interruptible([&](Monitor& monitor) {
      rows = lloyd::start_of(rows_, static_cast<std::size_t>(k), later ? drawn / later : 1,
                             draws.data(), loops, threads, [&] { monitor.poll(); });
    });
    NewArray<std::int64_t> out({rows.size()});
    std::copy(rows.begin(), rows.end(), out.data());
    return out.release();
  }

  nb::tuple climb(const Matrix& centres, std::int64_t iterations, double tolerance, int threads,
                  const std::string& path) const {
    const std::size_t k = centres.shape(0), d = rows_.d;
    require(k > 0 && centres.shape(1) == d, "Centres must have the coordinates of the rows.");
    require(iterations > 0 && threads > 0, "There must be an iteration and a thread.");
    const lloyd::Loops& loops = lloyd::loops_for(path.c_str());
    lloyd::Run run;
    interruptible([&](Monitor& monitor) {
      run = lloyd::climb(rows_, centres.data(), k, static_cast<std::size_t>(iterations), tolerance,
                         loops, threads, [&] { monitor.poll(); });
    });
    NewArray<std::int64_t> labels({rows_.n});
    std::copy(run.labels.begin(), run.labels.end(), labels.data());
    NewArray<double> ends({k, d});
    std::copy(run.centres.begin(), run.centres.end(), ends.data());
    return nb::make_tuple(labels.release(), ends.release(), run.objective, run.moved, run.settled);
  }

 private:
  Matrix x_;
  std::optional<Reals> weights_;
  lloyd::Rows rows_;
};

nb::object chained(const Matrix& points, const std::string& method, const std::string& path) {
  const std::size_t n = points.shape(0), d = points.shape(1);
  require(n > 1 && n < (std::size_t{1} << 31) && d > 0, "A tree needs two rows and a coordinate.");
  require(method == "complete" || method == "average" || method == "ward",
          "A chain is for complete, average or ward link.");
  const chain::Link link = method == "ward"      ? chain::Link::kWard
                           : method == "average" ? chain::Link::kAverage
                                                 : chain::Link::kComplete;
  const chain::Loops& loops = chain::loops_for(path.c_str());
  NewArray<double> z({n - 1, 4});
  interruptible([&](Monitor& monitor) {
    chain::links_of_points(points.data(), n, d, link, loops, z.data(), monitor);
  });
  return z.release();
}

nb::object ties(std::int64_t n, const Edges& edges, const Reals& strengths, bool average,
                double most) {
  require(n > 0 && edges.shape(1) == 2 && edges.shape(0) == strengths.shape(0),
          "A graph needs a strength for each tie.");
  std::vector<Tie> list;
  for (std::size_t i = 0; i < edges.shape(0); ++i) {
    const std::int64_t a = edges.data()[2 * i], b = edges.data()[2 * i + 1];
    require(a >= 0 && b >= 0 && a < n && b < n && a != b, "A tie must join two nodes.");
    require(strengths.data()[i] > 0, "The strength of a tie must be above 0.");
    list.push_back({a, b, strengths.data()[i]});
  }
  std::vector<double> z;
  interruptible([&](Monitor& m) {
    z = links_of_ties(static_cast<std::size_t>(n), list, average, most, m);
  });
  NewArray<double> out({z.size() / 4, 4});
  std::copy(z.begin(), z.end(), out.data());
  return out.release();
}

}  // namespace

void bind_clusters(nb::module_& m) {
  m.def("gower_pairs", &pairs, "reals"_a.noconvert(), "codes"_a.noconvert(), "apart"_a,
        "threads"_a = 1);
  m.def("gower_between", &between, "reals_a"_a.noconvert(), "codes_a"_a.noconvert(),
        "reals_b"_a.noconvert(), "codes_b"_a.noconvert(), "apart"_a, "threads"_a = 1);
  m.def("links_of_tree", &tree, "edges"_a.noconvert(), "lengths"_a.noconvert());
  m.def("labels_of_links", &cut, "links"_a.noconvert(), "merges"_a);
  m.def("spread_of", &spread, "values"_a.noconvert(), "weights"_a.noconvert().none() = nb::none());
  m.def("points_of", &points, "columns"_a.noconvert(), "centres"_a.noconvert().none() = nb::none(),
        "scales"_a.noconvert().none() = nb::none());
  nb::class_<PyLloydRows>(m, "LloydRows")
      .def(nb::init<Matrix, std::optional<Reals>>(), "x"_a.noconvert(),
           "weights"_a.noconvert().none() = nb::none())
      .def("start", &PyLloydRows::start, "k"_a, "draws"_a.noconvert(), "threads"_a = 1,
           "path"_a = "auto")
      .def("climb", &PyLloydRows::climb, "centres"_a.noconvert(), "iterations"_a, "tolerance"_a,
           "threads"_a = 1, "path"_a = "auto");
  m.def("links_of_points", &chained, "points"_a.noconvert(), "method"_a, "path"_a = "auto");
  m.def("links_of_ties", &ties, "n"_a, "edges"_a.noconvert(), "strengths"_a.noconvert(),
        "average"_a, "most"_a);
}

}  // namespace credo::binding
