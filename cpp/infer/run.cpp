#include "infer/run.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "common/constants.hpp"
#include "common/parallel.hpp"
#include "infer/pass.hpp"
#include "infer/wide.hpp"

namespace credo::infer {
namespace {

constexpr double kLog2 = 0.693147180559945309417;
constexpr double kCacheDoubles = 3e4;   // of a block, if it can be
constexpr double kBlockDoubles = 8e6;   // of a block of rows at most; else row by row
constexpr double kTaskDoubles = 1.6e7;  // per thread at most; else the threads share a row

// Scales a table whose largest value is far from one, and finds its smallest.
InputRange range_of(const Kernels& kernels, const double* values, std::size_t n) {
  double high = 0;
  InputRange range{1, kInfinity};
  kernels.extremes(values, n, 1, &high, &range.low);
  if (high > 0x1p64 || (high > 0 && high < 0x1p-64)) {
    range.scale = std::ldexp(1.0, -std::clamp(std::ilogb(high), -1000, 1000));
    range.low *= range.scale;
  }
  return range;
}

std::vector<InputRange> ranges_of(const Plan& plan, const Inputs& inputs, const Kernels& kernels) {
  std::vector<InputRange> ranges;
  for (std::size_t t = 0; t < plan.n_inputs; ++t) {
    const Tensor& tensor = plan.tensors[t];
    if (tensor.source == Source::kFactor) {
      const TableView& table = inputs.tables[tensor.index];
      const auto cells =
          static_cast<std::size_t>(plan.model->cells(plan.model->scopes[tensor.index]));
      ranges.push_back(range_of(kernels, table.data, cells * (table.draws ? inputs.rows : 1)));
    } else if (tensor.source == Source::kSoft) {
      const SoftView& soft = inputs.soft[tensor.index];
      ranges.push_back(range_of(kernels, soft.data,
                                static_cast<std::size_t>(tensor.cells) *
                                    (soft.per_row ? inputs.rows : 1)));
    } else {
      ranges.push_back({1, 1});
    }
  }
  return ranges;
}

double log_of(double mantissa, std::int64_t exponent) {
  return mantissa == 0 ? -kInfinity : std::log(mantissa) + static_cast<double>(exponent) * kLog2;
}

// The forward pass of what is shared and then of every block. done(pass, lanes, mantissa, exponent)
// follows for each block, and once for the shared part, before the blocks (`batched` false).
struct Execution {
  const Plan& plan;
  const Program& program;
  const Kernels& kernels;
  const Inputs& inputs;
  const std::vector<InputRange> ranges;
  Monitor& monitor;
  int threads;

