// The loops for any machine.
#include <string>

#include "cluster/chain_loops_impl.hpp"
#include "common/cpu.hpp"

namespace credo::chain {

const Loops& plain_loops() { return kLoops; }

const Loops& loops_for(const char* path) {
  return &kernels_for(std::string(path)) == &plain_kernels() ? plain_loops() : avx2_loops();
}

}  // namespace credo::chain
