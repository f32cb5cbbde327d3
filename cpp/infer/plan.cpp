#include "infer/plan.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace credo::infer {
namespace {

constexpr std::int32_t kLast = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kGreedyTensors = 12;  // more in a bucket are multiplied one by one

class Builder {
 public:
  explicit Builder(Plan& plan) : plan_(plan), model_(*plan.model), rank_(model_.n_variables()) {}

  void build() {
    add_inputs();
    find_elimination_order();
    contract();
    sort_steps();
    place_targets();
    mark_adjoints();
    count_cost();
  }

 private:
  void add_inputs() {
    std::vector<bool> observed(model_.n_variables());
    for (const std::int32_t v : plan_.request.observed) observed[v] = true;
    for (std::size_t f = 0; f < model_.n_factors(); ++f) {
      if (!plan_.relevant.factor[f]) continue;
      Variables scope;
      for (const std::int32_t v : model_.scopes[f])
        if (!observed[v]) scope.push_back(v);
      add_tensor(Source::kFactor, static_cast<std::int32_t>(f), std::move(scope));
    }
    const auto add_likelihoods = [&](const Variables& variables, Source source) {
      for (std::size_t i = 0; i < variables.size(); ++i)
        if (plan_.relevant.variable[variables[i]])
          add_tensor(source, static_cast<std::int32_t>(i), {variables[i]});
    };
    add_likelihoods(plan_.request.maybe, Source::kMaybe);
    add_likelihoods(plan_.request.soft, Source::kSoft);
    std::vector<bool> present(model_.n_variables());
    for (const Tensor& tensor : plan_.tensors)
      for (const std::int32_t v : tensor.scope) present[v] = true;
    for (std::size_t v = 0; v < model_.n_variables(); ++v)
      if (plan_.relevant.variable[v] && !present[v])
        add_tensor(Source::kOnes, -1, {static_cast<std::int32_t>(v)});
    plan_.n_inputs = plan_.tensors.size();
  }

  std::int32_t add_tensor(Source source, std::int32_t index, Variables scope) {
    const double cells = model_.cells(scope);
    plan_.tensors.push_back({source, index, std::move(scope), cells});
    return static_cast<std::int32_t>(plan_.tensors.size() - 1);
  }

  void find_elimination_order() {
    std::vector<Variables> scopes;
    for (const Tensor& tensor : plan_.tensors)
      if (tensor.scope.size() > 1) scopes.push_back(tensor.scope);
    const Request& request = plan_.request;
    const bool one = !request.all_targets && request.targets.size() == 1 && !request.families;
    plan_.order = find_order(model_.arity, plan_.relevant.variable, scopes, request.budget_ms,
                             request.seed, one ? request.targets[0] : -1);
    const Variables& order = plan_.order.elimination;
    for (std::size_t i = 0; i < order.size(); ++i) rank_[order[i]] = static_cast<std::int32_t>(i);
    for (Tensor& tensor : plan_.tensors) sort_by_rank(tensor.scope);
  }

  void sort_by_rank(Variables& scope) {
    std::sort(scope.begin(), scope.end(),
              [&](std::int32_t a, std::int32_t b) { return rank_[a] < rank_[b]; });
  }

  // ---------------------------------------------------------------- the tree of contractions

  bool contains(std::int32_t t, std::int32_t v) const {
    const Variables& scope = plan_.tensors[t].scope;
    return std::find(scope.begin(), scope.end(), v) != scope.end();
  }

  // The variables of the product of a and b (-1: none), and those that no other living tensor
  // contains. Scopes are sorted by rank.
  void product(std::int32_t a, std::int32_t b, Variables& scope, Variables& summed) {
    static const Variables none;
    const Variables &x = plan_.tensors[a].scope, &y = b < 0 ? none : plan_.tensors[b].scope;
    scope.clear();
    summed.clear();
    for (std::size_t i = 0, j = 0; i < x.size() || j < y.size();) {
      const std::int32_t rank_x = i < x.size() ? rank_[x[i]] : kLast,
                         rank_y = j < y.size() ? rank_[y[j]] : kLast;
      const std::int32_t v = rank_x <= rank_y ? x[i] : y[j];
      const int inside = (rank_x <= rank_y) + (rank_y <= rank_x);
      i += rank_x <= rank_y;
      j += rank_y <= rank_x;
      scope.push_back(v);
      if (uses_[v] == inside) summed.push_back(v);
    }
  }

