#include "infer/program.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace credo::infer {
namespace {

// First fit; memory given back joins its neighbours.
class Heap {
 public:
  std::size_t take(std::size_t size) {
    for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
      if (hole->second < size) continue;
      const std::size_t at = hole->first, rest = hole->second - size;
      free_.erase(hole);
      if (rest > 0) free_[at + size] = rest;
      return at;
    }
    const std::size_t at = top_;
    top_ += size;
    return at;
  }
  void give_back(std::size_t at, std::size_t size) {
    auto next = free_.lower_bound(at);
    if (next != free_.end() && at + size == next->first) {
      size += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == at) {
        before->second += size;
        return;
      }
    }
    free_[at] = size;
  }
  std::size_t top() const { return top_; }

 private:
  std::map<std::size_t, std::size_t> free_;
  std::size_t top_ = 0;
};

// Room to read past the end, and cache lines of one's own.
std::size_t room(const Place& place) { return (place.cells * place.lanes + 4 + 7) / 8 * 8; }

// Gives every tensor of the program its place.
class Layout {
 public:
  Layout(const Plan& plan, Program& program) : plan_(plan), program_(program) {}

  void run() {
    program_.value.resize(plan_.tensors.size());
    program_.adjoint.resize(plan_.tensors.size());
    for (std::size_t t = 0; t < plan_.n_inputs; ++t)
      settle(program_.value[t], t, program_.inputs_batched[t]);
    for (const Step& step : plan_.steps)
      settle(program_.value[step.out], step.out,
             program_.value[step.a].batched || (step.b >= 0 && program_.value[step.b].batched));
    for (std::size_t s = plan_.steps.size(); s-- > 0;) {
      const Step& step = plan_.steps[s];
      const bool is_root = plan_.tensors[step.out].step < 0;
      if (!plan_.tensors[step.out].adjoint) continue;
      for (const std::int32_t t : {step.a, step.b}) {
        if (t < 0 || !plan_.tensors[t].adjoint) continue;
        const std::int32_t other = t == step.a ? step.b : step.a;
        settle(program_.adjoint[t], t,
               program_.adjoint[step.out].batched ||
                   (other >= 0 && program_.value[other].batched));
      }
      for (const std::int32_t t : {step.a, step.b})
        if (t >= 0 && plan_.tensors[t].adjoint && static_cast<std::size_t>(t) < plan_.n_inputs)
          drop(program_.adjoint[t]);
      if (!is_root) drop(program_.adjoint[step.out]);
    }
    program_.shared_size = shared_.top() + 8;
    program_.block_size = block_.top() + 8;
  }

 private:
  void settle(Place& place, std::size_t tensor, bool batched) {
    place.batched = batched;
    place.lanes = batched ? program_.lanes : 1;
    place.cells = static_cast<std::size_t>(plan_.tensors[tensor].cells);
    place.at = (batched ? block_ : shared_).take(room(place));
  }
  // What is shared is needed by every block.
  void drop(const Place& place) {
    if (place.batched) block_.give_back(place.at, room(place));
    else if (!program_.any_batched) shared_.give_back(place.at, room(place));
  }

  const Plan& plan_;
  Program& program_;
  Heap shared_, block_;
};

Slice make_slice(const Plan& plan, const Tensor& tensor) {
  const Model& model = *plan.model;
  const Variables& scope = model.scopes[tensor.index];
  Slice slice;
  std::vector<std::size_t> stride(scope.size());
  for (std::size_t i = scope.size(); i-- > 0;) {
    stride[i] = slice.table_cells;
    slice.table_cells *= static_cast<std::size_t>(model.arity[scope[i]]);
  }
  const auto stride_of = [&](std::int32_t v) {
    return stride[static_cast<std::size_t>(std::find(scope.begin(), scope.end(), v) -
                                           scope.begin())];
  };
  for (const std::int32_t v : tensor.scope)
    if (model.arity[v] > 1)
      slice.axes.push_back({static_cast<std::size_t>(model.arity[v]), stride_of(v)});
  const Variables& observed = plan.request.observed;
  for (std::size_t i = 0; i < scope.size(); ++i) {
    if (std::find(tensor.scope.begin(), tensor.scope.end(), scope[i]) != tensor.scope.end())
      continue;
    const auto column = std::find(observed.begin(), observed.end(), scope[i]);
    slice.observed.push_back({static_cast<std::size_t>(column - observed.begin()), stride[i]});
  }
  return slice;
}

}  // namespace

