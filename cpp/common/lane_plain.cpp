// Lanes of one 64-bit word: runs on every CPU.
#include <bit>

#include "common/lane_table.hpp"

namespace credo {
namespace {

struct PlainLanes {
  using Vec = std::uint64_t;
  static constexpr std::size_t kWords = 1;
  typedef double Doubles __attribute__((vector_size(16)));
  typedef std::uint64_t Bits __attribute__((vector_size(16)));
  static constexpr double kCountUnitNs = 5.5;
  static constexpr bool kMatchesBytes = false;
#if defined(__x86_64__) && !defined(__POPCNT__)
  static constexpr bool kCarrySave = true;  // the base instruction set has no popcount
#else
  static constexpr bool kCarrySave = false;
#endif
  static Vec counts(Vec v) { return static_cast<Vec>(std::popcount(v)); }
  static Vec zero() { return 0; }
  static Vec load(const std::uint64_t* p) { return *p; }
  static void store(std::uint64_t* p, Vec v) { *p = v; }
  static Vec both(Vec a, Vec b) { return a & b; }
  static Vec either(Vec a, Vec b) { return a | b; }
  static Vec differ(Vec a, Vec b) { return a ^ b; }
  static Vec add(Vec a, Vec b) { return a + b; }
  static std::int64_t total(Vec v) { return static_cast<std::int64_t>(v); }
};

}  // namespace

const LaneKernels& plain_kernels() {
  static constexpr LaneKernels kernels = kernels_of<PlainLanes>();
  return kernels;
}

}  // namespace credo