  std::int32_t add_step(std::int32_t a, std::int32_t b) {
    Step step{a, b, -1, {}, {}, 0};
    product(a, b, step.scope, step.summed);
    Variables rest;
    rest.reserve(step.scope.size() - step.summed.size());
    for (std::size_t i = 0, j = 0; i < step.scope.size(); ++i)
      if (j < step.summed.size() && step.summed[j] == step.scope[i]) ++j;
      else rest.push_back(step.scope[i]);
    const auto retire = [&](std::int32_t t) {
      if (t < 0) return;
      for (const std::int32_t v : plan_.tensors[t].scope) --uses_[v];
      plan_.tensors[t].step = static_cast<std::int32_t>(plan_.steps.size());
    };
    retire(a);
    retire(b);
    step.cells = model_.cells(step.scope);
    step.out = add_tensor(Source::kMessage, -1, rest);
    for (const std::int32_t v : rest) {
      ++uses_[v];
      with_[v].push_back(step.out);
    }
    plan_.steps.push_back(std::move(step));
    return plan_.steps.back().out;
  }

  // The pair with the smallest result; among equals the smallest product.
  std::pair<std::size_t, std::size_t> best_pair(const Variables& bucket) {
    std::pair<std::size_t, std::size_t> best{0, 1};
    double least_result = std::numeric_limits<double>::infinity(), least_product = least_result;
    Variables scope, summed;
    if (bucket.size() == 2) return best;
    for (std::size_t i = 0; i < bucket.size(); ++i)
      for (std::size_t j = i + 1; j < bucket.size(); ++j) {
        product(bucket[i], bucket[j], scope, summed);
        const double cells = model_.cells(scope), result = cells / model_.cells(summed);
        if (result > least_result || (result == least_result && cells >= least_product)) continue;
        best = {i, j};
        least_result = result;
        least_product = cells;
      }
    return best;
  }

  void contract() {
    uses_.assign(model_.n_variables(), 0);
    with_.resize(model_.n_variables());
    for (std::size_t t = 0; t < plan_.n_inputs; ++t)
      for (const std::int32_t v : plan_.tensors[t].scope) {
        ++uses_[v];
        with_[v].push_back(static_cast<std::int32_t>(t));
      }
    for (const std::int32_t v : plan_.order.elimination) {
      Variables bucket;
      for (const std::int32_t t : with_[v])
        if (plan_.tensors[t].step < 0) bucket.push_back(t);
      if (bucket.empty()) continue;  // summed with another
      if (bucket.size() > kGreedyTensors)
        std::stable_sort(bucket.begin(), bucket.end(), [&](std::int32_t a, std::int32_t b) {
          const Tensor &x = plan_.tensors[a], &y = plan_.tensors[b];
          return x.cells != y.cells ? x.cells < y.cells : x.scope < y.scope;
        });
      while (bucket.size() > kGreedyTensors) {  // pairs of neighbours: a balanced tree
        Variables half;
        for (std::size_t i = 0; i + 1 < bucket.size(); i += 2)
          half.push_back(add_step(bucket[i], bucket[i + 1]));
        if (bucket.size() % 2 == 1) half.push_back(bucket.back());
        bucket = std::move(half);
      }
      while (bucket.size() > 1) {
        const auto [i, j] = best_pair(bucket);
        const std::int32_t out = add_step(bucket[i], bucket[j]);
        bucket.erase(bucket.begin() + static_cast<std::ptrdiff_t>(j));
        bucket[i] = out;
      }
      if (contains(bucket[0], v)) add_step(bucket[0], -1);
    }
    for (std::size_t t = 0; t < plan_.tensors.size(); ++t)
      if (plan_.tensors[t].step < 0) plan_.roots.push_back(static_cast<std::int32_t>(t));
  }

  // Depth first, so that a message is used soon after it is made.
  void sort_steps() {
    std::vector<std::int32_t> made_by(plan_.tensors.size(), -1), stack;
    for (std::size_t s = 0; s < plan_.steps.size(); ++s)
      made_by[plan_.steps[s].out] = static_cast<std::int32_t>(s);
    std::vector<std::int32_t> sorted;  // parents before children
    for (const std::int32_t root : plan_.roots)
      if (made_by[root] >= 0) stack.push_back(made_by[root]);
    while (!stack.empty()) {
      const std::int32_t s = stack.back();
      stack.pop_back();
      sorted.push_back(s);
      const Step& step = plan_.steps[s];
      for (const std::int32_t t : {step.a, step.b})
        if (t >= 0 && made_by[t] >= 0) stack.push_back(made_by[t]);
    }
    std::vector<Step> steps;
    for (auto s = sorted.rbegin(); s != sorted.rend(); ++s) {
      for (const std::int32_t t : {plan_.steps[*s].a, plan_.steps[*s].b})
        if (t >= 0) plan_.tensors[t].step = static_cast<std::int32_t>(steps.size());
      steps.push_back(std::move(plan_.steps[*s]));
    }
    plan_.steps = std::move(steps);
  }

