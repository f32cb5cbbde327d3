#include "data/json_records.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <system_error>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace credo {
namespace {

constexpr std::size_t kCells = std::size_t{1} << 22;  // of a block, about

// All of these stop at what the bytes end with, \n or \0, which no value can hold.

bool is_digit(std::uint8_t byte) { return byte >= '0' && byte <= '9'; }

const std::uint8_t* past_digits(const std::uint8_t* at) {
  while (is_digit(*at)) ++at;
  return at;
}

// The first byte from `at` on that does not stand for itself in a text.
const std::uint8_t* past_plain(const std::uint8_t* at, [[maybe_unused]] const std::uint8_t* end) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"'), back = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1f);
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes);
    const __m128i hit = _mm_or_si128(
        control, _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, back)));
    const auto bits = static_cast<std::uint32_t>(_mm_movemask_epi8(hit));
    if (bits != 0) return at + std::countr_zero(bits);
    at += 16;
  }
#endif
  while (*at != '"' && *at != '\\' && *at >= 0x20) ++at;
  return at;
}

bool is_word(const std::uint8_t*& at, const char* word) {
  for (; *word != '\0'; ++word, ++at)
    if (*at != static_cast<std::uint8_t>(*word)) return false;
  return true;
}

// Moves `at` past a key if it is this one, as it is written.
bool is_key(const std::uint8_t*& at, const std::uint8_t* end, const JsonColumn& column) {
  const std::size_t length = column.key.size();
  if (!column.key_as_written || static_cast<std::size_t>(end - at) < length + 2 || *at != '"' ||
      at[length + 1] != '"' || std::memcmp(at + 1, column.key.data(), length) != 0)
    return false;
  at += length + 2;
  return true;
}

// The unit of UTF-16 that four digits stand for; -1 where they are none.
int hex_unit(const std::uint8_t*& at) {
  int unit = 0;
  for (int k = 0; k < 4; ++k, ++at) {
    const std::uint8_t lower = *at | 0x20;
    if (is_digit(*at))
      unit = unit * 16 + (*at - '0');
    else if (lower >= 'a' && lower <= 'f')
      unit = unit * 16 + (lower - 'a' + 10);
    else
      return -1;
  }
  return unit;
}

void add_utf8(std::string& to, std::uint32_t point) {
  const auto add = [&](std::uint32_t byte) { to.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xC0 | point >> 6);
    add(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    add(0xE0 | point >> 12);
    add(0x80 | (point >> 6 & 0x3F));
    add(0x80 | (point & 0x3F));
  } else {
    add(0xF0 | point >> 18);
    add(0x80 | (point >> 12 & 0x3F));
    add(0x80 | (point >> 6 & 0x3F));
    add(0x80 | (point & 0x3F));
  }
}

// What \uXXXX stands for, or two of them; `at` is past the u. Half a pair is refused.
bool add_unicode(std::string& to, const std::uint8_t*& at) {
  int unit = hex_unit(at);
  if (unit < 0 || (unit >= 0xDC00 && unit <= 0xDFFF)) return false;
  if (unit < 0xD800 || unit > 0xDBFF) {
    add_utf8(to, static_cast<std::uint32_t>(unit));
    return true;
  }
  if (!is_word(at, "\\u")) return false;
  const int second = hex_unit(at);
  if (second < 0xDC00 || second > 0xDFFF) return false;
  add_utf8(to, 0x10000 + (static_cast<std::uint32_t>(unit - 0xD800) << 10) +
                   static_cast<std::uint32_t>(second - 0xDC00));
  return true;
}

}  // namespace

// ---------------------------------------------------------------- a column

JsonColumn::JsonColumn(std::string_view name) : key(name) {
  key_as_written = true;
  for (const char c : key)
    if (c == '"' || c == '\\' || static_cast<std::uint8_t>(c) < 0x20) key_as_written = false;
}

std::uint8_t JsonColumn::all_types() const {
  std::uint8_t all = 0;
  for (const std::uint8_t type : types) all |= type;
  return all;
}

void JsonColumn::clear() {
  if (!texts.pays(types.size())) coded = false;  // from now on
  types.clear();
  values.clear();
  texts.clear();
  cells.clear();
}

