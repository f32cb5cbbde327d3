// The loops for any machine.
#include <string>

#include "cluster/span_loops_impl.hpp"
#include "common/cpu.hpp"

namespace credo::span {

const Loops& plain_loops(std::size_t d) { return loops_of(d); }

const Loops& loops_for(const char* path, std::size_t d) {
  const bool plain = &kernels_for(std::string(path)) == &plain_kernels();
  return plain ? plain_loops(d) : avx2_loops(d);
}

}  // namespace credo::span
