// The loops themselves; the includer says for which instruction set. No standard containers here:
// an inline function compiled with AVX2 must not be the copy the linker keeps for all.
#include "naive/codes_impl.hpp"
#include "naive/finish_impl.hpp"
#include "naive/numbers_impl.hpp"
#include "naive/sparse_impl.hpp"

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

// One row, 4 N classes from `first` on: INOUT joint [classes] += the terms of groups `begin` to
// `end`, whose members begin at `m`.
template <std::size_t N>
void add_groups(const ScoreTerms& t, const std::uint16_t* place, std::size_t place_step,
                const std::uint16_t* code, std::size_t code_step, std::size_t begin,
                std::size_t end, std::size_t m, std::size_t first, double* joint) {
  Four sum[N];
  for (std::size_t k = 0; k < N; ++k) sum[k] = four(joint + first + 4 * k);
  const double* tables = t.tables + first;
  for (std::size_t g = begin; g < end; ++g) {
    if (t.member == nullptr) {
      const double* row = tables + t.offset[g] + place[g * place_step] * t.classes;
      for (std::size_t k = 0; k < N; ++k) sum[k] += four(row + 4 * k);
      continue;
    }
    const auto row = [&](std::size_t i) {
      return tables + t.member_offset[i] + code[t.member[i] * code_step] * t.classes;
    };
    Four group[N];
    for (std::size_t k = 0; k < N; ++k) group[k] = four(row(m) + 4 * k);
    for (++m; m < t.member_end[g]; ++m)
      for (std::size_t k = 0; k < N; ++k) group[k] += four(row(m) + 4 * k);
    for (std::size_t k = 0; k < N; ++k) sum[k] += group[k];
  }
  for (std::size_t k = 0; k < N; ++k) four(joint + first + 4 * k) = sum[k];
}

// Doubles of tables that stay in the second cache (128 kB), and in the first (32 kB).
constexpr std::size_t kHeldNear = std::size_t{1} << 14, kHeldNearest = std::size_t{1} << 12;

// Any number of classes: groups in blocks whose tables stay in the cache for all rows.
bool score_wide(const ScoreTerms& t, const ScoreTile& tile, std::size_t n, double* joint) {
  const std::size_t c = t.classes;
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t k = 0; k < c; k += 4) four(joint + r * c + k) = four(t.bias + k);
  const auto member = [&](std::size_t g) { return g == 0 ? 0 : t.member_end[g - 1]; };
  const auto offset = [&](std::size_t g) {
    return t.member == nullptr ? t.offset[g] : t.member_offset[member(g)];
  };
  for (std::size_t begin = 0, end = 0; begin < t.n_group; begin = end) {
    for (++end; end < t.n_group && offset(end) - offset(begin) < kHeldNear;) ++end;
    const std::size_t m = t.member == nullptr ? 0 : member(begin);
    for (std::size_t r = 0; r < n; ++r) {
      const std::uint16_t* place = tile.places.data + r * tile.places.row;
      const std::uint16_t* code = tile.codes.data + r * tile.codes.row;
      const auto add = [&]<std::size_t N>(std::size_t k) {
        add_groups<N>(t, place, tile.places.column, code, tile.codes.column, begin, end, m, k,
                      joint + r * c);
      };
      std::size_t k = 0;
      for (; k + 16 <= c; k += 16) add.template operator()<4>(k);
      for (; k + 8 <= c; k += 8) add.template operator()<2>(k);
      if (k < c) add.template operator()<1>(k);
    }
  }
  bool endless = false;
  for (std::size_t r = 0; r < n; ++r, joint += c) {
    const std::uint16_t* code = tile.codes.data + r * tile.codes.row;
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
                std::size_t first, std::size_t begin, std::size_t end) {
  Four sum[R][N];
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t k = 0; k < N; ++k) sum[r][k] = four(joint + r * t.classes + first + 4 * k);
  for (std::size_t j = begin; j < end; ++j) {
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

// 4 N classes from `k` on, of all rows.
template <std::size_t N, bool kRuled>
void add_counts(const ScoreTerms& t, const double* counts, std::size_t stride, std::size_t n,
                double* joint, std::size_t k, std::size_t begin, std::size_t end) {
  constexpr std::size_t kRows = N == 1 ? 8 : 4;  // sums that need not wait for each other
  std::size_t r = 0;
  for (; r + kRows <= n; r += kRows)
    add_counts<kRows, N, kRuled>(t, counts + r * stride, stride, joint + r * t.classes, k, begin,
                                 end);
  for (; r < n; ++r)
    add_counts<1, N, kRuled>(t, counts + r * stride, stride, joint + r * t.classes, k, begin, end);
}

template <bool kRuled>
void add_counts(const ScoreTerms& t, const double* counts, std::size_t stride, std::size_t n,
                double* joint) {
  const std::size_t block = kHeldNearest / t.classes + 1;  // columns whose weights stay there
  for (std::size_t begin = 0, end; begin < t.n_count; begin = end) {
    end = begin + block < t.n_count ? begin + block : t.n_count;
    std::size_t k = 0;
    for (; k + 12 <= t.classes; k += 12)
      add_counts<3, kRuled>(t, counts, stride, n, joint, k, begin, end);
    for (; k + 8 <= t.classes; k += 8)
      add_counts<2, kRuled>(t, counts, stride, n, joint, k, begin, end);
    if (k < t.classes) add_counts<1, kRuled>(t, counts, stride, n, joint, k, begin, end);
  }
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

void few_moments(const double* values, std::size_t stride, const std::uint32_t* rows,
                 const double* weights, std::size_t n, std::size_t width, double* mean,
                 double* scatter) {
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) total += weights == nullptr ? 1.0 : weights[rows[i]];
  const double weight = total > 0 ? total : 1.0;
  const auto moments = [&]<class Number>(Number zero, std::size_t j) {
    const auto at = [&](std::size_t i) {
      Number x;
      __builtin_memcpy(&x, values + rows[i] * stride + j, sizeof x);
      return x;
    };
    Number sum = zero, first = zero, second = zero;
    for (std::size_t i = 0; i < n; ++i) sum += (weights == nullptr ? 1.0 : weights[rows[i]]) * at(i);
    const Number centre = sum / weight;
    for (std::size_t i = 0; i < n; ++i) {
      const Number z = at(i) - centre, wz = (weights == nullptr ? 1.0 : weights[rows[i]]) * z;
      first += wz;
      second += wz * z;
    }
    const Number off = first / weight, middle = centre + off, rest = second - first * off,
                 spread = rest < zero ? zero : rest;
    __builtin_memcpy(mean + j, &middle, sizeof middle);
    __builtin_memcpy(scatter + j, &spread, sizeof spread);
  };
  std::size_t j = 0;
  for (; j + 4 <= width; j += 4) moments(Four{0, 0, 0, 0}, j);
  for (; j < width; ++j) moments(0.0, j);
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
    few_moments,
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