void JsonColumn::pass(std::size_t objects) {
  types.resize(objects, kNull);
  values.resize(objects, 0);
}

void JsonColumn::add(Type type, std::uint64_t value) {
  types.push_back(type);
  values.push_back(value);
}

void JsonColumn::add_text(Text text, std::size_t room) {
  if (coded) {
    add(kText, static_cast<std::uint64_t>(texts.code(text, room)));
  } else {
    add(kText, cells.size());
    cells.push_back(text);
  }
}

void JsonColumn::add_nested(Text text) {
  add(kNested, cells.size());
  cells.push_back(text);
}

// ---------------------------------------------------------------- objects

const std::uint8_t* JsonRecords::past_blanks(const std::uint8_t* at) {
  while (*at == ' ' || *at == '\t' || *at == '\r') ++at;
  return at;
}

bool JsonRecords::nested(const std::uint8_t*& at, const std::uint8_t* end) const {
  for (std::size_t open = 0;; ++at) {
    switch (*at) {
      case '[': case '{': ++open; break;
      case ']': case '}':
        if (--open > 0) break;
        ++at;
        return true;
      case '"':
        at = past_plain(at + 1, end);
        while (*at == '\\') {
          if (*++at < 0x20) return false;
          at = past_plain(at + 1, end);
        }
        if (*at != '"') return false;
        break;
      case '\n': case '\0': return false;
      default: break;
    }
  }
}

bool JsonRecords::unescape(const std::uint8_t* begin, const std::uint8_t*& at,
                           const std::uint8_t* end, Found& found) {
  std::string& made = escaped_.emplace_back(begin, at);
  while (*at == '\\') {
    const std::uint8_t sign = *++at;
    if (sign < 0x20) return false;
    ++at;
    switch (sign) {
      case '"': case '\\': case '/': made.push_back(static_cast<char>(sign)); break;
      case 'b': made.push_back('\b'); break;
      case 'f': made.push_back('\f'); break;
      case 'n': made.push_back('\n'); break;
      case 'r': made.push_back('\r'); break;
      case 't': made.push_back('\t'); break;
      case 'u':
        if (!add_unicode(made, at)) return false;
        break;
      default: return false;
    }
    const std::uint8_t* const stop = past_plain(at, end);
    made.append(at, stop);
    at = stop;
  }
  if (*at != '"') return false;
  ++at;
  found = {{reinterpret_cast<const std::uint8_t*>(made.data()),
            static_cast<std::uint32_t>(made.size())},
           made.size()};
  return true;
}

bool JsonRecords::text(const std::uint8_t*& at, const std::uint8_t* end, Found& found) {
  if (*at != '"') return false;
  const std::uint8_t* const begin = ++at;
  at = past_plain(at, end);
  if (*at == '\\') return unescape(begin, at, end, found);
  if (*at != '"') return false;
  found = {{begin, static_cast<std::uint32_t>(at++ - begin)}, static_cast<std::size_t>(end - begin)};
  return true;
}

bool JsonRecords::number(const std::uint8_t*& at, JsonColumn& column) {
  const std::uint8_t* const begin = at;
  const bool minus = *at == '-';
  const std::uint8_t* const digits = at + minus;
  at = past_digits(digits);
  if (at == digits || (*digits == '0' && at - digits > 1)) return false;
  if (*at != '.' && (*at | 0x20) != 'e') {
    if (at - digits > 18) return false;  // perhaps beyond 64 bits
    std::int64_t whole = 0;
    for (const std::uint8_t* digit = digits; digit < at; ++digit) whole = whole * 10 + (*digit - '0');
    column.add(JsonColumn::kWhole, static_cast<std::uint64_t>(minus ? -whole : whole));
    return true;
  }
  if (*at == '.') {
    const std::uint8_t* const more = at + 1;
    at = past_digits(more);
    if (at == more) return false;
  }
  if ((*at | 0x20) == 'e') {
    ++at;
    if (*at == '+' || *at == '-') ++at;
    const std::uint8_t* const more = at;
    at = past_digits(more);
    if (at == more) return false;
  }
  double found = 0;
  const auto* last = reinterpret_cast<const char*>(at);
  const auto read = std::from_chars(reinterpret_cast<const char*>(begin), last, found);
  if (read.ec != std::errc{} || read.ptr != last) return false;
  column.add(JsonColumn::kDecimal, std::bit_cast<std::uint64_t>(found));
  return true;
}

