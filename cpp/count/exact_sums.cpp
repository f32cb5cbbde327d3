#include "count/exact_sums.hpp"

#include <algorithm>

namespace credo::exact {
namespace {

constexpr int kLeastExponent = -1074;  // of the last bit of the least double
constexpr int kMantissa = 64;

// The last bit that a double of this size can have set.
int last_bit(double size) {
  int exponent;
  std::frexp(size, &exponent);
  return std::max(exponent - kDoubleBits, kLeastExponent);
}

}  // namespace

// ---------------------------------------------------------------- bits

void Sizes::see(const double* values, std::size_t n) {
  constexpr std::size_t kLanes = 8;  // side by side
  double least[kLanes], greatest[kLanes];
  std::fill_n(least, kLanes, least_);
  std::fill_n(greatest, kLanes, greatest_);
  const auto look = [&](double value, std::size_t k) {
    const double size = std::fabs(value), not_0 = size == 0 ? HUGE_VAL : size;
    greatest[k] = size > greatest[k] ? size : greatest[k];
    least[k] = not_0 < least[k] ? not_0 : least[k];
  };
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::size_t k = 0; k < kLanes; ++k) look(values[i + k], k);
  for (; i < n; ++i) look(values[i], 0);
  least_ = *std::min_element(least, least + kLanes);
  greatest_ = *std::max_element(greatest, greatest + kLanes);
}

Bits Sizes::bits() const {
  if (greatest_ == 0) return {};
  return {last_bit(least_), last_bit(greatest_) + kDoubleBits};
}

Window Window::of(Bits bits, int log_terms) {
  Window window;
  window.low = bits.lowest >> 5;  // rounded down, below 0 too
  const int sign = 1;
  const int needed = bits.top + log_terms + sign - kDigitBits * window.low;
  window.size = static_cast<std::size_t>(std::max((needed + kDigitBits - 1) / kDigitBits, 1));
  return window;
}

// ---------------------------------------------------------------- numbers that are kept

void Numbers::put(std::size_t i, std::int64_t* added) {
  carry(added, size + Window::kSpare);
  std::uint32_t* out = at(i);
  for (std::size_t k = 0; k < size; ++k) out[k] = static_cast<std::uint32_t>(added[k]);
}

void Numbers::trim() {
  std::size_t first = size, last = 0;  // the first digit and the last that are needed
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t* d = at(i);
    std::size_t k = 0;
    while (k < first && d[k] == 0) ++k;
    first = std::min(first, k);
    const std::uint32_t sign = d[size - 1] >> 31 ? ~std::uint32_t{0} : 0;
    k = size - 1;
    while (k > last && d[k] == sign && (d[k - 1] ^ sign) >> 31 == 0) --k;
    last = std::max(last, k);
  }
  if (first >= size) {  // all are 0
    size = 1;
    low = 0;
    digits.assign(count, 0);
    return;
  }
  const std::size_t kept = std::max(last, first) - first + 1;
  if (kept < size) {
    for (std::size_t i = 0; i < count; ++i)
      std::copy_n(digits.data() + i * size + first, kept, digits.data() + i * kept);
    digits.resize(count * kept);
    size = kept;
  }
  low += static_cast<int>(first);
}

Numbers of(std::span<const double> values) {
  Sizes sizes;
  sizes.see(values.data(), values.size());
  const Window window = Window::of(sizes.bits(), 0);
  Numbers numbers(values.size(), window);
  std::vector<std::int64_t> digits(window.room());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    std::fill(digits.begin(), digits.end(), 0);
    const auto [mantissa, exponent] = scaled(values[i]);
    add(mantissa, window.offset(exponent), digits.data());
    numbers.put(i, digits.data());
  }
  numbers.trim();
  return numbers;
}

Numbers of(std::span<const std::int64_t> values) {
  return of_planes(values, 1, 0);
}

Numbers of_planes(std::span<const std::int64_t> planes, std::size_t n_planes, int low) {
  const std::size_t count = n_planes == 0 ? 0 : planes.size() / n_planes;
  Window window;
  window.low = low;
  window.size = n_planes + 1;
  Numbers numbers(count, window);
  std::vector<std::int64_t> digits(window.room());
  for (std::size_t i = 0; i < count; ++i) {
    std::fill(digits.begin(), digits.end(), 0);
    for (std::size_t p = 0; p < n_planes; ++p) digits[p] = planes[p * count + i];
    numbers.put(i, digits.data());
  }
  numbers.trim();
  return numbers;
}

Numbers gathered(const View& parts, std::size_t width, std::span<const std::int64_t> group,
                 std::size_t groups) {
  constexpr std::size_t kMore = 1;  // a digit for what more than one part adds up to
  Window window;
  window.low = parts.low;
  window.size = parts.size + kMore;
  const std::size_t room = window.room();
  std::vector<std::int64_t> sums(groups * width * room);
  for (std::size_t i = 0; i < group.size(); ++i) {
    std::int64_t* to = sums.data() + static_cast<std::size_t>(group[i]) * width * room;
    const std::uint32_t* from = parts.at(i * width);
    for (std::size_t c = 0; c < width; ++c, to += room, from += parts.size) {
      for (std::size_t k = 0; k + 1 < parts.size; ++k) to[k] += from[k];
      to[parts.size - 1] += static_cast<std::int32_t>(from[parts.size - 1]);
    }
  }
  Numbers numbers(groups * width, window);
  for (std::size_t i = 0; i < numbers.count; ++i) numbers.put(i, sums.data() + i * room);
  numbers.trim();
  return numbers;
}

