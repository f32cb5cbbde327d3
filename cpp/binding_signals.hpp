// Ctrl-C while a kernel runs.
#pragma once

#include <nanobind/nanobind.h>

#include "monitor.hpp"

namespace credo::binding {

namespace nb = nanobind;

// Calls f without the GIL; a signal that Python answers with an exception stops it.
template <class F>
void interruptible(F&& f) {
  try {
    const nb::gil_scoped_release release;
    Monitor monitor([] {
      const nb::gil_scoped_acquire acquire;
      return PyErr_CheckSignals() != 0;
    });
    f(monitor);
  } catch (const Cancelled&) {
    throw nb::python_error();
  }
}

}  // namespace credo::binding
