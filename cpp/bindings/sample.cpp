// Rows drawn from a network, and standard normal numbers.
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "bindings/module.hpp"
#include "sample/normals.hpp"
#include "sample/sampler.hpp"

namespace credo::bindings {
namespace {

// IN a table for each scope, `fixed` a code or -1 for each variable, `weights` a table or none for
// each scope. The codes of each variable, and ln of the weight of each row where there are weights.
using SampledCodes = std::variant<Array<std::uint8_t>, Array<std::uint16_t>>;

using Sampled = std::tuple<std::vector<SampledCodes>, std::optional<Array<double>>>;

void check_size(const sample::Sampler& sampler, std::size_t s, std::size_t size, const char* what) {
  require(size == sampler.cells(s), std::string(what) + " " + std::to_string(s) + " must have " +
                                        std::to_string(sampler.cells(s)) + " cells, got " +
                                        std::to_string(size) + " instead.");
}

void check_rows(std::int64_t n, std::uint64_t first, int threads) {
  require(n >= 0, "The 'n' parameter must not be negative.");
  require(first <= std::uint64_t{1} << 62, "The 'first' parameter must be at most 2^62.");
  require(threads >= 1, "The 'threads' parameter must be at least 1.");
}

Sampled sample_rows(Monitor& monitor, const sample::Sampler& sampler,
                    const std::vector<Table>& tables, std::int64_t n, std::uint64_t seed,
                    std::uint64_t first, const std::optional<View<const std::int32_t, 1>>& fixed,
                    const std::optional<std::vector<std::optional<Table>>>& weights, int threads,
                    const std::string& path) {
  const std::size_t variables = sampler.n_variables();
  check_rows(n, first, threads);
  require(tables.size() == variables, "The 'tables' parameter must have " +
                                          std::to_string(variables) + " tables, got " +
                                          std::to_string(tables.size()) + " instead.");
  sample::Inputs inputs;
  inputs.seed = seed;
  inputs.first = first;
  inputs.rows = static_cast<std::size_t>(n);
  for (std::size_t s = 0; s < variables; ++s) {
    check_size(sampler, s, tables[s].size(), "Table");
    inputs.tables.push_back(tables[s].data());
  }
  if (fixed) {
    require(fixed->size() == variables,
            "The 'fixed' parameter must have a code or -1 for each variable.");
    for (std::size_t v = 0; v < variables; ++v)
      require(fixed->data()[v] >= -1 && fixed->data()[v] < sampler.arity(v),
              "The 'fixed' parameter must hold codes or -1, got " +
                  std::to_string(fixed->data()[v]) + " for variable " + std::to_string(v) + ".");
    inputs.fixed = fixed->data();
  }
  if (weights) {
    require(weights->size() == variables,
            "The 'weights' parameter must have a table or None for each table.");
    for (std::size_t s = 0; s < variables; ++s) {
      const std::optional<Table>& table = (*weights)[s];
      if (table) check_size(sampler, s, table->size(), "Weights");
      inputs.weights.push_back(data_or_null(table));
    }
  }
  std::vector<SampledCodes> columns;
  sample::Outputs out;
  const auto add = [&]<class Code>(Array<Code> column) {
    out.columns.push_back(column.data());
    columns.emplace_back(std::move(column));
  };
  for (std::size_t v = 0; v < variables; ++v) {
    if (sampler.wide(v)) add(Array<std::uint16_t>({inputs.rows}));
    else add(Array<std::uint8_t>({inputs.rows}));
  }
  std::optional<Array<double>> log_weights;
  if (weights) {
    log_weights.emplace(Shape{inputs.rows});
    out.log_weights = log_weights->data();
  }
  sampler.run(inputs, path, threads, monitor, out);
  return {std::move(columns), std::move(log_weights)};
}

Array<double> normals(Monitor& monitor, std::int64_t n, std::uint64_t seed, std::uint32_t stream,
                      std::uint64_t first, int threads) {
  check_rows(n, first, threads);
  Array<double> z({static_cast<std::size_t>(n)});
  sample::normals(seed, stream, first, static_cast<std::size_t>(n), threads, monitor, z.data());
  return z;
}

}  // namespace

void bind_sampling(nb::module_& m) {
  m.def("normals", bound(&normals), "n"_a, "seed"_a, "stream"_a, "first"_a = 0,
        "threads"_a = 1);
  nb::class_<sample::Sampler>(m, "Sampler")
      .def(nb::init<Arities, Scopes>(), "arities"_a, "scopes"_a)
      .def_prop_ro("order", &sample::Sampler::order)
      .def("run", bound(&sample_rows), "tables"_a, "n"_a, "seed"_a, "first"_a = 0,
           "fixed"_a = nb::none(), "weights"_a = nb::none(), "threads"_a = 1, "path"_a = "auto");
}

}  // namespace credo::bindings
