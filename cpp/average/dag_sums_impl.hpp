// The passes over pairs of a set W and a set T of sinks on it; included by a file for each
// instruction set.
#include "average/dag_sums.hpp"
#include "average/double_double.hpp"

namespace credo::average::sums {
namespace {

constexpr std::int32_t kLeast = 240;  // bits below which a term says nothing

struct Powers {
  double of[kLeast + 1];
  Powers() {
    for (std::int32_t i = 0; i <= kLeast; ++i) of[i] = std::ldexp(1.0, -i);
  }
};
const Powers kPowers;

// What A_j(W) is for each j outside of one W, but where it is 0.
struct Above {
  std::size_t places[kMostVariables];
  Wide factor[kMostVariables];
  std::int32_t exponent[kMostVariables];
  std::size_t count = 0;

  Above(const Tables& t, std::size_t set, std::size_t among) {
    const std::size_t half = std::size_t{1} << (t.n - 1);
    for (std::size_t j = 0; j < t.n; ++j) {
      if ((among & ~set) >> j & 1) {
        const std::size_t at = j * half + without_place(set, j);
        if (t.exponent[at] == kNever) continue;
        places[count] = j;
        factor[count] = {t.high[at], t.low[at]};
        exponent[count++] = t.exponent[at];
      }
    }
  }
};

// The larger T is, the less its term counts, since A_j grows with W: branches end early.
struct Up {
  const Tables& t;
  const Above& above;
  double* total;

  void term(std::size_t set, const Wide& value, std::int32_t exponent) const {
    const std::int32_t shift = t.scale[set] - exponent;
    const Wide sum = Wide{total[2 * set], total[2 * set + 1]} + value * kPowers.of[shift];
    total[2 * set] = sum.high;
    total[2 * set + 1] = sum.low;
  }
  void visit(std::size_t from, std::size_t set, const Wide& value, std::int32_t exponent) const {
    for (std::size_t k = from; k < above.count; ++k) {
      const std::size_t next = set | std::size_t{1} << above.places[k];
      const std::int32_t e = exponent + above.exponent[k];
      if (t.scale[next] - e > kLeast) continue;
      const Wide v = -(value * above.factor[k]);
      term(next, v, e);
      visit(k + 1, next, v, e);
    }
  }
};

void up(const Tables& t, std::size_t size, std::size_t part, double* total) {
  std::size_t bits = 0;
  while ((std::size_t{1} << bits) < kParts && bits + 1 < t.n) ++bits;
  if (part >= std::size_t{1} << bits) return;
  const std::size_t free = t.n - bits, lower = (std::size_t{1} << free) - 1;
  const std::size_t top = part << free;
  for (std::size_t set = 0; set < std::size_t{1} << t.n; ++set) {
    if (static_cast<std::size_t>(__builtin_popcountll(set)) != size) continue;
    if ((set & ~lower & ~top) != 0 || total[2 * set] == 0) continue;
    Wide value = {-total[2 * set], -total[2 * set + 1]};
    std::int32_t exponent = t.scale[set];
    std::size_t whole = set;
    const Above fixed(t, set, top);  // the last variables of the targets are sinks on the set
    bool counts = fixed.count == static_cast<std::size_t>(__builtin_popcountll(top & ~set));
    for (std::size_t k = 0; k < fixed.count && counts; ++k) {
      value = -(value * fixed.factor[k]);
      exponent += fixed.exponent[k];
      whole |= std::size_t{1} << fixed.places[k];
      counts = t.scale[whole] - exponent <= kLeast;
    }
    if (!counts) continue;
    const Above above(t, set, lower);
    const Up rest{t, above, total};
    if (fixed.count > 0) rest.term(whole, value, exponent);
    rest.visit(0, whole, value, exponent);
  }
}

struct Down {
  const Tables& t;
  const Above& above;
  const double* upper;
  Wide with[kMostVariables];  // the sums of the terms with each variable

  Wide visit(std::size_t from, std::size_t set, const Wide& value, std::int32_t exponent) {
    Wide sum;
    for (std::size_t k = from; k < above.count; ++k) {
      const std::size_t next = set | std::size_t{1} << above.places[k];
      const std::int32_t e = exponent + above.exponent[k], shift = t.scale[next] - e;
      if (shift > kLeast) continue;
      const Wide v = -(value * above.factor[k]);
      Wide branch = v * Wide{upper[2 * next], upper[2 * next + 1]} * kPowers.of[shift];
      branch = branch + visit(k + 1, next, v, e);
      with[k] = with[k] + branch;
      sum = sum + branch;
    }
    return sum;
  }
};

void down(const Tables& t, std::size_t set, const double* total, double* upper, double* found) {
  const std::size_t all = (std::size_t{1} << t.n) - 1;
  if (set == all) {
    upper[2 * set] = 1;
    return;
  }
  const Above above(t, set, all);
  Down rest{t, above, upper, {}};
  const Wide sum = rest.visit(0, set, {-1, 0}, t.scale[set]);
  upper[2 * set] = sum.high;
  upper[2 * set + 1] = sum.low;
  const Wide own{total[2 * set], total[2 * set + 1]};
  for (std::size_t k = 0; k < above.count; ++k) found[above.places[k]] = (own * rest.with[k]).high;
}

constexpr Passes kPasses = {up, down};

}  // namespace
}  // namespace credo::average::sums
