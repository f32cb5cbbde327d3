#include "count/moment_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "common/parallel.hpp"

namespace credo {
namespace {

constexpr std::size_t kChunkRows = std::size_t{1} << 16;
constexpr std::size_t kScanRows = std::size_t{1} << 14;

// Marks the rows of one stretch to skip; returns whether there are any.
bool scan(const MomentsInput& in, std::size_t first, std::size_t end, std::uint8_t* skip) {
  for (const double* column : in.columns) {
    double lanes[kRowUnit] = {};  // 0 * x is 0 for every number, so most stretches need no more
    std::size_t r = first;
    for (; r + kRowUnit <= end; r += kRowUnit)
      for (std::size_t k = 0; k < kRowUnit; ++k) lanes[k] += 0.0 * column[r + k];
    for (; r < end; ++r) lanes[0] += 0.0 * column[r];
    if (std::accumulate(lanes, lanes + kRowUnit, 0.0) == 0.0) continue;
    for (r = first; r < end; ++r) skip[r] |= std::isnan(column[r]);
  }
  if (in.weights != nullptr) {
    for (std::size_t r = first; r < end; ++r) {
      if (!(in.weights[r] >= 0) || std::isinf(in.weights[r]))
        throw std::invalid_argument("Weights must be finite and not negative, but weight " +
                                    std::to_string(r) + " is " + std::to_string(in.weights[r]) +
                                    ".");
      skip[r] |= in.weights[r] == 0;
    }
  }
  if (in.group != nullptr) {
    for (std::size_t r = first; r < end; ++r) {
      if (in.group[r] > in.n_groups)
        throw std::invalid_argument("Groups must be at most " + std::to_string(in.n_groups) +
                                    ", but row " + std::to_string(r) + " is of group " +
                                    std::to_string(in.group[r]) + ".");
      skip[r] |= in.group[r] == in.n_groups;
    }
  }
  return std::any_of(skip + first, skip + end, [](std::uint8_t s) { return s != 0; });
}

}  // namespace

OrderedRows order_rows(const MomentsInput& in, int threads) {
  std::vector<std::uint8_t> skip(in.n_rows);
  std::atomic<bool> any{false};
  parallel_for((in.n_rows + kScanRows - 1) / kScanRows, threads, [&](std::size_t i) {
    const std::size_t first = i * kScanRows;
    if (scan(in, first, std::min(first + kScanRows, in.n_rows), skip.data())) any = true;
  });
  OrderedRows ordered;
  if (in.n_groups == 1) {
    ordered.begin = {0, in.n_rows};
    if (!any) return ordered;
    for (std::size_t r = 0; r < in.n_rows; ++r)
      if (!skip[r]) ordered.rows.push_back(static_cast<std::uint32_t>(r));
    ordered.begin[1] = ordered.rows.size();
    return ordered;
  }
  ordered.begin.assign(in.n_groups + 1, 0);
  for (std::size_t r = 0; r < in.n_rows; ++r)
    if (!skip[r]) ++ordered.begin[in.group[r] + 1];
  std::partial_sum(ordered.begin.begin(), ordered.begin.end(), ordered.begin.begin());
  const std::size_t d = in.columns.size();
  ordered.values = BigArray<double>(ordered.begin.back() * d);
  if (in.weights != nullptr) ordered.weights = BigArray<double>(ordered.begin.back());
  std::vector<std::size_t> next(ordered.begin.begin(), ordered.begin.end() - 1);
  for (std::size_t r = 0; r < in.n_rows; ++r) {
    if (skip[r]) continue;
    const std::size_t at = next[in.group[r]]++;
    for (std::size_t j = 0; j < d; ++j) ordered.values[at * d + j] = in.columns[j][r];
    if (in.weights != nullptr) ordered.weights[at] = in.weights[r];
  }
  return ordered;
}

void read_column(const MomentsInput& in, const OrderedRows& ordered, std::size_t j,
                 std::size_t first, std::size_t n, double c, double* z) {
  const double* x = in.columns[j];
  if (!ordered.values.empty()) {
    const std::size_t d = in.columns.size();
    const double* value = ordered.values.data() + first * d + j;
    for (std::size_t i = 0; i < n; ++i) z[i] = value[i * d] - c;
  } else if (!ordered.rows.empty()) {
    for (std::size_t i = 0; i < n; ++i) z[i] = x[ordered.rows[first + i]] - c;
  } else {
    for (std::size_t i = 0; i < n; ++i) z[i] = x[first + i] - c;
  }
}

double weight_at(const MomentsInput& in, const OrderedRows& ordered, std::size_t i) {
  if (in.weights == nullptr) return 1;
  return ordered.weights.empty() ? in.weights[ordered.row(i)] : ordered.weights[i];
}

ChunkPlan::ChunkPlan(const std::vector<std::size_t>& begin) {
  std::size_t run_begin = 0;
  for (std::size_t g = 0; g + 1 < begin.size(); ++g) {
    for (std::size_t b = begin[g]; b < begin[g + 1]; b += kChunkRows) {
      if (chunks.empty() || b >= run_begin + kChunkRows) {
        runs.push_back(chunks.size());
        run_begin = b;
      }
      chunks.push_back({g, b, std::min(b + kChunkRows, begin[g + 1])});
    }
  }
  runs.push_back(chunks.size());
}

}  // namespace credo
