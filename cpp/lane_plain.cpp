// Lanes of one 64-bit word: runs on every CPU.
#include <bit>

#include "lane_kernels_impl.hpp"

namespace credo {
namespace {

struct PlainLanes {
  using Vec = std::uint64_t;
  static constexpr std::size_t kWords = 1;
  typedef double Doubles __attribute__((vector_size(16)));
  static constexpr double kCountUnitNs = 7.0;
  static constexpr bool kMatchesBytes = false;
#if defined(__x86_64__) && !defined(__POPCNT__)
  // No popcount instruction in the base instruction set: counts of bytes by shifts and masks,
  // summed in bytes.
  static constexpr std::size_t kRun = 24;
  static Vec tally(Vec sum, Vec v) {
    v -= (v >> 1) & 0x5555555555555555u;
    v = (v & 0x3333333333333333u) + ((v >> 2) & 0x3333333333333333u);
    return sum + ((v + (v >> 4)) & 0x0F0F0F0F0F0F0F0Fu);
  }
  static Vec widen(Vec bytes) {
    constexpr Vec kEvenBytes = 0x00FF00FF00FF00FFu;
    const Vec pairs = (bytes & kEvenBytes) + ((bytes >> 8) & kEvenBytes);
    return (pairs * 0x0001000100010001u) >> 48;
  }
#else
  static constexpr std::size_t kRun = std::size_t{1} << 40;
  static Vec tally(Vec sum, Vec v) { return sum + static_cast<Vec>(std::popcount(v)); }
  static Vec widen(Vec sum) { return sum; }
#endif
  static Vec zero() { return 0; }
  static Vec load(const std::uint64_t* p) { return *p; }
  static void store(std::uint64_t* p, Vec v) { *p = v; }
  static Vec both(Vec a, Vec b) { return a & b; }
  static Vec add(Vec a, Vec b) { return a + b; }
  static std::int64_t total(Vec v) { return static_cast<std::int64_t>(v); }
};

}  // namespace

const LaneKernels& plain_kernels() {
  static constexpr LaneKernels kernels = kernels_of<PlainLanes>();
  return kernels;
}

}  // namespace credo
