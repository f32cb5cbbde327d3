// Rows are scored in tiles: columns encoded down the tile, scores added along its rows, then the
// tile is normalised while it is in the cache:  ln P(c | x) = s_c - max - ln sum exp(s - max).
#include "naive_predict.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "parallel.hpp"

namespace credo::naive {
namespace {

constexpr std::size_t kTaskRows = std::size_t{1} << 14;

// INOUT joint [n][stride]: its first `classes` columns become answers [n][classes].
std::int64_t finish_tile(const Loops& loops, double* joint, std::size_t n, std::size_t stride,
                         std::size_t classes, Answer answer, double* work, double* answers,
                         std::int64_t* best) {
  std::int64_t impossible = -1;
  for (std::size_t r = 0; r < n; ++r) {
    const double* s = joint + r * stride;
    double top = s[0];
    std::int64_t at = 0;
    if (answer == Answer::kBest) {
      for (std::size_t c = 1; c < classes; ++c) {
        at = s[c] > top ? static_cast<std::int64_t>(c) : at;
        top = s[c] > top ? s[c] : top;
      }
      best[r] = at;
    } else {
      for (std::size_t c = 1; c < classes; ++c) top = s[c] > top ? s[c] : top;
    }
    if (top == -std::numeric_limits<double>::infinity() && impossible < 0)
      impossible = static_cast<std::int64_t>(r);
    if (answer != Answer::kBest && answer != Answer::kJoint && impossible < 0)
      for (std::size_t c = 0; c < classes; ++c) work[r * classes + c] = s[c] - top;
  }
  if (answer == Answer::kBest) return impossible;
  if (answer == Answer::kJoint || impossible >= 0) {
    for (std::size_t r = 0; r < n; ++r)
      std::copy(joint + r * stride, joint + r * stride + classes, answers + r * classes);
    return impossible;
  }
  std::copy(work, work + n * classes, answers);
  loops.exponentials(work, n * classes);
  double total[kTileRows];
  for (std::size_t r = 0; r < n; ++r) {
    const double* e = work + r * classes;
    total[r] = 0;
    for (std::size_t c = 0; c < classes; ++c) total[r] += e[c];
  }
  if (answer == Answer::kPosterior) {
    for (std::size_t r = 0; r < n; ++r) {
      const double share = 1.0 / total[r];
      for (std::size_t c = 0; c < classes; ++c)
        answers[r * classes + c] = work[r * classes + c] * share;
    }
    return impossible;
  }
  loops.logarithms(total, n);
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t c = 0; c < classes; ++c) answers[r * classes + c] -= total[r];
  return impossible;
}

class FirstRow {
 public:
  void see(std::int64_t row) {
    std::int64_t now = first_;
    while ((now < 0 || row < now) && !first_.compare_exchange_weak(now, row)) {
    }
  }
  std::int64_t get() const { return first_; }

 private:
  std::atomic<std::int64_t> first_{-1};
};

}  // namespace

std::int64_t score(const ScoreInput& in, Answer answer, int threads, double* answers,
                   std::int64_t* best, std::vector<char>& unseen, std::vector<char>& infinite) {
  const Loops& loops = loops_for_this_cpu();
  std::vector<std::atomic<bool>> strange(in.codes.size()), endless(in.reals.size());
  ScoreTerms terms = in.terms;
  terms.n_codes = in.codes.size();
  terms.n_real = in.reals.size();
  const std::size_t padded = terms.classes, d = in.codes.size(), k = in.reals.size();
  FirstRow impossible;
  terms.real_stride = k;
  const bool as_they_lie = are_rows(in.reals, terms.real_stride);
  const CodeTiles tiles(in.codes);
  parallel_for((in.n_rows + kTaskRows - 1) / kTaskRows, threads, [&](std::size_t task) {
    std::vector<std::uint16_t> codes(kTileRows * d);
    std::vector<std::uint64_t> odd(d);
    std::vector<double> reals(as_they_lie ? 0 : kTileRows * k), joint(kTileRows * padded),
        work(kTileRows * in.classes);
    const std::size_t end = std::min((task + 1) * kTaskRows, in.n_rows);
    for (std::size_t first = task * kTaskRows; first < end; first += kTileRows) {
      const std::size_t n = std::min(kTileRows, end - first);
      tiles.encode(first, n, codes.data(), odd.data());
      const double* numbers = reals.data();
      if (as_they_lie) {
        numbers = reinterpret_cast<const double*>(in.reals[0].data) + first * terms.real_stride;
        for (std::size_t r = 0; r < n; ++r) {
          const double* row = numbers + r * terms.real_stride;
          if (loops.any_infinite(row, k))
            for (std::size_t j = 0; j < k; ++j)
              if (std::isinf(row[j])) endless[j] = true;
        }
      } else {
        for (std::size_t j = 0; j < k; ++j)
          if (encode_values(in.reals[j], first, n, k, j, reals.data())) endless[j] = true;
      }
      loops.score(terms, codes.data(), numbers, n, joint.data());
      if (in.extra != nullptr)
        for (std::size_t r = 0; r < n; ++r)
          for (std::size_t c = 0; c < in.classes; ++c)
            joint[r * padded + c] += in.extra[(first + r) * in.classes + c];
      const std::int64_t bad = finish_tile(
          loops, joint.data(), n, padded, in.classes, answer, work.data(),
          answers == nullptr ? nullptr : answers + first * in.classes,
          best == nullptr ? nullptr : best + first);
      if (bad >= 0) impossible.see(static_cast<std::int64_t>(first) + bad);
    }
    for (std::size_t j = 0; j < d; ++j)
      if (odd[j] != 0) strange[j] = true;
  });
  unseen.assign(strange.begin(), strange.end());
  infinite.assign(endless.begin(), endless.end());
  return impossible.get();
}

std::int64_t finish(double* joint, std::size_t n_rows, std::size_t classes, Answer answer,
                    int threads, std::int64_t* best) {
  const Loops& loops = loops_for_this_cpu();
  FirstRow impossible;
  parallel_for((n_rows + kTaskRows - 1) / kTaskRows, threads, [&](std::size_t task) {
    std::vector<double> work(kTileRows * classes);
    const std::size_t end = std::min((task + 1) * kTaskRows, n_rows);
    for (std::size_t first = task * kTaskRows; first < end; first += kTileRows) {
      const std::size_t n = std::min(kTileRows, end - first);
      double* rows = joint + first * classes;
      const std::int64_t bad = finish_tile(loops, rows, n, classes, classes, answer, work.data(),
                                           rows, best == nullptr ? nullptr : best + first);
      if (bad >= 0) impossible.see(static_cast<std::int64_t>(first) + bad);
    }
  });
  return impossible.get();
}

}  // namespace credo::naive
