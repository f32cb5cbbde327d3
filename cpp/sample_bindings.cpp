#include "binding_arrays.hpp"
#include "binding_casters.hpp"
#include "binding_doors.hpp"
#include "sample_door.hpp"

namespace credo::binding {

using namespace nb::literals;
using namespace doors;

void bind_sampling(nb::module_& m) {
  m.def("normals", door(&doors::normals), "n"_a, "seed"_a, "stream"_a, "first"_a = 0,
        "threads"_a = 1);
  nb::class_<sample::Sampler>(m, "Sampler")
      .def(nb::init<std::vector<std::int64_t>, std::vector<sample::Variables>>(), "arities"_a,
           "scopes"_a)
      .def_prop_ro("order", &sample::Sampler::order)
      .def("run", door(&doors::sample_rows), "tables"_a, "n"_a, "seed"_a, "first"_a = 0,
           "fixed"_a = nb::none(), "weights"_a = nb::none(), "threads"_a = 1, "path"_a = "auto");
}

}  // namespace credo::binding
