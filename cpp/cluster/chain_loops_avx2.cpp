// The loops with four doubles at a time; without fused multiply-add, which changes digits.
#include "cluster/chain_loops.hpp"

#if defined(__x86_64__)

#pragma GCC push_options
#pragma GCC target("avx2")

#include "cluster/chain_loops_impl.hpp"

namespace credo::chain {
const Loops& avx2_loops() { return kLoops; }
}  // namespace credo::chain

#pragma GCC pop_options

#else

namespace credo::chain {
const Loops& avx2_loops() { return plain_loops(); }
}  // namespace credo::chain

#endif
