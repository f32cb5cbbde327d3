// Sums without rounding: wide whole numbers in units of a power of 2^32.
//
//   value = sum_k digit_k 2^(32 (low + k)),  the last digit signed, the others in 0 .. 2^32 - 1
//
// Every double is such a number, and so are sums and products of doubles, so that numbers of one
// window of digits add up to the same in any order. (Kulisch 1997, "The fifth floating-point
// operation for top-performance computers".)
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace credo::exact {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

inline constexpr int kDigitBits = 32;
inline constexpr int kDoubleBits = 53;

// Bits of numbers: multiples of 2^lowest, below 2^top in size.
struct Bits {
  int lowest = 0, top = 0;

  Bits operator+(const Bits& other) const {  // of products
    return {lowest + other.lowest, top + other.top};
  }
};

// The least and the greatest size among numbers that are not 0, which tell the bits they can have.
class Sizes {
 public:
  void see(const double* values, std::size_t n);
  bool finite() const { return greatest_ < HUGE_VAL; }
  Bits bits() const;

 private:
  double least_ = HUGE_VAL, greatest_ = 0;
};

// A whole number and its unit 2^exponent.
struct Scaled {
  std::int64_t mantissa;
  int exponent;
};

inline Scaled scaled(double value) {
  int exponent;
  const double fraction = std::frexp(value, &exponent);
  return {static_cast<std::int64_t>(std::ldexp(fraction, kDoubleBits)), exponent - kDoubleBits};
}

// ---------------------------------------------------------------- digits that are being added up

// Digits that are added to without a carry, which holds for 2^31 additions; numbers of the bits
// fit `size` digits, and an addition may write to kSpare more.
struct Window {
  static constexpr std::size_t kSpare = 4;
  int low = 0;
  std::size_t size = 1;

  // For sums of up to 2^log_terms numbers of these bits.
  static Window of(Bits bits, int log_terms);
  std::size_t room() const { return size + kSpare; }
  int offset(int exponent) const { return exponent - kDigitBits * low; }
};

// digits += v 2^offset; below 0, the lower bits of v must be 0.
inline void add(std::int64_t v, int offset, std::int64_t* digits) {
  if (offset < 0) {
    v = offset > -63 ? v >> -offset : 0;
    offset = 0;
  }
  const Int128 shifted = static_cast<Int128>(v) << (offset % kDigitBits);
  std::int64_t* d = digits + offset / kDigitBits;
  d[0] += static_cast<std::uint32_t>(shifted);
  d[1] += static_cast<std::uint32_t>(shifted >> 32);
  d[2] += static_cast<std::int64_t>(shifted >> 64);
}

inline void add(Int128 v, int offset, std::int64_t* digits) {
  constexpr int kHalf = 62;
  add(static_cast<std::int64_t>(v & ((std::int64_t{1} << kHalf) - 1)), offset, digits);
  add(static_cast<std::int64_t>(v >> kHalf), offset + kHalf, digits);
}

// Brings digits 0 ... n - 2 into 0 .. 2^32 - 1.
inline void carry(std::int64_t* digits, std::size_t n) {
  for (std::size_t k = 0; k + 1 < n; ++k) {
    digits[k + 1] += digits[k] >> 32;
    digits[k] &= 0xFFFFFFFF;
  }
}

// ---------------------------------------------------------------- numbers that are kept

// `count` numbers of `size` digits each. Those that a function returns are trimmed: the window is
// the least that holds them all, so that equal numbers are the same digits.
struct Numbers {
  std::size_t count = 0, size = 1;
  int low = 0;
  std::vector<std::uint32_t> digits;

  Numbers() = default;
  Numbers(std::size_t count, const Window& window)
      : count(count), size(window.size), low(window.low), digits(count * window.size) {}
  std::uint32_t* at(std::size_t i) { return digits.data() + i * size; }

  // OUT number i: digits [window.room()] of its window, carried on the way.
  void put(std::size_t i, std::int64_t* added);
  void trim();
};

// The same as a view: digits [count][size].
struct View {
  std::span<const std::uint32_t> digits;
  std::size_t size;
  int low;

  const std::uint32_t* at(std::size_t i) const { return digits.data() + i * size; }
};

// Doubles, which must be finite, and whole numbers as exact numbers.
Numbers of(std::span<const double> values);
Numbers of(std::span<const std::int64_t> values);

// Planes [n_planes][count] of whole numbers: number i is sum_p plane_p[i] 2^(32 (low + p)).
Numbers of_planes(std::span<const std::int64_t> planes, std::size_t n_planes, int low);

// Sums of the `width` numbers of each part by the parts' groups, which are below `groups`.
Numbers gathered(const View& parts, std::size_t width, std::span<const std::int64_t> group,
                 std::size_t groups);
// The same of doubles, part by part.
Numbers gathered(std::span<const double> values, std::size_t width,
                 std::span<const std::int64_t> group, std::size_t groups);

// ---------------------------------------------------------------- back to doubles

// The sign, and the leading 64 bits with the last one set where bits below it are: what rounding
// needs. The value is +- mantissa 2^exponent; a mantissa of 0 is 0.
struct Leading {
  bool negative = false;
  std::uint64_t mantissa = 0;
  int exponent = 0;
};

// The size of a number in two's complement: OUT magnitude [size]; returns whether it is negative.
bool magnitude_of(const std::uint32_t* digits, std::size_t size, std::uint32_t* magnitude);
Leading leading(const std::uint32_t* magnitude, std::size_t size, int low, bool negative);

// The nearest double, of two equally near ones the even one.
double rounded(Leading value);

// The double nearest to a / b; where that is in doubt, the bits below the leading ones could make it
// the next one.
struct Quotient {
  double value = 0;
  bool in_doubt = false;
};
Quotient quotient(const Leading& a, const Leading& b);

std::vector<double> rounded(const View& numbers);

}  // namespace credo::exact
