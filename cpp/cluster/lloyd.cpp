#include "cluster/lloyd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "common/team.hpp"

namespace credo::lloyd {
namespace {

constexpr std::size_t kChunkRows = 2048;                    // at least so many rows in a chunk
constexpr std::size_t kMostChunks = 64;
constexpr std::size_t kMostDoubles = std::size_t{1} << 22;  // of sums, over all chunks
constexpr double kVouched = 5e8;         // squares about the shift, at most so many times W
constexpr double kRise = 1 + 1e-11;      // no step may raise W by more
constexpr double kCancelled = 1e-2;      // what is left of W by subtraction has fewer digits below
constexpr double kTie = 1e-12;  // squares that differ by less, as a share of the largest, may tie

// Centres in the two layouts of the loop.
struct Laid {
  std::vector<double> rows, columns, half;
  bool differ;
  Centres view;

  Laid(std::size_t k, std::size_t d, bool differ)
      : rows(k * padded(d)),
        columns(d * padded(k)),
        half(padded(k), std::numeric_limits<double>::infinity()),
        differ(differ), view{k, d, rows.data(), columns.data(), half.data()} {}

  // OUT the given centres [k][d], less the shift.
  void take(const double* centres, const double* shift) {
    for (std::size_t c = 0; c < view.k; ++c)
      for (std::size_t j = 0; j < view.d; ++j)
        rows[c * padded(view.d) + j] = centres[c * view.d + j] - shift[j];
  }

  void refresh() {  // from `rows`
    const std::size_t width = padded(view.d), wide = padded(view.k);
    for (std::size_t c = 0; c < view.k; ++c) {
      double square = 0;
      for (std::size_t j = 0; j < view.d; ++j) {
        const double at = rows[c * width + j];
        columns[j * wide + c] = at;
        square += at * at;
      }
      half[c] = differ ? 0 : square / 2;
    }
  }
};

// The sums of all rows, and those of each chunk that make them up.
struct Sums {
  std::size_t k, width;
  std::vector<double> sums, mass;
  std::vector<std::int64_t> rows;
  Part part{};

  Sums(std::size_t k, std::size_t width)
      : k(k), width(width), sums(k * width), mass(k), rows(k) {}

  Part& cleared() {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(mass.begin(), mass.end(), 0.0);
    std::fill(rows.begin(), rows.end(), 0);
    part = {sums.data(), mass.data(), rows.data(), 0, 0};
    return part;
  }

  void add(const Sums& other) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += other.sums[i];
    for (std::size_t c = 0; c < k; ++c) mass[c] += other.mass[c], rows[c] += other.rows[c];
    part.objective += other.part.objective;
    part.moved += other.part.moved;
  }
};

// Where chunks of rows begin, and the end: whatever the threads.
std::vector<std::size_t> chunks_of(const Rows& rows, std::size_t most) {
  const std::size_t chunks =
      std::clamp<std::size_t>(rows.n / kChunkRows, 1, std::min(kMostChunks, most));
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i <= chunks; ++i) starts.push_back(rows.n * i / chunks);
  return starts;
}

class Climb {
 public:
  Climb(const Rows& rows, std::size_t k, const Loops& loops, int threads,
        const std::function<void()>& poll, bool differ)
      : rows_(rows), k_(k), width_(padded(rows.d)), loops_(loops), threads_(threads), poll_(poll),
        differ_(differ), shift_(differ ? std::vector<double>(rows.d, 0.0) : rows.shift),
        laid_(k, rows.d, differ), total_(k, width_),
        starts_(chunks_of(rows, std::max<std::size_t>(kMostDoubles / (k * width_), 1))),
        parts_(starts_.size() - 1, Sums(k, width_)), before_(rows.n, -1), labels_(rows.n) {}

