// EM: the rows of a table folded, one expectation step, and rows completed.
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "bindings/module.hpp"
#include "em/complete.hpp"
#include "em/draw.hpp"
#include "em/rows.hpp"
#include "em/step.hpp"

namespace credo::bindings {
namespace {

using Codes = View<const std::int32_t, 2>;  // [rows][variables]
using Integers = View<const std::int32_t>;
using Unsigned = View<const std::uint32_t>;

// A column for each variable: codes, numbers where its arity is 0, or none where all is missing.
using GappyColumns = std::vector<std::optional<AnyArray>>;

std::vector<em::Column> read_columns(const em::Network& net, const GappyColumns& arrays,
                                     std::size_t n_rows, const std::optional<Reals>& weights) {
  require(arrays.size() == net.size(), "There must be a column, or None, for each variable.");
  require(!weights || weights->shape(0) == n_rows, "There must be a weight for each row.");
  std::vector<em::Column> columns(arrays.size());
  for (std::size_t v = 0; v < arrays.size(); ++v) {
    if (!arrays[v]) continue;
    const AnyArray& array = *arrays[v];
    const std::string name = "The column of variable " + std::to_string(v);
    require(array.ndim() == 1 && array.shape(0) == n_rows, name + " must have a cell a row.");
    if (net.arity[v] == 0) {
      require(array.is<double>(), name + " must be of float64.");
      columns[v].reals = array.data_as<double>();
      continue;
    }
    const std::uint8_t width = code_bytes(array);
    require(width > 0, name + " must be of uint8, uint16 or uint32.");
    columns[v].codes = {array.data(), width, static_cast<std::uint32_t>(net.arity[v]), true};
  }
  return columns;
}

void check_theta(const em::Network& net, const Reals& theta) {
  require(theta.shape(0) == net.cells,
          "The 'theta' parameter must have " + std::to_string(net.cells) + " cells.");
}

// Codes, weights, the rows left out, how many were given draws, the first impossible row or -1.
std::tuple<Array<std::uint16_t>, Array<double>, Array<std::int64_t>, std::size_t, std::int64_t>
complete_rows(std::vector<std::int64_t> arities, std::vector<std::vector<std::int32_t>> scopes,
              const Reals& theta, const GappyColumns& columns, std::size_t n_rows,
              const std::optional<Reals>& weights, std::uint64_t most, std::uint64_t draws,
              std::uint64_t most_states, std::uint64_t seed) {
  const em::Network net(std::move(arities), std::move(scopes));
  for (const std::int64_t arity : net.arity)
    require(arity > 0 && arity <= 65536, "Rows of discrete variables alone can be completed.");
  check_theta(net, theta);
  require(most >= 1 && draws >= 1 && most_states >= 1, "The limits must be at least 1.");
  const em::Completed found =
      em::complete(net, theta.data(), read_columns(net, columns, n_rows, weights), n_rows,
                   data_or_null(weights), most, draws, most_states, seed);
  return {copied(found.codes, {found.weights.size(), net.size()}), copied(found.weights),
          copied(found.left), found.drawn.size(), found.impossible};
}

class Expectations {
 public:
  Expectations(std::vector<std::int64_t> arities, std::vector<std::vector<std::int32_t>> scopes,
               std::uint64_t most, std::uint64_t most_mixed)
      : rows_(std::make_shared<em::Network>(std::move(arities), std::move(scopes)), most,
              most_mixed) {}

  void add(const GappyColumns& columns, std::size_t n_rows, const std::optional<Reals>& weights) {
    rows_.add(read_columns(rows_.network(), columns, n_rows, weights), n_rows,
              data_or_null(weights));
  }

  // Expected counts, moments, ln P of the rows not left, and whether one is impossible.
  std::tuple<Array<double>, Array<double>, double, bool> step(Monitor& monitor, const Reals& theta,
                                                              const Reals& lines,
                                                              int threads) const {
    check(theta, lines, threads);
    const em::Expected found =
        em::expect(rows_, theta.data(), lines.data(), threads, [&] { monitor.poll(); });
    return {copied(found.counts), copied(found.moments), found.log_likelihood,
            found.impossible >= 0};
  }
  // Counts and moments of the rows not left, their gaps drawn, and whether one is impossible.
  std::tuple<Array<double>, Array<double>, bool> draw(Monitor& monitor, const Reals& theta,
                                                      const Reals& lines, std::uint64_t seed,
                                                      int threads) const {
    check(theta, lines, threads);
    const em::Drawn found =
        em::draw(rows_, theta.data(), lines.data(), seed, threads, [&] { monitor.poll(); });
    return {copied(found.counts), copied(found.moments), found.impossible};
  }
  // Other completions of rows, and the counts of all families in them.
  std::tuple<Array<std::int32_t>, Array<double>> redraw(Monitor& monitor, const Reals& theta,
                                                        const Codes& gaps, const Codes& codes,
                                                        const Reals& weights, std::uint64_t most,
                                                        std::uint64_t seed, int threads) const {
    const em::Network& net = rows_.network();
    check_theta(net, theta);
    const std::size_t n = gaps.shape(0);
    require(net.line_numbers == 0, "Rows of discrete variables alone can be drawn again.");
    require(gaps.shape(1) == net.size() && codes.shape(1) == net.size() && codes.shape(0) == n &&
                weights.shape(0) == n,
            "There must be a code for each variable, and a weight, in each row.");
    for (std::size_t i = 0; i < n * net.size(); ++i) {
      const std::int64_t arity = net.arity[i % net.size()];
      require(gaps.data()[i] < arity && codes.data()[i] >= 0 && codes.data()[i] < arity &&
                  (gaps.data()[i] < 0 || gaps.data()[i] == codes.data()[i]),
              "The rows must be completions of those with gaps.");
    }
    require(most >= 1 && threads >= 1, "The limits must be at least 1.");
    Array<std::int32_t> out({n, net.size()}, Filled::kLater);
    std::copy(codes.data(), codes.data() + n * net.size(), out.data());
    const std::vector<double> counts =
        em::redraw(net, theta.data(), gaps.data(), out.data(), weights.data(), n, most, seed,
                   threads, [&] { monitor.poll(); });
    return {std::move(out), copied(counts)};
  }
  // The rows left to the engine, and their weights.
  std::tuple<Array<std::int32_t>, Array<double>> left() const {
    return {copied(rows_.left, {rows_.left_weights.size(), rows_.network().size()}),
            copied(rows_.left_weights)};
  }
  // The counts and moments of the families that were observed.
  std::tuple<Array<double>, Array<double>> counted() const {
    return {copied(rows_.counted), copied(rows_.moments)};
  }
  const em::Rows& rows() const { return rows_; }

