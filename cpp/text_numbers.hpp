// The numbers that texts stand for, strictly: what is not surely a number is told, not guessed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace credo {

enum class Read : std::uint8_t {
  kWhole,    // a whole number, blanks around it aside
  kDecimal,  // another finite number; 2.0 is one
  kWord,     // one of the words for missing
  kOther,    // anything else; 007 is a code, not a number
  kUnsure,   // beyond ASCII, or beyond the range of doubles: somebody else must look
};

// IN offsets [n + 1] and bytes: text i is bytes[offsets[i]] ... bytes[offsets[i + 1] - 1];
// IN words; OUT values [n] (0 where the text is no number), kinds [n].
template <class Offset>
void read_numbers(const Offset* offsets, std::size_t n, const std::uint8_t* bytes,
                  const std::vector<std::string>& words, double* values, Read* kinds);

extern template void read_numbers(const std::int32_t*, std::size_t, const std::uint8_t*,
                                  const std::vector<std::string>&, double*, Read*);
extern template void read_numbers(const std::int64_t*, std::size_t, const std::uint8_t*,
                                  const std::vector<std::string>&, double*, Read*);

}  // namespace credo
