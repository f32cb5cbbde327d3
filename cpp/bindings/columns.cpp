// Sets of variables as Python writes them, and columns counted by them.
#include "bindings/columns.hpp"

#include <exception>
#include <optional>
#include <utility>

#include "bindings/families.hpp"
#include "bindings/module.hpp"
#include "common/cpu.hpp"
#include "count/count.hpp"
#include "count/group_rows.hpp"
#include "data/take_codes.hpp"

namespace nanobind::detail {

template <>
struct type_caster<credo::bindings::Counts> {
  using Value = credo::bindings::Counts;
  static constexpr auto Name = const_name("numpy.typing.NDArray[typing.Any]");
  template <class U>
  using Cast = movable_cast_t<U>;

  static handle from_cpp(Value&& counts, rv_policy policy, cleanup_list* cleanup) noexcept {
    return std::visit([&]<class Cells>(Cells& cells) {
      return make_caster<Cells>::from_cpp(std::move(cells), policy, cleanup);
    }, counts);
  }
};

}  // namespace nanobind::detail

namespace credo::bindings {
namespace {

// Calls f with each item, until it says no; lists, the usual case, without an iterator.
template <class F>
bool for_each_item(nb::handle sequence, F&& f) {
  if (nb::isinstance<nb::list>(sequence)) {
    for (const nb::handle item : nb::borrow<nb::list>(sequence))
      if (!f(item)) return false;
  } else {
    for (const nb::handle item : sequence)
      if (!f(item)) return false;
  }
  return true;
}

// Any sequence of sequences of integers, or nothing. (A nested std::vector would cost an allocation
// a set.)
std::optional<SetList> read_sets(nb::handle sets) {
  SetList list;
  const auto read_variable = [&](nb::handle variable) {
    std::int32_t v;
    if (!nb::try_cast(variable, v)) return false;
    list.variables.push_back(v);
    return true;
  };
  const bool all = for_each_item(sets, [&](nb::handle set) {
    if (!for_each_item(set, read_variable)) return false;
    list.begin.push_back(list.variables.size());
    return true;
  });
  return all ? std::optional(std::move(list)) : std::nullopt;
}

nb::list lists_of(const SetList& sets) {
  nb::list out;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    nb::list set;
    for (const std::int32_t v : sets[s]) set.append(v);
    out.append(set);
  }
  return out;
}

// Flat tables and where each begins, as a list: each table is a view of the one array.
nb::typed<nb::list, Counts> tables_of(std::tuple<Counts, Array<std::int64_t>> counted) {
  auto& [tables, offsets] = counted;
  const nb::object all = nb::cast(std::move(tables));
  nb::typed<nb::list, Counts> views;
  for (std::size_t i = 0; i + 1 < offsets.shape().lengths()[0]; ++i)
    views.append(nb::steal(PySequence_GetSlice(all.ptr(),
                                               static_cast<Py_ssize_t>(offsets.data()[i]),
                                               static_cast<Py_ssize_t>(offsets.data()[i + 1]))));
  return views;
}

}  // namespace
}  // namespace credo::bindings

namespace nanobind::detail {

template <>
struct type_caster<credo::bindings::GivenSets> {
  NB_TYPE_CASTER(credo::bindings::GivenSets, const_name("collections.abc.Sequence[collections.abc.Sequence[int]]"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    try {
      value = credo::bindings::GivenSets(credo::bindings::read_sets(source));
    } catch (const std::exception&) {  // not sequences at all
      return false;
    }
    return true;
  }
};

// A plan of families stands for its dense tables.
template <>
struct type_caster<credo::bindings::KnownSets> {
  NB_TYPE_CASTER(credo::bindings::KnownSets, const_name("FamilyPlan | Sets"))

