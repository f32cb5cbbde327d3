// The module credo._core: the kernels, by the names by which Python knows them.
//
// This folder alone knows both Python and the kernels. Arrays come in contiguous and of the exact
// type, never converted. Kernels are called without the GIL, and what they are given is checked
// before: a std::invalid_argument becomes a ValueError.
#define CREDO_HAS_NUMPY_TABLE
#include "bindings/module.hpp"

#include "common/cpu.hpp"

namespace credo::bindings {

bool numpy_is_there() noexcept { return PyArray_API != nullptr || _import_array() == 0; }

}  // namespace credo::bindings

NB_MODULE(_core, m) {
  using namespace credo::bindings;
  nb::set_leak_warnings(false);  // tables that live until the interpreter ends are no leak
  m.doc() = "Kernels of credo: counts, unique rows and moments of columns; exact inference.";
  m.def("paths", &credo::available_paths);
  m.def("cores", &credo::hardware_threads);
  bind_columns(m);
  bind_families(m);
  bind_texts(m);
  bind_inference(m);
  bind_approximate(m);
  bind_sampling(m);
  bind_naive_fit(m);
  bind_naive_score(m);
  bind_documents(m);
  bind_mixtures(m);
  bind_expectations(m);
  bind_scores(m);
  bind_searches(m);
  bind_clusters(m);
  bind_averages(m);
  bind_decisions(m);
}
