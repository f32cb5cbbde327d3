// Vectors of two doubles as the compiler makes them on any machine.
#include <cstring>

#include "common/cpu.hpp"
#include "infer/kernels.hpp"
#include "infer/kernels_impl.hpp"

namespace credo::infer {
namespace {

struct Plain {
  typedef double V __attribute__((vector_size(16)));
  static constexpr std::size_t kWidth = 2;
  static V zero() { return V{0, 0}; }
  static V all(double x) { return V{x, x}; }
  static V load(const double* p) {
    V v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  static void store(double* p, V v) { std::memcpy(p, &v, sizeof v); }
  static V load_part(const double* p, std::size_t) { return V{*p, 0}; }
  static void store_part(double* p, V v, std::size_t) { *p = v[0]; }
  static V plus(V x, V y) { return x + y; }
  static V times(V x, V y) { return x * y; }
  static V fma(V x, V y, V z) { return x * y + z; }
  static V larger(V x, V y) { return x > y ? x : y; }
  static V smaller_positive(V low, V x) {
    const V usable = x > 0 ? x : low;
    return low < usable ? low : usable;
  }
};

}  // namespace

const Kernels& plain_infer_kernels() {
  static constexpr Kernels kernels = infer_kernels_of<Plain>();
  return kernels;
}

const Kernels& infer_kernels_for(const std::string& path) {
  const bool plain = &kernels_for(path) == &plain_kernels();  // throws for an unknown name
  return plain ? plain_infer_kernels() : avx2_infer_kernels();
}

}  // namespace credo::infer
