#include "em/draw.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include "common/constants.hpp"
#include "common/parallel.hpp"
#include "em/chance.hpp"
#include "em/mixed.hpp"
#include "em/step.hpp"

namespace credo::em {

Drawn draw(const Rows& rows, const double* theta, const double* lines, std::uint64_t seed,
           int threads, const std::function<void()>& poll) {
  const Network& net = rows.network();
  const std::span<const Problem> problems = rows.problems();
  const std::size_t n_parts = parts_of(rows);
  std::vector<Partial> partial(n_parts);
  const Lines prepared(net, theta, lines);
  const std::thread::id owner = std::this_thread::get_id();
  parallel_for(n_parts, threads, [&](std::size_t part) {
    Partial& out = partial[part];
    out.resize(net);
    std::vector<double> joint(rows.most_states + 1), counts(rows.most_states + 1);
    MixedSolver mixed(rows, prepared);
    const std::size_t first = problems.size() * part / n_parts,
                      last = problems.size() * (part + 1) / n_parts;
    for (std::size_t p = first; p < last; ++p) {
      if (p % 256 == 0 && std::this_thread::get_id() == owner) poll();
      const Problem& problem = problems[p];
      const Shape& shape = rows.shape(problem);
      const double log_z = shape.mixed() ? mixed.solve(shape, problem, joint.data())
                                         : solve(rows, shape, problem, theta, joint.data());
      if (log_z == -kInfinity) {
        out.impossible = static_cast<std::int64_t>(p);
        continue;
      }
      Chance chance(seed, p, random::kDraw);
      chance.multinomial(rows.weights()[p], joint.data(), shape.states, counts.data());
      scatter(rows, shape, problem, counts.data(), 1, out);
      if (shape.mixed()) mixed.draw(shape, problem, counts.data(), chance, out.moments.data());
    }
  });
  Drawn out{rows.counted, rows.moments, false};
  std::vector<double> leaves(net.configurations);
  for (const Partial& part : partial) {
    for (std::size_t i = 0; i < out.counts.size(); ++i) out.counts[i] += part.counts[i];
    for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i] += part.leaves[i];
    for (std::size_t i = 0; i < out.moments.size(); ++i) out.moments[i] += part.moments[i];
    out.impossible |= part.impossible >= 0;
  }
  std::vector<double> counts;
  for (const Family& family : net.families) {
    if (!family.discrete || !family.leaf) continue;
    const auto arity = static_cast<std::size_t>(net.arity[family.scope.back()]);
    counts.resize(arity);
    for (std::size_t u = 0; u < family.cells / arity; ++u) {
      const std::size_t at = family.at + u * arity, place = family.parents_at + u;
      if (leaves[place] == 0) continue;
      Chance chance(seed, place, random::kRefine);
      chance.multinomial(leaves[place], theta + at, arity, counts.data());
      for (std::size_t s = 0; s < arity; ++s) out.counts[at + s] += counts[s];
    }
  }
  return out;
}

namespace {

constexpr std::size_t kRowsAtOnce = 256;

// Draws the gaps of one row after another.
class RowDrawer {
 public:
  RowDrawer(const Network& net, const double* theta, const double* log_theta, std::uint64_t most)
      : net_(net), theta_(theta), log_theta_(log_theta), most_(most), todo_(net.size()),
        inside_(net.size(), -1) {}

  void draw(const std::int32_t* gaps, std::int32_t* codes, Chance& chance) {
    gaps_ = gaps;
    codes_ = codes;
    open_.clear();
    for (std::size_t v = 0; v < net_.size(); ++v)
      if ((todo_[v] = gaps[v] < 0 && !net_.families[v].leaf))
        open_.push_back(static_cast<std::int32_t>(v));
    for (std::size_t i = open_.size(); i > 1; --i)
      std::swap(open_[i - 1], open_[static_cast<std::size_t>(chance.uniform() * static_cast<double>(i))]);
    for (const std::int32_t v : open_)
      if (todo_[v]) draw_block(v, chance);
    for (std::size_t v = 0; v < net_.size(); ++v) {
      const Family& family = net_.families[v];
      if (gaps[v] >= 0 || !family.leaf) continue;
      codes[v] = 0;
      const double* row = theta_ + family.at + place_of(family);
      codes[v] = static_cast<std::int32_t>(chance.state(row, static_cast<std::size_t>(net_.arity[v])));
    }
  }

