#include "search/graph.hpp"

#include <algorithm>

#include "common/random.hpp"

namespace credo::search {

Graph::Graph(std::size_t n, const Parents& parents)
    : n_(n),
      words_((n + 63) / 64),
      parents_(n),
      children_(n * words_),
      ancestors_(n * words_) {
  for (std::size_t c = 0; c < n; ++c)
    for (const std::int32_t p : parents[c]) add(c, static_cast<std::size_t>(p));
  find_ancestors();
}

void Graph::add(std::size_t child, std::size_t parent) {
  auto& ps = parents_[child];
  const auto p = static_cast<std::int32_t>(parent);
  ps.insert(std::lower_bound(ps.begin(), ps.end(), p), p);
  set(children_, parent, child, true);
  ++edges_;
}

void Graph::remove(std::size_t child, std::size_t parent) {
  auto& ps = parents_[child];
  ps.erase(std::lower_bound(ps.begin(), ps.end(), static_cast<std::int32_t>(parent)));
  set(children_, parent, child, false);
  --edges_;
}

std::vector<std::int32_t> Graph::order() const {
  std::vector<std::int32_t> out, left(n_);
  out.reserve(n_);
  for (std::size_t c = 0; c < n_; ++c) {
    left[c] = static_cast<std::int32_t>(parents_[c].size());
    if (left[c] == 0) out.push_back(static_cast<std::int32_t>(c));
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto p = static_cast<std::size_t>(out[i]);
    for (std::size_t w = 0; w < words_; ++w)
      for (std::uint64_t bits = children_[p * words_ + w]; bits != 0; bits &= bits - 1) {
        const std::size_t c = w * 64 + static_cast<std::size_t>(__builtin_ctzll(bits));
        if (--left[c] == 0) out.push_back(static_cast<std::int32_t>(c));
      }
  }
  return out;
}

void Graph::find_ancestors() {
  std::fill(ancestors_.begin(), ancestors_.end(), 0);
  for (const std::int32_t v : order()) {
    const auto c = static_cast<std::size_t>(v);
    for (const std::int32_t u : parents_[c]) {
      const auto p = static_cast<std::size_t>(u);
      for (std::size_t w = 0; w < words_; ++w)
        ancestors_[c * words_ + w] |= ancestors_[p * words_ + w];
      set(ancestors_, c, p, true);
    }
  }
}

bool Graph::may_add(const Rules& rules, std::size_t child, std::size_t parent) const {
  return child != parent && rules.may(child, parent) && !has(child, parent) &&
         !is_ancestor(parent, child) &&
         parents_[child].size() < static_cast<std::size_t>(rules.most[child]);
}

bool Graph::may_delete(const Rules& rules, std::size_t child, std::size_t parent) const {
  return has(child, parent) && !rules.must(child, parent);
}

bool Graph::may_reverse(const Rules& rules, std::size_t child, std::size_t parent) const {
  if (!has(child, parent) || rules.must(child, parent) || !rules.may(parent, child) ||
      parents_[parent].size() >= static_cast<std::size_t>(rules.most[parent]))
    return false;
  // Another way from parent to child would close a cycle.
  for (std::size_t w = 0; w < words_; ++w)
    if ((children_[parent * words_ + w] & ancestors_[child * words_ + w]) != 0) return false;
  return true;
}

bool Graph::may(const Rules& rules, const Move& move) const {
  const auto c = static_cast<std::size_t>(move.child), p = static_cast<std::size_t>(move.parent);
  switch (move.change) {
    case Change::kAdd: return may_add(rules, c, p);
    case Change::kDelete: return may_delete(rules, c, p);
    default: return may_reverse(rules, c, p);
  }
}

void Graph::apply(const Move& move) {
  const auto c = static_cast<std::size_t>(move.child), p = static_cast<std::size_t>(move.parent);
  if (move.change != Change::kAdd) {
    remove(c, p);
    if (move.change == Change::kReverse) add(p, c);
    find_ancestors();
    return;
  }
  add(c, p);
  std::vector<std::uint64_t> above(ancestors_.begin() + static_cast<std::ptrdiff_t>(p * words_),
                                   ancestors_.begin() + static_cast<std::ptrdiff_t>((p + 1) * words_));
  above[p / 64] |= std::uint64_t{1} << (p % 64);
  for (std::size_t d = 0; d < n_; ++d) {
    if (d != c && !is_ancestor(d, c)) continue;
    for (std::size_t w = 0; w < words_; ++w) ancestors_[d * words_ + w] |= above[w];
  }
}

Random::Random(std::uint64_t seed) {
  for (std::uint64_t& s : s_) {
    s = random::splitmix(seed);
    seed += random::kGolden;
  }
}

std::uint64_t Random::next() {
  const auto turned = [](std::uint64_t x, int k) { return x << k | x >> (64 - k); };
  const std::uint64_t out = turned(s_[1] * 5, 7) * 9, t = s_[1] << 17;
  s_[2] ^= s_[0];
  s_[3] ^= s_[1];
  s_[1] ^= s_[2];
  s_[0] ^= s_[3];
  s_[2] ^= t;
  s_[3] = turned(s_[3], 45);
  return out;
}

}  // namespace credo::search
