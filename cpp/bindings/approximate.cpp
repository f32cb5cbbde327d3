// Approximate inference: loopy belief propagation, Gibbs sampling, weighted rows.
#include <cstdint>
#include <tuple>
#include <vector>

#include "bindings/module.hpp"
#include "infer/loopy.hpp"
#include "sample/gibbs.hpp"
#include "sample/weighted_sums.hpp"

namespace credo::bindings {
namespace {

std::vector<const double*> read_tables(const infer::Model& model,
                                       const std::vector<Table>& tables) {
  require(tables.size() == model.n_factors(),
          "The 'tables' parameter must have " + std::to_string(model.n_factors()) +
              " tables, got " + std::to_string(tables.size()) + " instead.");
  std::vector<const double*> out;
  for (std::size_t f = 0; f < tables.size(); ++f) {
    const auto cells = static_cast<std::size_t>(model.cells(model.scopes[f]));
    require(tables[f].size() == cells, "Table " + std::to_string(f) + " must have " +
                                           std::to_string(cells) + " cells, got " +
                                           std::to_string(tables[f].size()) + " instead.");
    out.push_back(tables[f].data());
  }
  return out;
}

// IN columns of uint8 or uint16. Σ weight and Σ weight² of each state of each column.
Array<double> weighted_sums(const std::vector<AnyVector>& columns,
                            const std::vector<std::size_t>& arities, const Reals& weights,
                            int threads) {
  require(threads >= 1, "The 'threads' parameter must be at least 1.");
  require(columns.size() == arities.size(), "There must be an arity for each column.");
  std::vector<weigh::Column> read;
  std::size_t states = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const bool wide = columns[c].is<std::uint16_t>();
    require(wide || columns[c].is<std::uint8_t>(),
            "Column " + std::to_string(c) + " must be uint8 or uint16.");
    require(columns[c].shape(0) == weights.shape(0),
            "Column " + std::to_string(c) + " must be as long as the weights.");
    require(arities[c] >= 1 && arities[c] <= 65536, "Every arity must be in 1..65536.");
    read.push_back({columns[c].data(), wide, arities[c], states});
    states += arities[c];
  }
  Array<double> out({states, 2});
  weigh::sums(read, weights.data(), weights.shape(0), threads, out.data());
  return out;
}

class Loopy {
 public:
  Loopy(std::vector<std::int64_t> arities, std::vector<infer::Variables> scopes)
      : graph_(infer::Model(std::move(arities), std::move(scopes))) {}

  // The parts of loopy::Result by their names.
  Record run(Monitor& monitor, const std::vector<Table>& tables, int sweeps, double tolerance,
             double damping, double seconds) const {
    require(sweeps >= 1, "The 'sweeps' parameter must be at least 1.");
    require(tolerance >= 0, "The 'tolerance' parameter must not be negative.");
    require(damping >= 0 && damping < 1, "The 'damping' parameter must be in [0, 1).");
    const std::vector<const double*> data = read_tables(graph_.model(), tables);
    const loopy::Result found =
        loopy::run(graph_, data, {sweeps, tolerance, damping, seconds}, monitor);
    Record out;
    out.add("beliefs", copied(found.beliefs));
    out.add("to_variable", copied(found.to_variable));
    out.add("to_factor", copied(found.to_factor));
    out.add("trace", copied(found.trace));
    out.add("log_z", found.log_z);
    out.add("damping", found.damping);
    out.add("converged", found.converged);
    out.add("impossible", found.impossible);
    return out;
  }

  const std::vector<std::size_t>& offsets() const { return graph_.offset; }
  const std::vector<std::size_t>& belief_offsets() const { return graph_.belief_offset; }

 private:
  loopy::Graph graph_;
};

class Gibbs {
 public:
  Gibbs(std::vector<std::int64_t> arities, std::vector<infer::Variables> scopes)
      : sampler_(infer::Model(std::move(arities), std::move(scopes))) {}

  // IN states [chains][variables]. The states they moved to, and the sums of the queries [chains].
  std::tuple<Array<std::int32_t>, Array<double>> run(
      Monitor& monitor, const std::vector<Table>& tables, const View<const std::int32_t, 2>& states,
      std::vector<infer::Variables> queries, std::size_t sweeps, std::uint64_t first,
      std::uint64_t seed, bool collect, int threads) const {
    const infer::Model& model = sampler_.model();
    require(threads >= 1, "The 'threads' parameter must be at least 1.");
    const std::vector<const double*> data = read_tables(model, tables);
    for (std::size_t f = 0; f < data.size(); ++f)
      for (std::size_t i = 0; i < tables[f].size(); ++i)
        if (!(data[f][i] > 0))
          throw std::invalid_argument("Table " + std::to_string(f) +
                                      " must be above zero everywhere.");
    const std::size_t chains = states.shape(0), n = model.n_variables();
    require(states.shape(1) == n, "The 'states' parameter must have " + std::to_string(n) +
                                      " columns, got " + std::to_string(states.shape(1)) +
                                      " instead.");
    Array<std::int32_t> moved({chains, n});
    for (std::size_t i = 0; i < chains * n; ++i) {
      const std::int32_t x = states.data()[i];
      if (x < 0 || x >= model.arity[i % n])
        throw std::invalid_argument("A state of variable " + std::to_string(i % n) +
                                    " must be in 0.." + std::to_string(model.arity[i % n] - 1) +
                                    ".");
      moved.data()[i] = x;
    }
    for (const infer::Variables& scope : queries)
      for (const std::int32_t v : scope)
        require(v >= 0 && static_cast<std::size_t>(v) < n,
                "A query names a variable there is not.");
    const gibbs::Request request{std::move(queries), sweeps, first, seed, collect, threads};
    Array<double> sums({chains, sampler_.cells(request)});
    sampler_.run(data, request, chains, moved.data(), sums.data(), monitor);
    return {std::move(moved), std::move(sums)};
  }

 private:
  gibbs::Sampler sampler_;
};

}  // namespace

void bind_approximate(nb::module_& m) {
  m.def("weighted_sums", bound(&weighted_sums), "columns"_a, "arities"_a, "weights"_a,
        "threads"_a = 1);
  nb::class_<Loopy>(m, "Loopy")
      .def(nb::init<Arities, Scopes>(), "arities"_a, "scopes"_a)
      .def("run", bound(&Loopy::run), "tables"_a, "sweeps"_a = 200, "tolerance"_a = 1e-8,
           "damping"_a = 0.0, "seconds"_a = -1.0)
      .def_prop_ro("offsets", &Loopy::offsets)
      .def_prop_ro("belief_offsets", &Loopy::belief_offsets);
  nb::class_<Gibbs>(m, "Gibbs")
      .def(nb::init<Arities, Scopes>(), "arities"_a, "scopes"_a)
      .def("run", bound(&Gibbs::run), "tables"_a, "states"_a, "queries"_a, "sweeps"_a,
           "first"_a = 0, "seed"_a = 0, "collect"_a = true, "threads"_a = 1);
}

}  // namespace credo::bindings
