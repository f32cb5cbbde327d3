// Runs the AVX-512 lanes on any CPU: SIMDe gives the intrinsics, and every kernel must agree with
// the plain lanes on random data. Built and run by run_emulated.sh.
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#define CREDO_EMULATED_AVX512
#include "common/lane_avx512.cpp"

#include <cstdio>

#include "compare_lanes.hpp"

int main() {
  compare_lanes(credo::avx512_kernels(), credo::plain_kernels());
  std::puts("The avx512 lanes agree with the plain lanes.");
}
