#include "search_order.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "parallel.hpp"

namespace credo::search {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// What a variable gets that has no list entry within its order: so little that nothing makes up for
// it, and still a number that can be taken away again.
constexpr double kNever = -1e100;

// One order with what each variable gets in it.
class Order {
 public:
  Order(const ParentLists& lists, std::vector<std::int32_t> order)
      : lists_(lists.lists()),
        order_(std::move(order)),
        n_(order_.size()),
        at_(n_),
        before_(n_),
        chosen_(n_),
        takers_(n_),
        change_(n_) {
    for (std::size_t y = 0; y < n_; ++y)
      for (const std::int32_t x : lists_[y].candidates)
        takers_[static_cast<std::size_t>(x)].push_back(static_cast<std::int32_t>(y));
    refresh();
  }

  const std::vector<std::int32_t>& order() const { return order_; }

  double total() const {
    double sum = 0;
    for (std::size_t v = 0; v < n_; ++v) sum += score(v, chosen_[v]);
    return sum < kNever / 2 ? kMinusInfinity : sum;
  }

  void set(std::vector<std::int32_t> order) {
    order_ = std::move(order);
    refresh();
  }

  // Moves x to its best position; whether that is better by more than `slack`.
  bool improve(std::int32_t x, double slack) {
    const ParentList& own = lists_[static_cast<std::size_t>(x)];
    const std::size_t at = at_[static_cast<std::size_t>(x)];
    // What each other would gain with x before it, or lose with x after it, by its position.
    std::fill(change_.begin(), change_.end(), 0.0);
    double now = 0;  // of all others, less what stays the same; x is first
    for (const std::int32_t v : takers_[static_cast<std::size_t>(x)]) {
      const auto y = static_cast<std::size_t>(v);
      const ParentList& list = lists_[y];
      const std::uint64_t mask = bit(list, x);
      const std::size_t k = at_[y];
      if (k < at) {
        change_[k] = score(y, first_with(list, before_[y] | mask, chosen_[y])) - score(y, chosen_[y]);
        now += change_[k];
      } else if (chosen_[y] < list.masks.size() && (list.masks[chosen_[y]] & mask) != 0) {
        change_[k] = score(y, list.best(before_[y] & ~mask, chosen_[y])) - score(y, chosen_[y]);
      }
    }
    std::uint64_t mask = 0;
    std::size_t entry = own.best(0);
    double best = now + score(static_cast<std::size_t>(x), entry), here = best;
    std::size_t best_at = 0;
    for (std::size_t k = 0; k < n_; ++k) {  // x passes whoever is at k
      if (k == at) continue;
      now += k < at ? -change_[k] : change_[k];
      const int b = own.bit_of[static_cast<std::size_t>(order_[k])];
      if (b >= 0) {
        mask |= std::uint64_t{1} << b;
        entry = first_with(own, mask, entry);
      }
      const std::size_t position = k < at ? k + 1 : k;
      const double total = now + score(static_cast<std::size_t>(x), entry);
      if (position == at) here = total;
      if (total > best + slack) {
        best = total;
        best_at = position;
      }
    }
    if (!(best > here + slack)) return false;
    place(x, at, best_at);
    return true;
  }

  void place(std::int32_t x, std::size_t from, std::size_t to) {
    const auto first = order_.begin();
    const auto a = static_cast<std::ptrdiff_t>(from), b = static_cast<std::ptrdiff_t>(to);
    if (a < b) std::rotate(first + a, first + a + 1, first + b + 1);
    else std::rotate(first + b, first + a, first + a + 1);
    const std::size_t low = std::min(from, to), high = std::max(from, to);
    for (std::size_t k = low; k <= high; ++k) at_[static_cast<std::size_t>(order_[k])] = k;
    choose(static_cast<std::size_t>(x));
    for (const std::int32_t v : takers_[static_cast<std::size_t>(x)]) {
      const auto y = static_cast<std::size_t>(v);
      if (at_[y] < low || at_[y] > high) continue;
      const std::uint64_t one = bit(lists_[y], x);
      if (from < to) {  // x now comes after it
        before_[y] &= ~one;
        chosen_[y] = lists_[y].best(before_[y], chosen_[y]);
      } else {
        before_[y] |= one;
        chosen_[y] = first_with(lists_[y], before_[y], chosen_[y]);
      }
    }
  }

  Parents parents() const {
    Parents out(n_);
    for (std::size_t v = 0; v < n_; ++v)
      if (chosen_[v] < lists_[v].masks.size())
        out[v] = lists_[v].parents_of(lists_[v].masks[chosen_[v]]);
    return out;
  }

