// The different texts of a column, numbered as they are first met.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace credo {

// A text where it lies; the bytes must stay there as long as it is used.
struct Text {
  const std::uint8_t* at;
  std::uint32_t length;
};

// A hash table of texts. A text of up to eight bytes is its own key; a longer one has a hash of
// all its bytes for a key, and is compared in full. Labels are short, so the common case never
// looks at a text twice.
class TextCodes {
 public:
  TextCodes();

  // The code of a text, a new one if it was not met before. `room` is how many bytes may be read.
  std::int32_t code(Text text, std::size_t room) {
    const std::uint64_t key =
        text.length <= 8 ? word(text.at, text.length, room) : hash_of(text.at, text.length);
    std::size_t at = place(key, text.length) & mask_;
    while (slots_[at].code >= 0) {
      const Slot& slot = slots_[at];
      if (slot.key == key && slot.length == text.length &&
          (text.length <= 8 ||
           std::memcmp(met_[static_cast<std::size_t>(slot.code)].at, text.at, text.length) == 0))
        return slot.code;
      at = (at + 1) & mask_;
    }
    return add(at, key, text);
  }

  // The texts met, by code.
  const std::vector<Text>& met() const { return met_; }

  // Whether so many rows have few enough different texts for codes to be worth their while.
  bool pays(std::size_t rows) const { return met_.size() <= 256 || met_.size() * 4 <= rows; }

  void clear();

 private:
  struct Slot {
    std::uint64_t key;
    std::uint32_t length;
    std::int32_t code;  // -1: free
  };

  static std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }

  std::size_t place(std::uint64_t key, std::uint32_t length) const {
    return static_cast<std::size_t>(mixed(key ^ length, secret_));
  }

  // Up to eight bytes as one number.
  static std::uint64_t word(const std::uint8_t* at, std::size_t length, std::size_t room) {
    std::uint64_t value = 0;
    if (room >= 8 && std::endian::native == std::endian::little) {
      std::memcpy(&value, at, 8);
      return length >= 8 ? value : value & ((std::uint64_t{1} << (8 * length)) - 1);
    }
    std::memcpy(&value, at, length < 8 ? length : 8);
    return value;
  }

  std::uint64_t hash_of(const std::uint8_t* at, std::size_t length) const;
  std::int32_t add(std::size_t at, std::uint64_t key, Text text);

  std::uint64_t secret_;
  std::vector<Slot> slots_;
  std::size_t mask_;
  std::vector<Text> met_;
};

// Text i is bytes[offsets[i]] up to bytes[offsets[i + 1]], as Arrow keeps a column of texts.
// IN offsets [n + 1], bytes [size]; OUT codes [n]. Returns the row in which each text is first met.
// Throws std::invalid_argument if the offsets fall or lie outside the bytes.
template <class Offset>
std::vector<std::int32_t> encode_texts(const Offset* offsets, std::size_t n,
                                       const std::uint8_t* bytes, std::size_t size,
                                       std::int32_t* codes);

}  // namespace credo
