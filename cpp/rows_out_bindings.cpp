#include "binding_arrays.hpp"
#include "binding_casters.hpp"
#include "binding_doors.hpp"

namespace credo::binding {

using namespace nb::literals;
using namespace doors;

void bind_rows_out(nb::module_&) {}

}  // namespace credo::binding
