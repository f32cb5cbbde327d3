// Two passes, each over rows put in order of group:
//   1. a centre c for each group and column: the mean, or without weights the mean of 1024 or
//      more rows spread over the group;
//   2. with z = x - c:  r = sum w z / n,  mean = c + r,  scatter = sum w z z' - n r r'.
// The identity holds for any c. It loses digits only where n r^2 is large beside the scatter S;
// for the mean of m of the n rows (c - mean)^2 <= S / m (Cauchy-Schwarz), so the loss is at most a
// factor n / m of one rounding. (Chan, Golub and LeVeque 1983, "Algorithms for computing the
// sample variance".)
//
// A group is cut into chunks at fixed places, and chunks are added in order: threads only decide
// who computes a chunk.
#include "count/moments.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "common/parallel.hpp"
#include "count/moment_rows.hpp"

namespace credo {
namespace {

constexpr std::size_t kManyRows = std::size_t{1} << 14;
constexpr std::size_t kCentreRows = 1024;
constexpr std::size_t kTileDoubles = std::size_t{1} << 12;  // 32 kB of centred values at a time
constexpr std::size_t kLeastRows = 128;                     // but no fewer rows than this

// OUT centres [d]: of group g.
void find_centres(const MomentsInput& in, const OrderedRows& ordered, std::size_t g,
                  double* centres) {
  const std::size_t d = in.columns.size();
  const std::size_t n = ordered.begin[g + 1] - ordered.begin[g];
  const std::size_t stride = in.weights != nullptr ? 1 : std::max<std::size_t>(1, n / kCentreRows);
  double weight = 0;
  for (std::size_t i = ordered.begin[g]; i < ordered.begin[g + 1]; i += stride) {
    const double w = weight_at(in, ordered, i);
    weight += w;
    if (!ordered.values.empty()) {
      for (std::size_t j = 0; j < d; ++j) centres[j] += w * ordered.values[i * d + j];
    } else {
      for (std::size_t j = 0; j < d; ++j) centres[j] += w * in.columns[j][ordered.row(i)];
    }
  }
  if (n > 0)
    for (std::size_t j = 0; j < d; ++j) centres[j] /= weight;
}

// Sums over some rows of one group, about the group's centre.
struct Sums {
  double n = 0;
  std::vector<double> first;     // sum w z [d]
  std::vector<double> products;  // sum w z z' [padded d, padded d], lower triangle
};

// Centred values of some rows, and the same times their weights; kept from chunk to chunk.
struct Workspace {
  BigArray<double> centred, weighted;  // whole cache lines
  std::vector<std::size_t> ends;  // of the lower triangle
};

Sums sum_chunk(const MomentsInput& in, const OrderedRows& ordered, const Chunk& chunk,
               const double* centres, const LaneKernels& kernels, Workspace& work) {
  const std::size_t d = in.columns.size();
  const std::size_t padded_d = padded(d, kProductTile);
  const std::size_t size = chunk.end - chunk.begin;
  const std::size_t fitting = kTileDoubles / padded_d / kRowUnit * kRowUnit;
  const std::size_t step = std::min(padded(size, kRowUnit), std::max(fitting, kLeastRows));
  Sums sums{0, std::vector<double>(d), std::vector<double>(padded_d * padded_d)};
  auto& [centred, weighted, ends] = work;
  ends.resize(padded_d);
  std::iota(ends.begin(), ends.end(), std::size_t{1});
  if (centred.size() < padded_d * step) centred = BigArray<double>(padded_d * step);
  if (in.weights != nullptr && weighted.size() < centred.size())
    weighted = BigArray<double>(centred.size());
  for (std::size_t first = chunk.begin; first < chunk.end; first += step) {
    const std::size_t n = std::min(step, chunk.end - first);
    const std::size_t rows = padded(n, kRowUnit);
    for (std::size_t j = 0; j < padded_d; ++j) {
      double* z = centred.data() + j * rows;
      if (j < d) read_column(in, ordered, j, first, n, centres[j], z);
      std::fill(z + (j < d ? n : 0), z + rows, 0.0);
    }
    const double* right = centred.data();
    if (in.weights != nullptr) {
      for (std::size_t i = 0; i < n; ++i) {
        const double w = weight_at(in, ordered, first + i);
        sums.n += w;
        for (std::size_t j = 0; j < padded_d; ++j)
          weighted[j * rows + i] = w * centred[j * rows + i];
      }
      for (std::size_t j = 0; j < padded_d; ++j)
        std::fill(weighted.data() + j * rows + n, weighted.data() + (j + 1) * rows, 0.0);
      right = weighted.data();
    } else {
      sums.n += static_cast<double>(n);
    }
    for (std::size_t j = 0; j < d; ++j) {
      double lanes[kRowUnit] = {};
      for (std::size_t i = 0; i < rows; i += kRowUnit)
        for (std::size_t k = 0; k < kRowUnit; ++k) lanes[k] += right[j * rows + i + k];
      sums.first[j] += std::accumulate(lanes, lanes + kRowUnit, 0.0);
    }
    kernels.add_products(centred.data(), padded_d, right, padded_d, rows, work.ends.data(),
                         sums.products.data());
  }
  return sums;
}

void add(const Sums& from, Sums& to) {
  to.n += from.n;
  std::transform(from.first.begin(), from.first.end(), to.first.begin(), to.first.begin(),
                 std::plus<>());
  std::transform(from.products.begin(), from.products.end(), to.products.begin(),
                 to.products.begin(), std::plus<>());
}

void finish(const Sums& sums, const double* centres, std::size_t d, std::size_t g,
            const MomentsOutput& out) {
  const std::size_t padded_d = padded(d, kProductTile);
  double* scatter = out.scatter + g * d * d;
  out.n[g] = sums.n;
  for (std::size_t i = 0; i < d; ++i) {
    out.mean[g * d + i] = centres[i] + sums.first[i] / sums.n;
    for (std::size_t j = 0; j <= i; ++j) {
      const double value =
          sums.products[i * padded_d + j] - sums.first[i] * (sums.first[j] / sums.n);
      scatter[i * d + j] = scatter[j * d + i] = i == j ? std::max(value, 0.0) : value;
    }
  }
}

}  // namespace

void moments(const MomentsInput& in, const LaneKernels& kernels, int threads,
             const MomentsOutput& out) {
  if (in.n_rows > 0xFFFFFFFF)
    throw std::invalid_argument("moments takes at most 2^32 - 1 rows at a time.");
  const std::size_t d = in.columns.size();
  const OrderedRows ordered = order_rows(in, threads);

  std::vector<double> centres(in.n_groups * d);
  // To start a thread costs more than the centres of a few thousand rows.
  parallel_for(in.n_groups, in.n_rows > kManyRows ? threads : 1,
               [&](std::size_t g) { find_centres(in, ordered, g, centres.data() + g * d); });

  // A group of one chunk is finished by its task; the parts of a larger group wait until all are
  // there.
  const ChunkPlan plan(ordered.begin);
  const std::vector<Chunk>& chunks = plan.chunks;
  std::vector<Sums> parts(chunks.size());
  parallel_for(plan.n_runs(), threads, [&](std::size_t run) {
    Workspace work;
    for (std::size_t i = plan.runs[run]; i < plan.runs[run + 1]; ++i) {
      const Chunk& chunk = chunks[i];
      const double* c = centres.data() + chunk.group * d;
      Sums sums = sum_chunk(in, ordered, chunk, c, kernels, work);
      if (whole_group(chunk, ordered))
        finish(sums, c, d, chunk.group, out);
      else
        parts[i] = std::move(sums);
    }
  });
  for (std::size_t i = 0; i < chunks.size();) {
    const std::size_t g = chunks[i].group;
    const bool pending = !whole_group(chunks[i], ordered);
    Sums& sums = parts[i];
    for (++i; i < chunks.size() && chunks[i].group == g; ++i) add(parts[i], sums);
    if (pending) finish(sums, centres.data() + g * d, d, g, out);
  }
}

}  // namespace credo
