#include "search/anneal.hpp"

#include <algorithm>
#include <cmath>

namespace credo::search {

using score::Families;
using score::FamilyScores;

Annealed anneal(FamilyScores& scores, const Rules& rules, const Parents& start,
                const AnnealOptions& options, const Report& report) {
  const std::size_t n = rules.n;
  Graph graph(n, start);
  Random random(options.seed);
  Families batch;
  std::vector<double> local(n), fresh(2);
  for (std::size_t c = 0; c < n; ++c) batch.add(static_cast<std::int32_t>(c), graph.parents(c));
  scores.score(batch, local.data());
  double now = 0;
  for (const double s : local) now += s;
  Annealed out;
  out.best.score = now;
  out.best.parents = graph.parents();
  constexpr std::int64_t kParts = 100;
  std::int64_t part_accepted = 0, part_begin = 0;
  std::vector<std::int32_t> changed;
  const auto parents_after = [&](std::size_t child, std::size_t other, bool with) {
    changed.clear();
    for (const std::int32_t p : graph.parents(child))
      if (static_cast<std::size_t>(p) != other) changed.push_back(p);
    if (with) {
      const auto v = static_cast<std::int32_t>(other);
      changed.insert(std::lower_bound(changed.begin(), changed.end(), v), v);
    }
  };
  std::int64_t step = 0;
  for (; step < options.steps && n > 1; ++step) {
    if (step % 256 == 0 && !report(out.best.score, step, graph.edges())) {
      out.best.stopped = true;
      break;
    }
    const double way = options.steps > 1
                           ? static_cast<double>(step) / static_cast<double>(options.steps - 1)
                           : 0.0;
    const double temperature = options.hot * std::pow(options.cold / options.hot, way);
    std::size_t a = random.below(n), b = random.below(n - 1);
    b += b >= a;
    const bool second = random.below(2) == 1;
    const double u = random.unit();
    // From none: a -> b or b -> a. From an arrow: none, or the other arrow.
    Move move{Change::kAdd, static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)};
    const bool ab = graph.has(b, a), ba = graph.has(a, b);
    if (ba) std::swap(move.parent, move.child);
    if (ab || ba) move.change = second ? Change::kReverse : Change::kDelete;
    ++out.proposed;
    if (graph.may(rules, move)) {
      const auto c = static_cast<std::size_t>(move.child), p = static_cast<std::size_t>(move.parent);
      batch.clear();
      parents_after(c, p, move.change == Change::kAdd);
      batch.add(move.child, changed);
      if (move.change == Change::kReverse) {
        parents_after(p, c, true);
        batch.add(move.parent, changed);
      }
      scores.score(batch, fresh.data());
      double gain = fresh[0] - local[c];
      if (move.change == Change::kReverse) gain += fresh[1] - local[p];
      if (gain >= 0 || u < std::exp(gain / temperature)) {
        graph.apply(move);
        local[c] = fresh[0];
        if (move.change == Change::kReverse) local[p] = fresh[1];
        ++out.accepted;
        ++part_accepted;
        now = 0;
        for (const double s : local) now += s;
        if (now > out.best.score + slack_of(now)) {
          out.best.score = now;
          out.best.parents = graph.parents();
        }
      }
    }
    const std::int64_t part = (step + 1) * kParts / options.steps;
    if (part > static_cast<std::int64_t>(out.acceptance.size())) {
      out.acceptance.push_back(static_cast<double>(part_accepted) /
                               static_cast<double>(step + 1 - part_begin));
      out.best.trace.push_back(now);
      part_accepted = 0;
      part_begin = step + 1;
    }
    if (options.thin > 0 && (step + 1) % options.thin == 0) {
      const std::size_t at = out.samples.size();
      out.samples.resize(at + n * n);
      for (std::size_t c = 0; c < n; ++c)
        for (const std::int32_t p : graph.parents(c))
          out.samples[at + c * n + static_cast<std::size_t>(p)] = 1;
      ++out.kept;
    }
  }
  out.best.steps = step;
  out.last = graph.parents();
  out.last_score = now;
  return out;
}

}  // namespace credo::search
