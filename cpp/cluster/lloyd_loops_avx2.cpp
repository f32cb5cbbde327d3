// The loop with four doubles at a time and fused multiply-add: four rows and eight centres at once.
//
// |x - c|^2 = |x|^2 - 2 (x c - |c|^2 / 2): the nearest centre has the least |c|^2 / 2 - x c. Where
// that would lose too many digits, `differ` sums (x - c)^2 itself.
#include "cluster/lloyd_loops.hpp"

#if defined(__x86_64__)

#pragma GCC push_options
#pragma GCC target("avx2,fma")

#include "common/four_doubles.hpp"

namespace credo::lloyd {
namespace {

// The scores of four rows against `N` fours of centres from c on.
template <bool kDiffer, std::size_t N>
[[gnu::always_inline]] inline void scores_of(const double* room, const Centres& centres,
                                             std::size_t width, std::size_t wide, std::size_t c,
                                             Four (&score)[4][N]) {
  for (int r = 0; r < 4; ++r)
    for (std::size_t n = 0; n < N; ++n) score[r][n] = four(centres.half + c + 4 * n);
  const double* column = centres.columns + c;
  for (std::size_t j = 0; j < centres.d; ++j, column += wide)
    for (int r = 0; r < 4; ++r) {
      const Four cell = all(room[r * width + j]);
      for (std::size_t n = 0; n < N; ++n) {
        const Four centre = four(column + 4 * n);
        if constexpr (kDiffer) {
          score[r][n] += (cell - centre) * (cell - centre);
        } else {
          score[r][n] -= cell * centre;
        }
      }
    }
}

// What is kept of the scores of four rows, a lane for each centre of a four; `settle` puts a row in
// each lane.
struct Best {  // the least score and whose it is
  Four least[4];
  FourBits whose[4];

  Best() {
    for (int r = 0; r < 4; ++r) least[r] = all(__builtin_inf()), whose[r] = FourBits{};
  }
  [[gnu::always_inline]] void see(int r, Four score, std::size_t first) {
    const auto c = static_cast<std::int64_t>(first);
    const FourBits number = {c, c + 1, c + 2, c + 3};
    const auto less = score < least[r];
    least[r] = less ? score : least[r];
    whose[r] = less ? number : whose[r];
  }
  [[gnu::always_inline]] FourBits settle() {
    transpose(least[0], least[1], least[2], least[3]);
    Four at[4];
    for (int r = 0; r < 4; ++r) at[r] = (Four)whose[r];
    transpose(at[0], at[1], at[2], at[3]);
    Four best = least[0];
    FourBits out = (FourBits)at[0];
    for (int lane = 1; lane < 4; ++lane) {
      const FourBits number = (FourBits)at[lane];
      const auto better = (least[lane] < best) | ((least[lane] == best) & (number < out));
      best = better ? least[lane] : best;
      out = better ? number : out;
    }
    return out;
  }
};

struct Two {  // the least two scores
  Four least[4], second[4];

