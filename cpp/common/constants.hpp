// Numbers that several rooms need.
#pragma once

#include <limits>

namespace credo {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kMinusInfinity = -kInfinity;
inline constexpr double kLogTwoPi = 1.83787706640934548356;

}  // namespace credo
