#include "infer/loopy.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

namespace credo::loopy {
namespace {

// A number that is not zero must not become zero by rounding: a zero is a proof. So numbers are
// held above these floors, far below anything that matters.
constexpr double kMessageFloor = 1e-25;
constexpr double kTableFloor = 1e-60;
constexpr int kPatience = 40;  // sweeps until damping begins by itself

class Propagation {
 public:
  Propagation(const Graph& graph, const std::vector<const double*>& tables, Result& out)
      : graph_(graph), model_(graph.model()), out_(out) {
    const std::size_t cells = graph.offset.back();
    out.to_variable.resize(cells);
    out.to_factor.resize(cells);
    out.beliefs.resize(graph.belief_offset.back());
    for (std::size_t v = 0; v < model_.n_variables(); ++v)
      for (const std::size_t e : graph.edges_of[v])
        std::fill_n(&out.to_variable[graph.offset[e]], arity(v), 1.0 / static_cast<double>(arity(v)));
    copy_tables(tables);
    log_.resize(out.beliefs.size());
    zeros_.resize(out.beliefs.size());
  }

  // Sums the logarithms of the messages into each variable afresh.
  void refresh() {
    std::fill(log_.begin(), log_.end(), 0.0);
    std::fill(zeros_.begin(), zeros_.end(), 0);
    for (std::size_t v = 0; v < model_.n_variables(); ++v)
      for (const std::size_t e : graph_.edges_of[v]) add(v, &out_.to_variable[graph_.offset[e]], 1);
  }

  // New messages out of a factor; the largest change. False from `possible` is a proof.
  double update(std::size_t f, double damping) {
    const infer::Variables& scope = model_.scopes[f];
    const std::size_t m = scope.size(), first = graph_.first_edge[f];
    for (std::size_t j = 0; j < m; ++j) {
      const std::size_t e = first + j;
      if (!outgoing(scope[j], e, &out_.to_factor[graph_.offset[e]])) return fail();
    }
    contract(f);
    double change = 0;
    for (std::size_t j = m; j-- > 0;) {
      const std::size_t e = first + j, r = static_cast<std::size_t>(arity(scope[j]));
      const double* fresh = marginal(f, j);
      fresh_.assign(fresh, fresh + r);
      if (!normalise(fresh_.data(), r)) return fail();
      double* message = &out_.to_variable[graph_.offset[e]];
      add(scope[j], message, -1);
      double total = 0;
      for (std::size_t k = 0; k < r; ++k) {
        change = std::max(change, std::abs(fresh_[k] - message[k]));
        message[k] = fresh_[k] == 0 ? 0 : (1 - damping) * fresh_[k] + damping * message[k];
        total += message[k];
      }
      for (std::size_t k = 0; k < r; ++k) message[k] /= total;
      add(scope[j], message, 1);
    }
    return change;
  }

  bool possible() const { return possible_; }

  // The beliefs, and Bethe's ln Z = Σ_v ln Z_v + Σ_f ln Z_f − Σ_e ln Z_e.
  void finish() {
    double log_z = 0;
    for (std::size_t v = 0; v < model_.n_variables(); ++v) {
      double* belief = &out_.beliefs[graph_.belief_offset[v]];
      const auto [most, sum] = from_logs(v, nullptr, belief);
      if (!(sum > 0)) {
        fail();
        return;
      }
      log_z += most + std::log(sum);
      normalise(belief, static_cast<std::size_t>(arity(v)));
    }
    for (std::size_t f = 0; f < model_.n_factors(); ++f) {
      const infer::Variables& scope = model_.scopes[f];
      for (std::size_t j = 0; j < scope.size(); ++j) {
        const std::size_t e = graph_.first_edge[f] + j;
        if (!outgoing(scope[j], e, &out_.to_factor[graph_.offset[e]])) {
          fail();
          return;
        }
        const double* up = &out_.to_factor[graph_.offset[e]];
        const double* down = &out_.to_variable[graph_.offset[e]];
        log_z -= std::log(std::inner_product(up, up + arity(scope[j]), down, 0.0));
      }
      contract(f);
      log_z += std::log(whole_) + log_scale_[f];
    }
    out_.log_z = log_z;
  }

