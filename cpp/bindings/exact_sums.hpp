// The door to sums without rounding.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/columns.hpp"

namespace credo::doors {

// Digits [count][size] of wide whole numbers and the place of their first one (see exact.hpp).
using ExactArray = std::tuple<Array<std::uint32_t>, std::int64_t>;
using GivenDigits = View<const std::uint32_t, 2>;

// IN values of float64 or int64; finite.
ExactArray exact_of(const AnyArray& values);

// IN planes [n_planes][count]: sum_p plane_p 2^(32 (low + p)).
ExactArray exact_planes(const View<const std::int64_t, 2>& planes, std::int64_t low);

// IN digits [n width][size] of n parts; group [n], below n_groups. Sums [n_groups width].
ExactArray exact_gathered(const GivenDigits& digits, std::int64_t low, const Ints& group,
                          std::int64_t n_groups);

// The same of finite doubles [n width].
ExactArray exact_summed(const Reals& values, const Ints& group, std::int64_t n_groups);

Array<double> exact_rounded(const GivenDigits& digits, std::int64_t low);

// The groups that have rows [U], and their sums of w [U], w x [U d] and w x x' [U d (d + 1) / 2].
std::tuple<Array<std::uint32_t>, ExactArray, ExactArray, ExactArray> exact_moments(
    const std::vector<Reals>& columns, const std::optional<View<const std::uint32_t, 1>>& group,
    std::int64_t n_groups, const std::optional<Reals>& weights, int threads,
    const std::string& path);

// n [U], mean [U, d] and scatter [U, d, d] of such sums; each is digits and the place of the first.
std::tuple<Array<double>, Array<double>, Array<double>> exact_spread(
    const GivenDigits& n, std::int64_t n_low, const GivenDigits& first, std::int64_t first_low,
    const GivenDigits& second, std::int64_t second_low);

}  // namespace credo::doors
