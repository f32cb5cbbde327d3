#include "count/count.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <stdexcept>

#include "common/cpu.hpp"
#include "common/parallel.hpp"
#include "count/group_rows.hpp"
#include "count/kernels.hpp"
#include "count/kernel_choice.hpp"
#include "count/packed_groups.hpp"

namespace credo {
namespace {

constexpr double kThreadNs = 250e3;  // work that is worth a thread, which takes some 0.1 ms to start
constexpr std::size_t kFewUnitsPerThread = 4;  // below this the rows are shared out, not the sets

// What one thread does: some sets by each kernel, over some of the rows.
struct Part {
  std::vector<std::size_t> by_kernel[kKernels];  // positions in sorted order, by Kernel
  RowRange rows;
};

struct Work {
  std::vector<std::size_t> order;  // the sets, sorted
  std::vector<Kernel> kernel;      // of each, in that order
  std::vector<double> ns;
  double total_ns = 1;    // never zero: shares are fractions of it
  std::size_t units = 0;  // sets, or siblings that are counted together
};

Kernel forced_kernel(const std::string& name, bool weighted) {
  if (weighted && (name == "popcount" || name == "records"))
    throw std::invalid_argument("The '" + name + "' kernel counts rows and cannot take weights.");
  if (name == "popcount") return Kernel::kPopcount;
  if (name == "records") return Kernel::kRecords;
  if (name == "histogram") return Kernel::kHistogram;
  if (name == "sparse") return Kernel::kSparse;
  throw std::invalid_argument(
      "The 'kernel' parameter must be 'auto', 'popcount', 'records', "
      "'histogram' or 'sparse', got '" +
      name + "' instead.");
}

// The times of siblings. Where popcounting all of them is quicker than one increment a row, which is
// what any other kernel takes at the least, its time is the only one: the others are infinite.
std::vector<KernelTimes> times_of(const Columns& columns, const SetList& sets,
                                  std::span<const std::size_t> siblings,
                                  std::span<const std::int32_t> before, bool weighted, bool is_free,
                                  const LaneKernels& kernels) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const auto rows = static_cast<double>(columns.n_rows());
  std::vector<KernelTimes> times;
  times.reserve(siblings.size());
  double popcount = 0;
  for (const std::size_t position : siblings) {
    const auto set = sets[position];
    times.push_back(estimate(columns, set, shared_prefix(before, set), kernels));
    popcount += times.back().popcount;
    before = set;
  }
  if (is_free && !weighted && popcount < least_ns(rows)) {
    for (KernelTimes& time : times) time.histogram = time.sparse = time.records = kNever;
    return times;
  }
  if (weighted || siblings.size() == 1) {
    for (std::size_t i = 0; i < times.size(); ++i)
      times[i].histogram +=
          table_ns(rows, static_cast<double>(cells_of(columns, sets[siblings[i]])));
    return times;
  }
  std::vector<std::int32_t> variables;
  for (const std::size_t position : siblings) variables.push_back(sets[position].back());
  const auto prefix = sets[siblings[0]].first(sets[siblings[0]].size() - 1);
  const auto leaves =
      leaf_times(columns, variables, static_cast<double>(cells_of(columns, prefix)), rows);
  for (std::size_t i = 0; i < times.size(); ++i) times[i].histogram += leaves[i];
  return times;
}

// Those that have a record by records, if that is faster than what each was given to.
void take_records(const Columns& columns, const SetList& sets,
                  std::span<const std::size_t> siblings, std::span<KernelTimes> times,
                  std::span<Kernel> kernels) {
  std::vector<std::int32_t> variables;
  std::vector<std::size_t> which;
  double others = 0;
  for (std::size_t i = 0; i < siblings.size(); ++i) {
    if (!has_record(columns, sets[siblings[i]])) continue;
    which.push_back(i);
    variables.push_back(sets[siblings[i]].back());
    others += times[i].of(kernels[i]);
  }
  if (which.empty()) return;
  const auto prefix = sets[siblings[0]].first(sets[siblings[0]].size() - 1);
  const double records = records_ns(columns, prefix, variables);
  if (records >= others) return;
  for (const std::size_t i : which) {
    kernels[i] = Kernel::kRecords;
    times[i].records = records / static_cast<double>(which.size());
  }
}

// Some siblings by popcount and others by histogram walk the prefix twice and break up groups, so
// that such a mix has to pay.
void avoid_mix(std::span<const KernelTimes> times, std::span<Kernel> kernels) {
  constexpr double kMixGain = 0.75;
  double popcount = 0, histogram = 0, mix = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (kernels[i] == Kernel::kSparse) continue;
    popcount += times[i].popcount;
    histogram += times[i].histogram;
    mix += times[i].of(kernels[i]);
  }
  if (mix < kMixGain * std::min(popcount, histogram)) return;
  for (Kernel& kernel : kernels)
    if (kernel != Kernel::kSparse)
      kernel = popcount < histogram ? Kernel::kPopcount : Kernel::kHistogram;
}