 private:
  std::int64_t arity(std::int32_t v) const { return model_.arity[static_cast<std::size_t>(v)]; }
  std::int64_t arity(std::size_t v) const { return model_.arity[v]; }

  double fail() {
    possible_ = false;
    return 0;
  }

  void copy_tables(const std::vector<const double*>& tables) {
    std::size_t scratch = 0;
    for (std::size_t f = 0; f < model_.n_factors(); ++f) {
      const auto cells = static_cast<std::size_t>(model_.cells(model_.scopes[f]));
      std::vector<double> table(tables[f], tables[f] + cells);
      const double most = *std::max_element(table.begin(), table.end());
      log_scale_.push_back(most > 0 ? std::log(most) : 0.0);
      if (most > 0)
        for (double& x : table)
          if (x > 0) x = std::max(x / most, kTableFloor);
      tables_.push_back(std::move(table));
      scratch = std::max(scratch, 2 * cells);
    }
    scratch_.resize(scratch + 1);
    folded_.resize(scratch + 1);
  }

  // Adds (or takes away) the logarithms of a message to those of its variable.
  void add(std::size_t v, const double* message, int sign) {
    double* log = &log_[graph_.belief_offset[v]];
    int* zeros = &zeros_[graph_.belief_offset[v]];
    for (std::int64_t k = 0; k < arity(v); ++k) {
      if (message[k] > 0) log[k] += sign * std::log(message[k]);
      else zeros[k] += sign;
    }
  }
  void add(std::int32_t v, const double* message, int sign) {
    add(static_cast<std::size_t>(v), message, sign);
  }

  // The product of the messages into v, less one of them: its largest logarithm, and the sum.
  std::pair<double, double> from_logs(std::size_t v, const double* without, double* out) {
    const double* log = &log_[graph_.belief_offset[v]];
    const int* zeros = &zeros_[graph_.belief_offset[v]];
    const std::int64_t r = arity(v);
    double most = -std::numeric_limits<double>::infinity();
    for (std::int64_t k = 0; k < r; ++k) {
      const bool gone = without != nullptr && without[k] == 0;
      const double own = without != nullptr && !gone ? std::log(without[k]) : 0.0;
      out[k] = zeros[k] - (gone ? 1 : 0) > 0 ? -std::numeric_limits<double>::infinity()
                                             : log[k] - own;
      most = std::max(most, out[k]);
    }
    if (most == -std::numeric_limits<double>::infinity()) return {most, 0.0};
    double sum = 0;
    for (std::int64_t k = 0; k < r; ++k) {
      out[k] = out[k] == -std::numeric_limits<double>::infinity()
                   ? 0.0
                   : std::max(std::exp(out[k] - most), kMessageFloor);
      sum += out[k];
    }
    return {most, sum};
  }

  bool outgoing(std::int32_t v, std::size_t edge, double* out) {
    from_logs(static_cast<std::size_t>(v), &out_.to_variable[graph_.offset[edge]], out);
    return normalise(out, static_cast<std::size_t>(arity(v)));
  }

  static bool normalise(double* values, std::size_t n) {
    double total = std::accumulate(values, values + n, 0.0);
    if (!(total > 0)) return false;
    for (std::size_t k = 0; k < n; ++k)
      if (values[k] > 0) values[k] = std::max(values[k] / total, kMessageFloor);
    return true;
  }

  // R_j(x_0 … x_j) = Σ_{x_{j+1} …} f Π_{u>j} μ_u for every axis j, in scratch_; R_{m−1} is f.
  void contract(std::size_t f) {
    const infer::Variables& scope = model_.scopes[f];
    const double* from = tables_[f].data();
    std::size_t cells = tables_[f].size();
    parts_.assign(scope.size(), nullptr);
    double* to = scratch_.data();
    for (std::size_t j = scope.size(); j-- > 0;) {
      parts_[j] = from;
      const auto r = static_cast<std::size_t>(arity(scope[j]));
      const double* up = &out_.to_factor[graph_.offset[graph_.first_edge[f] + j]];
      cells /= r;
      for (std::size_t i = 0; i < cells; ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < r; ++k) sum += from[i * r + k] * up[k];
        to[i] = sum;
      }
      from = to;
      to += cells;
    }
    whole_ = scope.empty() ? tables_[f][0] : *from;
  }

