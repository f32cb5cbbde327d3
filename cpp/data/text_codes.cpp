#include "data/text_codes.hpp"

#include <random>
#include <stdexcept>

namespace credo {
namespace {

constexpr std::size_t kFewest = 64;  // slots of an empty table: two KB, many fit in the cache

// Chosen anew in each process, so that no file can be written to make texts collide. The codes do
// not depend on it.
std::uint64_t secret() {
  static const std::uint64_t value = [] {
    std::random_device device;
    return (std::uint64_t{device()} << 32 | device()) | 1;
  }();
  return value;
}

}  // namespace

TextCodes::TextCodes()
    : secret_(secret()), slots_(kFewest, Slot{0, 0, -1}), mask_(kFewest - 1) {}

void TextCodes::clear() {
  if (met_.empty()) return;
  slots_.assign(kFewest, Slot{0, 0, -1});
  mask_ = kFewest - 1;
  met_.clear();
}

std::uint64_t TextCodes::hash_of(const std::uint8_t* at, std::size_t length) const {
  std::uint64_t value = secret_ ^ length;
  for (std::size_t i = 0; i < length; i += 8)
    value = mixed(value ^ word(at + i, length - i, length - i), secret_);
  return value;
}

std::int32_t TextCodes::add(std::size_t at, std::uint64_t key, Text text) {
  const auto code = static_cast<std::int32_t>(met_.size());
  slots_[at] = {key, text.length, code};
  met_.push_back(text);
  if (met_.size() * 2 <= slots_.size()) return code;
  std::vector<Slot> larger(slots_.size() * 4, Slot{0, 0, -1});
  mask_ = larger.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.code < 0) continue;
    std::size_t to = place(slot.key, slot.length) & mask_;
    while (larger[to].code >= 0) to = (to + 1) & mask_;
    larger[to] = slot;
  }
  slots_.swap(larger);
  return code;
}

template <class Offset>
std::vector<std::int32_t> encode_texts(const Offset* offsets, std::size_t n,
                                       const std::uint8_t* bytes, std::size_t size,
                                       std::int32_t* codes) {
  TextCodes texts;
  std::vector<std::int32_t> first;
  for (std::size_t i = 0; i < n; ++i) {
    const Offset begin = offsets[i], end = offsets[i + 1];
    if (begin < 0 || end < begin || static_cast<std::size_t>(end) > size ||
        end - begin > 0x7fffffff)
      throw std::invalid_argument("The offsets of the texts must rise and stay inside the bytes.");
    codes[i] = texts.code({bytes + begin, static_cast<std::uint32_t>(end - begin)},
                          size - static_cast<std::size_t>(begin));
    if (static_cast<std::size_t>(codes[i]) == first.size())
      first.push_back(static_cast<std::int32_t>(i));
  }
  return first;
}

template std::vector<std::int32_t> encode_texts(const std::int32_t*, std::size_t,
                                                const std::uint8_t*, std::size_t, std::int32_t*);
template std::vector<std::int32_t> encode_texts(const std::int64_t*, std::size_t,
                                                const std::uint8_t*, std::size_t, std::int32_t*);

}  // namespace credo