  Two() {
    for (int r = 0; r < 4; ++r) least[r] = second[r] = all(__builtin_inf());
  }
  [[gnu::always_inline]] void see(int r, Four score, std::size_t) {
    const Four larger = score < least[r] ? least[r] : score;
    least[r] = score < least[r] ? score : least[r];
    second[r] = larger < second[r] ? larger : second[r];
  }
  // By how much the second is larger.
  [[gnu::always_inline]] Four settle() {
    transpose(least[0], least[1], least[2], least[3]);
    transpose(second[0], second[1], second[2], second[3]);
    Four best = least[0], next = second[0];
    for (int lane = 1; lane < 4; ++lane) {
      const Four larger = least[lane] < best ? best : least[lane];
      best = least[lane] < best ? least[lane] : best;
      const Four other = second[lane] < next ? second[lane] : next;
      next = larger < other ? larger : other;
    }
    return next - best;
  }
};

template <class Kept, bool kDiffer, std::size_t N>
[[gnu::always_inline]] inline void compare(const double* room, const Centres& centres,
                                           std::size_t width, std::size_t wide, std::size_t c,
                                           Kept& kept) {
  Four score[4][N];
  scores_of<kDiffer, N>(room, centres, width, wide, c, score);
  for (std::size_t n = 0; n < N; ++n)
    for (int r = 0; r < 4; ++r) kept.see(r, score[r][n], c + 4 * n);
}

template <class Kept, bool kDiffer>
[[gnu::always_inline]] inline auto compared(const double* room, const Centres& centres,
                                            std::size_t width, std::size_t wide) {
  Kept kept;
  std::size_t c = 0;
  for (; c + 12 <= wide; c += 12) compare<Kept, kDiffer, 3>(room, centres, width, wide, c, kept);
  if (c + 8 <= wide) {
    compare<Kept, kDiffer, 2>(room, centres, width, wide, c, kept);
  } else if (c < wide) {
    compare<Kept, kDiffer, 1>(room, centres, width, wide, c, kept);
  }
  return kept.settle();
}

// OUT room: the next rows less the shift.
[[gnu::always_inline]] inline void lay(const double* x, std::size_t here, std::size_t d,
                                       std::size_t width, const double* shift, double* room) {
  for (std::size_t r = 0; r < here; ++r) {
    const double* row = x + r * d;
    double* out = room + r * width;
    std::size_t j = 0;
    for (; j + 4 <= d; j += 4) four(out + j) = four(row + j) - four(shift + j);
    for (; j < d; ++j) out[j] = row[j] - shift[j];
  }
}

template <bool kWeighted, bool kDiffer>
void assign_some(const double* x, std::size_t n, const double* shift, const double* weights,
                 const Centres& centres, const std::int64_t* before, std::int64_t* labels,
                 double* room, Part& part) {
  const std::size_t d = centres.d, width = padded(d), wide = padded(centres.k);
  Four objective[4] = {all(0), all(0), all(0), all(0)};
  FourBits moved = {};
  double *const sums = part.sums, *const mass = part.mass;
  std::int64_t* const rows = part.rows;
  const double* const at_rows = centres.rows;
  for (std::size_t j = 0; j < 4 * width; ++j) room[j] = 0;
  const auto step = [&](std::size_t i, std::size_t here) __attribute__((always_inline)) {
    lay(x + i * d, here, d, width, shift, room);
    const FourBits at = compared<Best, kDiffer>(room, centres, width, wide);
    if (here == 4) {
      moved -= at != *reinterpret_cast<const FourBits*>(before + i);
      *reinterpret_cast<FourBits*>(labels + i) = at;
    }
#pragma GCC unroll 4
    for (std::size_t r = 0; r < here; ++r) {
      const std::int64_t c = at[r];
      if (here != 4) moved[0] += c != before[i + r], labels[i + r] = c;
      rows[c] += 1;
      const double w = kWeighted ? weights[i + r] : 1.0;
      if (kWeighted) mass[c] += w;
      const double* row = room + r * width;
      const double* centre = at_rows + c * width;
      double* sum = sums + c * width;
      Four squares = all(0);
      for (std::size_t j = 0; j < width; j += 4) {
        const Four cell = four(row + j), away = cell - four(centre + j);
        const Four way = kDiffer ? away : cell;
        four(sum + j) += kWeighted ? w * way : way;
        squares += away * away;
      }
      objective[r] += kWeighted ? w * squares : squares;
    }
  };
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) step(i, 4);
  if (i < n) step(i, n - i);
  if (!kWeighted)
    for (std::size_t c = 0; c < centres.k; ++c) part.mass[c] = static_cast<double>(part.rows[c]);
  part.moved += (moved[0] + moved[1]) + (moved[2] + moved[3]);
  part.objective += sum_of((objective[0] + objective[1]) + (objective[2] + objective[3]));
}

template <bool kDiffer>
void assign(const double* x, std::size_t n, const double* shift, const double* weights,
            const Centres& centres, const std::int64_t* before, std::int64_t* labels, double* room,
            Part& part) {
  (weights ? assign_some<true, kDiffer> : assign_some<false, kDiffer>)(
      x, n, shift, weights, centres, before, labels, room, part);
}

void near(const double* x, std::size_t n, const double* shift, const Centres& centres, double tie,
          double* room, std::uint8_t* close) {
  const std::size_t d = centres.d, width = padded(d), wide = padded(centres.k);
  for (std::size_t j = 0; j < 4 * width; ++j) room[j] = 0;
  for (std::size_t i = 0; i < n; i += 4) {
    const std::size_t here = i + 4 <= n ? 4 : n - i;
    lay(x + i * d, here, d, width, shift, room);
    const Four apart = compared<Two, false>(room, centres, width, wide);
    for (std::size_t r = 0; r < here; ++r) close[i + r] = apart[r] <= tie;
  }
}

void leave(const double* x, std::size_t n, std::size_t d, const double* side,
           const double* weights, const double* before, std::size_t some, double* const* left,
           double* sums) {
  Four sum[kSide];
  for (std::size_t s = 0; s < kSide; ++s) sum[s] = all(0);
  for (std::size_t i = 0; i < n; i += 4) {
    const std::size_t here = i + 4 <= n ? 4 : n - i;
    const double* row[4];
    for (std::size_t r = 0; r < 4; ++r) row[r] = x + (i + (r < here ? r : 0)) * d;
    Four square[4];
    for (int r = 0; r < 4; ++r) square[r] = all(0);
    for (std::size_t j = 0; j < d; ++j) {
      const Four at = four(side + 4 * j);
      for (int r = 0; r < 4; ++r) {
        const Four away = row[r][j] - at;
        square[r] += away * away;
      }
    }
    transpose(square[0], square[1], square[2], square[3]);  // now a candidate each
    if (here == 4) {
      const Four old = four(before + i), w = weights ? four(weights + i) : all(1);
      for (std::size_t s = 0; s < kSide; ++s) {
        const Four least = square[s] < old ? square[s] : old;
        sum[s] += w * least;
        if (s < some) four(left[s] + i) = least;
      }
      continue;
    }
    for (std::size_t r = 0; r < here; ++r)
      for (std::size_t s = 0; s < kSide; ++s) {
        const double least = square[s][r] < before[i + r] ? square[s][r] : before[i + r];
        sum[s][r] += (weights ? weights[i + r] : 1.0) * least;
        if (s < some) left[s][i + r] = least;
      }
  }
  for (std::size_t s = 0; s < kSide; ++s) sums[s] = sum_of(sum[s]);
}

constexpr Loops kLoops = {assign<false>, assign<true>, near, leave};

}  // namespace

const Loops& avx2_loops() { return kLoops; }

}  // namespace credo::lloyd

#pragma GCC pop_options

#else

namespace credo::lloyd {
const Loops& avx2_loops() { return plain_loops(); }
}  // namespace credo::lloyd

#endif