  bool from_python(handle source, std::uint32_t, cleanup_list* cleanup) noexcept {
    make_caster<credo::bindings::FamilyPlan> plan;
    make_caster<credo::SetList> sets;
    if (plan.from_python(source, 0, cleanup))
      value.list = &plan.operator credo::bindings::FamilyPlan&().tables().dense;
    else if (sets.from_python(source, 0, cleanup)) value.list = &sets.operator credo::SetList&();
    else return false;
    return true;
  }
};

}  // namespace nanobind::detail

namespace credo::bindings {
namespace {

template <class Array>
std::uint8_t code_width(const Array& array, const std::string& name) {
  const std::uint8_t width = code_bytes(array);
  if (width == 0)
    throw std::invalid_argument(name + " must be a 1-D array of uint8, uint16 or uint32.");
  return width;
}

std::size_t rows_of(const std::vector<AnyArray>& codes) {
  return codes.empty() ? 0 : codes[0].size();
}

std::vector<CodeView> code_views(const std::vector<AnyArray>& codes,
                                 const std::vector<std::int64_t>& arities,
                                 const std::optional<std::vector<bool>>& missing) {
  require(arities.size() == codes.size() && (!missing || missing->size() == codes.size()),
          "The 'codes', 'arities' and 'missing' parameters must have the same length.");
  const std::size_t n_rows = rows_of(codes);
  std::vector<CodeView> views;
  views.reserve(codes.size());
  for (std::size_t v = 0; v < codes.size(); ++v) {
    const std::string name = "The codes of variable " + std::to_string(v);
    const std::uint8_t width = code_width(codes[v], name);
    if (codes[v].size() != n_rows)
      throw std::invalid_argument(name + " must have " + std::to_string(n_rows) + " rows, got " +
                                  std::to_string(codes[v].size()) + " instead.");
    if (arities[v] < 1 || arities[v] > 0xFFFFFFFF)
      throw std::invalid_argument("The arity of variable " + std::to_string(v) +
                                  " must be in 1..2^32 - 1, got " + std::to_string(arities[v]) +
                                  " instead.");
    views.push_back({codes[v].data(), width, static_cast<std::uint32_t>(arities[v]),
                     missing && (*missing)[v]});
  }
  return views;
}

}  // namespace

RowWeights::RowWeights(const std::optional<AnyArray>& array, std::size_t n_rows) {
  if (!array) return;
  require(array->ndim() == 1 && array->shape(0) == n_rows,
          "The 'weights' parameter must have one weight per row (" + std::to_string(n_rows) + ").");
  if (array->is<std::int64_t>()) integers = array->data_as<std::int64_t>();
  else if (array->is<double>()) reals = array->data_as<double>();
  else throw std::invalid_argument("The 'weights' parameter must be of int64 or float64.");
}

const SetList& GivenSets::list() const {
  require(read_.has_value(), "The 'sets' parameter must be lists of variable numbers.");
  return *read_;
}

// ---------------------------------------------------------------- columns that are kept

KeptColumns::KeptColumns(std::vector<AnyArray> codes, const std::vector<std::int64_t>& arities,
                         const std::optional<std::vector<bool>>& missing)
    : arrays_(std::move(codes)),
      columns_(code_views(arrays_, arities, missing), rows_of(arrays_),
               missing ? Columns::Gaps::kTold : Columns::Gaps::kLookedFor) {}

MaskRows KeptColumns::bitmap(std::int64_t variable, const std::string& path) const {
  require(variable >= 0 && variable < static_cast<std::int64_t>(columns_.n_variables()),
          "There is no variable " + std::to_string(variable) + ".");
  return columns_.bitmap(static_cast<std::size_t>(variable), kernels_for(path));
}

Counts KeptColumns::count_into(Monitor& monitor, const SetList& sets,
                               std::span<const std::size_t> offsets,
                               const std::optional<AnyArray>& weights, const std::string& kernel,
                               const std::string& path, int threads) const {
  require(threads >= 1, "The 'threads' parameter must be at least 1.");
  CountOptions options{kernel, path, threads};
  options.monitor = &monitor;
  return RowWeights(weights, columns_.n_rows())
      .visit([&]<class Cell>(const Cell* row_weights) -> Counts {
        Array<Cell> tables({offsets.back()});
        credo::count<Cell>(columns_, sets, row_weights, options, offsets, tables.data());
        return tables;
      });
}

std::tuple<Counts, Array<std::int64_t>> KeptColumns::count(
    Monitor& monitor, const GivenSets& sets, const std::optional<AnyArray>& weights,
    const std::string& kernel, const std::string& path, int threads) const {
  const std::vector<std::size_t> offsets = table_offsets(columns_, sets.list());
  Counts counts = count_into(monitor, sets.list(), offsets, weights, kernel, path, threads);
  return {std::move(counts), copied<std::int64_t>(offsets, {offsets.size()})};
}

Counts KeptColumns::count_tables(Monitor& monitor, KnownSets sets,
                                 const std::optional<AnyArray>& weights, const std::string& kernel,
                                 const std::string& path, int threads) const {
  return count_into(monitor, *sets.list, table_offsets(columns_, *sets.list), weights, kernel,
                    path, threads);
}

std::optional<KeptColumns::Groups> KeptColumns::unique_within(
    Monitor& monitor, const std::vector<std::int32_t>& variables,
    const std::optional<AnyArray>& weights, std::int64_t limit) const {
  check_sets(columns_, {variables, {0, variables.size()}});
  return RowWeights(weights, columns_.n_rows()).visit([&](const auto* row_weights) -> std::optional<Groups> {
    const auto groups = group_rows(columns_, variables, row_weights, MissingRows::kKeep, limit,
                                   kernels_for("auto"), &monitor);
    if (!groups) return std::nullopt;
    return Groups(copied(groups->first_row), copied(groups->weight));
  });
}

std::tuple<Array<std::uint32_t>, Counts> KeptColumns::count_sparse(
    Monitor& monitor, const std::vector<std::int32_t>& variables,
    const std::optional<AnyArray>& weights) const {
  check_sets(columns_, {variables, {0, variables.size()}});
  using Sparse = std::tuple<Array<std::uint32_t>, Counts>;
  return RowWeights(weights, columns_.n_rows()).visit([&](const auto* row_weights) -> Sparse {
    const auto groups = group_rows(columns_, variables, row_weights, MissingRows::kSkip, -1,
                                   kernels_for("auto"), &monitor);
    const std::size_t k = variables.size();
    Array<std::uint32_t> configurations({groups->weight.size(), k}, Filled::kLater);
    for (std::size_t g = 0; g < groups->weight.size(); ++g) {
      if (g % 4096 == 0) monitor.poll();
      for (std::size_t j = 0; j < k; ++j)
        configurations.data()[g * k + j] = columns_.code(variables[j], groups->first_row[g]);
    }
    return {std::move(configurations), copied(groups->weight)};
  });
}

// ---------------------------------------------------------------- functions

namespace {

// Calls f with a typed pointer to codes of one, two or four bytes.
template <class Function>
void with_codes(std::uint8_t width, const void* data, const Function& f) {
  if (width == 1) f(static_cast<const std::uint8_t*>(data));
  if (width == 2) f(static_cast<const std::uint16_t*>(data));
  if (width == 4) f(static_cast<const std::uint32_t*>(data));
}

}  // namespace

void take_codes(const AnyArray& indices, const AnyArray& lut, const View<void, kAnyRank>& out,
                const std::string& path) {
  const LaneKernels& kernels = kernels_for(path);
  const std::uint8_t width = code_width(lut, "The 'lut' parameter");
  require(code_width(out, "The 'out' parameter") == width,
          "The 'out' parameter must be of the same type as 'lut'.");
  require(out.size() == indices.size(), "The 'out' parameter must be as long as 'indices'.");
  const std::size_t n = indices.size(), n_codes = lut.size();
  const bool is_signed = indices.ndim() == 1 && indices.is<std::int32_t>();
  const std::uint8_t index_width =
      is_signed ? 0 : code_width(indices, "The 'indices' parameter, if not int32,");
  with_codes(width, lut.data(), [&]<class Code>(const Code* codes) {
    const auto take = [&](const auto* at) {
      credo::take_codes(at, n, codes, n_codes, static_cast<Code*>(out.data()), kernels);
    };
    if (is_signed) take(indices.data_as<std::int32_t>());
    else with_codes(index_width, indices.data(), take);
  });
}

MomentsInput moments_input(const std::vector<Reals>& columns,
                           const std::optional<View<const std::uint32_t, 1>>& group,
                           std::int64_t n_groups, const std::optional<Reals>& weights,
                           int threads) {
  require(threads >= 1, "The 'threads' parameter must be at least 1.");
  require(n_groups >= 1 && n_groups < 0xFFFFFFFF, "The 'n_groups' parameter must be at least 1.");
  require(group || n_groups == 1, "Without 'group' the 'n_groups' parameter must be 1.");
  require(!columns.empty(), "The 'columns' parameter must name at least one column.");
  MomentsInput input{{},
                     columns[0].size(),
                     data_or_null(group),
                     static_cast<std::size_t>(n_groups),
                     data_or_null(weights)};
  const auto same_rows = [&](std::size_t n, const char* what) {
    if (n != input.n_rows)
      throw std::invalid_argument(std::string("The ") + what +
                                  " must have as many rows as column 0 (" +
                                  std::to_string(input.n_rows) + "), got " + std::to_string(n) +
                                  " instead.");
  };
  for (const Reals& column : columns) {
    same_rows(column.size(), "columns");
    input.columns.push_back(column.data());
  }
  if (group) same_rows(group->size(), "groups");
  if (weights) same_rows(weights->size(), "weights");
  return input;
}

std::tuple<Array<double>, Array<double>, Array<double>> moments(
    const std::vector<Reals>& columns, const std::optional<View<const std::uint32_t, 1>>& group,
    std::int64_t n_groups, const std::optional<Reals>& weights, int threads,
    const std::string& path) {
  const MomentsInput input = moments_input(columns, group, n_groups, weights, threads);
  const LaneKernels& kernels = kernels_for(path);
  const std::size_t d = columns.size();
  Array<double> n({input.n_groups}), mean({input.n_groups, d}), scatter({input.n_groups, d, d});
  credo::moments(input, kernels, threads, {n.data(), mean.data(), scatter.data()});
  return {std::move(n), std::move(mean), std::move(scatter)};
}

namespace {

// Read-only bits that live as long as the columns.
nb::object bitmap(nb::handle_t<KeptColumns> self, std::int64_t variable, const std::string& path) {
  const auto& columns = nb::cast<const KeptColumns&>(self);
  const MaskRows masks = unlocked([&] { return columns.bitmap(variable, path); });
  const std::size_t shape[] = {masks.count, masks.stride};
  return nb::cast(nb::ndarray<nb::numpy, const std::uint64_t>(masks.base, 2, shape, self));
}

}  // namespace

void bind_columns(nb::module_& m) {
  nb::class_<SetList>(m, "Sets")
      .def("__init__",
           [](SetList* self, const GivenSets& sets) { new (self) SetList(sets.list()); }, "sets"_a)
      .def("__len__", &SetList::size)
      .def("lists", &lists_of, nb::sig("def lists(self) -> list[list[int]]"));
  m.def("moments", bound(&moments), "columns"_a, "group"_a.none(), "n_groups"_a,
        "weights"_a.none(), "threads"_a = 1, "path"_a = "auto");
  m.def("take_codes", bound(&take_codes), "indices"_a, "lut"_a, "out"_a,
        "path"_a = "auto");
  nb::class_<KeptColumns>(m, "Columns")
      .def(nb::init<std::vector<AnyArray>, const Arities&,
                    const std::optional<std::vector<bool>>&>(),
           "codes"_a, "arities"_a, "missing"_a = nb::none(),
           nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("missing",
                   [](const KeptColumns& self) {
                     std::vector<bool> missing;
                     for (std::size_t v = 0; v < self->n_variables(); ++v)
                       missing.push_back((*self)[v].missing);
                     return missing;
                   })
      .def_prop_ro("n_rows", [](const KeptColumns& self) { return self->n_rows(); })
      .def_prop_ro("n_variables", [](const KeptColumns& self) { return self->n_variables(); })
      .def_prop_ro("bitmap_bytes", [](const KeptColumns& self) { return self->bitmap_bytes(); })
      .def("bitmap", &bitmap, "variable"_a, "path"_a = "auto")
      .def("count",
           [count = bound(&KeptColumns::count)](
               const KeptColumns& self, const GivenSets& sets,
               const std::optional<AnyArray>& weights, const std::string& kernel,
               const std::string& path, int threads) {
             return tables_of(count(self, sets, weights, kernel, path, threads));
           },
           "sets"_a, "weights"_a = nb::none(), "kernel"_a = "auto", "path"_a = "auto",
           "threads"_a = 1)
      .def("count_flat", bound(&KeptColumns::count), "sets"_a, "weights"_a = nb::none(),
           "kernel"_a = "auto", "path"_a = "auto", "threads"_a = 1)
      .def("count_tables", bound(&KeptColumns::count_tables), "sets"_a, "weights"_a = nb::none(),
           "kernel"_a = "auto", "path"_a = "auto", "threads"_a = 1)
      .def("unique", bound(&KeptColumns::unique), "variables"_a, "weights"_a = nb::none())
      .def("unique", bound(&KeptColumns::unique_within), "variables"_a, "weights"_a = nb::none(),
           nb::kw_only(), "limit"_a)
      .def("count_sparse", bound(&KeptColumns::count_sparse), "variables"_a,
           "weights"_a = nb::none());
}

}  // namespace credo::bindings
