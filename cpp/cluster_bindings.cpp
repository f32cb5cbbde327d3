#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "binding_arrays.hpp"
#include "binding_casters.hpp"
#include "binding_doors.hpp"
#include "cluster_door.hpp"

namespace credo::binding {

using namespace nb::literals;

void bind_clusters(nb::module_& m) {
  using namespace doors;
  m.def("gower_pairs", door(&doors::gower_pairs), "reals"_a, "codes"_a, "apart"_a,
        "threads"_a = 1);
  m.def("gower_between", door(&doors::gower_between), "reals_a"_a, "codes_a"_a, "reals_b"_a,
        "codes_b"_a, "apart"_a, "threads"_a = 1);
  m.def("links_of_tree", door(&doors::links_of_tree), "edges"_a, "lengths"_a);
  m.def("labels_of_links", door(&doors::labels_of_links), "links"_a, "merges"_a);
  m.def("links_of_points", door(&doors::links_of_points), "points"_a, "method"_a,
        "path"_a = "auto");
  m.def("links_of_ties", door(&doors::links_of_ties), "n"_a, "edges"_a, "strengths"_a, "average"_a,
        "most"_a);
  m.def("spread_of", door(&doors::spread_of), "values"_a, "weights"_a = nb::none());
  m.def("points_of", door(&doors::points_of), "columns"_a, "centres"_a = nb::none(),
        "scales"_a = nb::none());
  nb::class_<LloydRows>(m, "LloydRows")
      .def(nb::init<Matrix, std::optional<Reals>>(), "x"_a, "weights"_a = nb::none(),
           nb::call_guard<nb::gil_scoped_release>())
      .def("start", door(&LloydRows::start), "k"_a, "draws"_a, "threads"_a = 1, "path"_a = "auto")
      .def("climb", door(&LloydRows::climb), "centres"_a, "iterations"_a, "tolerance"_a,
           "threads"_a = 1, "path"_a = "auto");
}

}  // namespace credo::binding