  // Nothing where products cannot vouch for W.
  std::optional<Run> run(const double* centres, std::size_t iterations, double tolerance) {
    Run out;
    laid_.take(centres, shift_.data());
    Team team(parts_.size(), threads_, [&](std::size_t i) { (this->*task_)(i); });
    const auto all = [&](void (Climb::*task)(std::size_t)) {
      task_ = task;
      team.round();
      total_.cleared();
      for (const Sums& part : parts_) total_.add(part);  // in their order, whoever made them
    };
    const auto expect = [&] {
      laid_.refresh();
      all(&Climb::assign);
      repaired_ = repair();
      if (repaired_) all(&Climb::measure);
      const double now = total_.part.objective;
      const bool sure = vouched(now) && !(now > kRise * last_);
      fallen_ = now < least_ ? 0 : fallen_ + 1;
      least_ = std::min(least_, now);
      last_ = now;
      out.objective.push_back(now);
      out.moved.push_back(total_.part.moved);
      out.settled = total_.part.moved == 0;
      return differ_ || (sure && (out.settled || fallen_ < kPatience));
    };
    bool rest = false;
    for (std::size_t i = 0; i < iterations && !out.settled && !rest; ++i) {
      if (!expect()) return std::nullopt;
      if (out.settled || fallen_ == kPatience) break;
      double gained = 0;
      const double step = maximise(gained);
      double now = last_ - gained;
      if (differ_ || !(now > kCancelled * last_)) {  // a difference has no digits to spare
        all(&Climb::measure);
        now = total_.part.objective;
        if (!differ_ && (now > kRise * last_ || !vouched(now))) return std::nullopt;
      }
      out.objective.push_back(last_ = now);
      rest = !repaired_ && step <= tolerance * rows_.variance;
      before_.swap(labels_);
    }
    if (out.objective.size() % 2 == 0 && !expect()) return std::nullopt;
    out.labels = std::move(labels_);
    out.centres.resize(k_ * rows_.d);
    for (std::size_t c = 0; c < k_; ++c)
      for (std::size_t j = 0; j < rows_.d; ++j)
        out.centres[c * rows_.d + j] = laid_.rows[c * width_ + j] + shift_[j];
    return out;
  }

 private:
  void assign(std::size_t chunk) {
    poll_();
    std::vector<double> room(4 * width_);
    const std::size_t at = starts_[chunk];
    (differ_ ? loops_.differ : loops_.assign)(
        rows_.x + at * rows_.d, starts_[chunk + 1] - at, shift_.data(),
        rows_.weights ? rows_.weights + at : nullptr, laid_.view, before_.data() + at,
        labels_.data() + at, room.data(), parts_[chunk].cleared());
  }

  // The sums of rows that have their labels, about the centres as they are now.
  void measure(std::size_t chunk) {
    poll_();
    Part& part = parts_[chunk].cleared();
    for (std::size_t i = starts_[chunk]; i < starts_[chunk + 1]; ++i) {
      const std::int64_t c = labels_[i];
      const double* centre = laid_.rows.data() + c * width_;
      const double w = rows_.weights ? rows_.weights[i] : 1.0;
      double square = 0;
      for (std::size_t j = 0; j < rows_.d; ++j) {
        const double cell = cell_of(i, j), way = cell - centre[j];
        part.sums[c * width_ + j] += w * (differ_ ? way : cell);
        square += way * way;
      }
      part.mass[c] += w;
      part.rows[c] += 1;
      part.objective += w * square;
      part.moved += c != before_[i];
    }
  }

  double cell_of(std::size_t row, std::size_t j) const {
    return rows_.x[row * rows_.d + j] - shift_[j];
  }

  double square(std::size_t row) const {
    const double* centre = laid_.rows.data() + labels_[row] * width_;
    double sum = 0;
    for (std::size_t j = 0; j < rows_.d; ++j) {
      const double far = cell_of(row, j) - centre[j];
      sum += far * far;
    }
    return sum;
  }

