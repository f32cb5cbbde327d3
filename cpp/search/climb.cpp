#include "search/climb.hpp"

#include "search/order.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <tuple>
#include <unordered_set>

namespace credo::search {
namespace {

using score::Families;
using score::FamilyScores;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

class Climber {
 public:
  Climber(FamilyScores& scores, const Rules& rules, const Parents& start)
      : scores_(scores),
        rules_(rules),
        graph_(rules.n, start),
        n_(rules.n),
        local_(rules.n),
        difference_(rules.n * rules.n, kUnknown),
        hope_(rules.n * rules.n, kUnknown) {
    Families all;
    for (std::size_t c = 0; c < n_; ++c) all.add(static_cast<std::int32_t>(c), graph_.parents(c));
    scores_.score(all, local_.data());
    unknown_.resize(n_);
    for (std::size_t c = 0; c < n_; ++c) {
      forget(c);
      seen_.add(static_cast<std::int32_t>(c), graph_.parents(c));
    }
    seen_scores_ = local_;
    hash_ = hash_of();
  }

  // Go on from another graph; what is known of the children it leaves alone stays known.
  void set(const Parents& parents) {
    Families all;
    for (std::size_t c = 0; c < n_; ++c) {
      all.add(static_cast<std::int32_t>(c), parents[c]);
      if (!std::ranges::equal(parents[c], graph_.parents(c))) changed_.push_back(c);
    }
    graph_ = Graph(n_, parents);
    scores_.score(all, local_.data());
    for (const std::size_t c : changed_) forget(c);
    changed_.clear();
    hash_ = hash_of();
  }

  // The families scored so far that are better than without one of their parents, among them
  // those of every graph on the way.
  ParentLists lists() const {
    ParentLists out(scores_, rules_);
    out.take(seen_, seen_scores_);
    return out;
  }

  // Sets that were scored elsewhere and are worth having.
  void take(const ParentLists& lists) {
    for (std::size_t c = 0; c < n_; ++c) {
      const ParentList& list = lists.lists()[c];
      for (std::size_t i = 0; i < list.masks.size(); ++i) {
        seen_.add(static_cast<std::int32_t>(c), list.parents_of(list.masks[i]));
        seen_scores_.push_back(list.scores[i]);
      }
    }
  }

  double total() const {
    double out = 0;
    for (const double s : local_) out += s;
    return out;
  }
  const Graph& graph() const { return graph_; }
  std::uint64_t hash() const { return hash_; }

  // Scores the legal moves that are not scored yet: all of them, or those that may be hoped for.
  // A parent whose bound says that it adds nothing is not counted where only gains are wanted.
  void refresh(bool all, bool gains) {
    Families batch;
    std::vector<std::pair<std::size_t, std::size_t>> where;
    std::vector<std::int32_t> rest;
    for (std::size_t c = 0; c < n_; ++c) {
      auto& open = unknown_[c];
      std::size_t kept = 0;
      for (const std::int32_t v : open) {
        const auto p = static_cast<std::size_t>(v);
        if (graph_.has(c, p)) {
          rest.clear();
          for (const std::int32_t q : graph_.parents(c))
            if (q != v) rest.push_back(q);
          batch.add(static_cast<std::int32_t>(c), rest);
        } else if ((graph_.has(p, c) && graph_.may_reverse(rules_, p, c)) ||
                   (graph_.may_add(rules_, c, p) && (all || !(hope_[c * n_ + p] <= 0)) &&
                    !(gains && hopeless(c, p)))) {
          batch.add(static_cast<std::int32_t>(c), graph_.parents(c), v);
        } else {
          open[kept++] = v;
          continue;
        }
        where.emplace_back(c, p);
      }
      open.resize(kept);
    }
    std::vector<double> found(batch.size());
    if (batch.size() != 0) scores_.score(batch, found.data());
    for (std::size_t i = 0; i < where.size(); ++i) {
      const auto [c, p] = where[i];
      const bool both = std::isinf(found[i]) && std::isinf(local_[c]);
      const double gain = both ? 0.0 : found[i] - local_[c];
      difference_[c * n_ + p] = gain;
      const bool has = graph_.has(c, p);
      if (!has) hope_[c * n_ + p] = gain;
      if (has || gain > 0) {
        seen_.add(static_cast<std::int32_t>(c), batch.parents[i]);
        seen_scores_.push_back(found[i]);
      }
    }
  }

