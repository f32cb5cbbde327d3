// Model and Plan of credo._core: exact inference. As in bindings.cpp, arrays come in contiguous and
// of the exact type; the run is without the GIL, and looks for Ctrl-C about every 50 ms.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding_arrays.hpp"
#include "binding_signals.hpp"
#include "infer_program.hpp"
#include "infer_run.hpp"

namespace credo::binding {

using namespace nb::literals;

namespace {

using infer::Variables;
using Table = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Evidence = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Soft = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

class PyPlan {
 public:
  explicit PyPlan(std::shared_ptr<const infer::Plan> plan) : runner(std::move(plan)) {}
  const infer::Plan& operator*() const { return runner.plan(); }
  const infer::Plan* operator->() const { return &runner.plan(); }
  infer::Runner runner;
};

class PyModel {
 public:
  PyModel(std::vector<std::int64_t> arities, std::vector<Variables> scopes)
      : model_(std::make_shared<infer::Model>(std::move(arities), std::move(scopes))) {}

  std::shared_ptr<PyPlan> compile(Variables observed, std::optional<Variables> targets,
                                  Variables soft, const std::string& mode, bool families,
                                  double budget_ms, std::uint64_t seed, bool directed,
                                  Variables maybe, bool evidence) const {
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
    const nb::gil_scoped_release release;
    return std::make_shared<PyPlan>(infer::compile(model_, std::move(request)));
  }

 private:
  std::shared_ptr<const infer::Model> model_;
};

infer::Inputs read_inputs(const infer::Plan& plan, const std::vector<Table>& tables,
                          const Evidence& evidence, const std::vector<Soft>& soft) {
  const infer::Request& request = plan.request;
  const infer::Model& model = *plan.model;
  infer::Inputs inputs;
  inputs.rows = evidence.shape(0);
  const std::size_t columns = request.observed.size() + request.maybe.size();
  require(evidence.shape(1) == columns, "The 'evidence' parameter must have " +
                                            std::to_string(columns) + " columns, got " +
                                            std::to_string(evidence.shape(1)) + " instead.");
  inputs.evidence = evidence.data();
  require(tables.size() == model.n_factors(), "The 'tables' parameter must have " +
                                                  std::to_string(model.n_factors()) +
                                                  " tables, got " + std::to_string(tables.size()) +
                                                  " instead.");
  for (std::size_t f = 0; f < tables.size(); ++f) {
    const auto cells = static_cast<std::size_t>(model.cells(model.scopes[f]));
    const bool draws = tables[f].ndim() == 2 && tables[f].shape(0) == inputs.rows &&
                       tables[f].shape(1) == cells && inputs.rows != 1;
    require(draws || tables[f].size() == cells,
            "Table " + std::to_string(f) + " must have " + std::to_string(cells) +
                " cells, or that many for each row, got " + std::to_string(tables[f].size()) +
                " instead.");
    inputs.tables.push_back({tables[f].data(), draws});
  }
  require(soft.size() == request.soft.size(),
          "The 'soft' parameter must have " + std::to_string(request.soft.size()) +
              " arrays, got " + std::to_string(soft.size()) + " instead.");
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

nb::tuple run(PyPlan& plan, const std::vector<Table>& tables, const Evidence& evidence,
              const std::vector<Soft>& soft, int threads, const std::string& path, int lanes) {
  require(plan->request.mode == infer::Mode::kSum,
          "A plan with mode='max' explains; it has no posteriors.");
  const infer::Inputs inputs = read_inputs(*plan, tables, evidence, soft);
  const infer::RunOptions options = read_options(path, threads, lanes);
  const bool families = !plan->family_offsets.empty();
  NewArray<double> log_evidence({inputs.rows}), marginals({inputs.rows, plan->marginal_states}),
      family({families ? inputs.rows : 0, families ? plan->family_offsets.back() : 0});
  if (inputs.rows > 0)
    interruptible([&](infer::Monitor& monitor) {
      plan.runner.run(inputs, options, monitor,
                      {log_evidence.data(), marginals.data(), families ? family.data() : nullptr});
    });
  return nb::make_tuple(log_evidence.release(), marginals.release(),
                        families ? family.release() : nb::none());
}

nb::tuple explain(PyPlan& plan, const std::vector<Table>& tables, const Evidence& evidence,
                  const std::vector<Soft>& soft, int threads, const std::string& path, int lanes) {
  require(plan->request.mode == infer::Mode::kMax, "Only a plan with mode='max' explains.");
  const infer::Inputs inputs = read_inputs(*plan, tables, evidence, soft);
  const infer::RunOptions options = read_options(path, threads, lanes);
  NewArray<std::int32_t> assignment({inputs.rows, plan->model->n_variables()});
  NewArray<double> log_p({inputs.rows});
  if (inputs.rows > 0)
    interruptible([&](infer::Monitor& monitor) {
      plan.runner.explain(inputs, options, monitor, assignment.data(), log_p.data());
    });
  return nb::make_tuple(assignment.release(), log_p.release());
}

}  // namespace

void bind_inference(nb::module_& m) {
  nb::class_<PyPlan>(m, "Plan")
      .def("run", &run, "tables"_a.noconvert(), "evidence"_a.noconvert(),
           "soft"_a.noconvert() = std::vector<Soft>{}, "threads"_a = 1, "path"_a = "auto",
           "lanes"_a = 0)
      .def("explain", &explain, "tables"_a.noconvert(), "evidence"_a.noconvert(),
           "soft"_a.noconvert() = std::vector<Soft>{}, "threads"_a = 1, "path"_a = "auto",
           "lanes"_a = 0)
      .def_prop_ro("total_states", [](const PyPlan& p) { return p->order.total_states; })
      .def_prop_ro("largest", [](const PyPlan& p) { return p->largest; })
      .def_prop_ro("largest_clique", [](const PyPlan& p) { return p->order.largest_clique; })
      .def_prop_ro("bytes", [](const PyPlan& p) { return 8 * infer::row_cells(*p); })
      .def_prop_ro("flops", [](const PyPlan& p) { return p->flops; })
      .def_prop_ro("order", [](const PyPlan& p) { return p->order.elimination; })
      .def_prop_ro("cliques", [](const PyPlan& p) { return p->order.cliques; })
      .def_prop_ro("tries", [](const PyPlan& p) { return p->order.tries; })
      .def_prop_ro("pruned", [](const PyPlan& p) { return p->relevant.pruned; })
      .def_prop_ro("targets",
                   [](const PyPlan& p) {
                     Variables targets;
                     for (const infer::Target& target : p->targets)
                       targets.push_back(target.variable);
                     return targets;
                   })
      .def_prop_ro("offsets",
                   [](const PyPlan& p) {
                     std::vector<std::size_t> offsets;
                     for (const infer::Target& target : p->targets)
                       offsets.push_back(target.offset);
                     offsets.push_back(p->marginal_states);
                     return offsets;
                   })
      .def_prop_ro("family_offsets", [](const PyPlan& p) { return p->family_offsets; });

  nb::class_<PyModel>(m, "Model")
      .def(nb::init<std::vector<std::int64_t>, std::vector<Variables>>(), "arities"_a, "scopes"_a)
      .def("compile", &PyModel::compile, "observed"_a, "targets"_a.none(),
           "soft"_a = Variables{}, "mode"_a = "sum", "families"_a = false, "budget_ms"_a = -1.0,
           "seed"_a = 0, "directed"_a = true, "maybe"_a = Variables{}, "evidence"_a = true);
}

}  // namespace credo::binding
