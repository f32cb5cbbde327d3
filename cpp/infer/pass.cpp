#include "infer/pass.hpp"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <stdexcept>

#include "common/constants.hpp"
#include "common/parallel.hpp"

namespace credo::infer {
namespace {

constexpr double kHighest = 0x1p128, kLowest = 0x1p-128;  // largest value of a message
constexpr double kRisk = 0x1p-1000;
constexpr std::size_t kChunkCells = 4096;   // of out, still in the cache when looked at again
constexpr double kChunkWork = 1e6;
constexpr double kThreadWork = 4e5;         // less is not worth a thread
alignas(64) constexpr double kOnes[8] = {1, 1, 1, 1, 1, 1, 1, 1};

// Moves the exponent of y >= 0 to `exponent`.
void take_exponent(double& y, std::int64_t& exponent) {
  if (y < DBL_MIN) {
    if (y == 0) return;
    y *= 0x1p64;
    exponent -= 64;
  }
  const auto bits = std::bit_cast<std::uint64_t>(y);
  exponent += static_cast<std::int64_t>(bits >> 52) - 1023;
  y = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFF) | std::uint64_t{1023} << 52);
}

// (mantissa, exponent) times x, for x >= 0.
void multiply(double& mantissa, std::int64_t& exponent, double x) {
  take_exponent(x, exponent);
  mantissa *= x;
  take_exponent(mantissa, exponent);
}

}  // namespace

Memory::Memory(const Plan& plan, const Program& program, bool batched)
    : values(batched ? program.block_size : program.shared_size),
      low(plan.tensors.size() * (batched ? program.lanes : 1)),
      adjoint_low(low.size()),
      scratch(program.scratch_size + 8),
      codes((plan.request.observed.size() + plan.request.maybe.size()) *
            (batched ? program.lanes : 1)),
      high(batched ? program.lanes : 1) {}

// ---------------------------------------------------------------- reading

void check_codes(const Plan& plan, std::size_t column, const std::int32_t* codes,
                 std::size_t lanes) {
  const Variables &observed = plan.request.observed, &maybe = plan.request.maybe;
  const bool sure = column < observed.size();
  const std::int32_t v = sure ? observed[column] : maybe[column - observed.size()];
  const auto arity = static_cast<std::int32_t>(plan.model->arity[v]), least = sure ? 0 : -1;
  bool good = true;
  for (std::size_t l = 0; l < lanes; ++l) good &= codes[l] >= least && codes[l] < arity;
  if (!good)
    throw std::invalid_argument("The evidence on variable " + std::to_string(v) +
                                " has a code that is not one of its " + std::to_string(arity) +
                                " states.");
}

const double* Pass::value(std::int32_t t) const {
  return t < 0 ? kOnes : place(program_.value[t]);
}

const double* Pass::adjoint(std::int32_t t) const {
  return plan_.tensors[t].step < 0 ? kOnes : place(program_.adjoint[t]);
}

Pass::Low Pass::value_low(std::int32_t t) const {
  if (t < 0) return {kOnes, 0};
  if (static_cast<std::size_t>(t) < plan_.n_inputs) return {&ranges_[t].low, 0};
  if (program_.value[t].batched) return {own_->low.data() + t * lanes_, 1};
  return {shared_->low.data() + t, 0};
}

Pass::Low Pass::adjoint_low(std::int32_t t) const {
  if (plan_.tensors[t].step < 0) return {kOnes, 0};
  if (program_.adjoint[t].batched) return {own_->adjoint_low.data() + t * lanes_, 1};
  return {shared_->adjoint_low.data() + t, 0};
}

std::size_t Pass::row(std::size_t lane) const {
  return std::min(first_ + lane, inputs_.rows - 1);
}

