#include "binding_arrays.hpp"
#include "binding_casters.hpp"
#include "binding_doors.hpp"
#include "binding_words.hpp"
#include "naive_text_door.hpp"

namespace credo::binding {

using namespace nb::literals;
using namespace doors;

void bind_naive_texts(nb::module_& m) {
  m.def("sparse_totals", door(&doors::sparse_totals), "begin"_a, "columns"_a, "values"_a,
        "n_columns"_a, "group"_a, "groups"_a, "weights"_a = nb::none(), "present"_a = false,
        "threads"_a = 1);
  m.def("sparse_joint", door(&doors::sparse_joint), "begin"_a, "columns"_a, "values"_a, "table"_a,
        "bias"_a, "present"_a = false, "threads"_a = 1);
  m.def("text_table", door(&doors::text_table), "totals"_a, "form"_a, "weight"_a, "smoothing"_a);
  m.def("log_kernel_density", door(&doors::log_kernel_density), "x"_a, "points"_a, "weights"_a,
        "width"_a);
  nb::class_<Vocabulary>(m, "Vocabulary")
      .def("__init__", [](Vocabulary* self) { new (self) Vocabulary(is_alphanumeric); })
      .def("__len__", &Vocabulary::size)
      .def("words", &words_of)
      .def("add", &add_words, "words"_a)
      .def("bags", &bags_of, "documents"_a, "learn"_a, "shortest"_a = 1, "lower"_a = true);
}

}  // namespace credo::binding
