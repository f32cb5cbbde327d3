#include "bindings/score.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>

#include "bindings/module.hpp"
#include "score/mixed.hpp"

namespace credo::bindings {

using score::Extras;
using score::Families;
using score::FamilyScores;

namespace {

// Tables that somebody else counts, for sources that are not columns in memory.
class AskedSource : public score::TableSource {
 public:
  AskedSource(std::vector<std::uint32_t> arities, CountTables count, CountSparse sparse,
              double dense)
      : arities_(std::move(arities)), count_(std::move(count)), sparse_(std::move(sparse)),
        dense_(dense) {}
  std::vector<std::uint32_t> arities() const override { return arities_; }
  double dense_cells() const override { return dense_; }
  double chunk_cells() const override { return 5e7; }
  double chunk_sets() const override {  // a call may read a whole file
    return std::numeric_limits<double>::infinity();
  }

  void count(const SetList& sets, int, score::Tables& out) override {
    Lists asked;
    out.offsets.assign(1, 0);
    for (std::size_t i = 0; i < sets.size(); ++i) {
      asked.emplace_back(sets[i].begin(), sets[i].end());
      std::size_t cells = 1;
      for (const std::int32_t v : sets[i]) cells *= arities_[static_cast<std::size_t>(v)];
      out.offsets.push_back(out.offsets.back() + cells);
    }
    const AnyArray array = count_(asked);
    require(array.size() == out.offsets.back(), "The tables counted do not fit the sets.");
    take(array, out.whole, out.real, out.is_real);
  }

  void count_sparse(std::span<const std::int32_t> set, score::SparseTable& out) override {
    const auto [cells, begin] = sparse_({set.begin(), set.end()});
    take(cells, out.whole, out.real, out.is_real);
    out.begin.assign(begin.data(), begin.data() + begin.size());
  }

 private:
  static void take(const AnyArray& array, std::vector<std::int64_t>& whole,
                   std::vector<double>& real, bool& is_real) {
    is_real = array.is<double>();
    require(is_real || array.is<std::int64_t>(), "Tables must be of int64 or float64.");
    if (is_real) real.assign(array.data_as<double>(), array.data_as<double>() + array.size());
    else whole.assign(array.data_as<std::int64_t>(), array.data_as<std::int64_t>() + array.size());
  }

  std::vector<std::uint32_t> arities_;
  CountTables count_;
  CountSparse sparse_;
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

score::MomentsOf moments_of(GroupMoments moments) {
  return [moments = std::move(moments)](const Numbers& group, const Numbers& columns) {
    const auto [n, mean, scatter] = moments(group, columns);
    require(mean.size() == n.size() * columns.size() &&
                scatter.size() == mean.size() * columns.size(),
            "The moments do not fit the columns.");
    score::LineMoments out;
    out.n.assign(n.data(), n.data() + n.size());
    out.mean.assign(mean.data(), mean.data() + mean.size());
    out.scatter.assign(scatter.data(), scatter.data() + scatter.size());
    return out;
  };
}

// Asks a function for scores, some thousands of families at a time.
score::LocalScores asked_scores(FamilyFunction function) {
  return [function = std::move(function)](const Families& families, double* out,
                                          const score::Stop& stop) {
    constexpr std::size_t kPiece = 4096;
    std::fill(out, out + families.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t first = 0; first < families.size(); first += kPiece) {
      if (first > 0 && stop()) return;
      const std::size_t end = std::min(first + kPiece, families.size());
      std::vector<std::tuple<std::int32_t, Numbers>> asked;
      for (std::size_t i = first; i < end; ++i) {
        const auto parents = families.parents[i];
        asked.emplace_back(families.child[i], Numbers(parents.begin(), parents.end()));
      }
      const Reals found = function(asked);
      require(found.size() == end - first, "The function must return one score a family.");
      std::copy(found.data(), found.data() + found.size(), out + first);
    }
  };
}

score::Stop stop_after(double seconds, const CtrlC& ctrl_c) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(std::min(seconds, 1e9)));
  return [end, pressed = ctrl_c.pressed, next = Clock::time_point{}]() mutable {
    const auto now = Clock::now();
    if (now >= end) return true;
    if (now < next) return false;
    next = now + std::chrono::milliseconds(20);
    return pressed();
  };
}

}  // namespace

