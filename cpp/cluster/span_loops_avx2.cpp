// The loops with four doubles at a time; without fused multiply-add, which changes digits.
#include "cluster/span_loops.hpp"

#if defined(__x86_64__)

#include <limits>
#include <utility>

#pragma GCC push_options
#pragma GCC target("avx2")

#include "cluster/span_loops_impl.hpp"

namespace credo::span {
const Loops& avx2_loops(std::size_t d) { return loops_of(d); }
}  // namespace credo::span

#pragma GCC pop_options

#else

namespace credo::span {
const Loops& avx2_loops(std::size_t d) { return plain_loops(d); }
}  // namespace credo::span

#endif
