// Arrays of NumPy, made by its C interface. A call of its Python functions costs as much as counting
// a table, and a tally gives away hundreds of them.
#pragma once

#include <nanobind/nanobind.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "bindings/arrays.hpp"

namespace credo::binding {

namespace nb = nanobind;

// Loads NumPy's interface when it is first needed; false with Python's error set if it cannot be.
inline bool numpy_is_there() noexcept {
  return PyArray_API != nullptr || _import_array() == 0;
}

template <class T>
constexpr int numpy_type() {
  using doors::Number;
  switch (doors::number_of<std::remove_const_t<T>>()) {
    case Number::kBool: return NPY_BOOL;
    case Number::kU8: return NPY_UINT8;
    case Number::kU16: return NPY_UINT16;
    case Number::kU32: return NPY_UINT32;
    case Number::kU64: return NPY_UINT64;
    case Number::kI8: return NPY_INT8;
    case Number::kI16: return NPY_INT16;
    case Number::kI32: return NPY_INT32;
    case Number::kI64: return NPY_INT64;
    case Number::kF32: return NPY_FLOAT32;
    case Number::kF64: return NPY_FLOAT64;
    case Number::kOther: break;
  }
  return NPY_NOTYPE;
}

// An array over memory that `owner` keeps; null with Python's error set if there is none. Takes over
// the references to both `type` and `owner`. IN strides: in bytes; null for C order.
inline PyObject* array_over(PyArray_Descr* type, std::size_t rank, const npy_intp* shape,
                            const npy_intp* strides, void* data, int flags,
                            PyObject* owner) noexcept {
  PyObject* array = PyArray_NewFromDescr(&PyArray_Type, type, static_cast<int>(rank), shape,
                                         strides, data, flags, nullptr);
  if (array == nullptr) {
    Py_DECREF(owner);
    return nullptr;
  }
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array), owner) != 0) {
    Py_DECREF(array);
    return nullptr;
  }
  return array;
}

}  // namespace credo::binding
