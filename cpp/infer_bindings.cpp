#include <nanobind/stl/unique_ptr.h>
#include "binding_arrays.hpp"
#include "binding_casters.hpp"
#include "binding_doors.hpp"
#include "infer_door.hpp"
#include "infer_program.hpp"

namespace credo::binding {

using namespace nb::literals;
using namespace doors;

void bind_inference(nb::module_& m) {
  nb::class_<Plan>(m, "Plan")
      .def("run", door(&Plan::run), "tables"_a, "evidence"_a, "soft"_a = nb::list(),
           "threads"_a = 1, "path"_a = "auto", "lanes"_a = 0)
      .def("expect", door(&Plan::expect), "tables"_a, "evidence"_a, "weights"_a, "threads"_a = 1)
      .def("explain", door(&Plan::explain), "tables"_a, "evidence"_a, "soft"_a = nb::list(),
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
      .def(nb::init<std::vector<std::int64_t>, std::vector<infer::Variables>>(), "arities"_a,
           "scopes"_a)
      .def("compile", door(&Model::compile), "observed"_a, "targets"_a.none(),
           "soft"_a = nb::list(), "mode"_a = "sum", "families"_a = false, "budget_ms"_a = -1.0,
           "seed"_a = 0, "directed"_a = true, "maybe"_a = nb::list(), "evidence"_a = true);
}

}  // namespace credo::binding
