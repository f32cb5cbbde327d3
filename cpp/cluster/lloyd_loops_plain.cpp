// The loop for any machine: a row at a time, centres side by side as the compiler likes them.
#include <string>

#include "cluster/lloyd_loops.hpp"
#include "common/cpu.hpp"

namespace credo::lloyd {
namespace {

constexpr std::size_t kCentres = 8;  // side by side

// The least two scores of a row, and whose the least is.
struct Two {
  double least = __builtin_inf(), second = __builtin_inf();
  std::size_t at = 0;
};

// A score with one coordinate more: of (x - c)^2 itself, or of |c|^2 / 2 - x c.
template <bool kDiffer>
inline double scored(double score, double x, double centre) {
  return kDiffer ? score + (x - centre) * (x - centre) : score - x * centre;
}

template <bool kDiffer>
Two nearest(const double* row, const Centres& centres, std::size_t wide) {
  Two two;
  for (std::size_t c = 0; c < centres.k; c += kCentres) {
    double score[kCentres];
    const std::size_t side = wide - c < kCentres ? 4 : kCentres;
    for (std::size_t s = 0; s < side; ++s) score[s] = centres.half[c + s];
    const double* column = centres.columns + c;
    for (std::size_t j = 0; j < centres.d; ++j, column += wide) {
      const double x = row[j];
      if (side == kCentres) {
        for (std::size_t s = 0; s < kCentres; ++s)
          score[s] = scored<kDiffer>(score[s], x, column[s]);
      } else {
        for (std::size_t s = 0; s < 4; ++s) score[s] = scored<kDiffer>(score[s], x, column[s]);
      }
    }
    for (std::size_t s = 0; s < side; ++s) {
      if (score[s] < two.least) {
        two = {score[s], two.least, c + s};
      } else if (score[s] < two.second) {
        two.second = score[s];
      }
    }
  }
  return two;
}

template <bool kDiffer>
void assign(const double* x, std::size_t n, const double* shift, const double* weights,
            const Centres& centres, const std::int64_t* before, std::int64_t* labels, double* room,
            Part& part) {
  const std::size_t d = centres.d, width = padded(d), wide = padded(centres.k);
  for (std::size_t i = 0; i < n; ++i, x += d) {
    for (std::size_t j = 0; j < d; ++j) room[j] = x[j] - shift[j];
    const std::size_t c = nearest<kDiffer>(room, centres, wide).at;
    labels[i] = static_cast<std::int64_t>(c);
    part.moved += labels[i] != before[i];
    const double w = weights ? weights[i] : 1.0;
    part.mass[c] += w;
    part.rows[c] += 1;
    const double* centre = centres.rows + c * width;
    double* sum = part.sums + c * width;
    double square = 0;
    for (std::size_t j = 0; j < d; ++j) {
      const double away = room[j] - centre[j];
      sum[j] += w * (kDiffer ? away : room[j]);
      square += away * away;
    }
    part.objective += w * square;
  }
}

void near(const double* x, std::size_t n, const double* shift, const Centres& centres, double tie,
          double* room, std::uint8_t* close) {
  const std::size_t d = centres.d, wide = padded(centres.k);
  for (std::size_t i = 0; i < n; ++i, x += d) {
    for (std::size_t j = 0; j < d; ++j) room[j] = x[j] - shift[j];
    const Two two = nearest<false>(room, centres, wide);
    close[i] = two.second - two.least <= tie;
  }
}

void leave(const double* x, std::size_t n, std::size_t d, const double* side,
           const double* weights, const double* before, std::size_t some, double* const* left,
           double* sums) {
  for (std::size_t s = 0; s < kSide; ++s) sums[s] = 0;
  for (std::size_t i = 0; i < n; ++i, x += d) {
    double square[kSide] = {};
    for (std::size_t j = 0; j < d; ++j)
      for (std::size_t s = 0; s < kSide; ++s) {
        const double away = x[j] - side[j * kSide + s];
        square[s] += away * away;
      }
    const double w = weights ? weights[i] : 1.0;
    for (std::size_t s = 0; s < kSide; ++s) {
      square[s] = square[s] < before[i] ? square[s] : before[i];
      sums[s] += w * square[s];
    }
    for (std::size_t s = 0; s < some; ++s) left[s][i] = square[s];
  }
}

constexpr Loops kLoops = {assign<false>, assign<true>, near, leave};

}  // namespace

const Loops& plain_loops() { return kLoops; }

const Loops& loops_for(const char* path) {
  return &kernels_for(std::string(path)) == &plain_kernels() ? plain_loops() : avx2_loops();
}

}  // namespace credo::lloyd
