// Loopy, Gibbs and weighted_sums of credo._core: inference where exact is too much. As in infer_bindings.cpp, the
// run is without the GIL, and looks for Ctrl-C about every 50 ms.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding_arrays.hpp"
#include "binding_signals.hpp"
#include "gibbs.hpp"
#include "loopy.hpp"
#include "weigh.hpp"

namespace credo::binding {

using namespace nb::literals;

namespace {

using infer::Variables;
using Table = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using States = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::vector<const double*> read_tables(const infer::Model& model, const std::vector<Table>& tables) {
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

nb::object array_of(const std::vector<double>& values) {
  NewArray<double> out({values.size()});
  std::copy(values.begin(), values.end(), out.data());
  return out.release();
}

class PyLoopy {
 public:
  PyLoopy(std::vector<std::int64_t> arities, std::vector<Variables> scopes)
      : graph_(infer::Model(std::move(arities), std::move(scopes))) {}

  nb::dict run(const std::vector<Table>& tables, int sweeps, double tolerance, double damping,
               double seconds) const {
    require(sweeps >= 1, "The 'sweeps' parameter must be at least 1.");
    require(tolerance >= 0, "The 'tolerance' parameter must not be negative.");
    require(damping >= 0 && damping < 1, "The 'damping' parameter must be in [0, 1).");
    const std::vector<const double*> data = read_tables(graph_.model(), tables);
    loopy::Result found;
    interruptible([&](Monitor& monitor) {
      found = loopy::run(graph_, data, {sweeps, tolerance, damping, seconds}, monitor);
    });
    nb::dict out;
    out["beliefs"] = array_of(found.beliefs);
    out["to_variable"] = array_of(found.to_variable);
    out["to_factor"] = array_of(found.to_factor);
    out["trace"] = array_of(found.trace);
    out["log_z"] = found.log_z;
    out["damping"] = found.damping;
    out["converged"] = found.converged;
    out["impossible"] = found.impossible;
    return out;
  }

  std::vector<std::size_t> offsets() const { return graph_.offset; }
  std::vector<std::size_t> belief_offsets() const { return graph_.belief_offset; }

 private:
  loopy::Graph graph_;
};

class PyGibbs {
 public:
  PyGibbs(std::vector<std::int64_t> arities, std::vector<Variables> scopes)
      : sampler_(infer::Model(std::move(arities), std::move(scopes))) {}

  nb::tuple run(const std::vector<Table>& tables, const States& states,
                std::vector<Variables> queries, std::size_t sweeps, std::uint64_t first,
                std::uint64_t seed, bool collect, int threads) const {
    const infer::Model& model = sampler_.model();
    require(threads >= 1, "The 'threads' parameter must be at least 1.");
    const std::vector<const double*> data = read_tables(model, tables);
    for (std::size_t f = 0; f < data.size(); ++f)
      for (std::size_t i = 0; i < tables[f].size(); ++i)
        require(data[f][i] > 0, "Table " + std::to_string(f) + " must be above zero everywhere.");
    const std::size_t chains = states.shape(0), n = model.n_variables();
    require(states.shape(1) == n, "The 'states' parameter must have " + std::to_string(n) +
                                      " columns, got " + std::to_string(states.shape(1)) +
                                      " instead.");
    NewArray<std::int32_t> moved({chains, n});
    for (std::size_t i = 0; i < chains * n; ++i) {
      const std::int32_t x = states.data()[i];
      require(x >= 0 && x < model.arity[i % n], "A state of variable " + std::to_string(i % n) +
                                                    " must be in 0.." +
                                                    std::to_string(model.arity[i % n] - 1) + ".");
      moved.data()[i] = x;
    }
    for (const Variables& scope : queries)
      for (const std::int32_t v : scope)
        require(v >= 0 && static_cast<std::size_t>(v) < n, "A query names a variable there is not.");
    const gibbs::Request request{std::move(queries), sweeps, first, seed, collect, threads};
    NewArray<double> sums({chains, sampler_.cells(request)});
    interruptible([&](Monitor& monitor) {
      sampler_.run(data, request, chains, moved.data(), sums.data(), monitor);
    });
    return nb::make_tuple(moved.release(), sums.release());
  }

 private:
  gibbs::Sampler sampler_;
};

using Codes = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::object weighted_sums(const std::vector<Codes>& columns,
                         const std::vector<std::size_t>& arities, const Weights& weights,
                         int threads) {
  require(threads >= 1, "The 'threads' parameter must be at least 1.");
  require(columns.size() == arities.size(), "There must be an arity for each column.");
  std::vector<weigh::Column> read;
  std::size_t states = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const bool wide = columns[c].dtype() == nb::dtype<std::uint16_t>();
    require(wide || columns[c].dtype() == nb::dtype<std::uint8_t>(),
            "Column " + std::to_string(c) + " must be uint8 or uint16.");
    require(columns[c].shape(0) == weights.shape(0),
            "Column " + std::to_string(c) + " must be as long as the weights.");
    require(arities[c] >= 1 && arities[c] <= 65536, "Every arity must be in 1..65536.");
    read.push_back({columns[c].data(), wide, arities[c], states});
    states += arities[c];
  }
  NewArray<double> out({states, 2});
  {
    const nb::gil_scoped_release release;
    weigh::sums(read, weights.data(), weights.shape(0), threads, out.data());
  }
  return out.release();
}

}  // namespace

void bind_approximate(nb::module_& m) {
  m.def("weighted_sums", &weighted_sums, "columns"_a.noconvert(), "arities"_a,
        "weights"_a.noconvert(), "threads"_a = 1);

  nb::class_<PyLoopy>(m, "Loopy")
      .def(nb::init<std::vector<std::int64_t>, std::vector<Variables>>(), "arities"_a, "scopes"_a)
      .def("run", &PyLoopy::run, "tables"_a.noconvert(), "sweeps"_a = 200, "tolerance"_a = 1e-8,
           "damping"_a = 0.0, "seconds"_a = -1.0)
      .def_prop_ro("offsets", &PyLoopy::offsets)
      .def_prop_ro("belief_offsets", &PyLoopy::belief_offsets);

  nb::class_<PyGibbs>(m, "Gibbs")
      .def(nb::init<std::vector<std::int64_t>, std::vector<Variables>>(), "arities"_a, "scopes"_a)
      .def("run", &PyGibbs::run, "tables"_a.noconvert(), "states"_a.noconvert(), "queries"_a,
           "sweeps"_a, "first"_a = 0, "seed"_a = 0, "collect"_a = true, "threads"_a = 1);
}

}  // namespace credo::binding
