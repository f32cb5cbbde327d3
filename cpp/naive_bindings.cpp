#include "binding_arrays.hpp"
#include "binding_casters.hpp"
#include "binding_doors.hpp"
#include "naive_fit_door.hpp"
#include "naive_score_door.hpp"

namespace credo::binding {

using namespace nb::literals;
using namespace doors;

void bind_naive(nb::module_& m) {
  m.def("naive_ranges", door(&doors::naive_ranges), "columns"_a);
  m.def("naive_counts", door(&doors::naive_counts), "columns"_a, "windows"_a, "group"_a,
        "groups"_a, "weights"_a = nb::none(), "threads"_a = 1);
  m.def("naive_moments", door(&doors::naive_moments), "columns"_a, "group"_a, "groups"_a,
        "weights"_a = nb::none(), "threads"_a = 1);
  m.def("naive_totals", door(&doors::naive_totals), "columns"_a, "group"_a, "groups"_a,
        "weights"_a = nb::none(), "threads"_a = 1, "present"_a = false, "gaps"_a = true);
  // quicker than it is to let the GIL go
  m.def("naive_usual_moments", &doors::naive_usual_moments, "n"_a, "mean"_a, "scatter"_a);
  m.def("naive_merged", &doors::naive_merged, "n"_a, "mean"_a, "scatter"_a, "other_n"_a,
        "other_mean"_a, "other_scatter"_a, "places"_a = nb::none());
  m.def("naive_gaussians", &doors::naive_gaussians, "n"_a, "mean"_a, "scatter"_a, "share"_a,
        "sample"_a);
  m.def("naive_log_shares", &doors::naive_log_shares, "counts"_a, "smoothing"_a, "states"_a);
  m.def("naive_finish", door(&doors::naive_finish), "joint"_a, "answer"_a, "threads"_a = 1);
  nb::class_<NaiveScorer>(m, "NaiveScorer")
      .def(nb::init<const Reals&, const NaiveScorer::Singles&,
                    const std::vector<std::array<std::int64_t, 4>>&, const Matrix&, const Matrix&,
                    const Matrix&, const std::optional<Matrix>&>(),
           "bias"_a, "singles"_a, "pairs"_a, "tables"_a, "mean"_a, "variance"_a,
           "weights"_a = nb::none())
      .def("score", door(&NaiveScorer::score), "columns"_a, "windows"_a, "reals"_a, "n_rows"_a,
           "extra"_a = nb::none(), "answer"_a = "posterior", "threads"_a = 1,
           "counts"_a = nb::list(), "present"_a = false, "gaps"_a = true);
}

}  // namespace credo::binding
