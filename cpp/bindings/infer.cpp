// Exact inference: a model is compiled into a plan, which runs on rows of evidence.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/module.hpp"
#include "infer/expect.hpp"
#include "infer/program.hpp"
#include "infer/run.hpp"

namespace credo::bindings {
namespace {

using Evidence = View<const std::int32_t, 2>;  // [rows][observed, then maybe]

infer::Inputs read_inputs(const infer::Plan& plan, const std::vector<Table>& tables,
                          const Evidence& evidence, const std::vector<Matrix>& soft) {
  const infer::Request& request = plan.request;
  const infer::Model& model = *plan.model;
  infer::Inputs inputs;
  inputs.rows = evidence.shape(0);
  const std::size_t columns = request.observed.size() + request.maybe.size();
  if (evidence.shape(1) != columns)
    throw std::invalid_argument("The 'evidence' parameter must have " + std::to_string(columns) +
                                " columns, got " + std::to_string(evidence.shape(1)) + " instead.");
  inputs.evidence = evidence.data();
  if (tables.size() != model.n_factors())
    throw std::invalid_argument("The 'tables' parameter must have " +
                                std::to_string(model.n_factors()) + " tables, got " +
                                std::to_string(tables.size()) + " instead.");
  inputs.tables.reserve(tables.size());
  for (std::size_t f = 0; f < tables.size(); ++f) {
    const auto cells = static_cast<std::size_t>(model.cells(model.scopes[f]));
    const bool draws = tables[f].ndim() == 2 && tables[f].shape(0) == inputs.rows &&
                       tables[f].shape(1) == cells && inputs.rows != 1;
    if (!draws && tables[f].size() != cells)
      throw std::invalid_argument("Table " + std::to_string(f) + " must have " +
                                  std::to_string(cells) +
                                  " cells, or that many for each row, got " +
                                  std::to_string(tables[f].size()) + " instead.");
    inputs.tables.push_back({tables[f].data(), draws});
  }
  if (soft.size() != request.soft.size())
    throw std::invalid_argument("The 'soft' parameter must have " +
                                std::to_string(request.soft.size()) + " arrays, got " +
                                std::to_string(soft.size()) + " instead.");
  for (std::size_t i = 0; i < soft.size(); ++i) {
    const auto arity = static_cast<std::size_t>(model.arity[request.soft[i]]);
    require(soft[i].shape(1) == arity && (soft[i].shape(0) == 1 || soft[i].shape(0) == inputs.rows),
            "The soft evidence on variable " + std::to_string(request.soft[i]) +
                " must be of shape [1 or rows, " + std::to_string(arity) + "].");
    inputs.soft.push_back({soft[i].data(), soft[i].shape(0) != 1});
  }
  return inputs;
}

infer::RunOptions read_options(const std::string& path, int threads, int lanes) {
  require(threads >= 1, "The 'threads' parameter must be at least 1.");
  require(lanes >= 0, "The 'lanes' parameter must not be negative.");
  infer::RunOptions options;
  options.wide = path == "wide";
  options.path = options.wide ? "auto" : path;
  options.threads = threads;
  options.lanes = static_cast<std::size_t>(lanes);
  return options;
}

class Plan {
 public:
  explicit Plan(std::shared_ptr<const infer::Plan> plan) : runner_(std::move(plan)) {}
  const infer::Plan& operator*() const { return runner_.plan(); }
  const infer::Plan* operator->() const { return &runner_.plan(); }
  infer::Variables targets() const {
    infer::Variables targets;
    for (const infer::Target& target : (*this)->targets) targets.push_back(target.variable);
    return targets;
  }
  std::vector<std::size_t> offsets() const {
    std::vector<std::size_t> offsets;
    for (const infer::Target& target : (*this)->targets) offsets.push_back(target.offset);
    offsets.push_back((*this)->marginal_states);
    return offsets;
  }

  // A table is [cells], or [rows][cells]; soft evidence is [1 or rows][states].
  // ln P(evidence) [rows], posteriors [rows][states], families [rows][cells] where they are wanted.
  std::tuple<Array<double>, Array<double>, std::optional<Array<double>>> run(
      Monitor& monitor, const std::vector<Table>& tables, const Evidence& evidence,
      const std::vector<Matrix>& soft, int threads, const std::string& path, int lanes) {
    const infer::Plan& plan = runner_.plan();
    require(plan.request.mode == infer::Mode::kSum,
            "A plan with mode='max' explains; it has no posteriors.");
    const infer::Inputs inputs = read_inputs(plan, tables, evidence, soft);
    const infer::RunOptions options = read_options(path, threads, lanes);
    Array<double> log_evidence({inputs.rows}), marginals({inputs.rows, plan.marginal_states});
    std::optional<Array<double>> families;
    if (!plan.family_offsets.empty())
      families.emplace(Shape{inputs.rows, plan.family_offsets.back()});
    if (inputs.rows > 0)
      runner_.run(inputs, options, monitor,
                  {log_evidence.data(), marginals.data(), families ? families->data() : nullptr});
    return {std::move(log_evidence), std::move(marginals), std::move(families)};
  }

