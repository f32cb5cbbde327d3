// The passes with fused multiply-add; CMakeLists.txt compiles this file for it.
#include "average/dag_sums_impl.hpp"

namespace credo::average::sums {
const Passes& avx2_passes() { return kPasses; }
}  // namespace credo::average::sums
