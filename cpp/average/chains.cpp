#include "average/chains.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "common/constants.hpp"
#include "common/random.hpp"

namespace credo::average {
namespace {

constexpr double kNegligible = 40;  // nats
constexpr std::size_t kGibbs = 16;  // one move in so many is of the second kind, one of the third

template <std::size_t W>
struct Bits {
  std::array<std::uint64_t, W> words{};

  bool has(std::size_t i) const { return words[i / 64] >> (i % 64) & 1; }
  void set(std::size_t i) { words[i / 64] |= std::uint64_t{1} << (i % 64); }
  void drop(std::size_t i) { words[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
  bool meets(const Bits& other) const {
    std::uint64_t any = 0;
    for (std::size_t w = 0; w < W; ++w) any |= words[w] & other.words[w];
    return any != 0;
  }
  bool operator==(const Bits&) const = default;
  template <class F>
  void each(F&& f) const {
    for (std::size_t w = 0; w < W; ++w)
      for (std::uint64_t rest = words[w]; rest != 0; rest &= rest - 1)
        f(w * 64 + static_cast<std::size_t>(__builtin_ctzll(rest)));
  }
};

// The place of a set in its list, by a random number for each variable.
template <std::size_t W>
class Places {
 public:
  void fill(const std::vector<Bits<W>>& sets, const std::vector<std::uint64_t>& keys) {
    std::size_t size = 4;
    while (size < 2 * sets.size()) size *= 2;
    slots_.assign(size, -1);
    sets_ = &sets;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      std::uint64_t key = 0;
      sets[i].each([&](std::size_t v) { key ^= keys[v]; });
      std::size_t at = key & (size - 1);
      while (slots_[at] >= 0) at = (at + 1) & (size - 1);
      slots_[at] = static_cast<std::int32_t>(i);
    }
  }
  std::int32_t find(const Bits<W>& set, std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = key & mask; slots_[at] >= 0; at = (at + 1) & mask)
      if ((*sets_)[static_cast<std::size_t>(slots_[at])] == set) return slots_[at];
    return -1;
  }

 private:
  std::vector<std::int32_t> slots_;
  const std::vector<Bits<W>>* sets_ = nullptr;
};

struct Drawn {
  std::int32_t place = -1;
  double log_sum = kMinusInfinity;
};

template <std::size_t W>
class ChainOf : public Chain {
 public:
  ChainOf(std::shared_ptr<const std::vector<FamilyList>> lists, std::uint64_t seed)
      : lists_(std::move(lists)), n_(lists_->size()), random_(seed), sets_(n_), places_(n_),
        parents_(n_), children_(n_), keys_(n_), keys_of_(n_), at_(n_, -1), order_(n_) {
    for (std::size_t v = 0; v < n_; ++v) keys_[v] = random::splitmix(v + 1);
    for (std::size_t c = 0; c < n_; ++c) {
      for (const auto& set : (*lists_)[c].sets) {
        Bits<W> bits;
        for (const std::int32_t p : set) bits.set(static_cast<std::size_t>(p));
        sets_[c].push_back(bits);
      }
      places_[c].fill(sets_[c], keys_);
    }
  }

  bool start() {
    for (std::size_t v = 0; v < n_; ++v) order_[v] = v;
    for (std::size_t i = n_; i > 1; --i) std::swap(order_[i - 1], order_[random_.below(i)]);
    Bits<W> later;
    for (std::size_t v = 0; v < n_; ++v) later.set(v);
    for (const std::size_t v : order_) {
      std::size_t i = 0;
      while (i < sets_[v].size() && sets_[v][i].meets(later)) ++i;
      if (i == sets_[v].size()) return false;
      take(v, static_cast<std::int32_t>(i));
      later.drop(v);
    }
    return true;
  }

