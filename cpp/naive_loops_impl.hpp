// The loops themselves; the includer says for which instruction set. No standard containers here:
// an inline function compiled with AVX2 must not be the copy the linker keeps for all.
#include "naive_codes_impl.hpp"
#include "naive_finish_impl.hpp"
#include "naive_numbers_impl.hpp"
#include "naive_sparse_impl.hpp"

namespace credo::naive {
namespace {

constexpr double kFarthest = 1e290;  // a squared distance stays finite, so that classes cancel

// The Gaussian terms of one row that has a gap, or lies beyond what doubles can hold: INOUT sum
// [classes]. Returns whether a number is infinite.
bool add_reals(const ScoreTerms& t, const double* reals, double* sum) {
  bool endless = false;
  for (std::size_t j = 0; j < t.n_real; ++j) {
    const double x = reals[j];
    if (x != x) continue;
    endless |= x - x != 0;
    for (std::size_t k = 0; k < t.classes; ++k) {
      const double z = x - t.centre[j * t.classes + k];
      const double far = z * z * t.half[j * t.classes + k];
      sum[k] += t.constant[j * t.classes + k] - (far < kFarthest ? far : kFarthest);
    }
  }
  return endless;
}

template <std::size_t N>
bool score_rows(const ScoreTerms& t, const ScoreTile& tile, std::size_t n, double* joint) {
  const Four zero = {0, 0, 0, 0};
  bool endless = false;
  for (std::size_t r = 0; r < n; ++r) {
    Four sum[N];
    for (std::size_t k = 0; k < N; ++k) sum[k] = four(t.bias + 4 * k);
    const std::uint16_t* code = tile.codes.data + r * tile.codes.row;
    if (t.member == nullptr) {
      const std::uint16_t* place = tile.places.data + r * tile.places.row;
      for (std::size_t g = 0; g < t.n_group; ++g, place += tile.places.column) {
        const double* row = t.tables + t.offset[g] + std::size_t{*place} * (4 * N);
        for (std::size_t k = 0; k < N; ++k) sum[k] += four(row + 4 * k);
      }
    } else {  // each group by itself, as its table would have it
      for (std::size_t g = 0, m = 0; g < t.n_group; ++g) {
        const auto row = [&](std::size_t i) {
          const std::size_t at = code[t.member[i] * tile.codes.column];
          return t.tables + t.member_offset[i] + at * (4 * N);
        };
        Four group[N];
        for (std::size_t k = 0; k < N; ++k) group[k] = four(row(m) + 4 * k);
        for (++m; m < t.member_end[g]; ++m)
          for (std::size_t k = 0; k < N; ++k) group[k] += four(row(m) + 4 * k);
        for (std::size_t k = 0; k < N; ++k) sum[k] += group[k];
      }
    }
    for (std::size_t j = 0; j < t.n_pair; ++j) {
      const std::size_t a = code[t.pair_a[j] * tile.codes.column];
      const std::size_t at = a * t.pair_rows[j] + code[t.pair_b[j] * tile.codes.column];
      const double* row = t.tables + t.pair_offset[j] + at * (4 * N);
      for (std::size_t k = 0; k < N; ++k) sum[k] += four(row + 4 * k);
    }
    if (t.n_real > 0) {
      const double* reals = tile.reals + r * tile.real_stride;
      Four far[N];
      for (std::size_t k = 0; k < N; ++k) far[k] = zero;
      for (std::size_t j = 0; j < t.n_real; ++j)
        for (std::size_t k = 0; k < N; ++k) {
          const std::size_t at = j * (4 * N) + 4 * k;
          const Four z = reals[j] - four(t.centre + at);
          far[k] += z * four(t.half + at) * z;
        }
      bool near = true;  // false for NaN too
      for (std::size_t k = 0; k < N; ++k)
        for (std::size_t i = 0; i < 4; ++i) near &= far[k][i] < kFarthest;
      if (near) {
        for (std::size_t k = 0; k < N; ++k) sum[k] += four(t.constants + 4 * k) - far[k];
      } else {
        double held[4 * N];
        for (std::size_t k = 0; k < N; ++k) four(held + 4 * k) = sum[k];
        endless |= add_reals(t, reals, held);
        for (std::size_t k = 0; k < N; ++k) sum[k] = four(held + 4 * k);
      }
    }
    for (std::size_t k = 0; k < N; ++k) four(joint + (r * N + k) * 4) = sum[k];
  }
  return endless;
}

// Any number of classes, four at a time.
bool score_wide(const ScoreTerms& t, const ScoreTile& tile, std::size_t n, double* joint) {
  const std::size_t c = t.classes;
  bool endless = false;
  for (std::size_t r = 0; r < n; ++r, joint += c) {
    for (std::size_t k = 0; k < c; ++k) joint[k] = t.bias[k];
    const std::uint16_t* code = tile.codes.data + r * tile.codes.row;
    const std::uint16_t* place = tile.places.data + r * tile.places.row;
    for (std::size_t g = 0, m = 0; g < t.n_group; ++g, place += tile.places.column) {
      if (t.member == nullptr) {
        const double* row = t.tables + t.offset[g] + std::size_t{*place} * c;
        for (std::size_t k = 0; k < c; ++k) joint[k] += row[k];
        continue;
      }
      const std::size_t first = m, last = t.member_end[g];
      const auto row = [&](std::size_t i) {
        return t.tables + t.member_offset[i] + code[t.member[i] * tile.codes.column] * c;
      };
      for (std::size_t k = 0; k < c; k += 4) {
        Four group = four(row(first) + k);
        for (m = first + 1; m < last; ++m) group += four(row(m) + k);
        four(joint + k) += group;
      }
      m = last;
    }
    for (std::size_t j = 0; j < t.n_pair; ++j) {
      const std::size_t a = code[t.pair_a[j] * tile.codes.column];
      const std::size_t at = a * t.pair_rows[j] + code[t.pair_b[j] * tile.codes.column];
      const double* row = t.tables + t.pair_offset[j] + at * c;
      for (std::size_t k = 0; k < c; ++k) joint[k] += row[k];
    }
    endless |= add_reals(t, tile.reals + r * tile.real_stride, joint);
  }
  return endless;
}

// R rows and N vectors of classes at a time: INOUT joint [R][classes] += counts x weights. A word
// that a class rules out (kRuled) says so only where it stands.
template <std::size_t R, std::size_t N, bool kRuled>
void add_counts(const ScoreTerms& t, const double* counts, std::size_t stride, double* joint,
                std::size_t first) {
  Four sum[R][N];
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t k = 0; k < N; ++k) sum[r][k] = four(joint + r * t.classes + first + 4 * k);
  for (std::size_t j = 0; j < t.n_count; ++j) {
    const double* weights = t.weights + j * t.classes + first;
    for (std::size_t r = 0; r < R; ++r) {
      const double x = counts[r * stride + j];
      if (kRuled && x == 0) continue;
      for (std::size_t k = 0; k < N; ++k) sum[r][k] += x * four(weights + 4 * k);
    }
  }
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t k = 0; k < N; ++k) four(joint + r * t.classes + first + 4 * k) = sum[r][k];
}

