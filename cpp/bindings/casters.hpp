// Arrays of Python as views, and new arrays as Python gets them.
//
// A view is of the array as it is: contiguous and of the exact type, or the call is refused.
// Nothing is ever converted (a silent copy would lose an output array), whatever the binding says.
// Only what a function of Python's gives back may be: nothing is written there.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

// One table of NumPy's functions for all files; module.cpp has it.
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL credo_numpy
#ifndef CREDO_HAS_NUMPY_TABLE
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include "bindings/arrays.hpp"

namespace credo::bindings {

namespace nb = nanobind;

// ---------------------------------------------------------------- NumPy
//
// Arrays are made by NumPy's C interface: a call of its Python functions costs as much as counting
// a table, and a tally gives away hundreds of them.

// Loads NumPy's interface when it is first needed; false with Python's error set if it cannot be.
bool numpy_is_there() noexcept;

template <class T>
constexpr int numpy_type() {
  switch (number_of<std::remove_const_t<T>>()) {
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

// An array over memory that `owner` keeps; null with Python's error set if there is none. Takes
// over the references to both `type` and `owner`. IN strides: in bytes; null for C order.
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

// ---------------------------------------------------------------- nanobind

// nanobind's name for the arrays that a view can be of.
template <class T, int N, Layout layout>
struct Viewed {
  template <bool holds, class Constraint>
  using If = std::conditional_t<holds, Constraint, nb::detail::unused>;
  using Cell = std::remove_const_t<T>;
  using Type = nb::ndarray<If<std::is_const_v<T>, nb::ro>, If<!std::is_void_v<T>, Cell>,
                           If<N != kAnyRank, nb::ndim<N == kAnyRank ? 1 : N>>,
                           If<layout == Layout::kContiguous, nb::c_contig>, nb::device::cpu>;
};

// How a stub writes a view's type; of an array of any type, so that type checkers can tell.
template <class T, class Array>
constexpr auto name_of() {
  if constexpr (std::is_void_v<T>) return nb::detail::const_name("numpy.typing.NDArray[typing.Any]");
  else return nb::detail::make_caster<Array>::Name;
}

inline Number number_of(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  if (type.lanes != 1) return Number::kOther;
  const auto by_bits = [&](Number n8, Number n16, Number n32, Number n64) {
    return type.bits == 8    ? n8
           : type.bits == 16 ? n16
           : type.bits == 32 ? n32
           : type.bits == 64 ? n64
                             : Number::kOther;
  };
  switch (static_cast<Code>(type.code)) {
    case Code::Int: return by_bits(Number::kI8, Number::kI16, Number::kI32, Number::kI64);
    case Code::UInt: return by_bits(Number::kU8, Number::kU16, Number::kU32, Number::kU64);
    case Code::Float: return by_bits(Number::kOther, Number::kOther, Number::kF32, Number::kF64);
    case Code::Bool: return type.bits == 8 ? Number::kBool : Number::kOther;
    default: return Number::kOther;
  }
}

}  // namespace credo::bindings

namespace nanobind::detail {

template <class T, int N, credo::bindings::Layout layout>
struct type_caster<credo::bindings::View<T, N, layout>> {
  using View = credo::bindings::View<T, N, layout>;
  using Array = typename credo::bindings::Viewed<T, N, layout>::Type;

  NB_TYPE_CASTER(View, (credo::bindings::name_of<T, Array>()))

  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    union Read {  // what is read is moved on: there is nothing left to destroy
      make_caster<Array> caster;
      Read() : caster() {}
      ~Read() {}
    } read;
    const bool may_convert = (flags & cast_flags::manual) != 0;
    if (!read.caster.from_python(source, may_convert ? cast_flags::convert : 0u, cleanup))
      return false;
    Array& a = read.caster.value;
    std::destroy_at(&value);  // made where it is: every move of what it keeps would cost
    std::construct_at(&value, a.data(), credo::bindings::number_of(a.dtype()), a.ndim(),
                      a.shape_ptr(), a.stride_ptr(), std::move(a));
    return true;
  }
};

// Reads a T into an Out that can be made of it.
template <class T, class Out>
bool read_as(handle source, std::uint32_t flags, cleanup_list* cleanup, Out& out) noexcept {
  make_caster<T> caster;
  if (!caster.from_python(source, flags_for_local_caster<T>(flags), cleanup) ||
      !caster.template can_cast<T>())
    return false;
  std::destroy_at(&out);
  std::construct_at(&out, static_cast<T&&>(caster.operator cast_t<T>()));
  return true;
}

template <class A, class B>
struct type_caster<credo::bindings::ListOr<A, B>> {
  using Either = credo::bindings::ListOr<A, B>;
  using List = std::vector<A>;
  NB_TYPE_CASTER(Either, union_name(make_caster<List>::Name, make_caster<B>::Name))

  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    return isinstance<nanobind::list>(source) ? read_as<List>(source, flags, cleanup, value)
                                              : read_as<B>(source, flags, cleanup, value);
  }
};

template <class Tuple, class B>
struct type_caster<credo::bindings::TupleOr<Tuple, B>> {
  using Either = credo::bindings::TupleOr<Tuple, B>;
  NB_TYPE_CASTER(Either, union_name(make_caster<Tuple>::Name, make_caster<B>::Name))

  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    return isinstance<nanobind::tuple>(source) ? read_as<Tuple>(source, flags, cleanup, value)
                                               : read_as<B>(source, flags, cleanup, value);
  }
};

