#include "em/step.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include "common/constants.hpp"
#include "common/parallel.hpp"
#include "em/mixed.hpp"

namespace credo::em {
namespace {

constexpr double kFar = 1e-200;  // a product whose largest is below this is done again in logarithms

}  // namespace

void Partial::resize(const Network& net) {
  counts.resize(net.cells);
  leaves.resize(net.configurations);
  moments.resize(net.moment_numbers);
}

std::size_t parts_of(const Rows& rows) {
  const Network& net = rows.network();
  const std::size_t problems = rows.problems().size();
  const std::size_t numbers = net.cells + net.configurations + net.moment_numbers + 1;
  return std::clamp<std::size_t>(std::min(problems / 512, problems * 16 / numbers), 1, 64);
}

double solve(const Rows& rows, const Shape& shape, const Problem& problem, const double* theta,
             double* joint) {
  const std::span<const Part> parts = rows.parts(shape);
  const std::uint32_t* bases = rows.bases(problem);
  const std::size_t n = shape.states;
  if (shape.n_tables == 0) {  // a leaf alone
    joint[0] = 1;
    return 0;
  }
  const auto times = [&](std::uint32_t f, auto&& f_of) {
    const std::uint32_t* offsets = rows.offsets(parts[f]);
    const double* table = theta + bases[f];
    for (std::size_t s = 0; s < n; ++s) f_of(joint[s], table[offsets[s]]);
  };
  times(0, [](double& x, double t) { x = t; });
  for (std::uint32_t f = 1; f < shape.n_tables; ++f) times(f, [](double& x, double t) { x *= t; });
  double total = 0, high = 0;
  for (std::size_t s = 0; s < n; ++s) {
    total += joint[s];
    high = std::max(high, joint[s]);
  }
  if (high >= kFar) {
    const double inverse = 1 / total;
    for (std::size_t s = 0; s < n; ++s) joint[s] *= inverse;
    return std::log(total);
  }
  std::fill_n(joint, n, 0.0);
  for (std::uint32_t f = 0; f < shape.n_tables; ++f)
    times(f, [](double& x, double t) { x += std::log(t); });
  return softmax(joint, n);
}

void scatter(const Rows& rows, const Shape& shape, const Problem& problem, const double* posterior,
             double weight, Partial& out) {
  const std::span<const Part> parts = rows.parts(shape);
  const std::uint32_t* bases = rows.bases(problem);
  for (std::uint32_t f = 0; f < shape.n_tables + shape.n_leaves; ++f) {
    const std::uint32_t* offsets = rows.offsets(parts[f]);
    double* to = (f < shape.n_tables ? out.counts : out.leaves).data() + bases[f];
    for (std::size_t s = 0; s < shape.states; ++s) to[offsets[s]] += weight * posterior[s];
  }
}

double softmax(double* logs, std::size_t n) {
  const double high = *std::max_element(logs, logs + n);
  if (!(high > -kInfinity)) return -kInfinity;
  double total = 0;
  for (std::size_t s = 0; s < n; ++s) total += logs[s] = std::exp(logs[s] - high);
  for (std::size_t s = 0; s < n; ++s) logs[s] /= total;
  return high + std::log(total);
}

Expected expect(const Rows& rows, const double* theta, const double* lines, int threads,
                const std::function<void()>& poll) {
  const Network& net = rows.network();
  const std::span<const Problem> problems = rows.problems();
  const std::size_t n_parts = parts_of(rows);
  std::vector<Partial> partial(n_parts);
  const Lines prepared(net, theta, lines);
  const std::thread::id owner = std::this_thread::get_id();
  parallel_for(n_parts, threads, [&](std::size_t part) {
    Partial& out = partial[part];
    out.resize(net);
    std::vector<double> joint(rows.most_states + 1);
    MixedSolver mixed(rows, prepared);
    const std::size_t first = problems.size() * part / n_parts,
                      last = problems.size() * (part + 1) / n_parts;
    for (std::size_t p = first; p < last; ++p) {
      if (p % 256 == 0 && std::this_thread::get_id() == owner) poll();
      const Problem& problem = problems[p];
      const Shape& shape = rows.shape(problem);
      const double weight = rows.weights()[p];
      const double log_z = shape.mixed() ? mixed.solve(shape, problem, joint.data())
                                         : solve(rows, shape, problem, theta, joint.data());
      if (log_z == -kInfinity) {
        if (out.impossible < 0) out.impossible = static_cast<std::int64_t>(p);
        continue;
      }
      out.log_likelihood += weight * log_z;
      scatter(rows, shape, problem, joint.data(), weight, out);
      if (shape.mixed()) mixed.scatter(shape, problem, joint.data(), weight, out.moments.data());
    }
  });
  Expected out;
  out.counts = rows.counted;
  out.moments = rows.moments;
  std::vector<double> leaves(net.configurations);
  for (const Partial& part : partial) {
    for (std::size_t i = 0; i < out.counts.size(); ++i) out.counts[i] += part.counts[i];
    for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i] += part.leaves[i];
    for (std::size_t i = 0; i < out.moments.size(); ++i) out.moments[i] += part.moments[i];
    out.log_likelihood += part.log_likelihood;
    if (out.impossible < 0) out.impossible = part.impossible;
  }
  for (const Family& family : net.families) {
    if (!family.discrete) {
      out.log_likelihood += lines_log_likelihood(family, rows.moments.data(), lines);
      continue;
    }
    const auto arity = static_cast<std::size_t>(net.arity[family.scope.back()]);
    for (std::size_t c = 0; c < family.cells; ++c) {
      const double seen = rows.counted[family.at + c];
      if (seen > 0) out.log_likelihood += seen * std::log(theta[family.at + c]);
      if (family.leaf)
        out.counts[family.at + c] += leaves[family.parents_at + c / arity] * theta[family.at + c];
    }
  }
  return out;
}

}  // namespace credo::em
