// The module credo._core. Only this file and the other *_bindings.cpp know both Python and the
// kernels.
//
// Arrays come in contiguous and of the exact type, never converted (a silent copy would lose an
// output array), and are checked here; the kernels trust them. Every heavy call runs without the
// GIL. A std::invalid_argument becomes a ValueError.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "binding_arrays.hpp"
#include "binding_columns.hpp"
#include "binding_families.hpp"
#include "binding_signals.hpp"
#include "columns.hpp"
#include "count.hpp"
#include "cpu.hpp"
#include "group_rows.hpp"
#include "moments.hpp"
#include "take_codes.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using OutArray = nb::ndarray<nb::c_contig, nb::device::cpu>;
using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Groups = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// ---------------------------------------------------------------- arrays in and out

using credo::binding::AnyArray;
using credo::binding::code_width;
using credo::binding::interruptible;
using credo::binding::NewArray;
using credo::binding::PyColumns;
using credo::binding::read_sets;
using credo::binding::require;
using credo::binding::Weights;

template <class T>
nb::object to_numpy(const std::vector<T>& values) {
  NewArray<T> array({values.size()});
  std::copy(values.begin(), values.end(), array.data());
  return array.release();
}

// ---------------------------------------------------------------- Columns

nb::object bitmap(nb::handle_t<PyColumns> self, std::int64_t variable, const std::string& path) {
  const PyColumns& columns = nb::cast<const PyColumns&>(self);
  require(variable >= 0 && variable < static_cast<std::int64_t>(columns->n_variables()),
          "There is no variable " + std::to_string(variable) + ".");
  const credo::LaneKernels& kernels = credo::kernels_for(path);
  credo::MaskRows masks{};
  {
    const nb::gil_scoped_release release;
    masks = columns->bitmap(static_cast<std::size_t>(variable), kernels);
  }
  const std::size_t shape[] = {masks.count, masks.stride};
  return nb::cast(nb::ndarray<nb::numpy, const std::uint64_t>(masks.base, 2, shape, self));
}

// All tables one after the other in one array.
nb::object count_into_one(const PyColumns& columns, const credo::SetList& sets,
                          std::span<const std::size_t> offsets,
                          const std::optional<AnyArray>& weights,
                          const credo::CountOptions& options) {
  require(options.threads >= 1, "The 'threads' parameter must be at least 1.");
  return Weights(weights, columns->n_rows()).visit([&]<class Cell>(const Cell* row_weights) {
    NewArray<Cell> tables({offsets.back()});
    interruptible([&](credo::Monitor& monitor) {
      credo::CountOptions watched = options;
      watched.monitor = &monitor;
      credo::count<Cell>(*columns, sets, row_weights, watched, offsets, tables.data());
    });
    return tables.release();
  });
}

nb::tuple count_flat(const PyColumns& columns, nb::object sets,
                     const std::optional<AnyArray>& weights, const std::string& kernel,
                     const std::string& path, int threads) {
  const credo::SetList list = read_sets(sets);
  const std::vector<std::size_t> offsets = credo::table_offsets(*columns, list);
  const nb::object all = count_into_one(columns, list, offsets, weights, {kernel, path, threads});
  return nb::make_tuple(all, to_numpy(std::vector<std::int64_t>(offsets.begin(), offsets.end())));
}

// The dense tables of a plan, numbered as its own columns are or as other ones.
template <class Sets>
nb::object count_tables(const PyColumns& columns, const Sets& given,
                        const std::optional<AnyArray>& weights, const std::string& kernel,
                        const std::string& path, int threads) {
  const credo::SetList& sets = credo::binding::sets_of(given);
  return count_into_one(columns, sets, credo::table_offsets(*columns, sets), weights,
                        {kernel, path, threads});
}

// Each table is a view of the one array.
nb::list count(const PyColumns& columns, nb::object sets, const std::optional<AnyArray>& weights,
               const std::string& kernel, const std::string& path, int threads) {
  const credo::SetList list = read_sets(sets);
  const std::vector<std::size_t> offsets = credo::table_offsets(*columns, list);
  const nb::object all = count_into_one(columns, list, offsets, weights, {kernel, path, threads});
  nb::list views;
  for (std::size_t i = 0; i < list.size(); ++i)
    views.append(nb::steal(PySequence_GetSlice(all.ptr(), static_cast<Py_ssize_t>(offsets[i]),
                                               static_cast<Py_ssize_t>(offsets[i + 1]))));
  return views;
}

