// The loops with four doubles at a time and fused multiply-add.
#include "em/mixture_loops.hpp"

#if defined(__x86_64__)

#pragma GCC push_options
#pragma GCC target("avx2,fma")

#include "em/mixture_loops_impl.hpp"

namespace credo::mixture {
const Loops& avx2_loops() { return kLoops; }
}  // namespace credo::mixture

#pragma GCC pop_options

#else

namespace credo::mixture {
const Loops& avx2_loops() { return plain_loops(); }
}  // namespace credo::mixture

#endif