Work plan_work(const Columns& columns, const SetList& sets, const CountOptions& options,
               bool weighted, const LaneKernels& kernels) {
  Work work;
  work.order = sorted_order(sets);
  const bool is_free = options.kernel == "auto";
  const Kernel forced = is_free ? Kernel::kPopcount : forced_kernel(options.kernel, weighted);
  work.kernel.reserve(work.order.size());
  work.ns.reserve(work.order.size());
  std::span<const std::int32_t> last;
  for (std::size_t i = 0; i < work.order.size();) {
    const std::size_t end = siblings_end(sets, work.order, i);
    const auto siblings = std::span<const std::size_t>(work.order).subspan(i, end - i);
    std::vector<KernelTimes> times =
        times_of(columns, sets, siblings, last, weighted, is_free, kernels);
    for (std::size_t k = 0; k < siblings.size(); ++k) {
      Kernel kernel = is_free ? times[k].fastest(weighted) : forced;
      if (kernel == Kernel::kRecords && !has_record(columns, sets[siblings[k]]))
        kernel = Kernel::kHistogram;
      work.kernel.push_back(kernel);
    }
    last = sets[siblings.back()];
    const auto chosen = std::span(work.kernel).subspan(i);
    if (is_free && !weighted && times[0].histogram < std::numeric_limits<double>::infinity()) {
      avoid_mix(times, chosen);
      take_records(columns, sets, siblings, times, chosen);
    }
    work.units += std::ranges::any_of(chosen, [](Kernel k) { return k == Kernel::kRecords; })
                      ? 1
                      : end - i;
    for (const KernelTimes& time : times) work.ns.push_back(time.of(work.kernel[work.ns.size()]));
    i = end;
  }
  for (const double ns : work.ns) work.total_ns += ns;
  return work;
}

// Neighbours in sorted order stay together, so that few prefixes are walked twice.
std::vector<Part> share_sets(const Work& work, std::size_t n_parts, std::size_t n_rows,
                             Monitor* monitor) {
  std::vector<Part> parts(n_parts, Part{{}, {0, n_rows, monitor}});
  if (!work.kernel.empty())
    for (Part& part : parts)
      part.by_kernel[static_cast<int>(work.kernel[0])].reserve(work.order.size() / n_parts + 1);
  double before = 0;
  for (std::size_t i = 0; i < work.order.size(); ++i) {
    const double middle = (before + 0.5 * work.ns[i]) / work.total_ns;
    const auto part = static_cast<std::size_t>(middle * static_cast<double>(n_parts));
    parts[std::min(part, n_parts - 1)].by_kernel[static_cast<int>(work.kernel[i])].push_back(
        work.order[i]);
    before += work.ns[i];
  }
  return parts;
}

// Each part takes all sets over its own rows; the sparse kernel always takes all rows.
std::vector<Part> share_rows(const Work& work, std::size_t n_parts, std::size_t n_rows,
                             Monitor* monitor) {
  constexpr std::size_t kUnit = 64 * kMaskUnit;
  const std::size_t units = (n_rows + kUnit - 1) / kUnit;
  std::vector<Part> parts(n_parts);
  for (std::size_t p = 0; p < n_parts; ++p)
    parts[p].rows = {std::min(n_rows, units * p / n_parts * kUnit),
                     std::min(n_rows, units * (p + 1) / n_parts * kUnit), monitor};
  for (std::size_t i = 0; i < work.order.size(); ++i) {
    const int kernel = static_cast<int>(work.kernel[i]);
    if (work.kernel[i] == Kernel::kSparse) {
      parts[i % n_parts].by_kernel[kernel].push_back(work.order[i]);
    } else {
      for (Part& part : parts) part.by_kernel[kernel].push_back(work.order[i]);
    }
  }
  return parts;
}