bool JsonRecords::value(const std::uint8_t*& at, const std::uint8_t* end, JsonColumn& column) {
  switch (*at) {
    case '"': {
      Found found;
      if (!text(at, end, found)) return false;
      column.add_text(found.text, found.room);
      return true;
    }
    case 't':
      if (!is_word(at, "true")) return false;
      column.add(JsonColumn::kTruth, 1);
      return true;
    case 'f':
      if (!is_word(at, "false")) return false;
      column.add(JsonColumn::kTruth, 0);
      return true;
    case 'n':
      if (!is_word(at, "null")) return false;
      column.add(JsonColumn::kNull, 0);
      return true;
    case '[': case '{': {
      const std::uint8_t* const begin = at;
      if (!nested(at, end)) return false;
      column.add_nested({begin, static_cast<std::uint32_t>(at - begin)});
      return true;
    }
    default: return number(at, column);
  }
}

JsonColumn* JsonRecords::column(Text key, std::size_t place) {
  const std::string_view name(reinterpret_cast<const char*>(key.at), key.length);
  JsonColumn* found;
  if (const auto known = by_key_.find(name); known != by_key_.end()) {
    found = known->second;
  } else {
    if (columns_.size() == most_columns_) return nullptr;
    found = &columns_.emplace_back(name);
    by_key_.emplace(name, found);
  }
  order_.resize(place);  // a record has its places one after the other
  order_.push_back(found);
  return found;
}

bool JsonRecords::object(const std::uint8_t*& at, const std::uint8_t* end, std::size_t row) {
  if (*at != '{') return false;
  at = past_blanks(at + 1);
  bool more = *at != '}';
  for (std::size_t place = 0; more; ++place) {
    JsonColumn* found = place < order_.size() ? order_[place] : nullptr;
    if (found == nullptr || !is_key(at, end, *found)) {
      Found key;
      if (!text(at, end, key)) return false;
      found = column(key.text, place);
    }
    if (found == nullptr || found->types.size() > row) return false;  // too many, or twice
    if (found->types.empty()) ++seen_;
    if (found->types.size() < row) found->pass(row);
    at = past_blanks(at);
    if (*at != ':') return false;
    at = past_blanks(at + 1);
    if (!value(at, end, *found)) return false;
    at = past_blanks(at);
    more = *at == ',';
    if (more) at = past_blanks(at + 1);
  }
  if (*at != '}') return false;
  ++at;
  return true;
}

bool JsonRecords::line(const std::uint8_t*& at, const std::uint8_t* end, std::size_t row,
                       bool& blank) {
  at = past_blanks(at);
  blank = *at == '\n';
  if (!blank && !object(at, end, row)) return false;
  at = past_blanks(at);
  return *at++ == '\n';
}

JsonRecords::Block JsonRecords::read(const std::uint8_t* bytes, std::size_t size,
                                     std::size_t most_objects) {
  Block block;
  for (JsonColumn& column : columns_) column.clear();
  escaped_.clear();
  seen_ = 0;
  const std::uint8_t *at = bytes, *const end = bytes + size;
  while (at < end && block.objects < most_objects && block.objects * seen_ < kCells) {
    bool blank = false;
    block.plain = line(at, end, block.objects, blank);
    if (!block.plain) break;
    block.objects += !blank;
    block.used = static_cast<std::size_t>(at - bytes);
  }
  block.lines = static_cast<std::size_t>(std::count(bytes, bytes + block.used, '\n'));
  for (JsonColumn& column : columns_)
    if (!column.types.empty()) column.pass(block.objects);
  return block;
}

std::vector<const JsonColumn*> JsonRecords::columns() const {
  std::vector<const JsonColumn*> found;
  for (const JsonColumn& column : columns_)
    if (!column.types.empty()) found.push_back(&column);
  return found;
}

}  // namespace credo