Numbers gathered(std::span<const double> values, std::size_t width,
                 std::span<const std::int64_t> group, std::size_t groups) {
  Sizes sizes;
  sizes.see(values.data(), values.size());
  const Window window = Window::of(sizes.bits(), static_cast<int>(std::bit_width(group.size())));
  const std::size_t room = window.room();
  std::vector<std::int64_t> sums(groups * width * room);
  const double* from = values.data();
  for (const std::int64_t g : group) {
    std::int64_t* to = sums.data() + static_cast<std::size_t>(g) * width * room;
    for (std::size_t c = 0; c < width; ++c, to += room, ++from) {
      if (*from == 0) continue;
      const auto [mantissa, exponent] = scaled(*from);
      add(mantissa, window.offset(exponent), to);
    }
  }
  Numbers numbers(groups * width, window);
  for (std::size_t i = 0; i < numbers.count; ++i) numbers.put(i, sums.data() + i * room);
  numbers.trim();
  return numbers;
}

// ---------------------------------------------------------------- back to doubles

bool magnitude_of(const std::uint32_t* digits, std::size_t size, std::uint32_t* magnitude) {
  const bool negative = digits[size - 1] >> 31 != 0;
  std::uint64_t rest = negative;
  for (std::size_t k = 0; k < size; ++k) {
    rest += negative ? static_cast<std::uint32_t>(~digits[k]) : digits[k];
    magnitude[k] = static_cast<std::uint32_t>(rest);
    rest >>= 32;
  }
  return negative;
}

Leading leading(const std::uint32_t* magnitude, std::size_t size, int low, bool negative) {
  std::size_t top = size;
  while (top > 0 && magnitude[top - 1] == 0) --top;
  if (top == 0) return {};
  const auto digit = [&](std::size_t below) -> std::uint64_t {
    return top > below ? magnitude[top - 1 - below] : 0;
  };
  const int shift = std::countl_zero(static_cast<std::uint32_t>(digit(0)));
  std::uint64_t mantissa = (digit(0) << 32 | digit(1)) << shift;
  if (shift > 0) mantissa |= digit(2) >> (32 - shift);
  bool more = static_cast<std::uint32_t>(digit(2) << shift) != 0;
  for (std::size_t k = 0; !more && k + 3 < top; ++k) more = magnitude[k] != 0;
  const int exponent = kDigitBits * (low + static_cast<int>(top) - 2) - shift;
  return {negative, mantissa | (more ? 1 : 0), exponent};
}

namespace {

constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;

// As many bits as a double has whose first bit of 64 stands for 2^(exponent + 63).
int bits_kept(int exponent) { return std::min(kDoubleBits, exponent + kMantissa - kLeastExponent); }

// Whether a few units of the last of 64 bits can change what a number is rounded to.
bool near_half(const Leading& value) {
  const int shift = std::countl_zero(value.mantissa);
  const int kept = bits_kept(value.exponent - shift);
  if (kept < 0) return false;
  constexpr std::uint64_t kUnits = 16;
  const std::uint64_t rest = value.mantissa << shift << kept;
  return (rest > kHalf ? rest - kHalf : kHalf - rest) <= kUnits << kept;
}

}  // namespace

double rounded(Leading value) {
  if (value.mantissa == 0) return 0.0;
  const int shift = std::countl_zero(value.mantissa);
  std::uint64_t mantissa = value.mantissa << shift;
  const int exponent = value.exponent - shift;
  const int kept = bits_kept(exponent);
  if (kept < 0) return value.negative ? -0.0 : 0.0;
  const int cut = kMantissa - kept;  // 11 or more
  const std::uint64_t rest = cut == kMantissa ? mantissa : mantissa << kept;
  mantissa = cut == kMantissa ? 0 : mantissa >> cut;
  if (rest > kHalf || (rest == kHalf && (mantissa & 1) != 0)) ++mantissa;
  const double size = std::ldexp(static_cast<double>(mantissa), exponent + cut);
  return value.negative ? -size : size;
}

Quotient quotient(const Leading& a, const Leading& b) {
  if (a.mantissa == 0) return {};
  // Both have their first bit set, so that the quotient has 63 bits or 64.
  const Uint128 scaled_up = static_cast<Uint128>(a.mantissa) << 63;
  auto mantissa = static_cast<std::uint64_t>(scaled_up / b.mantissa);
  if (scaled_up % b.mantissa != 0) mantissa |= 1;
  const Leading found{a.negative != b.negative, mantissa, a.exponent - b.exponent - 63};
  return {rounded(found), near_half(found)};
}

std::vector<double> rounded(const View& numbers) {
  const std::size_t count = numbers.digits.size() / numbers.size;
  std::vector<double> out(count);
  std::vector<std::uint32_t> magnitude(numbers.size);
  for (std::size_t i = 0; i < count; ++i) {
    const bool negative = magnitude_of(numbers.at(i), numbers.size, magnitude.data());
    out[i] = rounded(leading(magnitude.data(), numbers.size, numbers.low, negative));
  }
  return out;
}

}  // namespace credo::exact
