// Standard normal numbers as a function of seed, stream and row, two for each counter:
//
//   z = √(−2 ln u) · (cos 2πv, sin 2πv)        (Box and Muller 1958)
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/monitor.hpp"

namespace credo::sample {

// OUT z [rows]: the numbers of rows first, first + 1 ... Throws Cancelled.
void normals(std::uint64_t seed, std::uint32_t stream, std::uint64_t first, std::size_t rows,
             int threads, Monitor& monitor, double* z);

}  // namespace credo::sample
