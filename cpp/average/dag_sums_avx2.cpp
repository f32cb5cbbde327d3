// The passes with fused multiply-add.
#include "average/dag_sums.hpp"

#if defined(__x86_64__)

#include <cmath>
#include <limits>

#pragma GCC push_options
#pragma GCC target("avx2,fma")

#include "average/dag_sums_impl.hpp"

namespace credo::average::sums {
const Passes& avx2_passes() { return kPasses; }
}  // namespace credo::average::sums

#pragma GCC pop_options

#else

namespace credo::average::sums {
const Passes& avx2_passes() { return plain_passes(); }
}  // namespace credo::average::sums

#endif
