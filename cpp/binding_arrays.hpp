// What the binding files share: checks, and arrays that become NumPy's.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "kept_memory.hpp"

namespace credo::binding {

namespace nb = nanobind;

inline void require(bool holds, const char* otherwise) {  // costs nothing where it holds
  if (!holds) throw std::invalid_argument(otherwise);
}

inline void require(bool holds, const std::string& otherwise) {
  if (!holds) throw std::invalid_argument(otherwise);
}

enum class Filled { kZeros, kLater };

// An array that becomes NumPy's: of zeros, or of cells that its maker fills later.
template <class T>
class NewArray {
 public:
  explicit NewArray(std::vector<std::size_t> shape, Filled filled = Filled::kZeros)
      : shape_(std::move(shape)), memory_(static_cast<T*>(take_memory(bytes(shape_),
                                                                      filled == Filled::kZeros))) {}
  T* data() { return memory_.get(); }
  nb::object release() {
    const nb::capsule owner(memory_.get(), [](void* p) noexcept { give_memory(p); });
    T* data = memory_.release();
    return nb::cast(nb::ndarray<nb::numpy, T>(data, shape_.size(), shape_.data(), owner));
  }

 private:
  static std::size_t bytes(const std::vector<std::size_t>& shape) {
    std::size_t size = sizeof(T);
    for (const std::size_t length : shape)
      if (__builtin_mul_overflow(size, length, &size)) throw std::bad_alloc();
    return size;
  }
  struct Give {
    void operator()(T* data) const { give_memory(data); }
  };
  std::vector<std::size_t> shape_;
  std::unique_ptr<T[], Give> memory_;
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
void bind_families(nb::module_& m);
void bind_clusters(nb::module_& m);

}  // namespace credo::binding
