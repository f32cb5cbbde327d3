// Sampler of credo._core: ancestral sampling. As in bindings.cpp, arrays come in contiguous and of
// the exact type; the run is without the GIL, and looks for Ctrl-C about every 50 ms.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding_arrays.hpp"
#include "binding_signals.hpp"
#include "sample.hpp"
#include "sample_normal.hpp"

namespace credo::binding {

using namespace nb::literals;

namespace {

using Table = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Fixed = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void check_size(const sample::Sampler& sampler, std::size_t s, std::size_t size, const char* what) {
  require(size == sampler.cells(s), std::string(what) + " " + std::to_string(s) + " must have " +
                                        std::to_string(sampler.cells(s)) + " cells, got " +
                                        std::to_string(size) + " instead.");
}

template <class T>
void* new_column(std::size_t rows, nb::list& columns) {
  NewArray<T> column({rows});
  void* data = column.data();
  columns.append(column.release());
  return data;
}

nb::tuple run(const sample::Sampler& sampler, const std::vector<Table>& tables, std::int64_t n,
              std::uint64_t seed, std::uint64_t first, const std::optional<Fixed>& fixed,
              const std::optional<std::vector<std::optional<Table>>>& weights, int threads,
              const std::string& path) {
  const std::size_t variables = sampler.n_variables();
  require(n >= 0, "The 'n' parameter must not be negative.");
  require(first <= std::uint64_t{1} << 62, "The 'first' parameter must be at most 2^62.");
  require(threads >= 1, "The 'threads' parameter must be at least 1.");
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
      inputs.weights.push_back(table ? table->data() : nullptr);
    }
  }
  nb::list columns;
  sample::Outputs out;
  for (std::size_t v = 0; v < variables; ++v)
    out.columns.push_back(sampler.wide(v) ? new_column<std::uint16_t>(inputs.rows, columns)
                                          : new_column<std::uint8_t>(inputs.rows, columns));
  NewArray<double> log_weights({weights ? inputs.rows : 0});
  if (weights) out.log_weights = log_weights.data();
  interruptible([&](Monitor& monitor) { sampler.run(inputs, path, threads, monitor, out); });
  return nb::make_tuple(columns, weights ? log_weights.release() : nb::none());
}

nb::object normals(std::int64_t n, std::uint64_t seed, std::uint32_t stream, std::uint64_t first,
                   int threads) {
  require(n >= 0, "The 'n' parameter must not be negative.");
  require(first <= std::uint64_t{1} << 62, "The 'first' parameter must be at most 2^62.");
  require(threads >= 1, "The 'threads' parameter must be at least 1.");
  NewArray<double> z({static_cast<std::size_t>(n)});
  interruptible([&](Monitor& monitor) {
    sample::normals(seed, stream, first, static_cast<std::size_t>(n), threads, monitor, z.data());
  });
  return z.release();
}

}  // namespace

void bind_sampling(nb::module_& m) {
  m.def("normals", &normals, "n"_a, "seed"_a, "stream"_a, "first"_a = 0, "threads"_a = 1);
  nb::class_<sample::Sampler>(m, "Sampler")
      .def(nb::init<std::vector<std::int64_t>, std::vector<sample::Variables>>(), "arities"_a,
           "scopes"_a)
      .def_prop_ro("order", &sample::Sampler::order)
      .def("run", &run, "tables"_a.noconvert(), "n"_a, "seed"_a, "first"_a = 0,
           "fixed"_a.noconvert().none() = nb::none(), "weights"_a.noconvert().none() = nb::none(),
           "threads"_a = 1, "path"_a = "auto");
}

}  // namespace credo::binding