  template <class Done>
  void operator()(Done&& done) {
    const bool by_rows =
        static_cast<double>(program.block_size) <= kTaskDoubles && inputs.rows > program.lanes;
    Memory shared(plan, program, false);
    Pass once(plan, program, kernels, inputs, ranges, monitor, false, threads, &shared, &shared);
    once.load(0, 1);
    Lanes common(1);
    once.forward(common);
    done(once, common, common, false);
    if (!program.any_batched) return;
    const std::size_t lanes = program.lanes, n_blocks = (inputs.rows + lanes - 1) / lanes;
    const std::size_t n_tasks =
        by_rows ? std::min(n_blocks, static_cast<std::size_t>(threads) * 8) : 1;
    parallel_for(n_tasks, by_rows ? threads : 1, [&](std::size_t task) {
      Memory own(plan, program, true);
      Pass pass(plan, program, kernels, inputs, ranges, monitor, true, by_rows ? 1 : threads,
                &shared, &own);
      for (std::size_t block = n_blocks * task / n_tasks; block < n_blocks * (task + 1) / n_tasks;
           ++block) {
        if (block % 8 == 0) monitor.poll();
        const std::size_t first = block * lanes;
        pass.load(first, std::min(lanes, inputs.rows - first));
        Lanes own_lanes(lanes);
        pass.forward(own_lanes);
        done(pass, own_lanes, common, true);
      }
    });
  }
};

}  // namespace

std::shared_ptr<const Program> Runner::program_for(const Inputs& inputs,
                                                   const RunOptions& options) {
  const Plan& plan = *plan_;
  if (plan.largest > 0xFFFFFFFFu)
    throw std::length_error("The largest table of this plan has too many cells to be run.");
  for (const Variables& scope : plan.model->scopes)
    if (plan.model->cells(scope) > 0xFFFFFFFFu)
      throw std::length_error("A table of this model has too many cells to be run.");
  std::vector<bool> batched(plan.n_inputs);
  double batched_cells = 0;
  if (inputs.rows > 1)
    for (std::size_t t = 0; t < plan.n_inputs; ++t) {
      const Tensor& tensor = plan.tensors[t];
      if (tensor.source == Source::kFactor)
        batched[t] = inputs.tables[tensor.index].draws ||
                     tensor.scope.size() < plan.model->scopes[tensor.index].size();
      else if (tensor.source == Source::kSoft) batched[t] = inputs.soft[tensor.index].per_row;
      else batched[t] = tensor.source == Source::kMaybe;
      if (batched[t]) batched_cells += tensor.cells;
    }
  std::vector<bool> varies = batched;
  varies.resize(plan.tensors.size());
  for (const Step& step : plan.steps) {
    varies[step.out] = varies[step.a] || (step.b >= 0 && varies[step.b]);
    if (varies[step.out]) batched_cells += plan.tensors[step.out].cells;
  }
  std::size_t lanes = options.lanes;
  if (lanes == 0) {
    lanes = kMaxLanes;
    while (lanes > 16 && static_cast<double>(lanes) * batched_cells > kCacheDoubles) lanes /= 2;
    while (lanes > 1 && static_cast<double>(lanes) * batched_cells > kBlockDoubles) lanes /= 2;
  }
  lanes = std::clamp<std::size_t>(lanes, 1, kMaxLanes);
  while (lanes > 4 && lanes / 2 >= inputs.rows) lanes /= 2;
  // Never waits: in a forked child the lock may be held for ever.
  if (const std::unique_lock guard(lock_, std::try_to_lock); guard)
    if (program_ && program_->inputs_batched == batched && program_->lanes == lanes)
      return program_;
  const auto program = std::make_shared<const Program>(plan, std::move(batched), lanes);
  if (const std::unique_lock guard(lock_, std::try_to_lock); guard) program_ = program;
  return program;
}

void Runner::run(const Inputs& inputs, const RunOptions& options, Monitor& monitor,
                 const Outputs& out) {
  const Plan& plan = *plan_;
  const std::size_t rows = inputs.rows;
  std::vector<char> risky(rows, options.wide ? 1 : 0);
  if (!options.wide) {
    const Kernels& kernels = infer_kernels_for(options.path);
    const std::shared_ptr<const Program> program = program_for(inputs, options);
    Execution execution{plan,   *program, kernels, inputs, ranges_of(plan, inputs, kernels),
                        monitor, options.threads};
    execution([&](Pass& pass, Lanes& lanes, const Lanes& common, bool batched) {
      if (!batched) {
        std::fill_n(out.log_evidence, rows, log_of(lanes.mantissa[0], lanes.exponent[0]));
        if (lanes.mantissa[0] > 0) pass.backward(lanes, out);
        if (lanes.risky[0]) std::fill(risky.begin(), risky.end(), 1);
        return;
      }
      if (common.mantissa[0] > 0) pass.backward(lanes, out);
      for (std::size_t l = 0; l < pass.count(); ++l) {
        out.log_evidence[pass.first() + l] += log_of(lanes.mantissa[l], lanes.exponent[l]);
        risky[pass.first() + l] |= lanes.risky[l];
      }
    });
  }
  parallel_for(rows, std::count(risky.begin(), risky.end(), 1) > 1 ? options.threads : 1,
               [&](std::size_t r) {
                 if (!risky[r]) return;
                 monitor.poll();
                 run_wide(plan, inputs, r, monitor, out);
               });
  const std::size_t states = plan.marginal_states,
                    columns = plan.request.observed.size() + plan.request.maybe.size(),
                    family_cells = plan.family_offsets.empty() ? 0 : plan.family_offsets.back();
  for (std::size_t r = 0; r < rows; ++r) {
    if (out.log_evidence[r] == -kInfinity) {
      std::fill_n(out.marginals + r * states, states, 0.0);
      std::fill_n(out.families + r * family_cells, family_cells, 0.0);
      continue;
    }
    for (const Target& target : plan.targets)
      if (target.tensor < 0)
        out.marginals[r * states + target.offset +
                      static_cast<std::size_t>(inputs.evidence[r * columns + target.column])] = 1;
  }
}

void Runner::explain(const Inputs& inputs, const RunOptions& options, Monitor& monitor,
                     std::int32_t* assignment, double* log_p) {
  const Plan& plan = *plan_;
  const Kernels& kernels = infer_kernels_for(options.path);
  const std::shared_ptr<const Program> program = program_for(inputs, options);
  const std::size_t n = plan.model->n_variables();
  std::fill_n(assignment, inputs.rows * n, -1);
  std::vector<char> risky(inputs.rows, options.wide ? 1 : 0);
  Execution execution{plan,   *program, kernels, inputs, ranges_of(plan, inputs, kernels),
                      monitor, options.threads};
  execution([&](Pass& pass, Lanes& lanes, const Lanes& common, bool batched) {
    if (!batched) {
      std::fill_n(log_p, inputs.rows, log_of(lanes.mantissa[0], lanes.exponent[0]));
      if (lanes.risky[0]) std::fill(risky.begin(), risky.end(), 1);
      if (program->any_batched || lanes.mantissa[0] == 0) return;
      pass.backtrack(lanes, assignment);
      for (std::size_t r = 1; r < inputs.rows; ++r) std::copy_n(assignment, n, assignment + r * n);
      return;
    }
    if (common.mantissa[0] > 0) pass.backtrack(lanes, assignment + pass.first() * n);
    for (std::size_t l = 0; l < pass.count(); ++l) {
      log_p[pass.first() + l] += log_of(lanes.mantissa[l], lanes.exponent[l]);
      risky[pass.first() + l] |= lanes.risky[l];
    }
  });
  const Variables& observed = plan.request.observed;
  const std::size_t columns = observed.size() + plan.request.maybe.size();
  for (std::size_t r = 0; r < inputs.rows; ++r) {
    if (risky[r]) explain_wide(plan, inputs, r, monitor, assignment + r * n, log_p + r);
    if (log_p[r] == -kInfinity) {
      std::fill_n(assignment + r * n, n, -1);
      continue;
    }
    for (std::size_t i = 0; i < observed.size(); ++i)
      assignment[r * n + static_cast<std::size_t>(observed[i])] = inputs.evidence[r * columns + i];
  }
}

}  // namespace credo::infer
