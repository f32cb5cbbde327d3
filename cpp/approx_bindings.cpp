#include "binding_arrays.hpp"
#include "binding_casters.hpp"
#include "binding_doors.hpp"
#include "approx_door.hpp"

namespace credo::binding {

using namespace nb::literals;
using namespace doors;

void bind_approximate(nb::module_& m) {
  m.def("weighted_sums", door(&doors::weighted_sums), "columns"_a, "arities"_a, "weights"_a,
        "threads"_a = 1);
  nb::class_<Loopy>(m, "Loopy")
      .def(nb::init<std::vector<std::int64_t>, std::vector<infer::Variables>>(), "arities"_a,
           "scopes"_a)
      .def("run", door(&Loopy::run), "tables"_a, "sweeps"_a = 200, "tolerance"_a = 1e-8,
           "damping"_a = 0.0, "seconds"_a = -1.0)
      .def_prop_ro("offsets", &Loopy::offsets)
      .def_prop_ro("belief_offsets", &Loopy::belief_offsets);
  nb::class_<Gibbs>(m, "Gibbs")
      .def(nb::init<std::vector<std::int64_t>, std::vector<infer::Variables>>(), "arities"_a,
           "scopes"_a)
      .def("run", door(&Gibbs::run), "tables"_a, "states"_a, "queries"_a, "sweeps"_a,
           "first"_a = 0, "seed"_a = 0, "collect"_a = true, "threads"_a = 1);
}

}  // namespace credo::binding
