#include "binding_arrays.hpp"
#include "binding_casters.hpp"
#include "binding_doors.hpp"
#include "em_door.hpp"

namespace credo::binding {

using namespace nb::literals;
using namespace doors;

void bind_expectations(nb::module_& m) {
  m.def("complete_rows", door(&doors::complete_rows), "arities"_a, "scopes"_a, "theta"_a,
        "columns"_a, "rows"_a, "weights"_a.none(), "most"_a, "draws"_a, "most_states"_a,
        "seed"_a = 0);
  nb::class_<Expectations>(m, "Expectations")
      .def(nb::init<std::vector<std::int64_t>, std::vector<std::vector<std::int32_t>>,
                    std::uint64_t, std::uint64_t>(),
           "arities"_a, "scopes"_a, "most"_a, "most_mixed"_a)
      .def("add", door(&Expectations::add), "columns"_a, "rows"_a, "weights"_a = nb::none())
      .def("step", door(&Expectations::step), "theta"_a, "lines"_a, "threads"_a = 1)
      .def("left", &Expectations::left)
      .def("counted", &Expectations::counted)
      .def_prop_ro("problems", [](const Expectations& e) { return e.rows().problems().size(); })
      .def_prop_ro("shapes", [](const Expectations& e) { return e.rows().n_shapes(); })
      .def_prop_ro("total", [](const Expectations& e) { return e.rows().total; })
      .def_prop_ro("too_large", [](const Expectations& e) { return e.rows().too_large; });
}

}  // namespace credo::binding