template <class T>
struct type_caster<credo::bindings::Array<T>> {
  using Value = credo::bindings::Array<T>;
  static constexpr auto Name = make_caster<ndarray<numpy, T>>::Name;
  template <class U>
  using Cast = movable_cast_t<U>;

  static handle from_cpp(Value&& array, rv_policy, cleanup_list*) noexcept {
    using namespace credo::bindings;
    static_assert(numpy_type<T>() != NPY_NOTYPE);
    if (!numpy_is_there()) return {};
    npy_intp shape[credo::bindings::Shape::kMostRank];
    const std::size_t rank = array.shape().rank();
    std::copy_n(array.shape().lengths(), rank, shape);
    T* data = array.release();
    PyObject* owner = PyCapsule_New(data, nullptr, [](PyObject* capsule) {
      credo::give_memory(PyCapsule_GetPointer(capsule, nullptr));
    });
    if (owner == nullptr) {
      credo::give_memory(data);
      return {};
    }
    return array_over(PyArray_DescrFromType(numpy_type<T>()), rank, shape, nullptr, data,
                      NPY_ARRAY_CARRAY, owner);
  }
};

template <>
struct type_caster<credo::bindings::Record> {
  using Value = credo::bindings::Record;
  static constexpr auto Name = const_name("dict[str, typing.Any]");
  template <class U>
  using Cast = movable_cast_t<U>;

  static handle from_cpp(Value&& record, rv_policy policy, cleanup_list* cleanup) noexcept {
    dict out;
    for (auto& [name, part] : record.parts()) {
      // not PyDict_SetItemString, which keeps a table of all names
      using Caster = make_caster<Value::Part>;
      const object key = steal(PyUnicode_FromString(name)),
                   value = steal(Caster::from_cpp(std::move(part), policy, cleanup));
      if (!key.is_valid() || !value.is_valid() ||
          PyDict_SetItem(out.ptr(), key.ptr(), value.ptr()) != 0)
        return {};
    }
    return out.release();
  }
};

template <>
struct type_caster<credo::bindings::Bytes> {
  using Value = credo::bindings::Bytes;
  static constexpr auto Name = const_name("bytes");
  template <class U>
  using Cast = movable_cast_t<U>;

  static handle from_cpp(const Value& bytes, rv_policy, cleanup_list*) noexcept {
    return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data.data()),
                                     static_cast<Py_ssize_t>(bytes.data.size()));
  }
};

}  // namespace nanobind::detail
