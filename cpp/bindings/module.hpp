// What every file of bindings needs, and what each adds to the module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>

#include <cstdint>
#include <vector>

#include "bindings/calls.hpp"
#include "bindings/casters.hpp"

namespace credo::bindings {

using namespace nb::literals;

using Arities = std::vector<std::int64_t>;
using Scopes = std::vector<std::vector<std::int32_t>>;

void bind_columns(nb::module_& m);
void bind_families(nb::module_& m);
void bind_texts(nb::module_& m);
void bind_inference(nb::module_& m);
void bind_approximate(nb::module_& m);
void bind_sampling(nb::module_& m);
void bind_naive_fit(nb::module_& m);
void bind_naive_score(nb::module_& m);
void bind_documents(nb::module_& m);
void bind_mixtures(nb::module_& m);
void bind_expectations(nb::module_& m);
void bind_scores(nb::module_& m);
void bind_searches(nb::module_& m);
void bind_clusters(nb::module_& m);
void bind_averages(nb::module_& m);
void bind_decisions(nb::module_& m);

}  // namespace credo::bindings
