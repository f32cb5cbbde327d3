// Recoding a column by a look-up table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "common/lane_kernels.hpp"

namespace credo {

// A negative index is a large one.
inline void require_below(std::uint32_t most, std::size_t n_codes) {
  if (most >= n_codes)
    throw std::invalid_argument("Indices must be in 0.." + std::to_string(n_codes) +
                                " (exclusive), got " +
                                std::to_string(static_cast<std::int32_t>(most)) + " instead.");
}

// out[i] = lut[indices[i]]. IN indices [n]; IN lut [n_codes]; OUT out [n].
// Throws std::invalid_argument if an index is negative or too large.
template <class Index, class Code>
void take_codes(const Index* indices, std::size_t n, const Code* lut, std::size_t n_codes,
                Code* out, const LaneKernels& kernels) {
  constexpr bool kWhole = std::is_same_v<Index, std::int32_t>;
  constexpr bool kBytes = std::is_same_v<Index, std::uint8_t>;
  if constexpr (std::is_same_v<Code, std::uint8_t> && (kWhole || kBytes)) {
    if (n_codes <= kFewCodes && n > 0) {
      std::uint8_t few[kFewCodes] = {};
      std::copy_n(lut, n_codes, few);
      if constexpr (kWhole) require_below(kernels.recode(indices, n, few, out), n_codes);
      if constexpr (kBytes) require_below(kernels.recode_bytes(indices, n, few, out), n_codes);
      return;
    }
  }
  constexpr std::size_t kBlock = 4096;  // checked while in the cache, then looked up
  for (std::size_t first = 0; first < n; first += kBlock) {
    const std::size_t end = std::min(first + kBlock, n);
    std::uint32_t most = 0;
    for (std::size_t i = first; i < end; ++i)
      most = std::max(most, static_cast<std::uint32_t>(indices[i]));
    require_below(most, n_codes);
    for (std::size_t i = first; i < end; ++i) out[i] = lut[indices[i]];
  }
}

}  // namespace credo