  bool start(const std::vector<std::vector<std::int32_t>>& parents) {
    for (std::size_t c = 0; c < n_; ++c) {
      Bits<W> set;
      std::uint64_t key = 0;
      for (const std::int32_t p : parents[c]) {
        set.set(static_cast<std::size_t>(p));
        key ^= keys_[static_cast<std::size_t>(p)];
      }
      const std::int32_t place = places_[c].find(set, key);
      if (place < 0) return false;
      take(c, place);
    }
    for (std::size_t c = 0; c < n_; ++c)
      if (below(c).meets(parents_[c])) return false;
    return true;
  }

  void sweep(std::size_t moves, double cold, Block& out) override {
    cold_ = cold;
    for (std::size_t m = 0; m < moves && n_ > 1; ++m) {
      const std::size_t kind = random_.below(kGibbs);
      const std::size_t which = kind < 2 ? 1 + kind : 0;
      ++out.proposed[which];
      out.accepted[which] += which == 0 ? pair() : which == 1 ? turn() : around();
    }
  }
  void count_edges(Block& out) const override {
    for (std::size_t c = 0; c < n_; ++c)
      parents_[c].each([&](std::size_t p) { ++out.edges[p * n_ + c]; });
  }
  void keep(Block& out) const override {
    out.kept.insert(out.kept.end(), at_.begin(), at_.end());
    out.scores.push_back(score());
  }
  double score() const override {
    double sum = 0;
    for (std::size_t c = 0; c < n_; ++c) sum += score(c, at_[c]);
    return sum;
  }

 private:
  double score(std::size_t c, std::int32_t place) const {
    return (*lists_)[c].scores[static_cast<std::size_t>(place)];
  }

  void take(std::size_t c, std::int32_t place) {
    if (at_[c] >= 0) drop(c);
    parents_[c] = sets_[c][static_cast<std::size_t>(place)];
    at_[c] = place;
    keys_of_[c] = 0;
    parents_[c].each([&](std::size_t p) {
      children_[p].set(c);
      keys_of_[c] ^= keys_[p];
      ++edges_;
    });
  }
  // Without parents for a while; `at` still says which they were.
  void drop(std::size_t c) {
    parents_[c].each([&](std::size_t p) {
      children_[p].drop(c);
      --edges_;
    });
    parents_[c] = {};
  }
  // With the one parent alone for a while.
  void keep_only(std::size_t c, std::size_t parent) {
    drop(c);
    parents_[c].set(parent);
    children_[parent].set(c);
    ++edges_;
  }

  Bits<W> below(std::size_t v) const {  // v and its descendants
    Bits<W> seen, open;
    seen.set(v);
    open.set(v);
    for (std::size_t w = 0; w < W;) {
      if (open.words[w] == 0) {
        ++w;
        continue;
      }
      const std::size_t u = w * 64 + static_cast<std::size_t>(__builtin_ctzll(open.words[w]));
      open.drop(u);
      std::size_t first = w;
      for (std::size_t k = 0; k < W; ++k) {
        const std::uint64_t fresh = children_[u].words[k] & ~seen.words[k];
        seen.words[k] |= fresh;
        open.words[k] |= fresh;
        if (fresh != 0) first = std::min(first, k);
      }
      w = first;
    }
    return seen;
  }

  // One of the sets apart from `barred`, and with `needed` if that is a variable, in proportion to
  // exp(score); with the logarithm of their sum. Without `draw` only the sum.
  Drawn drawn(std::size_t c, const Bits<W>& barred, std::size_t needed, bool draw) {
    const auto& sets = sets_[c];
    const auto& scores = (*lists_)[c].scores;
    found_.clear();
    double first = 0, sum = 0;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (sets[i].meets(barred) || (needed < n_ && !sets[i].has(needed))) continue;
      if (found_.empty()) first = scores[i];
      const double below = cold_ * (first - scores[i]);
      if (below > kNegligible) break;
      sum += std::exp(-below);
      found_.push_back({static_cast<std::int32_t>(i), sum});
    }
    if (found_.empty()) return {};
    Drawn out{found_.back().place, cold_ * first + std::log(sum)};
    if (!draw) return out;
    const double u = random_.unit() * sum;
    const auto it = std::upper_bound(found_.begin(), found_.end(), u,
                                     [](double x, const Found& f) { return x < f.sum; });
    if (it != found_.end()) out.place = it->place;
    return out;
  }

