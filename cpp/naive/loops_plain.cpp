// The loops for any machine.
#include "common/cpu.hpp"
#include "naive/loops.hpp"
#include "naive/loops_impl.hpp"

namespace credo::naive {

const Loops& plain_loops() { return kLoops; }

const Loops& loops_for_this_cpu() {
  static const bool plain = &kernels_for("auto") == &plain_kernels();
  return plain ? plain_loops() : avx2_loops();
}

}  // namespace credo::naive
