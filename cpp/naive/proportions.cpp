// Sums and logarithms a few features at a time, so that they stay in the cache between the loops.
#include "naive/proportions.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <vector>

#include "naive/loops.hpp"

namespace credo::naive {
namespace {

constexpr std::size_t kTile = 2048;  // cells at a time, about

}  // namespace

template <class Count>
void log_shares(const Count* n, std::size_t features, std::size_t classes, std::size_t width,
                const double* l, const double* states, const Shares& out) {
  const Loops& loops = loops_for_this_cpu();
  const std::size_t cells = classes * width;
  const std::size_t step = std::max<std::size_t>(1, kTile / std::max<std::size_t>(1, cells));
  std::vector<double> total(step * classes), log_total(step * classes);
  double last = 1.0, log_last = 0.0;  // the logarithm of l, mostly the same for all
  for (std::size_t first = 0; first < features; first += step) {
    const std::size_t m = std::min(step, features - first);
    const Count* count = n + first * cells;
    double* theta = out.states + first * cells;
    double* fresh = out.fresh + first * classes;
    for (std::size_t f = 0, i = 0; f < m; ++f) {
      const double each = l[first + f], all = each * states[first + f];
      for (const std::size_t end = i + classes; i < end; ++i) {
        double sum = 0;
        for (std::size_t x = 0; x < width; ++x) {
          const double here = static_cast<double>(count[i * width + x]);
          sum += here;
          theta[i * width + x] = here + each;
        }
        total[i] = log_total[i] = sum + all;
        fresh[i] = total[i] + each;
      }
    }
    loops.logarithms(theta, m * cells);
    loops.logarithms(log_total.data(), m * classes);
    loops.logarithms(fresh, m * classes);
    for (std::size_t f = 0, i = 0; f < m; ++f) {
      const double each = l[first + f], many = states[first + f];
      if (each != last) {
        last = each;
        log_last = std::log(each);
      }
      for (const std::size_t end = i + classes; i < end; ++i) {
        double* own = theta + i * width;
        if (total[i] == 0) {
          std::fill(own, own + width, -std::log(many));
          fresh[i] = -std::log(many + 1);
          continue;
        }
        if (total[i] < DBL_MIN) log_total[i] = std::log(total[i]);
        fresh[i] = log_last - (total[i] + each < DBL_MIN ? std::log(total[i] + each) : fresh[i]);
        for (std::size_t x = 0; x < width; ++x) {
          const double share = static_cast<double>(count[i * width + x]) + each;
          own[x] = (share < DBL_MIN ? std::log(share) : own[x]) - log_total[i];
        }
      }
    }
  }
}

template void log_shares<std::int64_t>(const std::int64_t*, std::size_t, std::size_t, std::size_t,
                                       const double*, const double*, const Shares&);
template void log_shares<double>(const double*, std::size_t, std::size_t, std::size_t,
                                 const double*, const double*, const Shares&);

}  // namespace credo::naive
