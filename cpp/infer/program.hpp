// A plan made ready for a run: which tensors differ from row to row, where each lies in memory, and
// the loops of every contraction.
//
// Tensors that are the same for all rows are computed once and lie in `shared`; the others lie in
// `block`, with the rows of a block as the innermost axis. A value lives as long as the run; an
// adjoint until the step that needs it is done, so that its memory is used again.
#pragma once

#include <span>

#include "infer/kernels.hpp"
#include "infer/nest.hpp"
#include "infer/plan.hpp"

namespace credo::infer {

inline constexpr std::size_t kMaxLanes = 64;  // rows of a block

struct Place {
  bool batched = false;
  std::size_t lanes = 1;
  std::size_t at = 0;  // in doubles
  std::size_t cells = 0;
};

// How a factor is read: the axes that are left, slowest first, and the observed ones.
struct Slice {
  struct Axis {
    std::size_t extent, stride;
  };
  std::vector<Axis> axes;
  std::vector<Observed> observed;
  std::size_t table_cells = 1;
};

struct Program {
  // `batched`: per input of the plan. `lanes`: rows of a block.
  Program(const Plan& plan, std::vector<bool> batched, std::size_t lanes);
  Program() = default;  // places only, for an estimate

  std::vector<bool> inputs_batched;
  std::size_t lanes = 1;
  bool any_batched = false;
  std::vector<Place> value, adjoint;  // per tensor
  std::vector<Place> marginal;        // per target; all in one scratch, as are the families
  std::vector<Place> family;          // per input
  std::vector<Slice> slices;          // per input
  std::vector<Nest> forward, back_a, back_b;  // per step
  std::vector<Nest> marginal_nest;            // per target
  std::vector<Nest> family_nest;              // per input
  std::size_t shared_size = 0, block_size = 0, scratch_size = 0;
};

// Memory in doubles of a row: values and adjoints. Nothing is allocated.
double row_cells(const Plan& plan);

}  // namespace credo::infer
