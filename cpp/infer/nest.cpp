#include "infer/nest.hpp"

#include <algorithm>

namespace credo::infer {
namespace {

constexpr std::size_t kTableTerms = 4096;
constexpr std::size_t kCacheCells = 50000;  // of all three tensors

struct Axis {
  std::size_t extent;
  bool in_a, in_b, in_out;
  std::size_t a, b, out;  // strides
  bool like(const Axis& other) const {
    return in_a == other.in_a && in_b == other.in_b && in_out == other.in_out;
  }
};

// Innermost first, fused, with strides.
Small<Axis, 16> fused_axes(const std::vector<std::int64_t>& arity, const Variables& scope,
                             Operand a, Operand b, Operand out) {
  Small<Axis, 16> axes;
  const auto add = [&](const Axis& axis) {
    if (axis.extent == 1) return;
    Axis* last = axes.empty() ? nullptr : axes.end() - 1;
    if (last != nullptr && last->like(axis)) last->extent *= axis.extent;
    else axes.push_back(axis);
  };
  const std::size_t lanes = std::max({a.lanes, b.lanes, out.lanes});
  add({lanes, a.lanes > 1, b.lanes > 1, out.lanes > 1, 0, 0, 0});
  std::size_t left_a = a.scope ? a.scope->size() : 0, left_b = b.scope ? b.scope->size() : 0,
              left_out = out.scope->size();
  for (std::size_t i = scope.size(); i-- > 0;) {
    const auto take = [&](const Variables* of, std::size_t& left) {
      const bool found = left > 0 && (*of)[left - 1] == scope[i];
      left -= found;
      return found;
    };
    const bool in_a = take(a.scope, left_a), in_b = take(b.scope, left_b),
               in_out = take(out.scope, left_out);
    if (in_a || in_b || in_out) 
      add({static_cast<std::size_t>(arity[scope[i]]), in_a, in_b, in_out, 0, 0, 0});
  }
  std::size_t stride_a = 1, stride_b = 1, stride_out = 1;
  for (Axis& axis : axes) {
    if (axis.in_a) axis.a = stride_a, stride_a *= axis.extent;
    if (axis.in_b) axis.b = stride_b, stride_b *= axis.extent;
    if (axis.in_out) axis.out = stride_out, stride_out *= axis.extent;
  }
  return axes;
}

}  // namespace

Nest make_nest(const std::vector<std::int64_t>& arity, const Variables& scope, Operand a, Operand b,
               Operand out) {
  Nest nest;
  Small<Axis, 16> axes = fused_axes(arity, scope, a, b, out);
  nest.swapped = !axes.empty() && !axes[0].in_a && axes[0].in_b;
  if (nest.swapped)
    for (Axis& axis : axes) {
      std::swap(axis.in_a, axis.in_b);
      std::swap(axis.a, axis.b);
    }
  if (!axes.empty()) {
    nest.run = axes[0].extent;
    nest.run_a = axes[0].in_a;
    nest.run_b = axes[0].in_b;
    nest.run_out = axes[0].in_out;
    nest.work *= static_cast<double>(nest.run);
  }
  nest.at_a.push_back(0);
  nest.at_b.push_back(0);
  for (std::size_t i = 1; i < axes.size(); ++i) {
    const Axis& axis = axes[i];
    nest.work *= static_cast<double>(axis.extent);
    if (axis.in_out) {
      nest.outer.push_front({axis.extent, axis.a, axis.b, axis.out});
      nest.n_outer *= axis.extent;
    } else if (nest.again.empty() && nest.at_a.size() * axis.extent <= kTableTerms) {
      const std::size_t inner = nest.at_a.size();
      nest.at_a.resize(inner * axis.extent);
      nest.at_b.resize(inner * axis.extent);
      for (std::size_t x = 1; x < axis.extent; ++x)
        for (std::size_t k = 0; k < inner; ++k) {
          nest.at_a[x * inner + k] = nest.at_a[k] + static_cast<std::uint32_t>(x * axis.a);
          nest.at_b[x * inner + k] = nest.at_b[k] + static_cast<std::uint32_t>(x * axis.b);
        }
    } else {
      nest.again.push_front({axis.extent, axis.a, axis.b, 0});
    }
  }
  std::size_t cells[3] = {1, 1, 1};
  for (const Axis& axis : axes) {
    if (axis.in_a) cells[0] *= axis.extent;
    if (axis.in_b) cells[1] *= axis.extent;
    if (axis.in_out) cells[2] *= axis.extent;
  }
  if (cells[0] + cells[1] + cells[2] > kCacheCells && nest.outer.size() > 1) {
    const auto everywhere = [](const Loop& loop) { return loop.a > 0 && loop.b > 0; };
    nest.in_order = std::is_partitioned(nest.outer.begin(), nest.outer.end(), everywhere);
    std::stable_partition(nest.outer.begin(), nest.outer.end(), everywhere);
  }
  return nest;
}

}  // namespace credo::infer