  // ---------------------------------------------------------------- what is asked

  void place_targets() {
    const Request& request = plan_.request;
    Variables wanted = request.targets;
    std::vector<std::int32_t> column(model_.n_variables(), -1);
    for (std::size_t i = 0; i < request.observed.size(); ++i)
      column[request.observed[i]] = static_cast<std::int32_t>(i);
    if (request.mode == Mode::kMax) wanted.clear();
    else if (request.all_targets)
      for (std::size_t v = 0; v < model_.n_variables(); ++v)
        if (column[v] < 0) wanted.push_back(static_cast<std::int32_t>(v));
    plan_.targets_of.resize(plan_.tensors.size());
    // The cheapest tensor for each variable. A factor's adjoint is computed for its sake alone; a
    // message's is there anyway.
    std::vector<double> least(model_.n_variables(), std::numeric_limits<double>::infinity());
    std::vector<std::int32_t> cheapest(model_.n_variables(), -1);
    for (std::size_t t = 0; t < plan_.tensors.size(); ++t) {
      const Tensor& tensor = plan_.tensors[t];
      if (tensor.step < 0) continue;
      const Step& step = plan_.steps[tensor.step];
      const bool extra = tensor.source != Source::kMessage && step.b >= 0 && !request.families;
      const double cost = tensor.cells + (extra ? step.cells : 0);
      for (const std::int32_t v : tensor.scope)
        if (cost < least[v]) {
          least[v] = cost;
          cheapest[v] = static_cast<std::int32_t>(t);
        }
    }
    for (const std::int32_t v : wanted) {
      Target target{v, cheapest[v], false, column[v], plan_.marginal_states};
      plan_.marginal_states += static_cast<std::size_t>(model_.arity[v]);
      if (target.tensor >= 0) {
        const Step& step = plan_.steps[plan_.tensors[target.tensor].step];
        target.from_out = step.b < 0;
        plan_.targets_of[target.tensor].push_back(static_cast<std::int32_t>(plan_.targets.size()));
      }
      plan_.targets.push_back(target);
    }
    if (!request.families || request.mode == Mode::kMax) return;
    plan_.family_offsets.push_back(0);
    for (const Variables& scope : model_.scopes)
      plan_.family_offsets.push_back(plan_.family_offsets.back() +
                                     static_cast<std::size_t>(model_.cells(scope)));
  }

  void mark_adjoints() {
    const auto mark = [&](std::int32_t t) {
      while (!plan_.tensors[t].adjoint) {
        plan_.tensors[t].adjoint = true;
        if (plan_.tensors[t].step < 0) return;
        t = plan_.steps[plan_.tensors[t].step].out;
      }
    };
    for (const Target& target : plan_.targets) {
      if (target.tensor < 0) continue;
      mark(target.from_out ? plan_.steps[plan_.tensors[target.tensor].step].out : target.tensor);
    }
    if (!plan_.family_offsets.empty())
      for (std::size_t t = 0; t < plan_.n_inputs; ++t)
        if (plan_.tensors[t].source == Source::kFactor) mark(static_cast<std::int32_t>(t));
  }

  void count_cost() {
    for (const Tensor& tensor : plan_.tensors) {
      plan_.largest = std::max(plan_.largest, tensor.cells);
      plan_.stored_cells += tensor.cells;
    }
    for (const Step& step : plan_.steps) {
      plan_.flops += step.cells;
      for (const std::int32_t t : {step.a, step.b})
        if (t >= 0 && plan_.tensors[t].adjoint) plan_.flops += step.cells;
    }
    for (const Target& target : plan_.targets)
      if (target.tensor >= 0) plan_.flops += plan_.tensors[target.tensor].cells;
  }

  Plan& plan_;
  const Model& model_;
  std::vector<std::int32_t> rank_, uses_;
  std::vector<Variables> with_;
};

}  // namespace

std::shared_ptr<const Plan> compile(std::shared_ptr<const Model> model, Request request) {
  check(*model, request);
  auto plan = std::make_shared<Plan>();
  plan->relevant = relevant(*model, request);
  plan->model = std::move(model);
  plan->request = std::move(request);
  Builder(*plan).build();
  return plan;
}

}  // namespace credo::infer
