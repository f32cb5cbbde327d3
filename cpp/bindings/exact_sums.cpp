// Sums without rounding.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "bindings/columns.hpp"
#include "bindings/module.hpp"
#include "common/cpu.hpp"
#include "count/exact_moments.hpp"

namespace credo::bindings {
namespace {

// Digits [count][size] of wide whole numbers and the place of their first one (see exact_sums.hpp).
using ExactArray = std::tuple<Array<std::uint32_t>, std::int64_t>;

using GivenDigits = View<const std::uint32_t, 2>;

ExactArray array_of(const exact::Numbers& numbers) {
  return {copied(numbers.digits, {numbers.count, numbers.size}), numbers.low};
}

int place_of(std::int64_t low) {
  constexpr std::int64_t kFar = 1 << 20;
  require(low > -kFar && low < kFar, "The 'low' parameter is out of range.");
  return static_cast<int>(low);
}

exact::View view_of(const GivenDigits& digits, std::int64_t low) {
  require(digits.shape(1) >= 1, "Exact numbers need at least one digit.");
  return {{digits.data(), digits.size()}, digits.shape(1), place_of(low)};
}

void require_finite(std::span<const double> values) {
  require(std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); }),
          "The 'values' parameter must be finite.");
}

// How many numbers each part has.
std::size_t width_of(std::size_t numbers, const Ints& group, std::int64_t n_groups) {
  const std::size_t parts = group.size();
  require(n_groups >= 0, "The 'n_groups' parameter must be at least 0.");
  require(parts == 0 ? numbers == 0 : numbers % parts == 0,
          "There must be as many numbers for each part.");
  for (std::size_t i = 0; i < parts; ++i)
    require(group.data()[i] >= 0 && group.data()[i] < n_groups,
            "The 'group' parameter must be below 'n_groups'.");
  return parts == 0 ? 1 : numbers / parts;
}

// IN values of float64 or int64; finite.
ExactArray exact_of(const AnyArray& values) {
  if (values.is<std::int64_t>())
    return array_of(exact::of(std::span(values.data_as<std::int64_t>(), values.size())));
  require(values.is<double>(), "The 'values' parameter must be of float64 or int64.");
  const std::span numbers(values.data_as<double>(), values.size());
  require_finite(numbers);
  return array_of(exact::of(numbers));
}

// IN planes [n_planes][count]: sum_p plane_p 2^(32 (low + p)).
ExactArray exact_planes(const View<const std::int64_t, 2>& planes, std::int64_t low) {
  return array_of(
      exact::of_planes({planes.data(), planes.size()}, planes.shape(0), place_of(low)));
}

// IN digits [n width][size] of n parts; group [n], below n_groups. Sums [n_groups width].
ExactArray exact_gathered(const GivenDigits& digits, std::int64_t low, const Ints& group,
                          std::int64_t n_groups) {
  const std::size_t width = width_of(digits.shape(0), group, n_groups);
  return array_of(exact::gathered(view_of(digits, low), width, {group.data(), group.size()},
                                  static_cast<std::size_t>(n_groups)));
}

// The same of finite doubles [n width].
ExactArray exact_summed(const Reals& values, const Ints& group, std::int64_t n_groups) {
  const std::size_t width = width_of(values.size(), group, n_groups);
  const std::span numbers(values.data(), values.size());
  require_finite(numbers);
  return array_of(exact::gathered(numbers, width, {group.data(), group.size()},
                                  static_cast<std::size_t>(n_groups)));
}

Array<double> exact_rounded(const GivenDigits& digits, std::int64_t low) {
  return copied(exact::rounded(view_of(digits, low)));
}

// The groups that have rows [U], and their sums of w [U], w x [U d] and w x x' [U d (d + 1) / 2].
std::tuple<Array<std::uint32_t>, ExactArray, ExactArray, ExactArray> exact_moments(
    const std::vector<Reals>& columns, const std::optional<View<const std::uint32_t, 1>>& group,
    std::int64_t n_groups, const std::optional<Reals>& weights, int threads,
    const std::string& path) {
  const MomentsInput input = moments_input(columns, group, n_groups, weights, threads);
  const ExactMoments found = credo::exact_moments(input, kernels_for(path), threads);
  return {copied(found.groups), array_of(found.n), array_of(found.first), array_of(found.second)};
}

// n [U], mean [U, d] and scatter [U, d, d] of such sums; each is digits and the place of the first.
std::tuple<Array<double>, Array<double>, Array<double>> exact_spread(
    const GivenDigits& n, std::int64_t n_low, const GivenDigits& first, std::int64_t first_low,
    const GivenDigits& second, std::int64_t second_low) {
  const std::size_t groups = n.shape(0), d = groups == 0 ? 0 : first.shape(0) / groups;
  require(first.shape(0) == groups * d && second.shape(0) == groups * triangle(d),
          "The sums must be of as many groups and columns.");
  Array<double> weight({groups}), mean({groups, d}), scatter({groups, d, d});
  spread_of(view_of(n, n_low), view_of(first, first_low), view_of(second, second_low), groups, d,
            {weight.data(), mean.data(), scatter.data()});
  return {std::move(weight), std::move(mean), std::move(scatter)};
}

}  // namespace

void bind_exact_sums(nb::module_& m) {
  m.def("exact_of", bound(&exact_of), "values"_a);
  m.def("exact_planes", bound(&exact_planes), "planes"_a, "low"_a);
  m.def("exact_gathered", bound(&exact_gathered), "digits"_a, "low"_a, "group"_a,
        "n_groups"_a);
  m.def("exact_summed", bound(&exact_summed), "values"_a, "group"_a, "n_groups"_a);
  m.def("exact_rounded", bound(&exact_rounded), "digits"_a, "low"_a);
  m.def("exact_moments", bound(&exact_moments), "columns"_a, "group"_a.none(), "n_groups"_a,
        "weights"_a.none(), "threads"_a = 1, "path"_a = "auto");
  m.def("exact_spread", bound(&exact_spread), "n"_a, "n_low"_a, "first"_a, "first_low"_a,
        "second"_a, "second_low"_a);
}

}  // namespace credo::bindings
