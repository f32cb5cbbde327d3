#include "json_records.hpp"

#include <bit>
#include <charconv>
#include <cstring>
#include <system_error>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace credo {
namespace {

constexpr std::size_t kFewTexts = 256;                    // so many are never too many to code
constexpr std::size_t kCells = std::size_t{1} << 22;      // of a block, about
constexpr std::uint64_t kExact = std::uint64_t{1} << 53;  // whole numbers that a decimal can be

// All of these stop at a line's end, which no value can hold: the bytes end with one.

const std::uint8_t* past_blanks(const std::uint8_t* at) {
  while (*at == ' ' || *at == '\t' || *at == '\r') ++at;
  return at;
}

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

// Past the bracket that closes the one at `at`; null where there is none in the line. Which kind of
// bracket closes which is not looked at.
const std::uint8_t* past_nested(const std::uint8_t* at, const std::uint8_t* end) {
  for (std::size_t open = 0;; ++at) {
    switch (*at) {
      case '[': case '{': ++open; break;
      case ']': case '}':
        if (--open == 0) return at + 1;
        break;
      case '"':
        for (at = past_plain(at + 1, end); *at == '\\'; at = past_plain(at + 2, end))
          if (at[1] == '\n') return nullptr;
        if (*at != '"') return nullptr;
        break;
      case '\n': return nullptr;
      default: break;
    }
  }
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

void JsonColumn::clear() {
  // nearly every text was another one: they are not worth coding from now on
  if (coded && texts.met().size() > kFewTexts && texts.met().size() * 4 > there.size())
    coded = false;
  types = 0;
  there.clear();
  values.clear();
  texts.clear();
  cells.clear();
}

void JsonColumn::pass(std::size_t records) {
  there.resize(records, 0);
  if (types == kNested || (types == kText && !coded))
    cells.resize(records, Text{nullptr, 0});
  else
    values.resize(records, 0);
}

bool JsonColumn::add(std::uint64_t value) {
  there.push_back(1);
  values.push_back(value);
  return true;
}

bool JsonColumn::add_truth(bool value) {
  if ((types & ~kTruth) != 0) return false;
  types = kTruth;
  return add(value);
}

bool JsonColumn::add_whole(std::int64_t value) {
  if ((types & ~(kWhole | kDecimal)) != 0) return false;
  if ((types & kDecimal) != 0) {
    if (static_cast<std::uint64_t>(value < 0 ? -value : value) > kExact) return false;
    types |= kWhole;
    return add(std::bit_cast<std::uint64_t>(static_cast<double>(value)));
  }
  types = kWhole;
  return add(static_cast<std::uint64_t>(value));
}

bool JsonColumn::add_decimal(double value) {
  if ((types & ~(kWhole | kDecimal)) != 0) return false;
  if (types == kWhole) {  // they are decimals from now on
    for (std::uint64_t& cell : values) {
      const auto whole = static_cast<std::int64_t>(cell);
      if (static_cast<std::uint64_t>(whole < 0 ? -whole : whole) > kExact) return false;
      cell = std::bit_cast<std::uint64_t>(static_cast<double>(whole));
    }
  }
  types |= kDecimal;
  return add(std::bit_cast<std::uint64_t>(value));
}

bool JsonColumn::add_text(Text text, std::size_t room) {
  if ((types & ~kText) != 0) return false;
  if (coded) {
    types = kText;
    return add(static_cast<std::uint64_t>(texts.code(text, room)));
  }
  return add_cell(text, kText);
}

bool JsonColumn::add_cell(Text cell, Type type) {
  if (types == 0) {
    types = type;
    pass(there.size());
  }
  there.push_back(1);
  cells.push_back(cell);
  return true;
}

// ---------------------------------------------------------------- records

bool JsonRecords::unescape(const std::uint8_t* begin, const std::uint8_t*& at,
                           const std::uint8_t* end, Found& found) {
  std::string& made = escaped_.emplace_back(begin, at);
  while (*at == '\\') {
    const std::uint8_t sign = at[1];
    at += 2;
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
      default: return false;  // a line's end too
    }
    const std::uint8_t* const stop = past_plain(at, end);
    made.append(at, stop);
    at = stop;
  }
  if (*at++ != '"') return false;
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

bool JsonRecords::value(const std::uint8_t*& at, const std::uint8_t* end, JsonColumn& column) {
  switch (*at) {
    case '"': {
      Found found;
      return text(at, end, found) && column.add_text(found.text, found.room);
    }
    case 't': return is_word(at, "true") && column.add_truth(true);
    case 'f': return is_word(at, "false") && column.add_truth(false);
    case 'n':
      if (!is_word(at, "null")) return false;
      column.pass(column.there.size() + 1);
      return true;
    case '[': case '{': {
      const std::uint8_t* const begin = at;
      at = past_nested(at, end);
      return at != nullptr &&
             column.add_nested({begin, static_cast<std::uint32_t>(at - begin)});
    }
    default: break;
  }
  const std::uint8_t* const begin = at;
  const bool minus = *at == '-';
  const std::uint8_t* const digits = at + minus;
  at = past_digits(digits);
  if (at == digits || (*digits == '0' && at - digits > 1)) return false;
  if (*at != '.' && (*at | 0x20) != 'e') {
    if (at - digits > 18) return false;  // perhaps beyond 64 bits
    std::int64_t whole = 0;
    for (const std::uint8_t* digit = digits; digit < at; ++digit) whole = whole * 10 + (*digit - '0');
    return column.add_whole(minus ? -whole : whole);
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
  double number = 0;
  const auto* last = reinterpret_cast<const char*>(at);
  const auto read = std::from_chars(reinterpret_cast<const char*>(begin), last, number);
  return read.ec == std::errc{} && read.ptr == last && column.add_decimal(number);
}

JsonColumn* JsonRecords::column(Text key, std::size_t place) {
  const std::string_view name(reinterpret_cast<const char*>(key.at), key.length);
  if (place < order_.size() && order_[place]->key == name) return order_[place];
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

bool JsonRecords::record(const std::uint8_t*& at, const std::uint8_t* end, std::size_t row) {
  if (*at != '{') return false;
  at = past_blanks(at + 1);
  bool more = *at != '}';
  for (std::size_t place = 0; more; ++place) {
    Found key;
    if (!text(at, end, key)) return false;
    JsonColumn* const found = column(key.text, place);
    if (found == nullptr || found->there.size() > row) return false;  // too many, or twice
    if (found->there.empty()) ++seen_;
    found->pass(row);
    at = past_blanks(at);
    if (*at != ':') return false;
    at = past_blanks(at + 1);
    if (!value(at, end, *found)) return false;
    at = past_blanks(at);
    more = *at == ',';
    if (more) at = past_blanks(at + 1);
  }
  if (*at != '}') return false;
  at = past_blanks(at + 1);
  return *at++ == '\n';
}

JsonRecords::Block JsonRecords::read(const std::uint8_t* bytes, std::size_t size,
                                     std::size_t most_records) {
  Block block;
  for (JsonColumn& column : columns_)
    if (!column.there.empty()) column.clear();
  escaped_.clear();
  seen_ = 0;
  const std::uint8_t *at = bytes, *const end = bytes + size;
  while (at < end && block.records < most_records && block.records * seen_ < kCells) {
    at = past_blanks(at);
    if (*at == '\n') {
      ++at;
    } else if (record(at, end, block.records)) {
      ++block.records;
    } else {
      block = Block{};
      block.plain = false;
      return block;
    }
    ++block.lines;
  }
  block.used = static_cast<std::size_t>(at - bytes);
  for (JsonColumn& column : columns_)
    if (!column.there.empty()) column.pass(block.records);
  return block;
}

std::vector<const JsonColumn*> JsonRecords::columns() const {
  std::vector<const JsonColumn*> found;
  for (const JsonColumn& column : columns_)
    if (!column.there.empty()) found.push_back(&column);
  return found;
}

}  // namespace credo
