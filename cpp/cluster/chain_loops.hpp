// The inner loops of linkage by nearest-neighbour chains, one for each instruction set (as in
// mixture_loops.hpp). All arrays are padded to whole steps, so that no loop has a rest.
#pragma once

#include <cstddef>

namespace credo::chain {

inline constexpr std::size_t kStep = 32;

inline std::size_t padded(std::size_t n) { return (n + kStep - 1) / kStep * kStep; }

struct Loops {
  // Euclid's distance of a point from each of `width`, summed column by column as SciPy does.
  // IN columns [d][stride], point [d]. OUT row [width].
  void (*distances)(const double* columns, std::size_t stride, std::size_t d, std::size_t width,
                    const double* point, double* row);
  // Half the square that merging a cluster with each of `width` costs: |A||B| / (|A| + |B|) times
  // the square between their means. IN columns [d][stride] and point [d] of means, sizes [width].
  // OUT row [width].
  void (*costs)(const double* columns, std::size_t stride, std::size_t d, std::size_t width,
                const double* sizes, const double* point, double size, double* row);
  // Where the least number stands, the first of equal ones; 0 if all are infinite.
  std::size_t (*least)(const double* row, std::size_t width);
  // INOUT b [width]: the greater of a and b.
  void (*greater)(const double* a, double* b, std::size_t width);
  // INOUT b [width]: s a + t b.
  void (*mean)(const double* a, double s, double* b, double t, std::size_t width);
};

const Loops& plain_loops();
const Loops& avx2_loops();
const Loops& loops_for(const char* path);

}  // namespace credo::chain
