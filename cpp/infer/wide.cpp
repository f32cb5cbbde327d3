#include "infer/wide.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace credo::infer {
namespace {

// m · 2^e with m in [0.5, 1), or zero.
struct Wide {
  double m = 0;
  std::int64_t e = 0;

  Wide() = default;
  explicit Wide(double x, std::int64_t exponent = 0) {
    int shift = 0;
    m = std::frexp(x, &shift);
    e = m == 0 ? 0 : exponent + shift;
  }
  friend Wide operator*(Wide x, Wide y) { return Wide(x.m * y.m, x.e + y.e); }
  friend Wide operator+(Wide x, Wide y) {
    if (x.m == 0) return y;
    if (y.m == 0) return x;
    if (x.e < y.e) std::swap(x, y);
    const std::int64_t apart = x.e - y.e;
    return apart > 200 ? x : Wide(x.m + std::ldexp(y.m, -static_cast<int>(apart)), x.e);
  }
  friend bool operator<(Wide x, Wide y) {
    if (x.m == 0 || y.m == 0) return x.m < y.m;
    return x.e != y.e ? x.e < y.e : x.m < y.m;
  }
  double over(Wide y) const {
    const std::int64_t apart = e - y.e;
    return m == 0 || apart < -2000 ? 0 : std::ldexp(m / y.m, static_cast<int>(apart));
  }
  double log() const {
    return m == 0 ? -std::numeric_limits<double>::infinity()
                  : std::log(m) + static_cast<double>(e) * 0.693147180559945309417;
  }
};

using Values = std::vector<Wide>;

class WideRow {
 public:
  WideRow(const Plan& plan, const Inputs& inputs, std::size_t row, Monitor& monitor)
      : plan_(plan), arity_(plan.model->arity), inputs_(inputs), row_(row), monitor_(monitor),
        states_(arity_.size()), values_(plan.tensors.size()), adjoints_(plan.tensors.size()) {
    const Request& request = plan.request;
    codes_ = inputs.evidence + row * (request.observed.size() + request.maybe.size());
    for (std::size_t i = 0; i < request.observed.size() + request.maybe.size(); ++i)
      check_codes(plan, i, codes_ + i, 1);
    for (std::size_t i = 0; i < request.observed.size(); ++i)
      states_[request.observed[i]] = codes_[i];
    for (std::size_t t = 0; t < plan.n_inputs; ++t) load(t);
  }

  Wide forward() {
    const bool largest = plan_.request.mode == Mode::kMax;
    for (const Step& step : plan_.steps) {
      monitor_.poll();
      Values& out = values_[step.out];
      out.assign(static_cast<std::size_t>(plan_.tensors[step.out].cells), Wide());
      for_each_state(step.scope, [&] {
        Wide& cell = out[offset(plan_.tensors[step.out].scope)];
        const Wide x = at(values_, step.a) * at(values_, step.b);
        if (!largest) cell = cell + x;
        else if (cell < x) cell = x;
      });
    }
    Wide total(1.0);
    for (const std::int32_t root : plan_.roots) total = total * values_[root][0];
    return total;
  }

  void backward(const Outputs& out) {
    for (const std::int32_t root : plan_.roots) adjoints_[root] = {Wide(1.0)};
    for (std::size_t s = plan_.steps.size(); s-- > 0;) {
      const Step& step = plan_.steps[s];
      if (!plan_.tensors[step.out].adjoint) continue;
      monitor_.poll();
      for (const std::int32_t t : {step.a, step.b}) {
        if (t < 0) continue;
        const std::int32_t other = t == step.a ? step.b : step.a;
        Values& to = adjoints_[t];
        to.assign(static_cast<std::size_t>(plan_.tensors[t].cells), Wide());
        for_each_state(step.scope, [&] {
          Wide& cell = to[offset(plan_.tensors[t].scope)];
          cell = cell + at(adjoints_, step.out) * at(values_, other);
        });
        for (const std::int32_t target : plan_.targets_of[t]) answer(plan_.targets[target], out);
      }
    }
    if (out.families == nullptr) return;
    for (std::size_t t = 0; t < plan_.n_inputs; ++t)
      if (plan_.tensors[t].source == Source::kFactor)
        answer_family(static_cast<std::int32_t>(t), out);
  }

  void backtrack() {
    for (std::size_t s = plan_.steps.size(); s-- > 0;) {
      const Step& step = plan_.steps[s];
      Wide highest;
      Variables best;
      for_each_state(step.summed, [&] {
        const Wide x = at(values_, step.a) * at(values_, step.b);
        if (!best.empty() && !(highest < x)) return;
        highest = x;
        best.clear();
        for (const std::int32_t v : step.summed) best.push_back(states_[v]);
      });
      for (std::size_t i = 0; i < best.size(); ++i) states_[step.summed[i]] = best[i];
    }
  }
  const Variables& states() const { return states_; }