  bool accept(double log_ratio) { return log_ratio >= 0 || random_.unit() < std::exp(log_ratio); }

  // None, a -> b and b -> a: to one of the other two.
  bool pair() {
    std::size_t a = random_.below(n_), b = random_.below(n_ - 1);
    b += b >= a;
    const bool second = random_.below(2) == 1;
    const bool ab = parents_[b].has(a), ba = parents_[a].has(b);
    if (ba) std::swap(a, b);
    Bits<W> set = parents_[b];
    if (!ab && !ba) {  // a -> b or b -> a: the pair was drawn in order, so `second` is not needed
      set.set(a);
      const std::int32_t place = places_[b].find(set, keys_of_[b] ^ keys_[a]);
      if (place < 0 || !accept(cold_ * (score(b, place) - score(b, at_[b]))) || below(b).has(a)) return false;
      take(b, place);
      return true;
    }
    set.drop(a);
    const std::int32_t place = places_[b].find(set, keys_of_[b] ^ keys_[a]);
    if (place < 0) return false;
    if (!second) {
      if (!accept(cold_ * (score(b, place) - score(b, at_[b])))) return false;
      take(b, place);
      return true;
    }
    Bits<W> other = parents_[a];
    other.set(b);
    const std::int32_t turned = places_[a].find(other, keys_of_[a] ^ keys_[b]);
    if (turned < 0 || !accept(cold_ * (score(b, place) - score(b, at_[b]) + score(a, turned) -
                                       score(a, at_[a]))))
      return false;
    const std::int32_t was = at_[b];
    take(b, place);
    if (below(a).has(b)) {
      take(b, was);
      return false;
    }
    take(a, turned);
    return true;
  }

  // An edge i -> j is turned; both get new parents, i with j among them.
  bool turn() {
    if (edges_ == 0) return false;
    std::size_t left = random_.below(edges_), i = 0, j = 0;
    for (std::size_t c = 0; c < n_; ++c) {
      const std::size_t before = left;
      bool here = false;
      std::size_t passed = 0;
      parents_[c].each([&](std::size_t p) {
        if (passed++ == before) i = p, j = c, here = true;
      });
      if (here) break;
      left -= passed;
    }
    const std::size_t edges = edges_;
    const std::int32_t was_i = at_[i], was_j = at_[j];
    drop(i);
    drop(j);
    const Bits<W> under_i = below(i), under_j = below(j);
    const double back_first = drawn(j, under_j, i, false).log_sum;
    const Drawn new_i = drawn(i, under_i, j, true);
    if (new_i.place >= 0) {
      take(i, new_i.place);
      const Drawn new_j = drawn(j, below(j), n_, true);
      drop(i);
      if (new_j.place >= 0) {
        take(j, was_j);
        const double back_second = drawn(i, below(i), n_, false).log_sum;
        take(i, new_i.place);
        take(j, new_j.place);
        const double ratio = std::log(static_cast<double>(edges) / static_cast<double>(edges_)) +
                             new_i.log_sum + new_j.log_sum - back_first - back_second;
        if (accept(ratio)) return true;
      }
    }
    take(i, was_i);
    take(j, was_j);
    return false;
  }