 private:
  double score(std::size_t v, std::size_t entry) const {
    return entry < lists_[v].scores.size() ? lists_[v].scores[entry] : kNever;
  }
  static std::uint64_t bit(const ParentList& list, std::int32_t x) {
    return std::uint64_t{1} << list.bit_of[static_cast<std::size_t>(x)];
  }
  // The first entry within `allowed` before `most`, which is within it too.
  static std::size_t first_with(const ParentList& list, std::uint64_t allowed, std::size_t most) {
    std::size_t i = 0;
    while (i < most && (list.masks[i] & ~allowed) != 0) ++i;
    return i;
  }
  // Who is before it among its candidates, and the best entry of those.
  void choose(std::size_t v) {
    std::uint64_t mask = 0;
    const ParentList& list = lists_[v];
    for (std::size_t b = 0; b < list.candidates.size(); ++b)
      if (at_[static_cast<std::size_t>(list.candidates[b])] < at_[v]) mask |= std::uint64_t{1} << b;
    before_[v] = mask;
    chosen_[v] = list.best(mask);
  }
  void refresh() {
    for (std::size_t k = 0; k < n_; ++k) at_[static_cast<std::size_t>(order_[k])] = k;
    for (std::size_t v = 0; v < n_; ++v) choose(v);
  }

  const std::vector<ParentList>& lists_;
  std::vector<std::int32_t> order_;
  std::size_t n_;
  std::vector<std::size_t> at_;  // where each variable stands
  std::vector<std::uint64_t> before_;
  std::vector<std::size_t> chosen_;
  std::vector<std::vector<std::int32_t>> takers_;  // whose candidate each variable is
  std::vector<double> change_;
};

void shuffle(std::vector<std::int32_t>& items, Random& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace

Found order_search(const ParentLists& lists, const Parents& start, const OrderOptions& options,
                   const Report& report) {
  const std::size_t n = lists.rules().n;
  const std::vector<std::int32_t> first = Graph(n, start).order();
  const auto chains = static_cast<std::size_t>(std::max<std::int64_t>(options.chains, 1));
  const std::int64_t kicks =
      options.kicks > 0
          ? options.kicks
          : std::clamp<std::int64_t>(static_cast<std::int64_t>(n) / 8, 2, 12);
  std::vector<Found> found(chains);
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> sweeps{0};
  std::mutex report_lock;
  double best_of_all = kMinusInfinity;
  parallel_for(chains, options.threads, [&](std::size_t chain) {
    Random random(options.seed * 0x9E3779B97F4A7C15ull + chain);
    Found& best = found[chain];
    Order order(lists, first);
    std::vector<std::int32_t> all(n);
    std::iota(all.begin(), all.end(), 0);
    const auto goes_on = [&](const Order& now) {
      ++sweeps;
      const std::lock_guard guard(report_lock);
      best_of_all = std::max(best_of_all, now.total());
      if (!stop && !report(best_of_all, sweeps, 0)) stop = true;
      return !stop;
    };
    const auto descend = [&] {
      for (bool better = true; better && !stop;) {
        better = false;
        shuffle(all, random);
        const double slack = slack_of(order.total());
        for (const std::int32_t x : all) better |= order.improve(x, slack);
        if (!goes_on(order)) return;
      }
    };
    if (chain > 0) {  // other chains begin elsewhere, where the rules allow it
      const std::vector<std::int32_t> kept = order.order();
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t from = random.below(n), to = random.below(n);
        order.place(order.order()[from], from, to);
      }
      if (std::isinf(order.total())) order.set(kept);
    }
    descend();
    best.score = order.total();
    best.parents = order.parents();
    best.trace.push_back(best.score);
    std::vector<std::int32_t> kept = order.order();
    double kept_score = best.score;
    for (std::int64_t idle = 0; idle < options.patience && !stop && n > 2; ++idle) {
      for (std::int64_t k = 0; k < kicks; ++k) {
        const std::size_t from = random.below(n), to = random.below(n);
        order.place(order.order()[from], from, to);
      }
      if (std::isinf(order.total())) {
        order.set(kept);
        continue;
      }
      descend();
      ++best.steps;
      const double now = order.total();
      if (now >= kept_score - slack_of(kept_score)) {
        kept = order.order();
        kept_score = now;
      } else {
        order.set(kept);
      }
      if (now > best.score + slack_of(best.score)) {
        best.score = now;
        best.parents = order.parents();
        best.trace.push_back(now);
        idle = -1;
      }
    }
  });
  std::size_t winner = 0;
  std::int64_t steps = 0;
  for (std::size_t c = 0; c < chains; ++c) {
    steps += found[c].steps;
    if (found[c].score > found[winner].score + slack_of(found[winner].score)) winner = c;
  }
  Found out = std::move(found[winner]);
  out.steps = steps;
  out.stopped = stop;
  return out;
}

}  // namespace credo::search