void Pass::load(std::size_t first, std::size_t count) {
  first_ = first;
  count_ = count;
  const Request& request = plan_.request;
  const std::size_t n_observed = request.observed.size(),
                    columns = n_observed + request.maybe.size();
  if (batched_ || inputs_.rows == 1) {
    for (std::size_t l = 0; l < lanes_; ++l) {
      const std::int32_t* codes = inputs_.evidence + row(l) * columns;
      for (std::size_t c = 0; c < columns; ++c) own_->codes[c * lanes_ + l] = codes[c];
    }
    for (std::size_t c = 0; c < columns; ++c)
      check_codes(plan_, c, own_->codes.data() + c * lanes_, lanes_);
  }
  for (std::size_t t = 0; t < plan_.n_inputs; ++t) {
    if (program_.value[t].batched != batched_) continue;
    const Tensor& tensor = plan_.tensors[t];
    if (tensor.source == Source::kFactor) {
      if (!is_number(t)) load_factor(t);
      continue;
    }
    double* out = place(program_.value[t]);
    const auto states = static_cast<std::size_t>(tensor.cells);
    if (tensor.source == Source::kOnes) {
      std::fill_n(out, states * lanes_, 1.0);
    } else if (tensor.source == Source::kMaybe) {
      const std::int32_t* codes = own_->codes.data() + (n_observed + tensor.index) * lanes_;
      for (std::size_t s = 0; s < states; ++s)
        for (std::size_t l = 0; l < lanes_; ++l)
          out[s * lanes_ + l] = codes[l] < 0 || codes[l] == static_cast<std::int32_t>(s) ? 1 : 0;
    } else {
      const SoftView& soft = inputs_.soft[tensor.index];
      for (std::size_t l = 0; l < lanes_; ++l) {
        const double* weights = soft.data + (soft.per_row ? row(l) * states : 0);
        for (std::size_t s = 0; s < states; ++s)
          out[s * lanes_ + l] = weights[s] * ranges_[t].scale;
      }
    }
  }
}

