// What the binding files share: checks, and arrays that become NumPy's.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdlib>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "big_array.hpp"

namespace credo::binding {

namespace nb = nanobind;

inline void require(bool holds, const char* otherwise) {  // costs nothing where it holds
  if (!holds) throw std::invalid_argument(otherwise);
}

inline void require(bool holds, const std::string& otherwise) {
  if (!holds) throw std::invalid_argument(otherwise);
}

// An array that becomes NumPy's; of zeros, if nothing else is said.
template <class T>
class NewArray {
 public:
  explicit NewArray(std::vector<std::size_t> shape, Filled filled = Filled::kZeros)
      : shape_(std::move(shape)),
        memory_(std::accumulate(shape_.begin(), shape_.end(), std::size_t{1}, std::multiplies<>()),
                filled) {}
  T* data() { return memory_.data(); }
  nb::object release() {
    T* data = memory_.data();
    const nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    memory_.release();
    return nb::cast(nb::ndarray<nb::numpy, T>(data, shape_.size(), shape_.data(), owner));
  }

 private:
  std::vector<std::size_t> shape_;
  credo::FreedArray<T> memory_;
};

void bind_inference(nb::module_& m);
void bind_sampling(nb::module_& m);
void bind_rows_out(nb::module_& m);
void bind_approximate(nb::module_& m);
void bind_mixture(nb::module_& m);
void bind_naive(nb::module_& m);
void bind_naive_texts(nb::module_& m);
void bind_expectations(nb::module_& m);
void bind_scores(nb::module_& m);
void bind_structure(nb::module_& m);
void bind_texts(nb::module_& m);
void bind_clusters(nb::module_& m);

}  // namespace credo::binding
