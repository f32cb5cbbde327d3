#include "bindings/approximate.hpp"

#include "sample/weighted_sums.hpp"

namespace credo::doors {
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

}  // namespace

Loopy::Loopy(std::vector<std::int64_t> arities, std::vector<infer::Variables> scopes)
    : graph_(infer::Model(std::move(arities), std::move(scopes))) {}

Record Loopy::run(Monitor& monitor, const std::vector<Table>& tables, int sweeps, double tolerance,
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

Gibbs::Gibbs(std::vector<std::int64_t> arities, std::vector<infer::Variables> scopes)
    : sampler_(infer::Model(std::move(arities), std::move(scopes))) {}

std::tuple<Array<std::int32_t>, Array<double>> Gibbs::run(
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
                                  " must be in 0.." + std::to_string(model.arity[i % n] - 1) + ".");
    moved.data()[i] = x;
  }
  for (const infer::Variables& scope : queries)
    for (const std::int32_t v : scope)
      require(v >= 0 && static_cast<std::size_t>(v) < n, "A query names a variable there is not.");
  const gibbs::Request request{std::move(queries), sweeps, first, seed, collect, threads};
  Array<double> sums({chains, sampler_.cells(request)});
  sampler_.run(data, request, chains, moved.data(), sums.data(), monitor);
  return {std::move(moved), std::move(sums)};
}

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

}  // namespace credo::doors