// ---------------------------------------------------------------- where scores come from

std::unique_ptr<KeptScores> KeptScores::of_columns(
    std::shared_ptr<KeptColumns> columns, const Numbers& variables, std::optional<AnyArray> weights,
    const std::string& name, double rows, double ess, double penalty,
    const std::vector<double>& by_parents, const std::optional<Matrix>& by_edge, int threads) {
  const Columns& held = **columns;
  const RowWeights given(weights, held.n_rows());
  check_sets(held, {variables, {0, variables.size()}});
  require(threads >= 1, "The 'threads' parameter must be at least 1.");
  auto out = std::make_unique<KeptScores>();
  out->scores_ = std::make_unique<FamilyScores>(
      score::columns_source(held, variables, given.integers, given.reals),
      table_model(name, rows, ess),
      read_extras(variables.size(), penalty, by_parents, by_edge, false), threads);
  out->columns_ = std::move(columns);
  out->weights_ = std::move(weights);
  return out;
}

std::unique_ptr<KeptScores> KeptScores::of_counts(
    std::vector<std::uint32_t> arities, CountTables count, CountSparse sparse, double dense,
    const std::string& name, double rows, double ess, double penalty,
    const std::vector<double>& by_parents, const std::optional<Matrix>& by_edge) {
  const std::size_t n = arities.size();
  auto source = std::make_unique<AskedSource>(std::move(arities), std::move(count),
                                              std::move(sparse), dense);
  auto out = std::make_unique<KeptScores>();
  out->scores_ =
      std::make_unique<FamilyScores>(std::move(source), table_model(name, rows, ess),
                                     read_extras(n, penalty, by_parents, by_edge, false), 1);
  return out;
}

std::unique_ptr<KeptScores> KeptScores::of_matrix(const Matrix& matrix, double rows, bool bge,
                                                  double prior_rows, double freedom,
                                                  double prior_scale, double penalty,
                                                  const std::vector<double>& by_parents,
                                                  const std::optional<Matrix>& by_edge) {
  const std::size_t n = matrix.shape(0);
  require(n > 0 && matrix.shape(1) == n, "The 'matrix' parameter must be square.");
  score::GaussianModel model{bge, rows, n, {}, prior_rows, freedom, prior_scale};
  model.matrix.assign(matrix.data(), matrix.data() + n * n);
  auto out = std::make_unique<KeptScores>();
  out->scores_ = std::make_unique<FamilyScores>(
      std::move(model), read_extras(n, penalty, by_parents, by_edge, true));
  return out;
}

std::unique_ptr<KeptScores> KeptScores::of_function(std::int64_t n, FamilyFunction function,
                                                    const std::vector<double>& by_parents,
                                                    const std::optional<Matrix>& by_edge) {
  require(n >= 1, "The 'n' parameter must be at least 1.");
  const auto size = static_cast<std::size_t>(n);
  auto out = std::make_unique<KeptScores>();
  out->scores_ = std::make_unique<FamilyScores>(size, asked_scores(std::move(function)),
                                                read_extras(size, 0, by_parents, by_edge, false));
  return out;
}

