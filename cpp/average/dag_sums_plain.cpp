#include "average/dag_sums_impl.hpp"

namespace credo::average::sums {
const Passes& plain_passes() { return kPasses; }
}  // namespace credo::average::sums