  // Whether W has its digits. A cell less the shift, and a centre less it, are off by a share 2^-53
  // of themselves; so by Cauchy and Schwarz is W, by a share 2 sqrt(E / W), where E is 2^-106 times
  // the squares of both. At the limit that is 1e-11.
  bool vouched(double objective) const {
    double squares = rows_.squares;
    for (std::size_t c = 0; c < k_; ++c) {
      const double* at = laid_.rows.data() + c * width_;
      squares += total_.mass[c] * std::inner_product(at, at + rows_.d, at, 0.0);
    }
    return squares <= kVouched * objective;
  }

  // No cluster without a row, as long as there are rows away from their centres. Whether labels
  // and centres have changed.
  bool repair() {
    std::vector<std::size_t> empty;
    for (std::size_t c = 0; c < k_; ++c)
      if (total_.rows[c] == 0) empty.push_back(c);
    if (empty.empty()) return false;
    bool changed = false;
    std::vector<double> squares(rows_.n);
    for (std::size_t i = 0; i < rows_.n; ++i) squares[i] = square(i);
    for (const std::size_t c : empty) {
      double most = 0;
      std::size_t row = rows_.n;
      for (std::size_t i = 0; i < rows_.n; ++i)
        if (squares[i] > most && total_.rows[labels_[i]] > 1) most = squares[i], row = i;
      if (row == rows_.n) break;
      total_.rows[labels_[row]] -= 1, total_.rows[c] += 1;
      for (std::size_t j = 0; j < rows_.d; ++j) laid_.rows[c * width_ + j] = cell_of(row, j);
      labels_[row] = static_cast<std::int64_t>(c);
      squares[row] = 0;
      changed = true;
    }
    return changed;
  }

  // Centres become means, as near as numbers come to them: so that the centres that are given back
  // are those that W is about. What the step moves them by, squared; `gained` by how much W falls:
  // about the mean squares are least, elsewhere more by weight times the square of the way to it.
  double maximise(double& gained) {
    double step = 0;
    for (std::size_t c = 0; c < k_; ++c) {
      if (total_.rows[c] == 0) continue;
      double way = 0, left = 0;
      for (std::size_t j = 0; j < rows_.d; ++j) {
        double& at = laid_.rows[c * width_ + j];
        const double mean = total_.sums[c * width_ + j] / total_.mass[c];
        const double full = differ_ ? mean : mean - at, old = at;
        at = differ_ ? at + mean : (mean + shift_[j]) - shift_[j];
        const double rounded = full - (at - old);
        way += full * full;
        left += rounded * rounded;
      }
      step += way;
      gained += total_.mass[c] * (way - left);
    }
    return step;
  }

  const Rows& rows_;
  std::size_t k_, width_;
  const Loops& loops_;
  int threads_;
  const std::function<void()>& poll_;
  bool differ_;
  std::vector<double> shift_;
  Laid laid_;
  Sums total_;
  std::vector<std::size_t> starts_;
  std::vector<Sums> parts_;
  std::vector<std::int64_t> before_, labels_;
  void (Climb::*task_)(std::size_t) = nullptr;
  bool repaired_ = false;
  double last_ = std::numeric_limits<double>::infinity(), least_ = last_;  // W
  std::size_t fallen_ = 0;  // how many E steps ago W was least
};

// The weighted mean of each column of `rows` less `shift`, or of its square.
template <bool kSquared>
std::vector<double> means(const Rows& rows, const std::vector<double>& shift) {
  std::vector<double> out(rows.d, 0.0), sum(rows.d);
  double mass = 0;
  for (std::size_t i = 0; i < rows.n; i += kChunkRows) {  // sums of few rows keep their digits
    std::fill(sum.begin(), sum.end(), 0.0);
    const std::size_t end = std::min(rows.n, i + kChunkRows);
    for (std::size_t r = i; r < end; ++r) {
      const double w = rows.weights ? rows.weights[r] : 1.0;
      mass += w;
      for (std::size_t j = 0; j < rows.d; ++j) {
        const double away = rows.x[r * rows.d + j] - shift[j];
        sum[j] += w * (kSquared ? away * away : away);
      }
    }
    for (std::size_t j = 0; j < rows.d; ++j) out[j] += sum[j];
  }
  for (double& at : out) at /= mass;
  return out;
}

}  // namespace