void check_variables(const PyColumns& columns, const std::vector<std::int32_t>& variables) {
  credo::check_sets(*columns, {variables, {0, variables.size()}});
}

// Equal rows as groups; Ctrl-C is heard while they are found.
template <class Weight>
std::optional<credo::RowGroups<Weight>> groups_of(const PyColumns& columns,
                                                  const std::vector<std::int32_t>& variables,
                                                  const Weight* weights,
                                                  credo::MissingRows missing, std::int64_t limit) {
  std::optional<credo::RowGroups<Weight>> groups;
  interruptible([&](credo::Monitor& monitor) {
    groups = credo::group_rows(*columns, variables, weights, missing, limit,
                               credo::kernels_for("auto"), &monitor);
  });
  return groups;
}

nb::object unique(const PyColumns& columns, const std::vector<std::int32_t>& variables,
                  const std::optional<AnyArray>& weights, std::int64_t limit) {
  check_variables(columns, variables);
  return Weights(weights, columns->n_rows()).visit([&](const auto* row_weights) -> nb::object {
    const auto groups = groups_of(columns, variables, row_weights, credo::MissingRows::kKeep, limit);
    if (!groups) return nb::none();
    return nb::make_tuple(to_numpy(groups->first_row), to_numpy(groups->weight));
  });
}

nb::object count_sparse(const PyColumns& columns, const std::vector<std::int32_t>& variables,
                        const std::optional<AnyArray>& weights) {
  check_variables(columns, variables);
  return Weights(weights, columns->n_rows()).visit([&](const auto* row_weights) -> nb::object {
    const auto groups = groups_of(columns, variables, row_weights, credo::MissingRows::kSkip, -1);
    const std::size_t k = variables.size();
    NewArray<std::uint32_t> configurations({groups->weight.size(), k});
    interruptible([&](credo::Monitor& monitor) {
      for (std::size_t g = 0; g < groups->weight.size(); ++g) {
        if (g % 4096 == 0) monitor.poll();
        for (std::size_t j = 0; j < k; ++j)
          configurations.data()[g * k + j] = columns->code(variables[j], groups->first_row[g]);
      }
    });
    return nb::make_tuple(configurations.release(), to_numpy(groups->weight));
  });
}

// ---------------------------------------------------------------- functions

nb::tuple moments(const std::vector<Reals>& columns, const std::optional<Groups>& group,
                  std::int64_t n_groups, const std::optional<Reals>& weights, int threads,
                  const std::string& path) {
  require(threads >= 1, "The 'threads' parameter must be at least 1.");
  require(n_groups >= 1 && n_groups < 0xFFFFFFFF, "The 'n_groups' parameter must be at least 1.");
  require(group || n_groups == 1, "Without 'group' the 'n_groups' parameter must be 1.");
  require(!columns.empty(), "The 'columns' parameter must name at least one column.");
  credo::MomentsInput input{{},
                            columns[0].size(),
                            group ? group->data() : nullptr,
                            static_cast<std::size_t>(n_groups),
                            weights ? weights->data() : nullptr};
  const auto same_rows = [&](std::size_t n, const char* what) {
    require(n == input.n_rows,
            std::string("The ") + what + " must have as many rows as column 0 (" +
                std::to_string(input.n_rows) + "), got " + std::to_string(n) + " instead.");
  };
  for (const Reals& column : columns) {
    same_rows(column.size(), "columns");
    input.columns.push_back(column.data());
  }
  if (group) same_rows(group->size(), "groups");
  if (weights) same_rows(weights->size(), "weights");
  const credo::LaneKernels& kernels = credo::kernels_for(path);
  const std::size_t d = columns.size();
  NewArray<double> n({input.n_groups}), mean({input.n_groups, d}), scatter({input.n_groups, d, d});
  {
    const nb::gil_scoped_release release;
    credo::moments(input, kernels, threads, {n.data(), mean.data(), scatter.data()});
  }
  return nb::make_tuple(n.release(), mean.release(), scatter.release());
}