std::unique_ptr<KeptScores> KeptScores::of_mixed(
    std::shared_ptr<KeptScores> tables, GroupMoments moments, std::vector<std::uint32_t> arities,
    double rows, double penalty, double like_all, double most_numbers,
    const std::vector<double>& by_parents, const std::optional<Matrix>& by_edge, int threads) {
  const std::size_t n = arities.size();
  const auto discrete = n - static_cast<std::size_t>(std::ranges::count(arities, 0u));
  require(discrete == (*tables)->variables(), "The tables are for other variables.");
  require(threads >= 1, "The 'threads' parameter must be at least 1.");
  auto scores = std::make_shared<score::MixedScores>(
      score::MixedModel{std::move(arities), rows, penalty, like_all, most_numbers, threads}, **tables,
      moments_of(std::move(moments)));
  auto out = std::make_unique<KeptScores>();
  out->tables_ = std::move(tables);
  out->scores_ = std::make_unique<FamilyScores>(
      n,
      [scores](const Families& asked, double* values, const score::Stop& stop) {
        scores->score(asked, values, stop);
      },
      read_extras(n, 0, by_parents, by_edge, false));
  return out;
}

// ---------------------------------------------------------------- scores

void KeptScores::limit(const CtrlC& ctrl_c, std::optional<double> seconds) {
  const auto set = [&](FamilyScores& scores) {
    scores.set_stop(seconds ? stop_after(*seconds, ctrl_c) : score::Stop{});
  };
  set(*scores_);
  if (tables_) set(**tables_);
}

Array<double> KeptScores::score(const std::vector<std::tuple<std::int32_t, Numbers>>& families) {
  Families asked;
  const auto check = [n = scores_->variables()](std::int32_t v) {
    require(v >= 0 && static_cast<std::size_t>(v) < n,
            "A family must be a variable number and a list of them.");
  };
  for (const auto& [child, parents] : families) {
    check(child);
    std::ranges::for_each(parents, check);
    asked.add(child, parents);
  }
  Array<double> out({asked.size()});
  scores_->score(asked, out.data());
  return out;
}

Record KeptScores::counters() const {
  const score::Counters& c = scores_->counters();
  Record out;
  out.add("asked", c.asked);
  out.add("hits", c.hits);
  out.add("counted", c.counted);
  out.add("batches", c.batches);
  out.add("kept", static_cast<std::int64_t>(scores_->cached()));
  return out;
}

void bind_scores(nb::module_& m) {
  nb::class_<KeptScores>(m, "FamilyScores")
      .def_static("columns", &KeptScores::of_columns, "columns"_a, "variables"_a,
                  "weights"_a.none(), "name"_a, "rows"_a, "ess"_a, "penalty"_a, "by_parents"_a,
                  "by_edge"_a.none(), "threads"_a)
      .def_static("counts", &KeptScores::of_counts, "arities"_a, "count"_a, "sparse"_a, "dense"_a,
                  "name"_a, "rows"_a, "ess"_a, "penalty"_a, "by_parents"_a, "by_edge"_a.none())
      .def_static("matrix", &KeptScores::of_matrix, "matrix"_a, "rows"_a, "bge"_a, "prior_rows"_a,
                  "freedom"_a, "prior_scale"_a, "penalty"_a, "by_parents"_a, "by_edge"_a.none())
      .def_static("function", &KeptScores::of_function, "n"_a, "function"_a, "by_parents"_a,
                  "by_edge"_a.none())
      .def_static("mixed", &KeptScores::of_mixed, "tables"_a, "moments"_a, "arities"_a, "rows"_a,
                  "penalty"_a, "like_all"_a, "most_numbers"_a, "by_parents"_a, "by_edge"_a.none(),
                  "threads"_a)
      .def("limit",
           [](KeptScores& self, std::optional<double> seconds) {
             self.limit({ctrl_c_waits}, seconds);
           },
           "seconds"_a.none())
      .def("score", bound(&KeptScores::score), "families"_a)
      .def_prop_ro("stopped", [](const KeptScores& self) { return self->stopped(); })
      .def_prop_ro("counters", &KeptScores::counters);
  m.def("log_complexity", &score::log_complexity, "n"_a, "k"_a);
  m.def("log_complexity_approximate", &score::log_complexity_approximate, "n"_a, "k"_a);
}

}  // namespace credo::bindings