void Pass::load_factor(std::size_t t) {
  const Slice& slice = program_.slices[t];
  const TableView& table = inputs_.tables[plan_.tensors[t].index];
  const double scale = ranges_[t].scale;
  double* out = place(program_.value[t]);
  std::uint32_t in_table[kMaxLanes];
  std::size_t from[kMaxLanes];
  kernels_.offsets(own_->codes.data(), lanes_, slice.observed.data(), slice.observed.size(),
                   in_table);
  for (std::size_t l = 0; l < lanes_; ++l)
    from[l] = in_table[l] + (table.draws ? row(l) * slice.table_cells : 0);
  const std::size_t n = slice.axes.size();
  const std::size_t extent = n == 0 ? 1 : slice.axes[n - 1].extent,
                    stride = n == 0 ? 0 : slice.axes[n - 1].stride;
  std::size_t at[64] = {};
  const double* base = table.data;
  for (;;) {
    if (lanes_ == 1) {
      const double* in = base + from[0];
      for (std::size_t x = 0; x < extent; ++x) *out++ = in[x * stride] * scale;
    } else {
      for (std::size_t x = 0; x < extent; ++x, out += lanes_) {
        const double* in = base + x * stride;
        for (std::size_t l = 0; l < lanes_; ++l) out[l] = in[from[l]] * scale;
      }
    }
    std::size_t d = n == 0 ? 0 : n - 1;
    while (d-- > 0) {
      base += slice.axes[d].stride;
      if (++at[d] < slice.axes[d].extent) break;
      base -= slice.axes[d].stride * slice.axes[d].extent;
      at[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

bool Pass::is_number(std::size_t t) const {
  return batched_ && plan_.tensors[t].step < 0 && plan_.tensors[t].source == Source::kFactor &&
         plan_.family_offsets.empty() && !inputs_.tables[plan_.tensors[t].index].draws &&
         ranges_[t].low > kRisk;
}

void Pass::multiply_numbers(Lanes& lanes) const {
  double bound = 1;  // of the smallest product since exponents were taken
  int since = 0;
  for (const std::int32_t t : plan_.roots) {
    if (static_cast<std::size_t>(t) >= plan_.n_inputs || !program_.value[t].batched ||
        !is_number(static_cast<std::size_t>(t)))
      continue;
    if (bound * ranges_[t].low < kRisk || since == 12) {
      for (std::size_t l = 0; l < lanes_; ++l) take_exponent(lanes.mantissa[l], lanes.exponent[l]);
      bound = 1;
      since = 0;
    }
    bound *= std::min(1.0, ranges_[t].low);
    ++since;
    const Slice& slice = program_.slices[t];
    const double* table = inputs_.tables[plan_.tensors[t].index].data;
    const double scale = ranges_[t].scale;
    std::uint32_t from[kMaxLanes];
    kernels_.offsets(own_->codes.data(), lanes_, slice.observed.data(), slice.observed.size(),
                     from);
    double* product = lanes.mantissa.data();
    for (std::size_t l = 0; l < lanes_; ++l) product[l] *= table[from[l]] * scale;
  }
  for (std::size_t l = 0; l < lanes_; ++l) take_exponent(lanes.mantissa[l], lanes.exponent[l]);
}

// ---------------------------------------------------------------- computing

void Pass::contract(const Nest& nest, const double* a, const double* b, double* out, double* low) {
  const auto sweep = plan_.request.mode == Mode::kMax ? kernels_.max : kernels_.sum;
  double* high = own_->high.data();
  std::fill_n(high, lanes_, 0.0);
  std::fill_n(low, lanes_, kInfinity);
  const std::size_t per_outer = nest.out_per_outer();
  const double work_per_outer = nest.work / static_cast<double>(nest.n_outer);
  const std::size_t chunk = std::max<std::size_t>(
      1, std::min<std::size_t>(kChunkCells * lanes_ / per_outer,
                               static_cast<std::size_t>(kChunkWork / work_per_outer)));
  const std::size_t out_cells = nest.n_outer * per_outer / lanes_;
  const auto part = [&](std::size_t begin, std::size_t end, double* part_high, double* part_low) {
    for (std::size_t i = begin; i < end; i += chunk) {
      const std::size_t stop = std::min(end, i + chunk);
      if (nest.work > kThreadWork) monitor_.poll();
      sweep(nest, a, b, out, i, stop);
      if (nest.in_order)
        kernels_.extremes(out + i * per_outer, (stop - i) * per_outer / lanes_, lanes_, part_high,
                          part_low);
    }
  };
  const auto finish = [&] {
    if (!nest.in_order) kernels_.extremes(out, out_cells, lanes_, high, low);
  };
  if (threads_ == 1 || nest.work < kThreadWork || nest.n_outer == 1) {
    part(0, nest.n_outer, high, low);
    finish();
    return;
  }
  const std::size_t n_tasks = std::min(nest.n_outer, static_cast<std::size_t>(threads_) * 4);
  std::mutex lock;
  parallel_for(n_tasks, threads_, [&](std::size_t i) {
    std::vector<double> task_high(lanes_, 0.0), task_low(lanes_, kInfinity);
    part(nest.n_outer * i / n_tasks, nest.n_outer * (i + 1) / n_tasks, task_high.data(),
         task_low.data());
    const std::lock_guard guard(lock);
    for (std::size_t l = 0; l < lanes_; ++l) {
      high[l] = std::max(high[l], task_high[l]);
      low[l] = std::min(low[l], task_low[l]);
    }
  });
  finish();
}

// After `contract`, which leaves the largest values in `high`.
void Pass::rescale(double* values, std::size_t cells, double* low, std::int64_t* exponent) {
  double* high = own_->high.data();
  bool any = false;
  for (std::size_t l = 0; l < lanes_; ++l)
    any |= high[l] > kHighest || (high[l] < kLowest && high[l] > 0);
  if (!any) return;
  for (std::size_t l = 0; l < lanes_; ++l) {
    const bool scaled = high[l] > kHighest || (high[l] < kLowest && high[l] > 0);
    const int by = scaled ? std::ilogb(high[l]) : 0;
    // In two parts: 2^-by alone could be infinite.
    const double half = std::ldexp(1.0, -by / 2), rest = std::ldexp(1.0, -by - -by / 2);
    if (exponent != nullptr) exponent[l] += by;
    low[l] = low[l] * half * rest;
    if (scaled)
      for (std::size_t c = 0; c < cells; ++c) {
        double& x = values[c * lanes_ + l];
        x = x * half * rest;
      }
  }
}

void Pass::note_risk(Lanes& lanes, Low a, Low b) const {
  for (std::size_t l = 0; l < lanes_; ++l)
    lanes.risky[l] |= a.at[l * a.stride] * b.at[l * b.stride] < kRisk;
}

void Pass::forward(Lanes& lanes) {
  for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
    const Step& step = plan_.steps[s];
    const Place& to = program_.value[step.out];
    if (to.batched != batched_) continue;
    double *out = place(to), *low = own_->low.data() + step.out * lanes_;
    contract(program_.forward[s], value(step.a), value(step.b), out, low);
    note_risk(lanes, value_low(step.a), value_low(step.b));
    rescale(out, to.cells, low, lanes.exponent.data());
  }
  if (batched_) multiply_numbers(lanes);
  for (const std::int32_t root : plan_.roots) {
    const bool is_input = static_cast<std::size_t>(root) < plan_.n_inputs;
    if (program_.value[root].batched != batched_) continue;
    if (is_input && is_number(static_cast<std::size_t>(root))) continue;
    const double* x = value(root);
    for (std::size_t l = 0; l < lanes_; ++l) multiply(lanes.mantissa[l], lanes.exponent[l], x[l]);
  }
  for (std::size_t t = 0; t < plan_.n_inputs; ++t)
    if (program_.value[t].batched == batched_ && ranges_[t].scale != 1)
      for (std::size_t l = 0; l < lanes_; ++l) lanes.exponent[l] -= std::ilogb(ranges_[t].scale);
}

void Pass::backward(Lanes& lanes, const Outputs& out) {
  for (std::size_t s = plan_.steps.size(); s-- > 0;) {
    const Step& step = plan_.steps[s];
    if (!plan_.tensors[step.out].adjoint) continue;
    for (const std::int32_t t : {step.a, step.b}) {
      if (t < 0) continue;
      const bool is_a = t == step.a;
      if (plan_.tensors[t].adjoint && program_.adjoint[t].batched == batched_)
        step_back(step, t, is_a ? step.b : step.a, (is_a ? program_.back_a : program_.back_b)[s],
                  lanes);
      for (const std::int32_t target : plan_.targets_of[t])
        if (program_.marginal[target].batched == batched_) answer(target, lanes, out);
      if (out.families != nullptr && static_cast<std::size_t>(t) < plan_.n_inputs)
        answer_family(t, lanes, out);
    }
  }
  if (out.families == nullptr) return;
  for (const std::int32_t root : plan_.roots)
    if (static_cast<std::size_t>(root) < plan_.n_inputs) answer_family(root, lanes, out);
}

void Pass::step_back(const Step& step, std::int32_t into, std::int32_t other, const Nest& nest,
                     Lanes& lanes) {
  const Place& to = program_.adjoint[into];
  double *out = place(to), *low = own_->adjoint_low.data() + into * lanes_;
  contract(nest, adjoint(step.out), value(other), out, low);
  note_risk(lanes, adjoint_low(step.out), value_low(other));
  rescale(out, to.cells, low, nullptr);
}

// ---------------------------------------------------------------- answering

void Pass::normalise(double* values, std::size_t cells, Lanes& lanes) const {
  double total[kMaxLanes] = {};
  for (std::size_t c = 0; c < cells; ++c)
    for (std::size_t l = 0; l < lanes_; ++l) total[l] += values[c * lanes_ + l];
  for (std::size_t l = 0; l < lanes_; ++l) {
    lanes.risky[l] |= !(total[l] >= 0x1p-900);  // only looked at where P(evidence) > 0
    total[l] = total[l] > 0 ? 1 / total[l] : 0;
  }
  for (std::size_t c = 0; c < cells; ++c)
    for (std::size_t l = 0; l < lanes_; ++l) values[c * lanes_ + l] *= total[l];
}

void Pass::answer(std::int32_t index, Lanes& lanes, const Outputs& out) {
  const Target& target = plan_.targets[index];
  const std::int32_t by =
      target.from_out ? plan_.steps[plan_.tensors[target.tensor].step].out : target.tensor;
  double* scratch = own_->scratch.data();
  const Nest& nest = program_.marginal_nest[index];
  kernels_.sum(nest, value(target.tensor), adjoint(by), scratch, 0, nest.n_outer);
  const std::size_t states = program_.marginal[index].cells;
  normalise(scratch, states, lanes);
  double* to = out.marginals + target.offset;
  for_rows([&](std::size_t r, std::size_t l) {
    for (std::size_t s = 0; s < states; ++s)
      to[r * plan_.marginal_states + s] = scratch[s * lanes_ + l];
  });
}

void Pass::answer_family(std::int32_t input, Lanes& lanes, const Outputs& out) {
  const Tensor& tensor = plan_.tensors[input];
  if (tensor.source != Source::kFactor || program_.family[input].batched != batched_) return;
  double* scratch = own_->scratch.data();
  const Nest& nest = program_.family_nest[input];
  kernels_.sum(nest, value(input), adjoint(input), scratch, 0, nest.n_outer);
  normalise(scratch, program_.family[input].cells, lanes);
  const Slice& slice = program_.slices[input];
  const std::size_t row_cells = plan_.family_offsets.back();
  for_rows([&](std::size_t r, std::size_t l) {
    double* to = out.families + r * row_cells + plan_.family_offsets[tensor.index];
    for (const Observed& observed : slice.observed)
      to += static_cast<std::size_t>(own_->codes[observed.column * lanes_ + l]) * observed.stride;
    for (std::size_t c = 0; c < program_.family[input].cells; ++c) {
      std::size_t rest = c, at = 0;
      for (std::size_t d = slice.axes.size(); d-- > 0;) {
        at += rest % slice.axes[d].extent * slice.axes[d].stride;
        rest /= slice.axes[d].extent;
      }
      to[at] = scratch[c * lanes_ + l];
    }
  });
}

// ---------------------------------------------------------------- the most probable assignment

void Pass::backtrack(const Lanes& lanes, std::int32_t* assignment) {
  const std::size_t n = plan_.model->n_variables();
  const std::vector<std::int64_t>& arity = plan_.model->arity;
  for (std::size_t s = plan_.steps.size(); s-- > 0;) {
    const Step& step = plan_.steps[s];
    for (std::size_t l = 0; l < count_; ++l) {
      if (lanes.mantissa[l] == 0) continue;
      std::int32_t* states = assignment + l * n;
      // Tries every state of the summed variables, the first of them slowest.
      const auto cell = [&](std::int32_t t) {
        if (t < 0) return 1.0;
        std::size_t at = 0;
        for (const std::int32_t v : plan_.tensors[t].scope)
          at = at * static_cast<std::size_t>(arity[v]) + static_cast<std::size_t>(states[v]);
        const Place& from = program_.value[t];
        return value(t)[at * from.lanes + (from.batched ? l : 0)];
      };
      for (const std::int32_t v : step.summed) states[v] = 0;
      std::vector<std::int32_t> best(step.summed.size());
      double highest = -1;
      for (;;) {
        const double p = cell(step.a) * cell(step.b);
        if (p > highest) {
          highest = p;
          for (std::size_t i = 0; i < best.size(); ++i) best[i] = states[step.summed[i]];
        }
        std::size_t i = step.summed.size();
        while (i-- > 0) {
          if (++states[step.summed[i]] < arity[step.summed[i]]) break;
          states[step.summed[i]] = 0;
        }
        if (i == static_cast<std::size_t>(-1)) break;
      }
      for (std::size_t i = 0; i < best.size(); ++i) states[step.summed[i]] = best[i];
    }
  }
}

}  // namespace credo::infer