// Calls f with a typed pointer to codes of one, two or four bytes.
template <class Function>
void with_codes(std::uint8_t width, const void* data, const Function& f) {
  if (width == 1) f(static_cast<const std::uint8_t*>(data));
  if (width == 2) f(static_cast<const std::uint16_t*>(data));
  if (width == 4) f(static_cast<const std::uint32_t*>(data));
}

void take_codes(const AnyArray& indices, const AnyArray& lut, const OutArray& out) {
  const std::uint8_t width = code_width(lut, "The 'lut' parameter");
  require(code_width(out, "The 'out' parameter") == width,
          "The 'out' parameter must be of the same type as 'lut'.");
  require(out.size() == indices.size(), "The 'out' parameter must be as long as 'indices'.");
  const std::size_t n = indices.size(), n_codes = lut.size();
  const bool is_signed = indices.ndim() == 1 && indices.dtype() == nb::dtype<std::int32_t>();
  const std::uint8_t index_width =
      is_signed ? 0 : code_width(indices, "The 'indices' parameter, if not int32,");
  const nb::gil_scoped_release release;
  with_codes(width, lut.data(), [&]<class Code>(const Code* codes) {
    const auto take = [&](const auto* at) {
      credo::take_codes(at, n, codes, n_codes, static_cast<Code*>(out.data()));
    };
    if (is_signed) take(static_cast<const std::int32_t*>(indices.data()));
    else with_codes(index_width, indices.data(), take);
  });
}

}  // namespace

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // tables that live until the interpreter ends are no leak
  m.doc() = "Kernels of credo: counts, unique rows and moments of columns; exact inference.";
  m.def("paths", &credo::available_paths);
  m.def("cores", &credo::hardware_threads);
  m.def("moments", &moments, "columns"_a.noconvert(), "group"_a.noconvert().none(), "n_groups"_a,
        "weights"_a.noconvert().none(), "threads"_a = 1, "path"_a = "auto");
  m.def("take_codes", &take_codes, "indices"_a.noconvert(), "lut"_a.noconvert(),
        "out"_a.noconvert());

  credo::binding::bind_families(m);
  nb::class_<PyColumns>(m, "Columns")
      .def(nb::init<std::vector<AnyArray>, std::vector<std::int64_t>, std::vector<bool>>(),
           "codes"_a.noconvert(), "arities"_a, "missing"_a)
      .def_prop_ro("n_rows", [](const PyColumns& self) { return self->n_rows(); })
      .def_prop_ro("n_variables", [](const PyColumns& self) { return self->n_variables(); })
      .def_prop_ro("bitmap_bytes", [](const PyColumns& self) { return self->bitmap_bytes(); })
      .def("bitmap", &bitmap, "variable"_a, "path"_a = "auto")
      .def("count", &count, "sets"_a, "weights"_a.noconvert().none() = nb::none(),
           "kernel"_a = "auto", "path"_a = "auto", "threads"_a = 1)
      .def("count_flat", &count_flat, "sets"_a, "weights"_a.noconvert().none() = nb::none(),
           "kernel"_a = "auto", "path"_a = "auto", "threads"_a = 1)
      .def("count_tables", &count_tables<credo::binding::FamilyPlan>, "sets"_a,
           "weights"_a.noconvert().none() = nb::none(), "kernel"_a = "auto", "path"_a = "auto",
           "threads"_a = 1)
      .def("count_tables", &count_tables<credo::SetList>, "sets"_a,
           "weights"_a.noconvert().none() = nb::none(), "kernel"_a = "auto", "path"_a = "auto",
           "threads"_a = 1)
      .def("unique", &unique, "variables"_a, "weights"_a.noconvert().none() = nb::none(),
           "limit"_a = -1)
      .def("count_sparse", &count_sparse, "variables"_a,
           "weights"_a.noconvert().none() = nb::none());

  credo::binding::bind_inference(m);
  credo::binding::bind_sampling(m);
  credo::binding::bind_rows_out(m);
  credo::binding::bind_approximate(m);
  credo::binding::bind_mixture(m);
  credo::binding::bind_naive(m);
  credo::binding::bind_naive_texts(m);
  credo::binding::bind_expectations(m);
  credo::binding::bind_scores(m);
  credo::binding::bind_structure(m);
  credo::binding::bind_texts(m);
  credo::binding::bind_clusters(m);
}