Rows rows_of(const double* x, std::size_t n, std::size_t d, const double* weights) {
  Rows out{x, n, d, weights, std::vector<double>(d, 0.0)};
  // about the first row, so that sums of numbers far from 0 lose nothing
  const std::vector<double> first(x, x + d);
  std::vector<double> mean = means<false>(out, first);
  for (std::size_t j = 0; j < d; ++j) mean[j] += first[j];
  const std::vector<double> variance = means<true>(out, mean);
  for (std::size_t j = 0; j < d; ++j) {
    out.variance += variance[j] / static_cast<double>(d);
    // The shift has few digits: taken off whole numbers, it leaves them exact, so that ties are
    // ties; and weights have that of copies, whose mean may differ in its last digit.
    if (!(variance[j] > 0)) {
      out.shift[j] = x[j];
      continue;
    }
    const double unit = std::ldexp(1.0, std::ilogb(1.4 * std::sqrt(variance[j])) - 4);
    out.shift[j] = std::floor(mean[j] / unit + 0.618) * unit;
    if (!std::isfinite(out.shift[j])) out.shift[j] = mean[j];
  }
  // A row's share of the squares about the mean is its weight times its own; and the shift lies a
  // small part of the deviation away.
  double mass = static_cast<double>(n), least = 1;
  if (weights) {
    mass = std::accumulate(weights, weights + n, 0.0);
    least = *std::min_element(weights, weights + n);
  }
  for (std::size_t j = 0; j < d; ++j) {
    const double way = mean[j] - out.shift[j];
    out.squares += mass * (variance[j] + way * way);
  }
  out.farthest = 4 * out.variance * static_cast<double>(d) * mass / least;
  return out;
}

Run climb(const Rows& rows, const double* centres, std::size_t k, std::size_t iterations,
          double tolerance, const Loops& loops, int threads, const std::function<void()>& poll) {
  const auto run = [&](bool differ) {
    return Climb(rows, k, loops, threads, poll, differ).run(centres, iterations, tolerance);
  };
  std::optional<Run> found = run(false);
  return found ? std::move(*found) : *run(true);
}

std::vector<std::int64_t> near_ties(const Rows& rows, const double* centres, std::size_t k,
                                    const Loops& loops, int threads,
                                    const std::function<void()>& poll) {
  Laid laid(k, rows.d, false);
  laid.take(centres, rows.shift.data());
  laid.refresh();
  const auto longest = [&](const double* points, std::size_t n) {
    double most = 0;
    for (const double* at = points; at < points + n * rows.d; at += rows.d)
      most = std::max(most, std::inner_product(at, at + rows.d, at, 0.0));
    return most;
  };
  const double tie =
      kTie * (longest(centres, k) + longest(rows.shift.data(), 1) + rows.farthest);
  const std::vector<std::size_t> starts = chunks_of(rows, kMostChunks);
  std::vector<std::uint8_t> close(rows.n);
  Team(starts.size() - 1, threads, [&](std::size_t i) {
    poll();
    std::vector<double> room(4 * padded(rows.d));
    const std::size_t at = starts[i];
    loops.near(rows.x + at * rows.d, starts[i + 1] - at, rows.shift.data(), laid.view, tie,
               room.data(), close.data() + at);
  }).round();
  std::vector<std::int64_t> out;
  for (auto at = close.begin(); (at = std::find(at, close.end(), 1)) != close.end(); ++at)
    out.push_back(at - close.begin());
  return out;
}

}  // namespace credo::lloyd
