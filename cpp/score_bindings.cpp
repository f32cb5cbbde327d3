// FamilyScores of credo._core: scores from columns, from tables that Python counts, from matrices and
// from functions.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "binding_arrays.hpp"
#include "binding_scores.hpp"
#include "score_mixed.hpp"

namespace credo::binding {

using namespace nb::literals;

namespace {

using score::Extras;
using score::Families;
using score::FamilyScores;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Tables that Python counts, for sources that are not columns in memory.
class CallbackSource : public score::TableSource {
 public:
  CallbackSource(std::vector<std::uint32_t> arities, nb::object count, nb::object sparse,
                 double dense)
      : arities_(std::move(arities)),
        count_(std::move(count)),
        sparse_(std::move(sparse)),
        dense_(dense) {}
  ~CallbackSource() override {
    const nb::gil_scoped_acquire acquire;
    count_.reset();
    sparse_.reset();
  }
  std::vector<std::uint32_t> arities() const override { return arities_; }
  double dense_cells() const override { return dense_; }
  double chunk_cells() const override { return 5e7; }
  double chunk_sets() const override {  // a call may read a whole file
    return std::numeric_limits<double>::infinity();
  }

  void count(const SetList& sets, int, score::Tables& out) override {
    const nb::gil_scoped_acquire acquire;
    nb::list asked;
    out.offsets.assign(1, 0);
    for (std::size_t i = 0; i < sets.size(); ++i) {
      asked.append(to_list(sets[i]));
      std::size_t cells = 1;
      for (const std::int32_t v : sets[i]) cells *= arities_[static_cast<std::size_t>(v)];
      out.offsets.push_back(out.offsets.back() + cells);
    }
    const auto array = nb::cast<AnyArray>(count_(asked));
    require(array.size() == out.offsets.back(), "The tables counted do not fit the sets.");
    take(array, out.whole, out.real, out.is_real);
  }

  void count_sparse(std::span<const std::int32_t> set, score::SparseTable& out) override {
    const nb::gil_scoped_acquire acquire;
    const auto found = nb::cast<nb::tuple>(sparse_(to_list(set)));
    const auto cells = nb::cast<AnyArray>(found[0]);
    const auto begin =
        nb::cast<nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>>(found[1]);
    take(cells, out.whole, out.real, out.is_real);
    out.begin.assign(begin.data(), begin.data() + begin.size());
  }

 private:
  static void take(const AnyArray& array, std::vector<std::int64_t>& whole,
                   std::vector<double>& real, bool& is_real) {
    is_real = array.dtype() == nb::dtype<double>();
    require(is_real || array.dtype() == nb::dtype<std::int64_t>(),
            "Tables must be of int64 or float64.");
    if (is_real) {
      const auto* data = static_cast<const double*>(array.data());
      real.assign(data, data + array.size());
    } else {
      const auto* data = static_cast<const std::int64_t*>(array.data());
      whole.assign(data, data + array.size());
    }
  }

