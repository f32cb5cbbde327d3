// The constants are measured with benchmarks on one Zen 3 core. Only their ratios matter, and
// near a crossing either kernel will do.
#include "kernel_choice.hpp"

#include <algorithm>
#include <cmath>

namespace credo {
namespace {

constexpr double kCallNs = 4;        // to start and sum up a row of masks, each block
constexpr double kBlockUnits = 32;   // mask units in a block
constexpr double kIndexNs = 0.12;    // to extend one row's index by a variable
constexpr double kCellNs = 0.8;      // to clear, sum and copy one cell of a histogram
constexpr double kSparseRowNs = 12;  // to pack a row's key and find its group
constexpr double kSparseDigitNs = 0.4;

// One increment, by where the 32-bit table lives.
double increment_ns(double cells) {
  if (cells <= 2048) return 0.5;
  if (cells <= 1 << 16) return 0.8;
  if (cells <= 1 << 20) return 1.5;
  return 5;
}

}  // namespace

double KernelTimes::of(Kernel kernel) const {
  if (kernel == Kernel::kPopcount) return popcount;
  return kernel == Kernel::kHistogram ? histogram : sparse;
}

Kernel KernelTimes::fastest(bool weighted) const {
  if (!weighted && popcount < std::min(histogram, sparse)) return Kernel::kPopcount;
  return histogram <= sparse ? Kernel::kHistogram : Kernel::kSparse;
}

KernelTimes estimate(const Columns& columns, std::span<const std::int32_t> set,
                     std::size_t shared, const LaneKernels& kernels) {
  const double rows = static_cast<double>(columns.n_rows());
  const double units = std::ceil(rows / (64 * kMaskUnit));
  const double mask_ns = units * kernels.count_unit_ns + std::ceil(units / kBlockUnits) * kCallNs;

  KernelTimes times{0, 0, 0};
  double cells = 1;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const CodeView& column = columns[set[i]];
    const double counted = cells * (column.missing ? column.arity : column.arity - 1);
    cells *= column.arity;
    const bool last = i + 1 == set.size();
    if (last || i >= shared) {
      times.popcount += mask_ns * counted;
      times.histogram += rows * kIndexNs;
    }
    if (!last && i >= shared && i > 0) times.popcount += mask_ns * cells;  // store the masks
  }
  times.histogram += rows * increment_ns(cells) + cells * kCellNs;
  times.sparse = rows * (kSparseRowNs + kSparseDigitNs * static_cast<double>(set.size()));
  return times;
}

}  // namespace credo