  // A variable and its children get new parents, the children with it among them.
  bool around() {
    const std::size_t i = random_.below(n_);
    under_.clear();
    children_[i].each([&](std::size_t c) { under_.push_back(c); });
    for (std::size_t k = under_.size(); k > 1; --k)
      std::swap(under_[k - 1], under_[random_.below(k)]);
    was_.clear();
    was_.push_back(at_[i]);
    for (const std::size_t c : under_) was_.push_back(at_[c]);
    double back = 0, forth = 0;
    drop(i);
    for (const std::size_t c : under_) keep_only(c, i);
    take(i, was_[0]);
    for (std::size_t k = 0; k < under_.size(); ++k) {
      back += drawn(under_[k], below(under_[k]), i, false).log_sum;
      take(under_[k], was_[k + 1]);
    }
    drop(i);
    for (const std::size_t c : under_) keep_only(c, i);
    bool whole = true;
    const Drawn own = drawn(i, below(i), n_, true);
    take(i, own.place);
    for (const std::size_t c : under_) {
      const Drawn one = drawn(c, below(c), i, true);
      if (!(whole = one.place >= 0)) break;
      forth += one.log_sum;
      take(c, one.place);
    }
    if (whole && accept(forth - back)) return true;
    drop(i);
    for (const std::size_t c : under_) drop(c);
    take(i, was_[0]);
    for (std::size_t k = 0; k < under_.size(); ++k) take(under_[k], was_[k + 1]);
    return false;
  }

  struct Found {
    std::int32_t place;
    double sum;
  };
  std::shared_ptr<const std::vector<FamilyList>> lists_;
  std::size_t n_;
  search::Random random_;
  std::vector<std::vector<Bits<W>>> sets_;
  std::vector<Places<W>> places_;
  std::vector<Bits<W>> parents_, children_;
  std::vector<std::uint64_t> keys_, keys_of_;
  std::vector<std::int32_t> at_, was_;
  std::vector<std::size_t> order_, under_;
  std::vector<Found> found_;
  std::size_t edges_ = 0;
  double cold_ = 1;
};

template <std::size_t W>
std::unique_ptr<Chain> started(std::shared_ptr<const std::vector<FamilyList>> lists,
                               std::uint64_t seed,
                               const std::vector<std::vector<std::int32_t>>* start) {
  auto chain = std::make_unique<ChainOf<W>>(std::move(lists), seed);
  if (!(start == nullptr ? chain->start() : chain->start(*start))) return nullptr;
  return chain;
}

}  // namespace

Block Ladder::run(std::size_t n, std::size_t sweeps, std::size_t moves, std::size_t keep,
                  double cold, Monitor& monitor) {
  Block out, others;
  out.edges.assign(n * n, 0);
  for (std::size_t sweep = 0; sweep < sweeps; ++sweep) {
    if (sweep % 64 == 0) monitor.poll();
    for (std::size_t k = 0; k < copies_.size(); ++k)
      copies_[k]->sweep(moves, cold * shares_[k], k == 0 ? out : others);
    for (std::size_t k = sweep % 2; k + 1 < copies_.size(); k += 2) {
      const double ratio = cold * (shares_[k] - shares_[k + 1]) *
                           (copies_[k + 1]->score() - copies_[k]->score());
      ++out.proposed[3];
      if (ratio < 0 && random_.unit() >= std::exp(ratio)) continue;
      ++out.accepted[3];
      std::swap(copies_[k], copies_[k + 1]);
    }
    copies_[0]->count_edges(out);
    if ((sweep + 1) * keep / sweeps > sweep * keep / sweeps) copies_[0]->keep(out);
  }
  return out;
}

std::unique_ptr<Chain> make_chain(std::shared_ptr<const std::vector<FamilyList>> lists,
                                  std::uint64_t seed,
                                  const std::vector<std::vector<std::int32_t>>* start) {
  const std::size_t n = lists->size();
  if (n <= 64) return started<1>(std::move(lists), seed, start);
  if (n <= 128) return started<2>(std::move(lists), seed, start);
  if (n <= 256) return started<4>(std::move(lists), seed, start);
  if (n <= kMostChained) return started<16>(std::move(lists), seed, start);
  throw std::invalid_argument("Too many variables for a chain.");
}

}  // namespace credo::average
