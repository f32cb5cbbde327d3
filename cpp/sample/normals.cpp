#include "sample/normals.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "common/parallel.hpp"
#include "common/random.hpp"

namespace credo::sample {
namespace {

// 53 bits as a number in (0, 1].
double unit(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = ((std::uint64_t{high} << 32) | low) >> 11;
  return static_cast<double>(bits + 1) * 0x1p-53;
}

}  // namespace

void normals(std::uint64_t seed, std::uint32_t stream, std::uint64_t first, std::size_t rows,
             int threads, Monitor& monitor, double* z) {
  if (rows == 0) return;
  constexpr std::uint64_t kPairs = 8192;  // of a task
  const std::uint64_t begin = first / 2, end = (first + rows + 1) / 2;
  parallel_for((end - begin + kPairs - 1) / kPairs, threads, [&](std::size_t task) {
    monitor.poll();
    const std::uint64_t from = begin + task * kPairs, to = std::min(end, from + kPairs);
    for (std::uint64_t pair = from; pair < to; ++pair) {
      const random::Words words = random::bits(seed, pair, stream, random::kNormal);
      const double radius = std::sqrt(-2.0 * std::log(unit(words[0], words[1])));
      const double angle = 2.0 * std::numbers::pi * unit(words[2], words[3]);
      if (2 * pair >= first) z[2 * pair - first] = radius * std::cos(angle);
      if (2 * pair + 1 >= first && 2 * pair + 1 < first + rows)
        z[2 * pair + 1 - first] = radius * std::sin(angle);
    }
  });
}

}  // namespace credo::sample
