// One text as a number, strictly: what is not surely a number is told, not guessed.
//
// Most numbers of files are a sign, some digits and a point. Eight digits are read at a time; the
// number is m / 10^k, with m and 10^k exact as doubles, so that one division rounds rightly (Clinger
// 1990). A longer m is divided in 64 bits of precision first: rounding twice is rounding once unless
// those bits say exactly one half, which is left to the library, as is every other form.
#pragma once

#include <bit>
#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace credo {

enum class Read : std::uint8_t {
  kWhole,    // a whole number, blanks around it aside
  kDecimal,  // another finite number; 2.0 is one
  kWord,     // one of the words for missing
  kOther,    // anything else; 007 is a code, not a number
  kUnsure,   // beyond ASCII, or beyond the range of doubles: somebody else must look
};

// How a file spells what is missing, and its decimals: with a point or a comma. Blanks around a cell
// are no part of it.
class Spelling {
 public:
  explicit Spelling(std::vector<std::string> words, char point = '.');

  char point() const { return point_; }

  // How many words stand for missing.
  std::size_t size() const { return words_.size(); }
  // Which word a text without blanks around it is, or -1.
  int find(std::string_view text) const;
  // Whether a word looks like a number, so that every cell must be compared with them.
  bool may_be_numbers() const { return may_be_numbers_; }

 private:
  std::vector<std::string> words_;
  char point_;
  std::size_t longest_ = 0;
  bool may_be_numbers_ = false;
};

// What any text is; `value` is 0 where it is no number, `word` tells which of the words it is. Where
// decimals have a comma, of a cell with a point somebody else must say what it is.
Read read_any_number(std::string_view cell, const Spelling& spelling, double& value, int& word);

namespace plain_numbers {

inline constexpr std::uint64_t kZeros = 0x3030303030303030;
inline constexpr std::int64_t kWholePowers[] = {1,       10,        100,        1'000, 10'000,
                                                100'000, 1'000'000, 10'000'000, 100'000'000};
inline constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                     1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
inline constexpr std::ptrdiff_t kMostDigits = 18;  // a number of so many is below 2^63

inline bool are_digits(std::uint64_t eight) {
  return ((eight & 0xF0F0F0F0F0F0F0F0) |
          (((eight + 0x0606060606060606) & 0xF0F0F0F0F0F0F0F0) >> 4)) == 0x3333333333333333;
}

// Eight digits, the first in the lowest byte (D. Lemire, 2018).
inline std::int64_t value_of(std::uint64_t eight) {
  eight -= kZeros;
  eight = eight * 10 + (eight >> 8);
  const std::uint64_t pairs = 0x000000FF000000FF;
  return static_cast<std::int64_t>(((eight & pairs) * 0x000F424000000064 +
                                    ((eight >> 16) & pairs) * 0x0000271000000001) >> 32);
}

// Adds so many digits to a number; false where one is none. `room` bytes may be read.
inline bool take_digits(const char* at, std::ptrdiff_t count, std::ptrdiff_t room,
                        std::int64_t& number) {
  std::uint64_t eight;
  for (; count >= 8; count -= 8, at += 8, room -= 8) {
    std::memcpy(&eight, at, 8);
    if (!are_digits(eight)) return false;
    number = number * 100'000'000 + value_of(eight);
  }
  if (count == 0) return true;
  if (room >= 8) {
    std::memcpy(&eight, at, 8);
    eight = eight << (64 - 8 * count) | kZeros >> (8 * count);
  } else {
    eight = kZeros;
    std::memcpy(reinterpret_cast<char*>(&eight) + 8 - count, at, static_cast<std::size_t>(count));
  }
  if (!are_digits(eight)) return false;
  number = number * kWholePowers[count] + value_of(eight);
  return true;
}

// m / 10^k to the nearest double; false where that is in doubt.
inline bool divide(std::int64_t m, std::ptrdiff_t k, double& value) {
  if (m <= std::int64_t{1} << 53) {
    value = static_cast<double>(m) / kPowers[k];
    return true;
  }
#if LDBL_MANT_DIG == 64
  const long double wide = static_cast<long double>(m) / static_cast<long double>(kPowers[k]);
  std::uint64_t bits;
  std::memcpy(&bits, &wide, 8);
  value = static_cast<double>(wide);
  return (bits & 0x7FF) != 0x400;
#else
  return k == 0 ? (value = static_cast<double>(m), true) : false;
#endif
}

// A text of a sign, digits and a point at most, which is no code such as 007; false of any other.
// A point may end a number, a comma may not: 1. is one and 1, is none.
inline bool read(const char* at, std::size_t length, std::size_t room, char point, double& value,
                 Read& kind) {
  if constexpr (std::endian::native != std::endian::little) return false;
  const char* const end = at + length;
  const char* const last = at + room;
  if (length == 0) return false;
  const bool negative = *at == '-';
  at += static_cast<int>(negative) | static_cast<int>(*at == '+');
  const char* const first = at;
  std::int64_t m = 0;
  while (at != end && static_cast<unsigned char>(*at - '0') <= 9 && at - first < kMostDigits)
    m = m * 10 + (*at++ - '0');
  const std::ptrdiff_t before = at - first;
  if (at == end) {
    if (before == 0 || (before > 1 && *first == '0')) return false;
    kind = Read::kWhole;
    value = static_cast<double>(m);
  } else {
    if (*at++ != point) return false;
    const std::ptrdiff_t after = end - at;
    if (after == 0 && (before == 0 || point != '.')) return false;
    if ((m == 0 ? 0 : before) + after > kMostDigits) return false;
    if (!take_digits(at, after, last - at, m) || !divide(m, after, value)) return false;
    kind = Read::kDecimal;
  }
  // signs come as they like: no branch could be foreseen
  value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^
                                static_cast<std::uint64_t>(negative) << 63);
  return true;
}

}  // namespace plain_numbers

// What a text is; `room` is how many bytes may be read, the text's at least.
inline Read read_number(const std::uint8_t* text, std::size_t length, std::size_t room,
                        const Spelling& spelling, double& value, int& word) {
  const auto* const at = reinterpret_cast<const char*>(text);
  Read kind;
  if (!spelling.may_be_numbers() &&
      plain_numbers::read(at, length, room, spelling.point(), value, kind))
    return kind;
  return read_any_number({at, length}, spelling, value, word);
}

}  // namespace credo