template <std::size_t R, bool kRuled>
void add_counts(const ScoreTerms& t, const double* counts, std::size_t stride, double* joint) {
  std::size_t k = 0;
  for (; k + 8 <= t.classes; k += 8) add_counts<R, 2, kRuled>(t, counts, stride, joint, k);
  if (k < t.classes) add_counts<R, 1, kRuled>(t, counts, stride, joint, k);
}

template <bool kRuled>
void add_counts(const ScoreTerms& t, const double* counts, std::size_t stride, std::size_t n,
                double* joint) {
  std::size_t r = 0;
  for (; t.classes == 4 && r + 8 <= n; r += 8)  // more rows: sums that need not wait for each other
    add_counts<8, 1, kRuled>(t, counts + r * stride, stride, joint + r * 4, 0);
  for (; r + 4 <= n; r += 4)
    add_counts<4, kRuled>(t, counts + r * stride, stride, joint + r * t.classes);
  for (; r < n; ++r) add_counts<1, kRuled>(t, counts + r * stride, stride, joint + r * t.classes);
}

bool score(const ScoreTerms& t, const ScoreTile& tile, std::size_t n, double* joint) {
  bool endless = false;
  switch (t.classes / kClassUnit) {
    case 1: endless = score_rows<1>(t, tile, n, joint); break;
    case 2: endless = score_rows<2>(t, tile, n, joint); break;
    case 3: endless = score_rows<3>(t, tile, n, joint); break;
    case 4: endless = score_rows<4>(t, tile, n, joint); break;
    default: endless = score_wide(t, tile, n, joint);
  }
  if (t.n_count > 0 && t.impossible_words)
    add_counts<true>(t, tile.counts, tile.count_stride, n, joint);
  else if (t.n_count > 0)
    add_counts<false>(t, tile.counts, tile.count_stride, n, joint);
  return endless;
}