 private:
  void load(std::size_t t) {
    const Tensor& tensor = plan_.tensors[t];
    Values& values = values_[t];
    if (tensor.source == Source::kFactor) {
      const Variables& scope = plan_.model->scopes[tensor.index];
      const TableView& table = inputs_.tables[tensor.index];
      const auto cells = static_cast<std::size_t>(plan_.model->cells(scope));
      const double* data = table.data + (table.draws ? row_ * cells : 0);
      for_each_state(tensor.scope, [&] { values.emplace_back(data[offset(scope)]); });
      return;
    }
    const std::int32_t v = tensor.scope[0];
    for (std::int32_t s = 0; s < arity_[v]; ++s) {
      double x = 1;
      if (tensor.source == Source::kMaybe) {
        const std::int32_t code = codes_[plan_.request.observed.size() + tensor.index];
        x = code < 0 || code == s ? 1 : 0;
      } else if (tensor.source == Source::kSoft) {
        const SoftView& soft = inputs_.soft[tensor.index];
        x = soft.data[(soft.per_row ? row_ * static_cast<std::size_t>(arity_[v]) : 0) + s];
      }
      values.emplace_back(x);
    }
  }

  std::size_t offset(const Variables& scope) const {
    std::size_t at = 0;
    for (const std::int32_t v : scope)
      at = at * static_cast<std::size_t>(arity_[v]) + static_cast<std::size_t>(states_[v]);
    return at;
  }
  Wide at(const std::vector<Values>& of, std::int32_t t) const {
    return t < 0 ? Wide(1.0) : of[t][offset(plan_.tensors[t].scope)];
  }

  // Sets states_ of `scope` to each combination, the last variable fastest, and back to zero.
  template <class F>
  void for_each_state(const Variables& scope, F&& f) {
    for (const std::int32_t v : scope) states_[v] = 0;
    for (;;) {
      f();
      std::size_t i = scope.size();
      while (i-- > 0) {
        if (++states_[scope[i]] < arity_[scope[i]]) break;
        states_[scope[i]] = 0;
      }
      if (i == static_cast<std::size_t>(-1)) return;
    }
  }

  void answer(const Target& target, const Outputs& out) {
    Values sums(static_cast<std::size_t>(arity_[target.variable]));
    for_each_state(plan_.tensors[target.tensor].scope, [&] {
      Wide& cell = sums[static_cast<std::size_t>(states_[target.variable])];
      cell = cell + at(values_, target.tensor) * at(adjoints_, target.tensor);
    });
    Wide total;
    for (const Wide x : sums) total = total + x;
    double* to = out.marginals + row_ * plan_.marginal_states + target.offset;
    for (std::size_t s = 0; s < sums.size(); ++s) to[s] = sums[s].over(total);
  }

  void answer_family(std::int32_t t, const Outputs& out) {
    const Tensor& tensor = plan_.tensors[t];
    const Variables& scope = plan_.model->scopes[tensor.index];
    double* to = out.families + row_ * plan_.family_offsets.back() +
                 plan_.family_offsets[tensor.index];
    Wide total;
    const auto cell = [&] { return at(values_, t) * at(adjoints_, t); };
    for_each_state(tensor.scope, [&] { total = total + cell(); });
    for_each_state(tensor.scope, [&] { to[offset(scope)] = cell().over(total); });
  }

  const Plan& plan_;
  const std::vector<std::int64_t>& arity_;
  const Inputs& inputs_;
  std::size_t row_;
  Monitor& monitor_;
  const std::int32_t* codes_;
  Variables states_;
  std::vector<Values> values_, adjoints_;
};

}  // namespace

void run_wide(const Plan& plan, const Inputs& inputs, std::size_t row, Monitor& monitor,
              const Outputs& out) {
  WideRow wide(plan, inputs, row, monitor);
  const Wide total = wide.forward();
  out.log_evidence[row] = total.log();
  if (total.m > 0) wide.backward(out);
}

void explain_wide(const Plan& plan, const Inputs& inputs, std::size_t row, Monitor& monitor,
                  std::int32_t* states, double* log_p) {
  WideRow wide(plan, inputs, row, monitor);
  const Wide total = wide.forward();
  *log_p = total.log();
  if (total.m == 0) return;
  wide.backtrack();
  std::copy(wide.states().begin(), wide.states().end(), states);
}

}  // namespace credo::infer
