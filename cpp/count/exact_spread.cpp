// n second - first first' of wide whole numbers, divided by n and rounded: no digit is lost where a
// mean is large beside its spread.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "count/exact_moments.hpp"

namespace credo {
namespace {

// The size of a wide number, its sign, and its digits' place.
struct Wide {
  std::vector<std::uint32_t> digits;
  int low = 0;
  bool negative = false;

  void read(const exact::View& from, std::size_t i) {
    digits.resize(from.size);
    low = from.low;
    negative = exact::magnitude_of(from.at(i), from.size, digits.data());
    while (!digits.empty() && digits.back() == 0) digits.pop_back();
  }

  void read(double value) {
    const exact::Scaled from = exact::scaled(std::abs(value));
    low = from.exponent >> 5;  // downwards, below 0 too
    negative = value < 0;
    const auto bits = static_cast<exact::Uint128>(from.mantissa) << (from.exponent & 31);
    digits.assign({static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32),
                   static_cast<std::uint32_t>(bits >> 64)});
  }

  exact::Leading leading() const {
    return exact::leading(digits.data(), digits.size(), low, negative);
  }

  bool is_0() const {
    return std::all_of(digits.begin(), digits.end(), [](auto k) { return k == 0; });
  }
};

// OUT out = a b.
void multiply(const Wide& a, const Wide& b, Wide& out) {
  out.low = a.low + b.low;
  out.negative = a.negative != b.negative;
  out.digits.assign(a.digits.size() + b.digits.size(), 0);
  for (std::size_t i = 0; i < a.digits.size(); ++i) {
    std::uint64_t rest = 0;
    for (std::size_t j = 0; j < b.digits.size(); ++j) {
      rest += static_cast<std::uint64_t>(a.digits[i]) * b.digits[j] + out.digits[i + j];
      out.digits[i + j] = static_cast<std::uint32_t>(rest);
      rest >>= 32;
    }
    out.digits[i + b.digits.size()] = static_cast<std::uint32_t>(rest);
  }
}

// OUT out = a - b.
void subtract(const Wide& a, const Wide& b, Wide& out) {
  out.low = std::min(a.low, b.low);
  const auto end = [&](const Wide& x) {
    return x.low - out.low + static_cast<int>(x.digits.size());
  };
  const std::size_t size = static_cast<std::size_t>(std::max(end(a), end(b))) + 1;
  out.digits.resize(size);
  const auto digit = [&](const Wide& x, std::size_t k) -> std::int64_t {
    const auto at = static_cast<std::ptrdiff_t>(k) - (x.low - out.low);
    if (at < 0 || at >= static_cast<std::ptrdiff_t>(x.digits.size())) return 0;
    const std::int64_t value = x.digits[static_cast<std::size_t>(at)];
    return x.negative ? -value : value;
  };
  std::int64_t rest = 0;
  for (std::size_t k = 0; k < size; ++k) {
    rest += digit(a, k) - digit(b, k);
    out.digits[k] = static_cast<std::uint32_t>(rest);
    rest >>= 32;
  }
  out.negative = exact::magnitude_of(out.digits.data(), size, out.digits.data());
}

// OUT left = a - x b.
void remainder(const Wide& a, const Wide& b, double x, Wide& left) {
  Wide factor, part;
  factor.read(x);
  multiply(factor, b, part);
  subtract(a, part, left);
}

// The double nearest to a / b, b above 0, which is `near` or next to it; of two the even one.
double nearest(const Wide& a, const Wide& b, double near) {
  Wide left, beyond, more;
  remainder(a, b, near, left);
  if (left.is_0()) return near;
  const double end = left.negative ? -HUGE_VAL : HUGE_VAL;
  const double next = std::nextafter(near, end);
  if (!std::isfinite(next)) return near;
  remainder(a, b, next, beyond);
  left.negative = beyond.negative = false;
  subtract(left, beyond, more);
  if (more.is_0()) return (std::bit_cast<std::uint64_t>(near) & 1) == 0 ? near : next;
  return more.negative ? near : next;
}

double divided(const Wide& a, const Wide& b, const exact::Leading& by) {
  const exact::Quotient found = exact::quotient(a.leading(), by);
  if (!found.in_doubt || !std::isfinite(found.value)) return found.value;
  return nearest(a, b, found.value);
}

// What is not 0 does not become 0, so that whoever asks sees that doubles cannot hold it.
double not_lost(double value, const Wide& of) {
  if (value != 0 || of.is_0()) return value;
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  return of.negative ? -kLeast : kLeast;
}

}  // namespace

void spread_of(const exact::View& n, const exact::View& first, const exact::View& second,
               std::size_t groups, std::size_t d, const MomentsOutput& out) {
  Wide weight, product, whole, less, left;
  std::vector<Wide> sums(d);
  for (std::size_t g = 0; g < groups; ++g) {
    weight.read(n, g);
    const exact::Leading by = weight.leading();
    out.n[g] = exact::rounded(by);
    double* scatter = out.scatter + g * d * d;
    for (std::size_t i = 0; i < d; ++i) {
      sums[i].read(first, g * d + i);
      out.mean[g * d + i] = divided(sums[i], weight, by);
      for (std::size_t j = 0; j <= i; ++j) {
        product.read(second, g * triangle(d) + triangle(i) + j);
        multiply(weight, product, whole);
        multiply(sums[i], sums[j], less);
        subtract(whole, less, left);
        const double value = not_lost(divided(left, weight, by), left);
        scatter[i * d + j] = scatter[j * d + i] = value;
      }
    }
  }
}

}  // namespace credo