void add_moments(const double* values, std::size_t stride, const std::uint32_t* group,
                 const double* weights, const double* centre, std::size_t n, std::size_t width,
                 std::size_t groups, double* weight, double* first, double* second) {
  const Four zero = {0, 0, 0, 0};
  for (std::size_t r = 0; r < n; ++r, values += stride) {
    if (group[r] >= groups) continue;
    const double w = weights == nullptr ? 1.0 : weights[r];
    const Four all = {w, w, w, w};
    const std::size_t at = group[r] * width;
    std::size_t j = 0;
    for (; j + 4 <= width; j += 4) {
      const Four x = four(values + j);
      const Four wj = x == x ? all : zero;
      const Four z = x == x ? x - four(centre + at + j) : zero;
      const Four wz = wj * z;
      four(weight + at + j) += wj;
      four(first + at + j) += wz;
      four(second + at + j) += wz * z;
    }
    for (; j < width; ++j) {
      const double x = values[j];
      const bool there = x == x;
      const double wj = there ? w : 0.0;
      const double z = there ? x - centre[at + j] : 0.0;
      weight[at + j] += wj;
      first[at + j] += wj * z;
      second[at + j] += wj * z * z;
    }
  }
}

void add_spreads(const double* values, std::size_t stride, const std::uint32_t* group,
                 const double* weights, const double* centre, std::size_t n, std::size_t width,
                 std::size_t groups, double* first, double* second) {
  for (std::size_t r = 0; r < n; ++r, values += stride) {
    if (group[r] >= groups) continue;
    const double w = weights == nullptr ? 1.0 : weights[r];
    const std::size_t at = group[r] * width;
    std::size_t j = 0;
    for (; j + 4 <= width; j += 4) {
      const Four z = four(values + j) - four(centre + at + j);
      const Four wz = w * z;
      four(first + at + j) += wz;
      four(second + at + j) += wz * z;
    }
    for (; j < width; ++j) {
      const double z = values[j] - centre[at + j];
      first[at + j] += w * z;
      second[at + j] += w * z * z;
    }
  }
}

void add_totals(const double* values, std::size_t stride, const std::uint32_t* group,
                const double* weights, std::size_t n, std::size_t width, std::size_t groups,
                double* totals) {
  for (std::size_t r = 0; r < n; ++r, values += stride) {
    if (group[r] >= groups) continue;
    const double w = weights == nullptr ? 1.0 : weights[r];
    double* sum = totals + group[r] * width;
    std::size_t j = 0;
    for (; j + 4 <= width; j += 4) four(sum + j) += w * four(values + j);
    for (; j < width; ++j) sum[j] += w * values[j];
  }
}

constexpr Loops kLoops = {
    score,
    add_codes,
    normalise,
    best,
    logarithms,
    add_moments,
    add_spreads,
    add_totals,
    turn_columns<double>,
    turn_columns<std::int64_t>,
    are_counts,
    usual_moments,
    {window_codes<std::int64_t>, window_codes<double>},
    {above_places<std::int64_t>, above_places<double>},
    {column_codes<std::int8_t, std::uint32_t>, column_codes<std::int16_t, std::uint32_t>,
     column_codes<std::int32_t, std::uint32_t>, column_codes<std::int64_t, std::uint64_t>,
     column_codes<std::uint8_t, std::uint32_t>, column_codes<std::uint16_t, std::uint32_t>},
    whole_counts,
    {{sparse_scores<std::int32_t, double>, sparse_scores<std::int32_t, float>,
      sparse_scores<std::int32_t, std::int64_t>, sparse_scores<std::int32_t, std::int32_t>},
     {sparse_scores<std::int64_t, double>, sparse_scores<std::int64_t, float>,
      sparse_scores<std::int64_t, std::int64_t>, sparse_scores<std::int64_t, std::int32_t>}}};

}  // namespace
}  // namespace credo::naive
