#include "cluster/lloyd.hpp"

#include <algorithm>
#include <limits>

#include "common/team.hpp"

namespace credo::lloyd {
namespace {

constexpr std::size_t kBlock = 4096;  // rows whose sums are kept, so that few are looked through

class Start {
 public:
  Start(const Rows& rows, std::size_t tries, const Loops& loops, int threads,
        const std::function<void()>& poll)
      : rows_(rows), tries_(tries), loops_(loops), poll_(poll),
        blocks_((rows.n + kBlock - 1) / kBlock), left_(tries + 1, std::vector<double>(rows.n)),
        sums_(tries + 1, std::vector<double>(blocks_)),
        team_(blocks_, threads, [this](std::size_t block) { look(block); }) {}

  std::vector<std::int64_t> drawn(std::size_t k, const double* draws) {
    std::vector<std::int64_t> out{first(*draws++)};
    std::fill(left_[now_].begin(), left_[now_].end(), std::numeric_limits<double>::infinity());
    candidates_ = out;
    take(best_candidate());
    candidates_.resize(tries_);
    for (std::size_t c = 1; c < k; ++c, draws += tries_) {
      for (std::size_t t = 0; t < tries_; ++t) candidates_[t] = row_at(draws[t] * total_);
      const std::size_t best = best_candidate();
      take(best);
      out.push_back(candidates_[best]);
    }
    return out;
  }

 private:
  double weight(std::size_t i) const { return rows_.weights ? rows_.weights[i] : 1.0; }

  // What is left of the square of each row of a block if a candidate becomes a centre.
  void look(std::size_t block) {
    poll_();
    const std::size_t d = rows_.d, from = block * kBlock, to = std::min(rows_.n, from + kBlock);
    std::vector<double> side(d * kSide);
    for (std::size_t t = 0; t < candidates_.size(); t += kSide) {
      const std::size_t some = std::min(kSide, candidates_.size() - t);
      double* out[kSide];
      for (std::size_t s = 0; s < kSide; ++s) {
        const std::size_t own = t + (s < some ? s : 0);
        out[s] = left_[slot(own)].data() + from;
        const double* at = rows_.x + candidates_[own] * d;
        for (std::size_t j = 0; j < d; ++j) side[j * kSide + s] = at[j];
      }
      double sum[kSide];
      loops_.leave(rows_.x + from * d, to - from, d, side.data(),
                   rows_.weights ? rows_.weights + from : nullptr, left_[now_].data() + from, some,
                   out, sum);
      for (std::size_t s = 0; s < some; ++s) sums_[slot(t + s)][block] = sum[s];
    }
  }

  // The candidate that leaves least, of equals the first.
  std::size_t best_candidate() {
    team_.round();
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < candidates_.size(); ++t) {
      double total = 0;
      for (const double sum : sums_[slot(t)]) total += sum;
      if (total < least) least = total, best = t;
    }
    total_ = least;
    return best;
  }

  // Where the squares of a candidate are kept: anywhere but where those of now are.
  std::size_t slot(std::size_t candidate) const { return candidate + (candidate >= now_); }
  void take(std::size_t candidate) { now_ = slot(candidate); }

  // The row up to which the weighted squares sum to `target`.
  std::int64_t row_at(double target) const {
    double sum = 0;
    std::size_t block = 0;
    while (block + 1 < blocks_ && sum + sums_[now_][block] < target) sum += sums_[now_][block++];
    const std::size_t last = std::min(rows_.n, (block + 1) * kBlock) - 1;
    for (std::size_t i = block * kBlock; i < last; ++i) {
      sum += weight(i) * left_[now_][i];
      if (sum >= target) return static_cast<std::int64_t>(i);
    }
    return static_cast<std::int64_t>(last);
  }

  std::int64_t first(double draw) const {
    const std::size_t last = rows_.n - 1;
    if (!rows_.weights)
      return static_cast<std::int64_t>(
          std::min(static_cast<std::size_t>(draw * static_cast<double>(rows_.n)), last));
    double total = 0, sum = 0;
    for (std::size_t i = 0; i <= last; ++i) total += rows_.weights[i];
    for (std::size_t i = 0; i < last; ++i)
      if ((sum += rows_.weights[i]) > draw * total) return static_cast<std::int64_t>(i);
    return static_cast<std::int64_t>(last);
  }

  const Rows& rows_;
  std::size_t tries_;
  const Loops& loops_;
  const std::function<void()>& poll_;
  std::size_t blocks_;
  std::vector<std::vector<double>> left_, sums_;  // [slot][row], [slot][block]
  std::size_t now_ = 0;
  double total_ = 0;
  std::vector<std::int64_t> candidates_;
  Team team_;
};

}  // namespace

std::vector<std::int64_t> start_of(const Rows& rows, std::size_t k, std::size_t tries,
                                   const double* draws, const Loops& loops, int threads,
                                   const std::function<void()>& poll) {
  return Start(rows, tries, loops, threads, poll).drawn(k, draws);
}

}  // namespace credo::lloyd
