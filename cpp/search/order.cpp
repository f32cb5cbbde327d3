#include "search/order.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>

#include "common/constants.hpp"
#include "common/parallel.hpp"

namespace credo::search {
namespace {

// What a variable gets that has no list entry within its order: so little that nothing makes up for
// it, and still a number that can be taken away again.
constexpr double kNever = -1e100;

struct Edge {
  std::int32_t parent, child;
};

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
        change_(n_),
        waits_(n_) {
    for (std::size_t y = 0; y < n_; ++y)
      for (const std::int32_t x : lists_[y].candidates)
        takers_[static_cast<std::size_t>(x)].push_back(static_cast<std::int32_t>(y));
    refresh();
  }

  std::int32_t at(std::size_t position) const { return order_[position]; }

  double total() const {
    double sum = 0;
    for (std::size_t v = 0; v < n_; ++v) sum += score(v, chosen_[v]);
    return sum < kNever / 2 ? kMinusInfinity : sum;
  }

  // Where everything stands, to come back to.
  struct State {
    std::vector<std::int32_t> order;
    std::vector<std::size_t> at, chosen;
    std::vector<std::uint64_t> before;
  };
  State state() const { return {order_, at_, chosen_, before_}; }
  void set(const State& state) {
    order_ = state.order;
    at_ = state.at;
    chosen_ = state.chosen;
    before_ = state.before;
    waiting_.clear();
    std::fill(waits_.begin(), waits_.end(), 0);
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

  // Improves the positions of those that wait, and of whoever their moves concern, until none
  // waits; whether anything got better.
  bool settle(double slack) {
    bool better = false;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const std::int32_t x = waiting_[i];
      waits_[static_cast<std::size_t>(x)] = 0;
      better |= improve(x, slack);
    }
    waiting_.clear();
    return better;
  }
  void wait(std::int32_t x) {
    if (waits_[static_cast<std::size_t>(x)] != 0) return;
    waits_[static_cast<std::size_t>(x)] = 1;
    waiting_.push_back(x);
  }

  // The edges of the order's graph.
  std::vector<Edge> edges() const {
    std::vector<Edge> out;
    for (std::size_t c = 0; c < n_; ++c)
      if (chosen_[c] < lists_[c].masks.size())
        for (const std::int32_t p : lists_[c].parents_of(lists_[c].masks[chosen_[c]]))
          out.push_back({p, static_cast<std::int32_t>(c)});
    return out;
  }

  // Turns an edge: its parent is put right after its child, or the child right before the parent.
  // Whom that concerns waits, the ends of the edge last, or they would just turn back.
  void turn(const Edge& edge, bool late) {
    const std::size_t low = at_[static_cast<std::size_t>(edge.parent)];
    const std::size_t high = at_[static_cast<std::size_t>(edge.child)];
    if (late) place(edge.parent, low, high);
    else place(edge.child, high, low);
    put_off(std::array{edge.parent, edge.child});
  }
  // These wait until all others have been looked at.
  void put_off(std::span<const std::int32_t> last) {
    const auto is_one = [&](std::int32_t x) {
      return std::find(last.begin(), last.end(), x) != last.end();
    };
    std::erase_if(waiting_, is_one);
    for (const std::int32_t x : last) waits_[static_cast<std::size_t>(x)] = 0;
    for (const std::int32_t x : last) wait(x);
  }

  void place(std::int32_t x, std::size_t from, std::size_t to) {
    const auto first = order_.begin();
    const auto a = static_cast<std::ptrdiff_t>(from), b = static_cast<std::ptrdiff_t>(to);
    if (a < b) std::rotate(first + a, first + a + 1, first + b + 1);
    else std::rotate(first + b, first + a, first + a + 1);
    const std::size_t low = std::min(from, to), high = std::max(from, to);
    for (std::size_t k = low; k <= high; ++k) at_[static_cast<std::size_t>(order_[k])] = k;
    const std::size_t had = chosen_[static_cast<std::size_t>(x)];
    choose(static_cast<std::size_t>(x));
    concern(static_cast<std::size_t>(x), had);
    for (const std::int32_t v : takers_[static_cast<std::size_t>(x)]) {
      const auto y = static_cast<std::size_t>(v);
      if (at_[y] < low || at_[y] > high) continue;
      const std::uint64_t one = bit(lists_[y], x);
      const std::size_t before = chosen_[y];
      if (from < to) {  // x now comes after it
        before_[y] &= ~one;
        chosen_[y] = lists_[y].best(before_[y], chosen_[y]);
      } else {
        before_[y] |= one;
        chosen_[y] = first_with(lists_[y], before_[y], chosen_[y]);
      }
      concern(y, before);
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
  // Whoever takes other parents than before, and those parents, then and now, wait to be looked at
  // again.
  void concern(std::size_t v, std::size_t before) {
    const ParentList& list = lists_[v];
    if (chosen_[v] == before) return;
    wait(static_cast<std::int32_t>(v));
    const auto mask = [&](std::size_t entry) {
      return entry < list.masks.size() ? list.masks[entry] : 0;
    };
    for_each_bit(mask(before) | mask(chosen_[v]), [&](std::uint64_t bit) {
      wait(list.candidates[static_cast<std::size_t>(__builtin_ctzll(bit))]);
    });
  }
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
  std::vector<std::int32_t> waiting_;  // to be looked at again, in this order
  std::vector<char> waits_;
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
        for (const std::int32_t x : all) order.wait(x);
        better = order.settle(slack_of(order.total()));
        if (!goes_on(order)) return;
      }
    };
    if (chain > 0) {  // other chains begin elsewhere, where the rules allow it
      const Order::State kept = order.state();
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t from = random.below(n), to = random.below(n);
        order.place(order.at(from), from, to);
      }
      if (std::isinf(order.total())) order.set(kept);
    }
    descend();
    best.score = order.total();
    best.parents = order.parents();
    best.trace.push_back(best.score);
    Order::State kept = order.state();
    double kept_score = best.score;
    std::vector<Edge> edges = order.edges();
    std::size_t turned = 0;  // turns since the last better order, and where they go on
    std::size_t next = 0;
    for (std::int64_t idle = 0; !stop && n > 2; ++idle) {
      const bool turns = options.turns && turned < 2 * edges.size();
      if (!turns && idle >= options.patience) break;
      if (turns) {
        --idle;
        ++turned;
        next = (next + 1) % (2 * edges.size());
        order.turn(edges[next / 2], next % 2 == 1);
      } else {
        for (std::int64_t k = 0; k < kicks; ++k) {
          const std::size_t from = random.below(n), to = random.below(n);
          order.place(order.at(from), from, to);
        }
      }
      if (std::isinf(order.total())) {
        order.set(kept);
        continue;
      }
      if (turns) {
        order.settle(slack_of(kept_score));
        if (order.total() > kept_score + slack_of(kept_score)) descend();
        else if (!goes_on(order)) break;
      } else {
        descend();
      }
      ++best.steps;
      const double now = order.total();
      if (now >= kept_score - slack_of(kept_score)) {
        kept = order.state();
        kept_score = now;
        edges = order.edges();
      } else {
        order.set(kept);
      }
      if (now > best.score + slack_of(best.score)) {
        best.score = now;
        best.parents = order.parents();
        best.trace.push_back(now);
        idle = -1;
        turned = 0;
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