// The sparse kernel: groups of equal rows, scattered into the dense table.
template <class Cell>
void count_by_groups(const Columns& columns, std::span<const std::int32_t> set, const Cell* weights,
                     const LaneKernels& kernels, Monitor* monitor, Cell* table) {
  const auto groups = group_rows(columns, set, weights, MissingRows::kSkip, -1, kernels, monitor);
  for (std::size_t g = 0; g < groups->weight.size(); ++g) {
    std::size_t cell = 0;
    for (const std::int32_t v : set)
      cell = cell * columns[v].arity + columns.code(v, groups->first_row[g]);
    table[cell] += groups->weight[g];
  }
}

}  // namespace

std::vector<std::size_t> table_offsets(const Columns& columns, const SetList& sets) {
  check_sets(columns, sets);
  std::vector<std::size_t> offsets{0};
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const std::uint64_t cells = cells_of(columns, sets[i]);
    if (cells > kMostCells)
      throw std::invalid_argument("The table of set " + std::to_string(i) +
                                  " would have more than " + std::to_string(kMostCells) +
                                  " cells; use count_sparse for it instead.");
    offsets.push_back(offsets.back() + cells);
  }
  return offsets;
}

template <class Cell>
void count(const Columns& columns, const SetList& sets, const Cell* weights,
           const CountOptions& options, std::span<const std::size_t> offsets, Cell* tables) {
  const LaneKernels& kernels = kernels_for(options.path);
  const bool weighted = weights != nullptr;
  const Work work = plan_work(columns, sets, options, weighted, kernels);
  const auto useful = static_cast<std::size_t>(1 + work.total_ns / kThreadNs);
  const auto asked = static_cast<std::size_t>(options.threads);
  const std::size_t threads = options.kernel == "auto" ? std::min(asked, useful) : asked;
  // Sums of real weights must not depend on the threads: their rows stay together.
  const bool by_rows =
      threads > 1 && std::is_integral_v<Cell> && work.units < kFewUnitsPerThread * threads;
  const std::vector<Part> parts =
      by_rows ? share_rows(work, threads, columns.n_rows(), options.monitor)
              : share_sets(work, threads, columns.n_rows(), options.monitor);
  std::mutex tables_lock;
  const TableSink<Cell> add = [&](std::size_t set, std::size_t first, std::span<const Cell> cells) {
    std::unique_lock guard(tables_lock, std::defer_lock);
    if (threads > 1) guard.lock();
    Cell* out = tables + offsets[set] + first;
    for (std::size_t c = 0; c < cells.size(); ++c) out[c] += cells[c];
  };
  parallel_for(parts.size(), static_cast<int>(threads), [&](std::size_t p) {
    const auto& [by_kernel, rows] = parts[p];
    if constexpr (std::is_integral_v<Cell>) {
      const auto& chosen = by_kernel[static_cast<int>(Kernel::kPopcount)];
      if (!chosen.empty()) count_by_popcount(columns, sets, chosen, rows, kernels, add);
      const auto& siblings = by_kernel[static_cast<int>(Kernel::kRecords)];
      if (!siblings.empty()) count_by_records(columns, sets, siblings, rows, kernels, add);
    }
    const auto& chosen = by_kernel[static_cast<int>(Kernel::kHistogram)];
    if (!chosen.empty()) count_by_histogram(columns, sets, chosen, rows, weights, kernels, add);
    for (const std::size_t set : by_kernel[static_cast<int>(Kernel::kSparse)])
      count_by_groups(columns, sets[set], weights, kernels, rows.monitor, tables + offsets[set]);
  }, options.monitor);
}

template void count(const Columns&, const SetList&, const std::int64_t*, const CountOptions&,
                    std::span<const std::size_t>, std::int64_t*);
template void count(const Columns&, const SetList&, const double*, const CountOptions&,
                    std::span<const std::size_t>, double*);

}  // namespace credo
