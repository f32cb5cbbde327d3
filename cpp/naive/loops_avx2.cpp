// The loops with four doubles at a time and fused multiply-add.
#include "naive/loops.hpp"

#if defined(__x86_64__)

#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define CREDO_NAIVE_AVX2

#include "naive/loops_impl.hpp"

namespace credo::naive {
const Loops& avx2_loops() { return kLoops; }
}  // namespace credo::naive

#pragma GCC pop_options

#else

namespace credo::naive {
const Loops& avx2_loops() { return plain_loops(); }
}  // namespace credo::naive

#endif
