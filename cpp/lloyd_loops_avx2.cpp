// The loop with four doubles at a time and fused multiply-add: four rows and eight centres at once.
//
// |x - c|^2 = |x|^2 - 2 (x c - |c|^2 / 2): the nearest centre has the least |c|^2 / 2 - x c.
#include "lloyd_loops.hpp"

#if defined(__x86_64__)

#pragma GCC push_options
#pragma GCC target("avx2,fma")

#include "four_doubles.hpp"
#include "four_turned.hpp"

namespace credo::lloyd {
namespace {

// The least score of each row, and whose it is, over `N` fours of centres from c on.
template <std::size_t N>
inline void compare(const double* room, const Centres& centres, std::size_t width,
                    std::size_t wide, std::size_t c, Four* least, Four* whose) {
  Four score[4][N];
  for (int r = 0; r < 4; ++r)
    for (std::size_t n = 0; n < N; ++n) score[r][n] = four(centres.half + c + 4 * n);
  const double* column = centres.columns + c;
  for (std::size_t j = 0; j < centres.d; ++j, column += wide)
    for (std::size_t n = 0; n < N; ++n) {
      const Four at = four(column + 4 * n);
      for (int r = 0; r < 4; ++r) score[r][n] -= room[r * width + j] * at;
    }
  for (std::size_t n = 0; n < N; ++n) {
    const double first = static_cast<double>(c + 4 * n);
    const Four number = {first, first + 1, first + 2, first + 3};
    for (int r = 0; r < 4; ++r) {
      const auto less = score[r][n] < least[r];
      least[r] = less ? score[r][n] : least[r];
      whose[r] = less ? number : whose[r];
    }
  }
}

inline Four nearest(const double* room, const Centres& centres, std::size_t width,
                    std::size_t wide) {
  const double infinite = __builtin_inf();
  Four least[4], whose[4];
  for (int r = 0; r < 4; ++r) least[r] = all(infinite), whose[r] = all(0);
  std::size_t c = 0;
  for (; c + 8 <= wide; c += 8) compare<2>(room, centres, width, wide, c, least, whose);
  if (c < wide) compare<1>(room, centres, width, wide, c, least, whose);
  transpose(least[0], least[1], least[2], least[3]);
  transpose(whose[0], whose[1], whose[2], whose[3]);
  Four best = least[0], at = whose[0];
  for (int lane = 1; lane < 4; ++lane) {
    const auto better = (least[lane] < best) | ((least[lane] == best) & (whose[lane] < at));
    best = better ? least[lane] : best;
    at = better ? whose[lane] : at;
  }
  return at;
}

void assign(const double* x, std::size_t n, const double* shift, const double* weights,
            const Centres& centres, const std::int64_t* before, std::int64_t* labels, double* room,
            Part& part) {
  const std::size_t d = centres.d, width = padded(d), wide = padded(centres.k);
  Four objective = all(0);
  for (std::size_t j = 0; j < 4 * width; ++j) room[j] = 0;
  for (std::size_t i = 0; i < n; i += 4) {
    const std::size_t here = i + 4 <= n ? 4 : n - i;
    Four weight = all(0);
    for (std::size_t r = 0; r < here; ++r) {
      const double* row = x + (i + r) * d;
      double* out = room + r * width;
      std::size_t j = 0;
      for (; j + 4 <= d; j += 4) four(out + j) = four(row + j) - four(shift + j);
      for (; j < d; ++j) out[j] = row[j] - shift[j];
      weight[r] = weights ? weights[i + r] : 1.0;
    }
    const Four at = nearest(room, centres, width, wide);
    Four squares[4];
    for (int r = 0; r < 4; ++r) squares[r] = all(0);
    for (std::size_t r = 0; r < here; ++r) {
      const auto c = static_cast<std::int64_t>(at[r]);
      labels[i + r] = c;
      part.moved += c != before[i + r];
      part.mass[c] += weight[r];
      part.rows[c] += 1;
      const double* row = room + r * width;
      const double* centre = centres.rows + c * width;
      double* sum = part.sums + c * width;
      const double w = weight[r];
      for (std::size_t j = 0; j < width; j += 4) {
        const Four cell = four(row + j), away = cell - four(centre + j);
        four(sum + j) += w * cell;
        squares[r] += away * away;
      }
    }
    objective += weight * sums_of(squares[0], squares[1], squares[2], squares[3]);
  }
  part.objective += sum_of(objective);
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

constexpr Loops kLoops = {assign, leave};

}  // namespace

const Loops& avx2_loops() { return kLoops; }

}  // namespace credo::lloyd

#pragma GCC pop_options

#else

namespace credo::lloyd {
const Loops& avx2_loops() { return plain_loops(); }
}  // namespace credo::lloyd

#endif