  // The best legal move whose graph is not taboo, and its gain. Ties, up to rounding, go to the
  // first in the order: children, parents, then the kind of change.
  template <class Taboo>
  std::pair<Move, double> best(double slack, const Taboo& taboo) const {
    Move move{Change::kAdd, -1, -1};
    double gain = -std::numeric_limits<double>::infinity();
    const auto consider = [&](Change change, std::size_t c, std::size_t p, double by) {
      if (!(by > gain + (std::isinf(gain) ? 0.0 : slack))) return;
      const Move other{change, static_cast<std::int32_t>(p), static_cast<std::int32_t>(c)};
      if (!graph_.may(rules_, other) || taboo(hash_after(other))) return;
      gain = by;
      move = other;
    };
    for (std::size_t c = 0; c < n_; ++c)
      for (std::size_t p = 0; p < n_; ++p) {
        const double by = difference_[c * n_ + p];
        if (graph_.has(c, p)) {
          consider(Change::kDelete, c, p, by);
          consider(Change::kReverse, c, p, by + difference_[p * n_ + c]);
        } else if (by > gain) {
          consider(Change::kAdd, c, p, by);
        }
      }
    return {move, gain};
  }

  void apply(const Move& move) {
    const auto c = static_cast<std::size_t>(move.child), p = static_cast<std::size_t>(move.parent);
    hash_ = hash_after(move);
    const auto renew = [&](std::size_t child, std::size_t other) {
      const double by = difference_[child * n_ + other];
      graph_change_.push_back({child, by});
    };
    graph_change_.clear();
    renew(c, p);
    if (move.change == Change::kReverse) renew(p, c);
    graph_.apply(move);
    Families again;  // fresh, so that no rounding piles up
    for (const auto& [child, by] : graph_change_)
      again.add(static_cast<std::int32_t>(child), graph_.parents(child));
    std::vector<double> found(again.size());
    scores_.score(again, found.data());
    for (std::size_t i = 0; i < graph_change_.size(); ++i) {
      local_[graph_change_[i].first] = found[i];
      forget(graph_change_[i].first);
    }
  }

  // A random legal move, noted; or none.
  void kick(Random& random, std::vector<Move>& moves) {
    for (int tries = 0; tries < 100; ++tries) {
      const std::size_t c = random.below(n_), p = random.below(n_);
      if (c == p) continue;
      const Change change = !graph_.has(c, p)       ? Change::kAdd
                            : random.below(2) == 0 ? Change::kDelete
                                                   : Change::kReverse;
      const Move move{change, static_cast<std::int32_t>(p), static_cast<std::int32_t>(c)};
      if (!graph_.may(rules_, move)) continue;
      apply(move);
      moves.push_back(move);
      return;
    }
  }

 private:
  bool hopeless(std::size_t c, std::size_t p) const {
    return scores_.most_gain(static_cast<std::int32_t>(c), graph_.parents(c),
                             static_cast<std::int32_t>(p)) <= 0;
  }
  std::uint64_t hash_of() const {
    std::uint64_t out = 0;
    for (std::size_t c = 0; c < n_; ++c)
      for (const std::int32_t p : graph_.parents(c)) out ^= edge_key(c, static_cast<std::size_t>(p));
    return out;
  }
  static std::uint64_t edge_key(std::size_t c, std::size_t p) {
    return Random(c * 1000003 + p).next();
  }
  std::uint64_t hash_after(const Move& move) const {
    const auto c = static_cast<std::size_t>(move.child), p = static_cast<std::size_t>(move.parent);
    std::uint64_t out = hash_ ^ edge_key(c, p);
    if (move.change == Change::kReverse) out ^= edge_key(p, c);
    return out;
  }
  void forget(std::size_t c) {
    unknown_[c].clear();
    for (std::size_t p = 0; p < n_; ++p) {
      difference_[c * n_ + p] = kUnknown;
      if (p != c && (rules_.may(c, p) || graph_.has(c, p)))
        unknown_[c].push_back(static_cast<std::int32_t>(p));
    }
  }

