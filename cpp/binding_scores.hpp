// What scores ask of Python: moments of a source, and whether to go on.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "binding_arrays.hpp"
#include "binding_columns.hpp"
#include "score_cache.hpp"
#include "score_mixed.hpp"

namespace credo::binding {

inline nb::list to_list(std::span<const std::int32_t> items) {
  nb::list out;
  for (const std::int32_t v : items) out.append(v);
  return out;
}

// An object of Python that may be dropped without the GIL.
inline std::shared_ptr<nb::object> shared(nb::object object) {
  return {new nb::object(std::move(object)), [](nb::object* held) {
            const nb::gil_scoped_acquire acquire;
            delete held;
          }};
}

// moments(group, columns) gives (n [G], scatter [G, m, m]).
inline score::MomentsOf moments_of(nb::object function) {
  return [held = shared(std::move(function))](const std::vector<std::int32_t>& group,
                                              const std::vector<std::int32_t>& columns) {
    const nb::gil_scoped_acquire acquire;
    const auto found = nb::cast<nb::tuple>((*held)(to_list(group), to_list(columns)));
    using Reals = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
    const auto n = nb::cast<Reals>(found[0]), scatter = nb::cast<Reals>(found[1]);
    require(scatter.size() == n.size() * columns.size() * columns.size(),
            "The moments do not fit the columns.");
    return score::LineMoments{{n.data(), n.data() + n.size()},
                              {scatter.data(), scatter.data() + scatter.size()}};
  };
}

// Says yes after some seconds, and at Ctrl-C, which is left for whoever looks next.
inline score::Stop stop_after(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(std::min(seconds, 1e9)));
  return [end, next = Clock::time_point{}]() mutable {
    const auto now = Clock::now();
    if (now >= end) return true;
    if (now < next) return false;
    next = now + std::chrono::milliseconds(20);
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() == 0) return false;
    PyErr_Clear();
    PyErr_SetInterrupt();
    return true;
  };
}

// The scores, and what must live as long as they do.
struct PyScores {
  std::unique_ptr<score::FamilyScores> scores;
  nb::object columns;
  std::optional<AnyArray> weights;
  score::FamilyScores* inner = nullptr;  // those of `columns`, where these are made of others
};

}  // namespace credo::binding
