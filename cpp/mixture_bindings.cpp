#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include "binding_arrays.hpp"
#include "binding_casters.hpp"
#include "binding_doors.hpp"
#include "mixture_door.hpp"

namespace credo::binding {

using namespace nb::literals;

void bind_mixture(nb::module_& m) {
  using doors::MixtureRows;
  using namespace doors;
  nb::class_<MixtureRows>(m, "MixtureRows")
      .def(nb::init<Matrix, Ints, View<const std::uint8_t, 2>, View<const std::uint16_t, 2>, Ints,
                    std::optional<Reals>>(),
           "reals"_a, "starts"_a, "seen"_a, "codes"_a, "offset"_a, "weights"_a.none())
      .def("step", door(&MixtureRows::step), "log_weights"_a, "tables"_a, "means"_a,
           "covariances"_a, "joint"_a, "threads"_a = 1, "path"_a = "auto", "rooted"_a = false)
      .def("score", door(&MixtureRows::score), "log_weights"_a, "tables"_a, "means"_a,
           "covariances"_a, "joint"_a, "threads"_a = 1, "path"_a = "auto", "rooted"_a = false);
}

}  // namespace credo::binding
