// The table of function pointers of one instruction set, filled from the templates. Include it from
// one file per instruction set only, like the templates themselves.
#pragma once

#include "common/lane_kernels_impl.hpp"
#include "common/lane_records_impl.hpp"

namespace credo {
namespace {

template <class L>
constexpr LaneKernels kernels_of() {
  return {.count_cells = count_cells<L>,
          .intersect = intersect<L>,
          .state_bits = state_bits<L>,
          .extend_index = extend_index<L, std::uint32_t>,
          .extend_short = extend_index<L, std::uint16_t>,
          .extend_key = extend_key<L>,
          .extend_byte = extend_byte<L>,
          .recode = recode<L, std::int32_t>,
          .recode_bytes = recode<L, std::uint8_t>,
          .fill_records = fill_records<L>,
          .add_runs = add_runs<L>,
          .add_products = add_products<L>,
          .take_slice = take_slice<L>,
          .count_unit_ns = L::kCountUnitNs};
}

}  // namespace
}  // namespace credo