  std::size_t place_of(const Family& family) const {
    std::size_t at = 0;
    for (std::size_t j = 0; j < family.states.size(); ++j)
      at += static_cast<std::size_t>(codes_[family.states[j]]) * family.strides[j];
    return at;
  }

 private:
  // Whether a family weighs anything: a missing leaf adds up to one.
  bool counts(std::int32_t f) const { return !(net_.families[f].leaf && gaps_[f] < 0); }

  void draw_block(std::int32_t first, Chance& chance) {
    block_.assign(1, first);
    inside_[first] = 0;
    std::uint64_t states = static_cast<std::uint64_t>(net_.arity[first]);
    factors_.clear();
    for (std::size_t i = 0; i < block_.size(); ++i)
      for (const std::int32_t f : net_.families_of[block_[i]]) {
        if (!counts(f)) continue;
        factors_.push_back(f);
        for (const std::int32_t u : net_.families[f].scope) {
          if (!todo_[u] || inside_[u] >= 0) continue;
          const std::uint64_t more = states * static_cast<std::uint64_t>(net_.arity[u]);
          if (more > most_) continue;
          states = more;
          inside_[u] = static_cast<std::int32_t>(block_.size());
          block_.push_back(u);
        }
      }
    std::sort(factors_.begin(), factors_.end());
    factors_.erase(std::unique(factors_.begin(), factors_.end()), factors_.end());
    joint_.assign(states, 0.0);
    offsets_.resize(states);
    for (const std::int32_t v : block_) codes_[v] = 0;
    for (const std::int32_t f : factors_) {
      const Family& family = net_.families[f];
      offsets_[0] = family.at + place_of(family);
      std::size_t known = 1;
      for (const std::int32_t v : block_) {  // the first variable goes fastest
        std::size_t stride = 0;
        for (std::size_t j = 0; j < family.states.size(); ++j)
          if (family.states[j] == v) stride = family.strides[j];
        const auto arity = static_cast<std::size_t>(net_.arity[v]);
        for (std::size_t a = 1; a < arity; ++a)
          for (std::size_t s = 0; s < known; ++s)
            offsets_[a * known + s] = offsets_[s] + a * stride;
        known *= arity;
      }
      for (std::size_t s = 0; s < states; ++s) joint_[s] += log_theta_[offsets_[s]];
    }
    softmax(joint_.data(), states);
    std::size_t drawn = chance.state(joint_.data(), states);
    for (const std::int32_t v : block_) {
      const auto arity = static_cast<std::size_t>(net_.arity[v]);
      codes_[v] = static_cast<std::int32_t>(drawn % arity);
      drawn /= arity;
      todo_[v] = false;
      inside_[v] = -1;
    }
  }

  const Network& net_;
  const double *theta_, *log_theta_;
  std::uint64_t most_;
  const std::int32_t* gaps_ = nullptr;
  std::int32_t* codes_ = nullptr;
  std::vector<char> todo_;
  std::vector<std::int32_t> inside_, open_, block_, factors_;
  std::vector<double> joint_;
  std::vector<std::size_t> offsets_;
};

}  // namespace

std::vector<double> redraw(const Network& net, const double* theta, const std::int32_t* gaps,
                           std::int32_t* codes, const double* weights, std::size_t n_rows,
                           std::uint64_t most, std::uint64_t seed, int threads,
                           const std::function<void()>& poll) {
  std::vector<double> log_theta(net.cells), counts(net.cells);
  for (std::size_t c = 0; c < net.cells; ++c) log_theta[c] = std::log(theta[c]);
  const std::size_t n = net.size(), n_parts = (n_rows + kRowsAtOnce - 1) / kRowsAtOnce;
  const std::thread::id owner = std::this_thread::get_id();
  parallel_for(n_parts, threads, [&](std::size_t part) {
    if (std::this_thread::get_id() == owner) poll();
    RowDrawer drawer(net, theta, log_theta.data(), most);
    const std::size_t last = std::min(n_rows, (part + 1) * kRowsAtOnce);
    for (std::size_t r = part * kRowsAtOnce; r < last; ++r) {
      Chance chance(seed, r, random::kNormal);
      drawer.draw(gaps + r * n, codes + r * n, chance);
    }
  });
  for (std::size_t r = 0; r < n_rows; ++r)
    for (const Family& family : net.families) {
      std::size_t at = family.at;
      for (std::size_t j = 0; j < family.states.size(); ++j)
        at += static_cast<std::size_t>(codes[r * n + static_cast<std::size_t>(family.states[j])]) *
              family.strides[j];
      counts[at] += weights[r];
    }
  return counts;
}

}  // namespace credo::em
