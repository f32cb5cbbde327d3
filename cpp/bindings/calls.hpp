// How Python calls a kernel: without the GIL, and heard when it presses Ctrl-C.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <utility>

#include "common/monitor.hpp"

namespace credo::bindings {

namespace nb = nanobind;

// Ctrl-C for work that ends early and answers with what it has (Monitor: for work that is dropped).
// Whether it was pressed; asked on any thread. What it ends takes this first.
struct CtrlC {
  std::function<bool()> pressed;
};

// Calls f without the GIL.
template <class F>
auto unlocked(F&& f) {
  const nb::gil_scoped_release release;
  return f();
}

// Calls f without the GIL; a signal that Python answers with an exception stops it.
template <class F>
auto interruptible(F&& f) {
  try {
    const nb::gil_scoped_release release;
    Monitor monitor([] {
      const nb::gil_scoped_acquire acquire;
      return PyErr_CheckSignals() != 0;
    });
    return f(monitor);
  } catch (const Cancelled&) {
    throw nb::python_error();
  }
}

// Whether Ctrl-C was pressed. It is answered by that.
inline bool ctrl_c_pressed() {
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() == 0) return false;
  PyErr_Clear();
  return true;
}

// The same, but left for whoever looks next.
inline bool ctrl_c_waits() {
  if (!ctrl_c_pressed()) return false;
  PyErr_SetInterrupt();
  return true;
}

// A function as Python calls it, without the GIL; a monitor, or Ctrl-C, is given to one that takes it.
template <class R, class... A>
auto bound(R (*f)(A...)) {
  return [f](A... a) { return unlocked([&] { return f(std::forward<A>(a)...); }); };
}

template <class R, class... A>
auto bound(R (*f)(Monitor&, A...)) {
  return [f](A... a) {
    return interruptible([&](Monitor& monitor) { return f(monitor, std::forward<A>(a)...); });
  };
}

template <class R, class... A>
auto bound(R (*f)(const CtrlC&, A...)) {
  return [f](A... a) {
    return unlocked([&] { return f({ctrl_c_pressed}, std::forward<A>(a)...); });
  };
}

template <class R, class C, class... A>
auto bound(R (C::*f)(A...)) {
  return [f](C& c, A... a) { return unlocked([&] { return (c.*f)(std::forward<A>(a)...); }); };
}

template <class R, class C, class... A>
auto bound(R (C::*f)(A...) const) {
  return [f](const C& c, A... a) {
    return unlocked([&] { return (c.*f)(std::forward<A>(a)...); });
  };
}

template <class R, class C, class... A>
auto bound(R (C::*f)(const CtrlC&, A...)) {
  return [f](C& c, A... a) {
    return unlocked([&] { return (c.*f)({ctrl_c_pressed}, std::forward<A>(a)...); });
  };
}

template <class R, class C, class... A>
auto bound(R (C::*f)(Monitor&, A...)) {
  return [f](C& c, A... a) {
    return interruptible([&](Monitor& monitor) { return (c.*f)(monitor, std::forward<A>(a)...); });
  };
}

template <class R, class C, class... A>
auto bound(R (C::*f)(Monitor&, A...) const) {
  return [f](const C& c, A... a) {
    return interruptible([&](Monitor& monitor) { return (c.*f)(monitor, std::forward<A>(a)...); });
  };
}

}  // namespace credo::bindings