  std::vector<std::uint32_t> arities_;
  nb::object count_, sparse_;
  double dense_;
};

score::TableModel table_model(const std::string& name, double rows, double ess) {
  static const std::map<std::string, score::TableScore> known{
      {"loglik", score::TableScore::kLogLikelihood}, {"bdeu", score::TableScore::kBdeu},
      {"qnml", score::TableScore::kQnml},            {"k2", score::TableScore::kK2},
      {"bds", score::TableScore::kBds},              {"fnml", score::TableScore::kFnml},
      {"available", score::TableScore::kAvailable}};
  const auto found = known.find(name);
  require(found != known.end(), "There is no table score '" + name + "'.");
  require(ess > 0, "The 'ess' parameter must be above 0.");
  return {found->second, rows, ess};
}

Extras read_extras(std::size_t n, double penalty, const std::vector<double>& by_parents,
                   const std::optional<Matrix>& by_edge, bool gaussian) {
  Extras extras{penalty, by_parents, {}, gaussian};
  require(by_parents.empty() || by_parents.size() >= n,
          "The 'by_parents' parameter must have one number for 0 to n - 1 parents.");
  if (by_edge) {
    require(by_edge->shape(0) == n && by_edge->shape(1) == n,
            "The 'by_edge' parameter must have a row and a column for each variable.");
    extras.by_edge.assign(by_edge->data(), by_edge->data() + n * n);
  }
  return extras;
}

std::unique_ptr<PyScores> of_columns(nb::handle_t<PyColumns> columns,
                                     const std::vector<std::int32_t>& variables,
                                     const std::optional<AnyArray>& weights,
                                     const std::string& name, double rows, double ess,
                                     double penalty, const std::vector<double>& by_parents,
                                     const std::optional<Matrix>& by_edge, int threads) {
  const PyColumns& held = nb::cast<const PyColumns&>(columns);
  const Weights given(weights, held->n_rows());
  check_sets(*held, {variables, {0, variables.size()}});
  require(threads >= 1, "The 'threads' parameter must be at least 1.");
  auto out = std::make_unique<PyScores>();
  out->columns = nb::borrow(columns);
  out->weights = weights;
  out->scores = std::make_unique<FamilyScores>(
      score::columns_source(*held, variables, given.integers, given.reals),
      table_model(name, rows, ess),
      read_extras(variables.size(), penalty, by_parents, by_edge, false), threads);
  return out;
}

std::unique_ptr<PyScores> of_counts(std::vector<std::uint32_t> arities, nb::object count,
                                    nb::object sparse, double dense, const std::string& name,
                                    double rows, double ess, double penalty,
                                    const std::vector<double>& by_parents,
                                    const std::optional<Matrix>& by_edge) {
  const std::size_t n = arities.size();
  auto source = std::make_unique<CallbackSource>(std::move(arities), std::move(count),
                                                 std::move(sparse), dense);
  auto out = std::make_unique<PyScores>();
  out->scores =
      std::make_unique<FamilyScores>(std::move(source), table_model(name, rows, ess),
                                     read_extras(n, penalty, by_parents, by_edge, false), 1);
  return out;
}

std::unique_ptr<PyScores> of_matrix(const Matrix& matrix, double rows, bool bge, double prior_rows,
                                    double freedom, double prior_scale, double penalty,
                                    const std::vector<double>& by_parents,
                                    const std::optional<Matrix>& by_edge) {
  const std::size_t n = matrix.shape(0);
  require(n > 0 && matrix.shape(1) == n, "The 'matrix' parameter must be square.");
  score::GaussianModel model{bge, rows, n, {}, prior_rows, freedom, prior_scale};
  model.matrix.assign(matrix.data(), matrix.data() + n * n);
  auto out = std::make_unique<PyScores>();
  out->scores = std::make_unique<FamilyScores>(
      std::move(model), read_extras(n, penalty, by_parents, by_edge, true));
  return out;
}

std::unique_ptr<PyScores> of_function(std::int64_t n, nb::object function,
                                      const std::vector<double>& by_parents,
                                      const std::optional<Matrix>& by_edge) {
  require(n >= 1, "The 'n' parameter must be at least 1.");
  const auto held = shared(std::move(function));
  const auto call = [held](const Families& families, double* out, const score::Stop& stop) {
    constexpr std::size_t kPiece = 4096;
    const nb::gil_scoped_acquire acquire;
    std::fill(out, out + families.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t first = 0; first < families.size(); first += kPiece) {
      if (first > 0 && stop()) return;
      const std::size_t end = std::min(first + kPiece, families.size());
      nb::list asked;
      for (std::size_t i = first; i < end; ++i)
        asked.append(nb::make_tuple(families.child[i], to_list(families.parents[i])));
      const auto found = nb::cast<Reals>((*held)(asked));
      require(found.size() == end - first, "The function must return one score a family.");
      std::copy(found.data(), found.data() + found.size(), out + first);
    }
  };
  auto out = std::make_unique<PyScores>();
  const auto size = static_cast<std::size_t>(n);
  out->scores = std::make_unique<FamilyScores>(size, call,
                                               read_extras(size, 0, by_parents, by_edge, false));
  return out;
}

std::unique_ptr<PyScores> of_mixed(nb::handle_t<PyScores> tables, nb::object moments,
                                   std::vector<std::uint32_t> arities, double rows, double penalty,
                                   double most_numbers, const std::vector<double>& by_parents,
                                   const std::optional<Matrix>& by_edge, int threads) {
  PyScores& held = nb::cast<PyScores&>(tables);
  const std::size_t n = arities.size();
  const auto discrete = n - static_cast<std::size_t>(std::ranges::count(arities, 0u));
  require(discrete == held.scores->variables(), "The tables are for other variables.");
  require(threads >= 1, "The 'threads' parameter must be at least 1.");
  auto scores = std::make_shared<score::MixedScores>(
      score::MixedModel{std::move(arities), rows, penalty, most_numbers, threads}, *held.scores,
      moments_of(std::move(moments)));
  auto out = std::make_unique<PyScores>();
  out->columns = nb::borrow(tables);
  out->inner = held.scores.get();
  out->scores = std::make_unique<FamilyScores>(
      n,
      [scores](const Families& asked, double* values, const score::Stop& stop) {
        scores->score(asked, values, stop);
      },
      read_extras(n, 0, by_parents, by_edge, false));
  return out;
}

void limit(PyScores& self, std::optional<double> seconds) {
  for (FamilyScores* scores : {self.scores.get(), self.inner})
    if (scores != nullptr) scores->set_stop(seconds ? stop_after(*seconds) : score::Stop{});
}

Families read_families(nb::handle asked, std::size_t n) {
  Families out;
  const auto variable = [&](nb::handle given) {
    std::int32_t v;
    require(nb::try_cast(given, v) && v >= 0 && static_cast<std::size_t>(v) < n,
            "A family must be a variable number and a list of them.");
    return v;
  };
  std::vector<std::int32_t> parents;
  for (const nb::handle family : asked) {
    require(nb::len(family) == 2, "A family must be a pair (child, parents).");
    parents.clear();
    for (const nb::handle p : family[1]) parents.push_back(variable(p));
    out.add(variable(family[0]), parents);
  }
  return out;
}

nb::object score_families(PyScores& self, nb::object asked) {
  const Families families = read_families(asked, self.scores->variables());
  NewArray<double> out({families.size()});
  {
    const nb::gil_scoped_release release;
    self.scores->score(families, out.data());
  }
  return out.release();
}

}  // namespace

void bind_scores(nb::module_& m) {
  nb::class_<PyScores>(m, "FamilyScores")
      .def_static("columns", &of_columns, "columns"_a, "variables"_a,
                  "weights"_a.noconvert().none(), "name"_a, "rows"_a, "ess"_a, "penalty"_a, "by_parents"_a, "by_edge"_a.noconvert().none(),
                  "threads"_a)
      .def_static("counts", &of_counts, "arities"_a, "count"_a, "sparse"_a, "dense"_a, "name"_a,
                  "rows"_a, "ess"_a, "penalty"_a, "by_parents"_a, "by_edge"_a.noconvert().none())
      .def_static("matrix", &of_matrix, "matrix"_a.noconvert(), "rows"_a, "bge"_a, "prior_rows"_a,
                  "freedom"_a, "prior_scale"_a, "penalty"_a, "by_parents"_a,
                  "by_edge"_a.noconvert().none())
      .def_static("function", &of_function, "n"_a, "function"_a, "by_parents"_a,
                  "by_edge"_a.noconvert().none())
      .def_static("mixed", &of_mixed, "tables"_a, "moments"_a, "arities"_a, "rows"_a, "penalty"_a,
                  "most_numbers"_a, "by_parents"_a, "by_edge"_a.noconvert().none(), "threads"_a)
      .def("limit", &limit, "seconds"_a.none())
      .def_prop_ro("stopped", [](const PyScores& self) { return self.scores->stopped(); })
      .def("score", &score_families, "families"_a)
      .def_prop_ro("counters", [](const PyScores& self) {
        const score::Counters& c = self.scores->counters();
        nb::dict out;
        out["asked"] = c.asked;
        out["hits"] = c.hits;
        out["counted"] = c.counted;
        out["batches"] = c.batches;
        out["kept"] = self.scores->cached();
        return out;
      });
  m.def("log_complexity", &score::log_complexity, "n"_a, "k"_a);
  m.def("log_complexity_approximate", &score::log_complexity_approximate, "n"_a, "k"_a);
}

}  // namespace credo::binding