  // All that was folded, as arrays that can be pickled: `absorb` takes them.
  using Packed = std::tuple<Array<std::int32_t>, Array<std::uint32_t>, Array<std::uint32_t>,
                            Array<std::uint32_t>, Array<double>, Array<double>, Array<double>,
                            Array<double>, Array<std::int32_t>, Array<double>, Array<std::int32_t>,
                            double>;
  Packed packed() const {
    std::vector<std::int32_t> missing;
    std::vector<std::uint32_t> sizes, shapes;
    rows_.pack(missing, sizes, shapes);
    return {copied(missing), copied(sizes), copied(shapes), copied(rows_.all_bases()),
            copied(rows_.all_reals()), copied(rows_.weights()), copied(rows_.counted),
            copied(rows_.moments), copied(rows_.left), copied(rows_.left_weights),
            copied(rows_.too_large), rows_.total};
  }
  void absorb(const Integers& missing, const Unsigned& sizes, const Unsigned& shapes,
              const Unsigned& bases, const Reals& reals, const Reals& weights,
              const Reals& counted, const Reals& moments, const Integers& left,
              const Reals& left_weights, const Integers& too_large, double total) {
    const auto span = [](const auto& view) { return std::span(view.data(), view.shape(0)); };
    const auto added = [&](std::vector<double>& to, const Reals& more) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += more.data()[i];
    };
    const auto joined = [&](auto& to, const auto& more) {
      to.insert(to.end(), span(more).begin(), span(more).end());
    };
    require(counted.shape(0) == rows_.counted.size() && moments.shape(0) == rows_.moments.size() &&
                left.shape(0) == left_weights.shape(0) * rows_.network().size(),
            "These are no problems of rows of the same network.");
    rows_.absorb({span(missing), span(sizes), span(shapes), span(bases), span(reals),
                  span(weights)});
    added(rows_.counted, counted);
    added(rows_.moments, moments);
    joined(rows_.left, left);
    joined(rows_.left_weights, left_weights);
    if (rows_.too_large.empty()) joined(rows_.too_large, too_large);
    rows_.total += total;
  }

 private:
  void check(const Reals& theta, const Reals& lines, int threads) const {
    const em::Network& net = rows_.network();
    require(threads >= 1, "The 'threads' parameter must be at least 1.");
    check_theta(net, theta);
    require(lines.shape(0) == net.line_numbers,
            "The 'lines' parameter must have " + std::to_string(net.line_numbers) + " numbers.");
  }

  em::Rows rows_;
};

}  // namespace

void bind_expectations(nb::module_& m) {
  m.def("complete_rows", bound(&complete_rows), "arities"_a, "scopes"_a, "theta"_a, "columns"_a,
        "rows"_a, "weights"_a.none(), "most"_a, "draws"_a, "most_states"_a, "seed"_a = 0);
  nb::class_<Expectations>(m, "Expectations")
      .def(nb::init<Arities, Scopes, std::uint64_t, std::uint64_t>(), "arities"_a, "scopes"_a,
           "most"_a, "most_mixed"_a)
      .def("add", bound(&Expectations::add), "columns"_a, "rows"_a, "weights"_a = nb::none())
      .def("step", bound(&Expectations::step), "theta"_a, "lines"_a, "threads"_a = 1)
      .def("draw", bound(&Expectations::draw), "theta"_a, "lines"_a, "seed"_a, "threads"_a = 1)
      .def("redraw", bound(&Expectations::redraw), "theta"_a, "gaps"_a, "codes"_a, "weights"_a,
           "most"_a, "seed"_a, "threads"_a = 1)
      .def("left", &Expectations::left)
      .def("counted", &Expectations::counted)
      .def("packed", &Expectations::packed)
      .def("absorb", bound(&Expectations::absorb), "missing"_a, "sizes"_a, "shapes"_a, "bases"_a,
           "reals"_a, "weights"_a, "counted"_a, "moments"_a, "left"_a, "left_weights"_a,
           "too_large"_a, "total"_a)
      .def_prop_ro("problems", [](const Expectations& e) { return e.rows().problems().size(); })
      .def_prop_ro("shapes", [](const Expectations& e) { return e.rows().n_shapes(); })
      .def_prop_ro("total", [](const Expectations& e) { return e.rows().total; })
      .def_prop_ro("too_large", [](const Expectations& e) { return e.rows().too_large; });
}

}  // namespace credo::bindings
