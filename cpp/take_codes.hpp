// Recoding a column by a look-up table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace credo {

// out[i] = lut[indices[i]]. IN indices [n]; IN lut [n_codes]; OUT out [n].
// Throws std::invalid_argument if an index is negative or too large.
template <class Index, class Code>
void take_codes(const Index* indices, std::size_t n, const Code* lut, std::size_t n_codes,
                Code* out) {
  constexpr std::size_t kBlock = 4096;  // checked while in the cache, then looked up
  for (std::size_t first = 0; first < n; first += kBlock) {
    const std::size_t end = std::min(first + kBlock, n);
    std::uint32_t most = 0;  // a negative index is a large one
    for (std::size_t i = first; i < end; ++i)
      most = std::max(most, static_cast<std::uint32_t>(indices[i]));
    if (most >= n_codes)
      throw std::invalid_argument("Indices must be in 0.." + std::to_string(n_codes) +
                                  " (exclusive), got " +
                                  std::to_string(static_cast<std::int32_t>(most)) + " instead.");
    for (std::size_t i = first; i < end; ++i) out[i] = lut[indices[i]];
  }
}

}  // namespace credo
