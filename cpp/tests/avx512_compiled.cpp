// Runs the AVX-512 lanes as they are compiled, on a CPU that has them: the choice at run time must
// find them, and every kernel must agree with the plain lanes. run_bochs.sh gives it such a CPU.
#include <cstdio>

#include "../cpu.hpp"
#include "compare_lanes.hpp"

#ifndef ROUNDS
#define ROUNDS 1
#endif

int main() {
  const std::string best = credo::available_paths().front();
  std::printf("This CPU's lanes: %s.\n", best.c_str());
  if (best != "avx512") {
    std::puts("FAILED: the CPU has AVX-512, but the choice at run time did not find it");
    return 1;
  }
  for (int round = 0; round < ROUNDS; ++round)
    compare_lanes(credo::kernels_for("auto"), credo::kernels_for("plain"));
  std::puts("The avx512 lanes agree with the plain lanes.");
}
