// The numbers that a column of texts stands for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/read_number.hpp"

namespace credo {

// IN offsets [n + 1] and bytes [size]: text i is bytes[offsets[i]] ... bytes[offsets[i + 1] - 1];
// IN spelling; OUT values [n] (0 where the text is no number), kinds [n].
template <class Offset>
void read_numbers(const Offset* offsets, std::size_t n, const std::uint8_t* bytes, std::size_t size,
                  const Spelling& spelling, double* values, Read* kinds) {
  int word;
  for (std::size_t i = 0; i < n; ++i) {
    const auto first = static_cast<std::size_t>(offsets[i]);
    const auto length = static_cast<std::size_t>(offsets[i + 1]) - first;
    kinds[i] = read_number(bytes + first, length, size - first, spelling, values[i], word);
  }
}

}  // namespace credo
