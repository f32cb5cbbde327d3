// Rows are scored in tiles: columns encoded down the tile, scores added along its rows, then the
// tile is normalised while it is in the cache:  ln P(c | x) = s_c - max - ln sum exp(s - max).
#include "naive/predict.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>

#include "common/parallel.hpp"

namespace credo::naive {
namespace {

constexpr std::size_t kTaskRows = std::size_t{1} << 14, kWideRows = 64;
static_assert(kWideRows <= kTileRows);

// IN joint [n][stride]: its first `classes` columns become answers [n][classes].
std::int64_t finish_tile(const Loops& loops, const double* joint, std::size_t n, std::size_t stride,
                         std::size_t classes, Answer answer, double* answers, std::int64_t* best) {
  if (answer == Answer::kLogPosterior || answer == Answer::kPosterior)
    return loops.normalise(joint, n, stride, classes, answer == Answer::kLogPosterior, answers);
  if (answer == Answer::kBest) return loops.best(joint, n, stride, classes, best);
  std::int64_t impossible = -1;
  for (std::size_t r = 0; r < n; ++r) {
    const double* s = joint + r * stride;
    if (impossible < 0 &&
        *std::max_element(s, s + classes) == -std::numeric_limits<double>::infinity())
      impossible = static_cast<std::int64_t>(r);
    std::copy(s, s + classes, answers + r * classes);
  }
  return impossible;
}

// How many neighbouring columns each group has, if it is the same number for all but the last, one
// of those that are added in place; else 0.
std::size_t step_of(const Grouping& grouping) {
  const std::size_t groups = grouping.end.size();
  if (groups == 0) return 0;
  const std::size_t step = grouping.end[0];
  if (step != 1 && step != 2 && step != 4) return 0;
  for (std::size_t g = 0; g + 1 < groups; ++g)
    if (grouping.end[g] != (g + 1) * step) return 0;
  const std::size_t members = grouping.member.size();
  if (members > groups * step || members != grouping.times.size()) return 0;
  for (std::size_t m = 0; m < members; ++m)
    if (grouping.member[m] != m) return 0;
  return step;
}

// Where in its table each group of columns stands: the sum of their codes, which are multiplied
// already. INOUT codes, which may become the places; OUT places [kTileRows * groups] otherwise.
Grid<std::uint16_t> find_places(const Loops& loops, const Grouping& grouping, std::size_t step,
                                const CodeTiles& tiles, std::uint16_t* codes, std::size_t n,
                                std::uint16_t* places) {
  const std::size_t groups = grouping.end.size(), row = tiles.row_step(),
                    column = tiles.column_step();
  if (column == 1 && step > 0 && row == grouping.member.size()) {
    if (step > 1) loops.add_codes(codes, n, row, step);
    return {codes, row, step};
  }
  if (column == 1) {
    for (std::size_t r = 0; r < n; ++r, codes += row)
      for (std::size_t g = 0, m = 0; g < groups; ++g) {
        std::uint32_t place = 0;
        for (; m < grouping.end[g]; ++m) place += codes[grouping.member[m]];
        places[r * groups + g] = static_cast<std::uint16_t>(place);
      }
    return {places, groups, 1};
  }
  for (std::size_t g = 0, m = 0; g < groups; ++g) {
    std::uint16_t* out = places + g * kTileRows;
    const std::uint16_t* own = codes + grouping.member[m++] * kTileRows;
    std::copy(own, own + n, out);
    for (; m < grouping.end[g]; ++m) {
      own = codes + grouping.member[m] * kTileRows;
      for (std::size_t r = 0; r < n; ++r) out[r] = static_cast<std::uint16_t>(out[r] + own[r]);
    }
  }
  return {places, 1, kTileRows};
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
                   std::int64_t* best, Oddities& odd) {
  const Loops& loops = loops_for_this_cpu();
  const Grouping& grouping = in.grouping;
  const std::size_t d = in.codes.size(), k = in.reals.size(), groups = grouping.end.size();
  std::vector<std::atomic<bool>> strange(d), endless(k);
  std::atomic<bool> no_count{false};
  const std::size_t padded = in.terms.classes;
  FirstRow impossible;
  std::size_t real_stride = k;
  const bool as_they_lie = are_rows(in.reals, real_stride);
  const bool loose = in.terms.member != nullptr;  // the members of groups are looked up themselves
  const CodeTiles tiles(in.codes, loose ? std::vector<std::uint16_t>{} : grouping.times);
  const std::size_t step = step_of(grouping),
                    row_bytes = 8 * (padded + in.counts.size() + k) + 2 * (d + groups);
  // Where tables are large, many rows use a part of them while it is in the cache.
  const std::size_t least = padded > 4 * kClassUnit ? kWideRows : 1;
  const bool fours = !loose && in.terms.n_pair == 0 && step == 4 && d == 4 * groups &&
                     tiles.four_above();
  const std::vector<std::uint16_t> sums = fours ? tiles.above_sums() : std::vector<std::uint16_t>{};
  parallel_for((in.n_rows + kTaskRows - 1) / kTaskRows, threads, [&](std::size_t task) {
    const std::size_t begin = task * kTaskRows, end = std::min(begin + kTaskRows, in.n_rows),
                      most = std::min(std::max(tile_rows(row_bytes), least), end - begin);
    const auto codes = std::make_unique_for_overwrite<std::uint16_t[]>(kTileRows * d),
               places = std::make_unique_for_overwrite<std::uint16_t[]>(kTileRows * groups);
    std::vector<std::uint64_t> unseen(d);
    std::vector<char> infinite(k);
    std::vector<double> reals(as_they_lie ? 0 : most * k), joint(most * padded),
        counts(most * in.counts.size());
    for (std::size_t first = begin; first < end; first += most) {
      const std::size_t n = std::min(most, end - first);
      const bool quick = fours && tiles.add_above(first, n, sums.data(), places.get());
      if (!quick) tiles.encode(first, n, codes.get(), unseen.data());
      CountTile counted{nullptr, 0, false};
      if (!in.counts.empty())
        counted = read_counts(in.counts, first, n, in.rule, counts.data());
      if (counted.wrong) no_count = true;
      Grid<std::uint16_t> found{nullptr, 0, 0};
      if (quick)
        found = {places.get(), groups, 1};
      else if (!loose)
        found = find_places(loops, grouping, step, tiles, codes.get(), n, places.get());
      const ScoreTile tile{found,
                           {codes.get(), tiles.row_step(), tiles.column_step()},
                           as_they_lie ? reinterpret_cast<const double*>(in.reals[0].data) +
                                             first * real_stride
                                       : reals.data(),
                           real_stride,
                           counted.values,
                           counted.stride};
      if (!as_they_lie) encode_values(in.reals, first, n, reals.data(), infinite.data());
      if (loops.score(in.terms, tile, n, joint.data()) && as_they_lie)
        for (std::size_t r = 0; r < n; ++r)
          for (std::size_t j = 0; j < k; ++j)
            if (std::isinf(tile.reals[r * real_stride + j])) infinite[j] = 1;
      if (in.extra != nullptr)
        for (std::size_t r = 0; r < n; ++r)
          for (std::size_t c = 0; c < in.classes; ++c)
            joint[r * padded + c] += in.extra[(first + r) * in.classes + c];
      const std::int64_t bad = finish_tile(
          loops, joint.data(), n, padded, in.classes, answer,
          answers == nullptr ? nullptr : answers + first * in.classes,
          best == nullptr ? nullptr : best + first);
      if (bad >= 0) impossible.see(static_cast<std::int64_t>(first) + bad);
    }
    for (std::size_t j = 0; j < d; ++j)
      if (unseen[j] != 0) strange[j] = true;
    for (std::size_t j = 0; j < k; ++j)
      if (infinite[j] != 0) endless[j] = true;
  });
  odd.unseen.assign(strange.begin(), strange.end());
  odd.infinite.assign(endless.begin(), endless.end());
  odd.no_count = no_count;
  return impossible.get();
}

std::int64_t finish(double* joint, std::size_t n_rows, std::size_t classes, Answer answer,
                    int threads, std::int64_t* best) {
  const Loops& loops = loops_for_this_cpu();
  FirstRow impossible;
  parallel_for((n_rows + kTaskRows - 1) / kTaskRows, threads, [&](std::size_t task) {
    const std::size_t end = std::min((task + 1) * kTaskRows, n_rows);
    for (std::size_t first = task * kTaskRows; first < end; first += kTileRows) {
      const std::size_t n = std::min(kTileRows, end - first);
      double* rows = joint + first * classes;
      const std::int64_t bad = finish_tile(loops, rows, n, classes, classes, answer, rows,
                                           best == nullptr ? nullptr : best + first);
      if (bad >= 0) impossible.see(static_cast<std::int64_t>(first) + bad);
    }
  });
  return impossible.get();
}

}  // namespace credo::naive
