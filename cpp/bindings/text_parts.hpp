// Columns of texts as the doors give them: bytes, offsets and codes in arrays of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bindings/text.hpp"
#include "data/text_codes.hpp"

namespace credo::doors {

inline const std::uint8_t* bytes_of(const AnyArray& bytes) {
  require(bytes.ndim() == 1 && bytes.is<std::uint8_t>(),
          "The 'bytes' parameter must be a 1-D array of uint8.");
  return bytes.data_as<std::uint8_t>();
}

// Texts one after the other, as Arrow keeps them: offsets and bytes.
struct Packed {
  Array<std::int32_t> offsets;
  Array<std::uint8_t> bytes;

  explicit Packed(const std::vector<Text>& texts)
      : offsets({texts.size() + 1}), bytes({size(texts)}, Filled::kLater) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::copy_n(texts[i].at, texts[i].length, bytes.data() + at);
      at += texts[i].length;
      offsets.data()[i + 1] = static_cast<std::int32_t>(at);
    }
  }

  static std::size_t size(const std::vector<Text>& texts) {
    std::size_t total = 0;
    for (const Text& text : texts) total += text.length;
    return total;
  }
};

// The codes of texts, in the smallest type of Arrow's dictionaries that holds them, or in the next.
template <class Codes>
TextColumnParts coded_texts(const Codes& codes, const std::vector<Text>& met) {
  Packed texts(met);
  if (met.size() <= 127)
    return {copied<std::int8_t>(codes, {codes.size()}), std::move(texts.offsets),
            std::move(texts.bytes)};
  return {copied<std::int32_t>(codes, {codes.size()}), std::move(texts.offsets),
          std::move(texts.bytes)};
}

inline TextColumnParts plain_texts(const std::vector<Text>& every) {
  Packed texts(every);
  return {std::monostate{}, std::move(texts.offsets), std::move(texts.bytes)};
}

}  // namespace credo::doors
