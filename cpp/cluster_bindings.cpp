// Clusters in credo._core: Gower's distances and trees of merges.
#include <nanobind/stl/vector.h>

#include "binding_arrays.hpp"
#include "binding_signals.hpp"
#include "gower.hpp"
#include "links.hpp"

namespace credo::binding {

using namespace nb::literals;

namespace {

using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
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
  m.def("links_of_ties", &ties, "n"_a, "edges"_a.noconvert(), "strengths"_a.noconvert(),
        "average"_a, "most"_a);
}

}  // namespace credo::binding
