// Expectations of credo._core: the rows of a table folded for EM, and one expectation step.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <variant>

#include "binding_arrays.hpp"
#include "em_complete.hpp"
#include "em_step.hpp"
#include "infer_run.hpp"

namespace credo::binding {

using namespace nb::literals;

namespace {

using Any = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::object copied(const std::vector<T>& values, std::vector<std::size_t> shape) {
  NewArray<T> array(std::move(shape));
  std::copy(values.begin(), values.end(), array.data());
  return array.release();
}

std::vector<em::Column> read_columns(const em::Network& net,
                                     const std::vector<std::optional<Any>>& arrays,
                                     std::size_t n_rows) {
  std::vector<em::Column> columns(arrays.size());
  for (std::size_t v = 0; v < arrays.size(); ++v) {
    if (!arrays[v]) continue;
    const Any& array = *arrays[v];
    const std::string name = "The column of variable " + std::to_string(v);
    require(array.ndim() == 1 && array.shape(0) == n_rows, name + " must have a cell a row.");
    if (net.arity[v] == 0) {
      require(array.dtype() == nb::dtype<double>(), name + " must be of float64.");
      columns[v].reals = static_cast<const double*>(array.data());
      continue;
    }
    std::uint8_t width = 0;
    if (array.dtype() == nb::dtype<std::uint8_t>()) width = 1;
    else if (array.dtype() == nb::dtype<std::uint16_t>()) width = 2;
    else if (array.dtype() == nb::dtype<std::uint32_t>()) width = 4;
    require(width > 0, name + " must be of uint8, uint16 or uint32.");
    columns[v].codes = {array.data(), width, static_cast<std::uint32_t>(net.arity[v]), true};
  }
  return columns;
}

nb::tuple complete(std::vector<std::int64_t> arities,
                   std::vector<std::vector<std::int32_t>> scopes, const Reals& theta,
                   const std::vector<std::optional<Any>>& arrays, std::size_t n_rows,
                   const std::optional<Reals>& weights, std::uint64_t most, std::uint64_t draws,
                   std::uint64_t most_states, std::uint64_t seed) {
  const em::Network net(std::move(arities), std::move(scopes));
  for (const std::int64_t arity : net.arity)
    require(arity > 0 && arity <= 65536, "Rows of discrete variables alone can be completed.");
  require(theta.shape(0) == net.cells,
          "The 'theta' parameter must have " + std::to_string(net.cells) + " cells.");
  require(arrays.size() == net.size(), "There must be a column, or None, for each variable.");
  require(!weights || weights->shape(0) == n_rows, "There must be a weight for each row.");
  require(most >= 1 && draws >= 1 && most_states >= 1, "The limits must be at least 1.");
  const std::vector<em::Column> columns = read_columns(net, arrays, n_rows);
  em::Completed found;
  {
    const nb::gil_scoped_release release;
    found = em::complete(net, theta.data(), columns, n_rows, weights ? weights->data() : nullptr,
                         most, draws, most_states, seed);
  }
  return nb::make_tuple(copied(found.codes, {found.weights.size(), net.size()}),
                        copied(found.weights, {found.weights.size()}),
                        copied(found.left, {found.left.size()}), found.drawn.size(),
                        found.impossible);
}

class PyExpectations {
 public:
  PyExpectations(std::vector<std::int64_t> arities, std::vector<std::vector<std::int32_t>> scopes,
                 std::uint64_t most, std::uint64_t most_mixed)
      : rows_(std::make_shared<em::Network>(std::move(arities), std::move(scopes)), most,
              most_mixed) {}

  void add(const std::vector<std::optional<Any>>& arrays, std::size_t n_rows,
           const std::optional<Reals>& weights) {
    const em::Network& net = rows_.network();
    require(arrays.size() == net.size(), "There must be a column, or None, for each variable.");
    require(!weights || weights->shape(0) == n_rows, "There must be a weight for each row.");
    const std::vector<em::Column> columns = read_columns(net, arrays, n_rows);
    const nb::gil_scoped_release release;
    rows_.add(columns, n_rows, weights ? weights->data() : nullptr);
  }

  nb::tuple step(const Reals& theta, const Reals& lines, int threads) const {
    const em::Network& net = rows_.network();
    require(threads >= 1, "The 'threads' parameter must be at least 1.");
    require(theta.shape(0) == net.cells,
            "The 'theta' parameter must have " + std::to_string(net.cells) + " cells.");
    require(lines.shape(0) == net.line_numbers,
            "The 'lines' parameter must have " + std::to_string(net.line_numbers) + " numbers.");
    em::Expected found;
    try {
      const nb::gil_scoped_release release;
      infer::Monitor monitor([] {
        const nb::gil_scoped_acquire acquire;
        return PyErr_CheckSignals() != 0;
      });
      found = em::expect(rows_, theta.data(), lines.data(), threads, [&] { monitor.poll(); });
    } catch (const infer::Cancelled&) {
      throw nb::python_error();
    }
    return nb::make_tuple(copied(found.counts, {found.counts.size()}),
                          copied(found.moments, {found.moments.size()}), found.log_likelihood,
                          found.impossible >= 0);
  }

  nb::tuple left() const {
    const std::size_t rows = rows_.left_weights.size();
    return nb::make_tuple(copied(rows_.left, {rows, rows_.network().size()}),
                          copied(rows_.left_weights, {rows}));
  }
  nb::tuple counted() const {
    return nb::make_tuple(copied(rows_.counted, {rows_.counted.size()}),
                          copied(rows_.moments, {rows_.moments.size()}));
  }
  const em::Rows& rows() const { return rows_; }

 private:
  em::Rows rows_;
};

}  // namespace

void bind_expectations(nb::module_& m) {
  m.def("complete_rows", &complete, "arities"_a, "scopes"_a, "theta"_a.noconvert(),
        "columns"_a.noconvert(), "rows"_a, "weights"_a.noconvert().none(), "most"_a, "draws"_a,
        "most_states"_a, "seed"_a = 0);
  nb::class_<PyExpectations>(m, "Expectations")
      .def(nb::init<std::vector<std::int64_t>, std::vector<std::vector<std::int32_t>>,
                    std::uint64_t, std::uint64_t>(),
           "arities"_a, "scopes"_a, "most"_a, "most_mixed"_a)
      .def("add", &PyExpectations::add, "columns"_a.noconvert(), "rows"_a,
           "weights"_a.noconvert() = nb::none())
      .def("step", &PyExpectations::step, "theta"_a.noconvert(), "lines"_a.noconvert(),
           "threads"_a = 1)
      .def("left", &PyExpectations::left)
      .def("counted", &PyExpectations::counted)
      .def_prop_ro("problems", [](const PyExpectations& e) { return e.rows().problems().size(); })
      .def_prop_ro("shapes", [](const PyExpectations& e) { return e.rows().n_shapes(); })
      .def_prop_ro("total", [](const PyExpectations& e) { return e.rows().total; })
      .def_prop_ro("too_large", [](const PyExpectations& e) { return e.rows().too_large; });
}

}  // namespace credo::binding
