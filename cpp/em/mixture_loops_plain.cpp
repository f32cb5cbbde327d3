// The loops for any machine.
#include <string_view>

#include "common/cpu.hpp"
#include "em/mixture_loops.hpp"
#include "em/mixture_loops_impl.hpp"

namespace credo::mixture {

const Loops& plain_loops() { return kLoops; }

const Loops& loops_for(const char* path) {
  return &kernels_for(std::string(path)) == &plain_kernels() ? plain_loops() : avx2_loops();
}

}  // namespace credo::mixture