  FamilyScores& scores_;
  const Rules& rules_;
  Graph graph_;
  std::size_t n_;
  std::vector<double> local_, difference_;
  std::vector<double> hope_;  // [child, parent]: the last gain known, whatever the other parents
  Families seen_;             // families worth having, with their scores
  std::vector<double> seen_scores_;
  std::vector<std::size_t> changed_;
  std::vector<std::vector<std::int32_t>> unknown_;
  std::vector<std::pair<std::size_t, double>> graph_change_;
  std::uint64_t hash_ = 0;
};

// From where the climber stands to where no move helps; notes the best graph on the way. Lazily:
// to where no move helps that may be hoped for.
void walk(Climber& climber, const ClimbOptions& options, bool lazily, const Report& report,
          Found& best) {
  double here_best = climber.total();
  std::deque<std::uint64_t> recent{climber.hash()};
  std::unordered_multiset<std::uint64_t> taboo{climber.hash()};
  const auto is_taboo = [&](std::uint64_t h) { return options.tabu > 0 && taboo.count(h) > 0; };
  std::int64_t idle = 0;
  while (true) {
    if (options.most_steps > 0 && best.steps >= options.most_steps) break;
    if (!report(best.score, best.steps, climber.graph().edges())) {
      best.stopped = true;
      break;
    }
    const double slack = slack_of(best.score);
    climber.refresh(!options.lazy, !options.downhill);
    auto [move, gain] = climber.best(slack, is_taboo);
    if (lazily && !(gain > slack)) break;
    if (options.lazy && !(gain > slack)) {  // nothing hoped for helps: look at everything
      climber.refresh(true, !options.downhill);
      std::tie(move, gain) = climber.best(slack, is_taboo);
    }
    if (move.child < 0 || (gain <= slack && idle >= options.patience)) break;
    if (!(gain > (options.downhill ? -std::numeric_limits<double>::infinity() : -slack))) break;
    climber.apply(move);
    ++best.steps;
    const double now = climber.total();
    best.trace.push_back(now);
    best.moves.push_back(move);
    idle = now > here_best + slack ? 0 : idle + 1;
    here_best = std::max(here_best, now);
    if (now > best.score + slack || best.parents.empty()) {
      best.score = now;
      best.parents = climber.graph().parents();
      best.to_best = best.moves.size();
    }
    if (options.tabu > 0) {
      recent.push_back(climber.hash());
      taboo.insert(climber.hash());
      if (recent.size() > static_cast<std::size_t>(options.tabu)) {
        taboo.erase(taboo.find(recent.front()));
        recent.pop_front();
      }
    }
  }
}

// Goes on from another graph, and notes the edges that go and those that come.
void jump(Climber& climber, Change why, const Parents& to, std::vector<Move>& moves) {
  moves.push_back({why, -1, -1});
  const Parents from = climber.graph().parents();
  const auto differ = [&](Change change, const Parents& some, const Parents& others) {
    for (std::size_t c = 0; c < some.size(); ++c)
      for (const std::int32_t p : some[c])
        if (std::ranges::find(others[c], p) == others[c].end())
          moves.push_back({change, p, static_cast<std::int32_t>(c)});
  };
  differ(Change::kDelete, from, to);
  differ(Change::kAdd, to, from);
  climber.set(to);
}

// A better graph of families that were scored on the way, if orders find one.
bool polish(Climber& climber, const ClimbOptions& options, std::int64_t kicks, const Report& report,
            Found& best) {
  if (best.stopped || options.polish == 0) return false;
  if (options.most_steps > 0 && best.steps >= options.most_steps) return false;
  ParentLists lists = climber.lists();
  lists.grow(best.parents,
             {static_cast<std::size_t>(options.around), static_cast<std::size_t>(options.alone)},
             report);
  climber.take(lists);
  const Found found =
      order_search(lists, best.parents, {1, kicks, 0, options.seed, 1, true},
                   [&](double, std::int64_t, std::int64_t edges) {
                     return report(best.score, best.steps, edges);
                   });
  best.stopped |= found.stopped;
  if (!(found.score > best.score + slack_of(best.score))) return false;
  jump(climber, Change::kOrders, found.parents, best.moves);
  best.score = climber.total();
  best.parents = found.parents;
  best.to_best = best.moves.size();
  best.trace.push_back(best.score);
  ++best.steps;
  return true;
}

}  // namespace

Found climb(FamilyScores& scores, const Rules& rules, const Parents& start,
            const ClimbOptions& options, const Report& report) {
  Climber climber(scores, rules, start);
  Found best;
  best.score = climber.total();
  best.parents = climber.graph().parents();
  best.trace.push_back(best.score);
  Random random(options.seed);
  for (std::int64_t round = 0; round <= options.restarts && !best.stopped; ++round) {
    if (round > 0) {
      jump(climber, Change::kRestart, best.parents, best.moves);
      for (std::int64_t k = 0; k < options.kicks; ++k) climber.kick(random, best.moves);
    }
    const auto goes_on = [&](std::int64_t kicks) {
      return polish(climber, options, kicks, report, best);
    };
    do {
      if (options.lazy && options.polish > 0) {
        walk(climber, options, true, report, best);
        if (goes_on(0)) walk(climber, options, true, report, best);
      }
      walk(climber, options, false, report, best);
    } while (goes_on(options.polish));
  }
  best.moves.resize(best.to_best);  // what came after the best graph led nowhere
  return best;
}

}  // namespace credo::search
