// The loops for any machine.
#include "cpu.hpp"
#include "naive_loops.hpp"
#include "naive_loops_impl.hpp"

namespace credo::naive {

const Loops& plain_loops() { return kLoops; }

const Loops& loops_for_this_cpu() {
  static const bool plain = &kernels_for("auto") == &plain_kernels();
  return plain ? plain_loops() : avx2_loops();
}

}  // namespace credo::naive