  // Σ weight · P(family | row) [cells], Σ weight · ln P(row), whether a row is impossible.
  std::tuple<Array<double>, double, bool> expect(Monitor& monitor, const std::vector<Table>& tables,
                                                 const Evidence& evidence, const Reals& weights,
                                                 int threads) {
    const infer::Plan& plan = runner_.plan();
    require(plan.request.mode == infer::Mode::kSum && !plan.family_offsets.empty(),
            "Only a plan with families=True has expected counts.");
    const infer::Inputs inputs = read_inputs(plan, tables, evidence, {});
    require(weights.shape(0) == inputs.rows, "There must be a weight for each row.");
    for (const infer::TableView& table : inputs.tables)
      require(!table.draws, "Expected counts need one table for all rows.");
    const infer::RunOptions options = read_options("auto", threads, 0);
    Array<double> families({plan.family_offsets.back()});
    double log_evidence = 0;
    std::int64_t impossible = -1;
    if (inputs.rows > 0)
      log_evidence = infer::expect(runner_, inputs, weights.data(), options, monitor,
                                   families.data(), impossible);
    return {std::move(families), log_evidence, impossible >= 0};
  }

  // The most probable assignment [rows][variables] and its ln P [rows].
  std::tuple<Array<std::int32_t>, Array<double>> explain(
      Monitor& monitor, const std::vector<Table>& tables, const Evidence& evidence,
      const std::vector<Matrix>& soft, int threads, const std::string& path, int lanes) {
    const infer::Plan& plan = runner_.plan();
    require(plan.request.mode == infer::Mode::kMax, "Only a plan with mode='max' explains.");
    const infer::Inputs inputs = read_inputs(plan, tables, evidence, soft);
    const infer::RunOptions options = read_options(path, threads, lanes);
    Array<std::int32_t> assignment({inputs.rows, plan.model->n_variables()});
    Array<double> log_p({inputs.rows});
    if (inputs.rows > 0) runner_.explain(inputs, options, monitor, assignment.data(), log_p.data());
    return {std::move(assignment), std::move(log_p)};
  }

 private:
  infer::Runner runner_;
};

class Model {
 public:
  Model(std::vector<std::int64_t> arities, std::vector<infer::Variables> scopes)
      : model_(std::make_shared<infer::Model>(std::move(arities), std::move(scopes))) {}

  std::unique_ptr<Plan> compile(infer::Variables observed, std::optional<infer::Variables> targets,
                                infer::Variables soft, const std::string& mode, bool families,
                                double budget_ms, std::uint64_t seed, bool directed,
                                infer::Variables maybe, bool evidence) const {
    require(mode == "sum" || mode == "max",
            "The 'mode' parameter must be 'sum' or 'max', got '" + mode + "' instead.");
    infer::Request request;
    request.observed = std::move(observed);
    request.maybe = std::move(maybe);
    request.soft = std::move(soft);
    request.all_targets = !targets;
    if (targets) request.targets = std::move(*targets);
    request.mode = mode == "sum" ? infer::Mode::kSum : infer::Mode::kMax;
    request.families = families;
    request.directed = directed;
    request.evidence = evidence;
    request.budget_ms = budget_ms;
    request.seed = seed;
    return std::make_unique<Plan>(infer::compile(model_, std::move(request)));
  }

 private:
  std::shared_ptr<const infer::Model> model_;
};

}  // namespace

void bind_inference(nb::module_& m) {
  nb::class_<Plan>(m, "Plan")
      .def("run", bound(&Plan::run), "tables"_a, "evidence"_a, "soft"_a = nb::list(),
           "threads"_a = 1, "path"_a = "auto", "lanes"_a = 0)
      .def("expect", bound(&Plan::expect), "tables"_a, "evidence"_a, "weights"_a, "threads"_a = 1)
      .def("explain", bound(&Plan::explain), "tables"_a, "evidence"_a, "soft"_a = nb::list(),
           "threads"_a = 1, "path"_a = "auto", "lanes"_a = 0)
      .def_prop_ro("total_states", [](const Plan& p) { return p->order.total_states; })
      .def_prop_ro("largest", [](const Plan& p) { return p->largest; })
      .def_prop_ro("largest_clique", [](const Plan& p) { return p->order.largest_clique; })
      .def_prop_ro("bytes", [](const Plan& p) { return 8 * infer::row_cells(*p); })
      .def_prop_ro("flops", [](const Plan& p) { return p->flops; })
      .def_prop_ro("order", [](const Plan& p) { return p->order.elimination; })
      .def_prop_ro("cliques", [](const Plan& p) { return p->order.cliques; })
      .def_prop_ro("tries", [](const Plan& p) { return p->order.tries; })
      .def_prop_ro("pruned", [](const Plan& p) { return p->relevant.pruned; })
      .def_prop_ro("targets", &Plan::targets)
      .def_prop_ro("offsets", &Plan::offsets)
      .def_prop_ro("family_offsets", [](const Plan& p) { return p->family_offsets; });
  nb::class_<Model>(m, "Model")
      .def(nb::init<Arities, Scopes>(), "arities"_a, "scopes"_a)
      .def("compile", bound(&Model::compile), "observed"_a, "targets"_a.none(),
           "soft"_a = nb::list(), "mode"_a = "sum", "families"_a = false, "budget_ms"_a = -1.0,
           "seed"_a = 0, "directed"_a = true, "maybe"_a = nb::list(), "evidence"_a = true);
}

}  // namespace credo::bindings