Program::Program(const Plan& plan, std::vector<bool> batched, std::size_t block_lanes)
    : inputs_batched(std::move(batched)), lanes(block_lanes) {
  for (const bool input : inputs_batched) any_batched |= input;
  Layout(plan, *this).run();
  const std::vector<std::int64_t>& arity = plan.model->arity;
  const auto operand = [&](std::int32_t t, const std::vector<Place>& places) {
    return t < 0 ? Operand{nullptr, 1} : Operand{&plan.tensors[t].scope, places[t].lanes};
  };
  for (std::size_t t = 0; t < plan.n_inputs; ++t)
    slices.push_back(plan.tensors[t].source == Source::kFactor
                         ? make_slice(plan, plan.tensors[t])
                         : Slice{});
  forward.resize(plan.steps.size());
  back_a.resize(plan.steps.size());
  back_b.resize(plan.steps.size());
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    const Operand a = operand(step.a, value), b = operand(step.b, value);
    forward[s] = make_nest(arity, step.scope, a, b, operand(step.out, value));
    if (!plan.tensors[step.out].adjoint) continue;
    const Operand out = operand(step.out, adjoint);
    if (plan.tensors[step.a].adjoint)
      back_a[s] = make_nest(arity, step.scope, out, b, operand(step.a, adjoint));
    if (step.b >= 0 && plan.tensors[step.b].adjoint)
      back_b[s] = make_nest(arity, step.scope, out, a, operand(step.b, adjoint));
  }
  const auto add_product = [&](std::int32_t t, const Variables& scope, const Variables& of,
                               Operand by, bool by_batched, std::vector<Nest>& nests,
                               std::vector<Place>& places) {
    const bool is_batched = value[t].batched || by_batched;
    Place place{is_batched, is_batched ? lanes : 1, 0,
                static_cast<std::size_t>(plan.model->cells(of))};
    nests.push_back(make_nest(arity, scope, operand(t, value), by, {&of, place.lanes}));
    scratch_size = std::max(scratch_size, room(place));
    places.push_back(place);
  };
  for (const Target& target : plan.targets) {
    if (target.tensor < 0) {
      marginal_nest.emplace_back();
      marginal.emplace_back();
      continue;
    }
    const Tensor& tensor = plan.tensors[target.tensor];
    const std::int32_t by = target.from_out ? plan.steps[tensor.step].out : target.tensor;
    add_product(target.tensor, tensor.scope, Variables{target.variable}, operand(by, adjoint),
                adjoint[by].batched, marginal_nest, marginal);
  }
  if (plan.family_offsets.empty()) return;
  for (std::size_t t = 0; t < plan.n_inputs; ++t) {
    const auto i = static_cast<std::int32_t>(t);
    if (plan.tensors[t].source != Source::kFactor) {
      family_nest.emplace_back();
      family.emplace_back();
      continue;
    }
    add_product(i, plan.tensors[t].scope, plan.tensors[t].scope, operand(i, adjoint),
                adjoint[t].batched, family_nest, family);
  }
}

double row_cells(const Plan& plan) {
  if (plan.stored_cells > 1e15) return 2 * plan.stored_cells;
  Program program;
  program.inputs_batched.resize(plan.n_inputs);
  Layout(plan, program).run();
  return static_cast<double>(program.shared_size);
}

}  // namespace credo::infer
