// The constants are measured on one Zen 3 core. Only their ratios matter, and near a crossing
// either kernel will do: with AVX2 popcount wins below some 180 cells alone and below some 90 among
// a few siblings, records from about ten siblings on, sparse where cells are more than about a
// hundred times the rows.
#include "count/kernel_choice.hpp"

#include <algorithm>
#include <cmath>

#include "count/kernels.hpp"

namespace credo {
namespace {

constexpr double kCallNs = 8;       // to start and sum up a row of masks, each block
constexpr double kBlockUnits = 32;  // mask units in a block
constexpr double kIndexNs = 0.07;   // to extend one row's index by a variable
constexpr double kPackNs = 0.06;    // to push a digit on one row's packed code
constexpr double kMarginNs = 1;     // to sum up one cell of a joint table
constexpr double kMemberNs = 200;   // to set up and take apart a group, each set
constexpr double kDigitNs = 0.3;    // to extend one row's key by a variable
constexpr double kGroupsNs = 5000;  // to set up a hash table of groups
constexpr double kFillNs = 0.4;     // to make one row's record, shared by some ten calls
constexpr double kRecordNs = 2.1;   // to sort one row's record into its bucket, and to add it up
constexpr double kManyNs = 0.6;     // the same, more, with more than 256 buckets
constexpr double kVeryManyNs = 3;   // or with more than 1,024
constexpr double kRunNs = 35;       // to sum up a bucket's records of a block
constexpr double kBucketNs = 20;    // to clear and read a bucket, whether a row is in it or not
constexpr double kTakeNs = 1;       // to take one cell of a table from the buckets
constexpr double kSecond = 0.5;     // of a layer's time, for one that is sorted with another

constexpr double kCached = 1 << 17;  // cells in the second-level cache

// To count one row in a 32-bit table of so many cells.
double increment_ns(double cells) {
  if (cells <= 2048) return 0.47;
  if (cells <= 1 << 14) return 0.6;
  if (cells <= kCached) return 1.0;
  return cells <= 1 << 21 ? 2 : 20;
}

// To clear and read one cell: small tables stay in the cache, large ones are fresh pages.
double cell_ns(double cells) { return cells <= kCached ? 0.8 : 2.5; }
constexpr double kOutputCellNs = 1.3;  // the part of it that the result alone costs

// To find the group of one row among so many.
double group_ns(double groups) {
  if (groups <= 1 << 13) return 9;
  return groups <= kCached ? 35 : 100;
}

}  // namespace

double least_ns(double rows) { return rows * (kIndexNs + increment_ns(1)); }

double table_ns(double rows, double cells) {
  return rows * (kIndexNs + increment_ns(cells)) + cells * cell_ns(cells);
}

double packed_table_ns(double rows, double cells, double variables) {
  return table_ns(rows, cells) + cells * kMarginNs +
         variables * (rows * kPackNs + kMemberNs);
}

double KernelTimes::of(Kernel kernel) const {
  if (kernel == Kernel::kPopcount) return popcount;
  if (kernel == Kernel::kRecords) return records;
  return kernel == Kernel::kHistogram ? histogram : sparse;
}

Kernel KernelTimes::fastest(bool weighted) const {
  if (!weighted && popcount < std::min(histogram, sparse)) return Kernel::kPopcount;
  return histogram <= sparse ? Kernel::kHistogram : Kernel::kSparse;
}

double records_ns(const Columns& columns, std::span<const std::int32_t> prefix,
                  std::span<const std::int32_t> variables) {
  const double rows = static_cast<double>(columns.n_rows());
  double buckets = 1, ns = 0;
  for (const std::int32_t v : prefix) {
    buckets *= columns[v].arity;
    ns += rows * kIndexNs;
  }
  std::vector<bool> used(columns.n_layers());
  for (const std::int32_t v : variables) {
    const double cells = buckets * columns[v].arity;
    ns += cells * (kTakeNs + (cells > kCached ? cell_ns(cells) : 0));
    used[columns.place(v).layer] = true;
  }
  const double block = static_cast<double>(records_block(static_cast<std::size_t>(buckets)));
  const double runs = std::min(rows, std::ceil(rows / block) * buckets);
  const double record_ns =
      kRecordNs + (buckets > 1024 ? kVeryManyNs : buckets > 256 ? kManyNs : 0);
  bool second = false;
  for (std::size_t layer = 0; layer < used.size(); ++layer) {
    if (!used[layer]) continue;
    ns += rows * record_ns * (second ? kSecond : 1.0) + runs * kRunNs + buckets * kBucketNs;
    second = !second;
    if (!columns.has_records(layer)) ns += rows * kFillNs;
  }
  return ns;
}

KernelTimes estimate(const Columns& columns, std::span<const std::int32_t> set, std::size_t shared,
                     const LaneKernels& kernels) {
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
    if (last || i >= shared) times.popcount += mask_ns * counted;
    if (!last && i >= shared) times.histogram += rows * kIndexNs;
    if (!last && i >= shared && i > 0) times.popcount += mask_ns * cells;  // store the masks
  }
  times.sparse =
      kGroupsNs + cells * kOutputCellNs +
      rows * (group_ns(std::min(cells, rows)) + kDigitNs * static_cast<double>(set.size()));
  return times;
}

}  // namespace credo
