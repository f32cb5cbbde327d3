// The inner loops of inference, one set per instruction set.
#pragma once

#include <cstddef>
#include <string>

#include "infer/nest.hpp"

namespace credo::infer {

// An observed axis of a table: its column in the evidence.
struct Observed {
  std::size_t column, stride;
};

struct Kernels {
  // OUT out = Σ IN a · IN b, for outer cells begin..end of the nest. Reads up to 32 bytes past the
  // ends of a and b.
  void (*sum)(const Nest&, const double* a, const double* b, double* out, std::size_t begin,
              std::size_t end);
  // The same with the largest product in place of the sum.
  void (*max)(const Nest&, const double* a, const double* b, double* out, std::size_t begin,
              std::size_t end);
  // Of each lane, the largest of IN values [cells][lanes] and the smallest that is not zero: widens
  // OUT high and low [lanes].
  void (*extremes)(const double* values, std::size_t cells, std::size_t lanes, double* high,
                   double* low);
  // OUT from[lane] = Σ IN codes[column][lane] · stride.
  void (*offsets)(const std::int32_t* codes, std::size_t lanes, const Observed* observed,
                  std::size_t n_observed, std::uint32_t* from);
};

const Kernels& avx2_infer_kernels();
const Kernels& plain_infer_kernels();

// Of a path as named by cpu.hpp. ("avx512" has no kernels of its own: it runs those of avx2.)
const Kernels& infer_kernels_for(const std::string& path);

}  // namespace credo::infer