  // Σ_{x_0 … x_{j−1}} R_j Π_{u<j} μ_u: the message to axis j, before it is normalised.
  const double* marginal(std::size_t f, std::size_t j) {
    const infer::Variables& scope = model_.scopes[f];
    std::size_t cells = 1;
    for (std::size_t i = 0; i <= j; ++i) cells *= static_cast<std::size_t>(arity(scope[i]));
    const double* from = parts_[j];
    double* to = folded_.data();
    for (std::size_t i = 0; i < j; ++i) {
      const auto r = static_cast<std::size_t>(arity(scope[i]));
      const double* up = &out_.to_factor[graph_.offset[graph_.first_edge[f] + i]];
      cells /= r;
      std::fill_n(to, cells, 0.0);
      for (std::size_t k = 0; k < r; ++k) {
        const double u = up[k];
        const double* row = from + k * cells;
        if (u > 0)
          for (std::size_t c = 0; c < cells; ++c) to[c] += u * row[c];
      }
      from = to;
      to += cells;
    }
    return from;
  }

  const Graph& graph_;
  const infer::Model& model_;
  Result& out_;
  std::vector<std::vector<double>> tables_;
  std::vector<double> log_scale_, log_, scratch_, folded_, fresh_;
  std::vector<int> zeros_;
  std::vector<const double*> parts_;
  double whole_ = 0;
  bool possible_ = true;
};

}  // namespace

Graph::Graph(infer::Model model) : edges_of(model.n_variables()), model_(std::move(model)) {
  offset.push_back(0);
  for (const infer::Variables& scope : model_.scopes) {
    first_edge.push_back(offset.size() - 1);
    for (const std::int32_t v : scope) {
      edges_of[static_cast<std::size_t>(v)].push_back(offset.size() - 1);
      offset.push_back(offset.back() +
                       static_cast<std::size_t>(model_.arity[static_cast<std::size_t>(v)]));
    }
  }
  belief_offset.push_back(0);
  for (const std::int64_t r : model_.arity)
    belief_offset.push_back(belief_offset.back() + static_cast<std::size_t>(r));
  schedule.resize(model_.n_factors());
  std::iota(schedule.begin(), schedule.end(), 0);
  const auto last = [&](std::int32_t f) {
    const infer::Variables& scope = model_.scopes[static_cast<std::size_t>(f)];
    return scope.empty() ? -1 : *std::max_element(scope.begin(), scope.end());
  };
  std::stable_sort(schedule.begin(), schedule.end(),
                   [&](std::int32_t a, std::int32_t b) { return last(a) < last(b); });
}

Result run(const Graph& graph, const std::vector<const double*>& tables, const Options& options,
           Monitor& monitor) {
  Result out;
  out.damping = options.damping;
  Propagation propagation(graph, tables, out);
  const auto began = std::chrono::steady_clock::now();
  const std::vector<std::int32_t>& order = graph.schedule;
  for (int sweep = 0; sweep < options.sweeps && propagation.possible(); ++sweep) {
    propagation.refresh();
    if (options.damping == 0 && sweep >= kPatience)  // it does not settle by itself
      out.damping = sweep < 3 * kPatience ? 0.5 : 0.8;
    double residual = 0;
    for (std::size_t i = 0; i < order.size() && propagation.possible(); ++i) {
      const std::int32_t f = order[sweep % 2 == 0 ? i : order.size() - 1 - i];
      residual = std::max(residual, propagation.update(static_cast<std::size_t>(f), out.damping));
      monitor.poll();
    }
    out.trace.push_back(residual);
    out.converged = propagation.possible() && residual <= options.tolerance;
    if (out.converged) break;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    if (options.seconds >= 0 && taken.count() >= options.seconds) break;
  }
  propagation.refresh();
  if (propagation.possible()) propagation.finish();
  out.impossible = !propagation.possible();
  return out;
}

}  // namespace credo::loopy
