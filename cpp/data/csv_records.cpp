#include "data/csv_records.hpp"

#include <stdexcept>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace credo {

// Where the delimiters, line ends and quotes are, found for 64 bytes at a time.
class CsvMarks {
 public:
  CsvMarks(const std::uint8_t* begin, const std::uint8_t* end, std::uint8_t delimiter)
      : chunk_(begin), end_(end), delimiter_(delimiter) {
    load();
  }

  // The first mark from `at` on, or the end. `at` must not go back.
  const std::uint8_t* next(const std::uint8_t* at) {
    if (at - chunk_ >= 64) {
      chunk_ += (at - chunk_) / 64 * 64;
      load();
    }
    std::uint64_t bits = bits_ & (~std::uint64_t{0} << (at - chunk_));
    while (bits == 0) {
      if (end_ - chunk_ <= 64) return end_;
      chunk_ += 64;
      load();
      bits = bits_;
    }
    return chunk_ + std::countr_zero(bits);
  }

 private:
  void load() {
    bits_ = 0;
#if defined(__SSE2__)
    if (end_ - chunk_ >= 64) {
      const __m128i comma = _mm_set1_epi8(static_cast<char>(delimiter_));
      const __m128i line = _mm_set1_epi8('\n'), back = _mm_set1_epi8('\r');
      const __m128i quote = _mm_set1_epi8('"');
      for (int k = 0; k < 4; ++k) {
        const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(chunk_) + k);
        const __m128i hit =
            _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(text, comma), _mm_cmpeq_epi8(text, line)),
                         _mm_or_si128(_mm_cmpeq_epi8(text, back), _mm_cmpeq_epi8(text, quote)));
        const auto bits = static_cast<std::uint32_t>(_mm_movemask_epi8(hit));
        bits_ |= static_cast<std::uint64_t>(bits) << (16 * k);
      }
      return;
    }
#endif
    for (int k = 0; k < 64 && chunk_ + k < end_; ++k) {
      const std::uint8_t byte = chunk_[k];
      const bool hit = byte == delimiter_ || byte == '\n' || byte == '\r' || byte == '"';
      bits_ |= static_cast<std::uint64_t>(hit) << k;
    }
  }

  const std::uint8_t* chunk_;
  const std::uint8_t* end_;
  std::uint8_t delimiter_;
  std::uint64_t bits_ = 0;
};

namespace {

// Whether the bytes are UTF-8: no overlong form, no surrogate, nothing above U+10FFFF, none cut.
bool is_utf8(const std::uint8_t* at, const std::uint8_t* end) {
  while (at < end) {
    if (end - at >= 8) {
      std::uint64_t word;
      std::memcpy(&word, at, 8);
      if ((word & 0x8080808080808080) == 0) {
        at += 8;
        continue;
      }
    }
    const std::uint8_t lead = *at;
    if (lead < 0x80) {
      ++at;
      continue;
    }
    const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4 || end - at <= more) return false;
    for (int k = 1; k <= more; ++k)
      if ((at[k] & 0xC0) != 0x80) return false;
    const std::uint8_t next = at[1];
    if ((lead == 0xE0 && next < 0xA0) || (lead == 0xED && next > 0x9F) ||
        (lead == 0xF0 && next < 0x90) || (lead == 0xF4 && next > 0x8F))
      return false;
    at += more + 1;
  }
  return true;
}

}  // namespace

CsvRecords::CsvRecords(char delimiter, std::size_t width, std::vector<std::size_t> wanted,
                       std::optional<Spelling> spelling)
    : delimiter_(static_cast<std::uint8_t>(delimiter)),
      width_(width),
      wanted_(std::move(wanted)),
      spelling_(std::move(spelling)),
      cells_(width),
      columns_(wanted_.size()) {
  for (std::size_t i = 0; i < wanted_.size(); ++i)
    if (wanted_[i] >= width || (i > 0 && wanted_[i] <= wanted_[i - 1]))
      throw std::invalid_argument("The wanted columns must rise and be below the width.");
  if (!spelling_)
    for (CsvColumn& column : columns_) column.never_numbers = true;
}

CsvRecords::Found CsvRecords::quoted(std::size_t column, const std::uint8_t*& at,
                                     const std::uint8_t* end, bool last) {
  const std::uint8_t* const begin = at + 1;
  const std::uint8_t* from = begin;
  std::string* undoubled = nullptr;
  while (true) {
    const auto* quote = static_cast<const std::uint8_t*>(
        std::memchr(from, '"', static_cast<std::size_t>(end - from)));
    if (quote == nullptr) return last ? Found::kIrregular : Found::kCut;
    if (quote + 1 == end && !last) return Found::kCut;
    if (undoubled != nullptr) undoubled->append(from, quote);
    if (quote + 1 < end && quote[1] == '"') {
      if (undoubled == nullptr) undoubled = &undoubled_.emplace_back(from, quote);
      undoubled->push_back('"');
      from = quote + 2;
      continue;
    }
    at = quote + 1;
    if (undoubled == nullptr)
      cells_[column] = {{begin, static_cast<std::uint32_t>(quote - begin)},
                        static_cast<std::size_t>(end - begin)};
    else
      cells_[column] = {{reinterpret_cast<const std::uint8_t*>(undoubled->data()),
                         static_cast<std::uint32_t>(undoubled->size())},
                        undoubled->size()};
    return Found::kWhole;
  }
}

CsvRecords::Found CsvRecords::record(CsvMarks& marks, const std::uint8_t*& at,
                                     const std::uint8_t* end, bool last) {
  for (std::size_t column = 0;; ++column) {
    if (column == width_) return Found::kIrregular;
    const std::uint8_t* mark;
    if (at < end && *at == '"') {
      mark = at;
      const Found found = quoted(column, mark, end, last);
      if (found != Found::kWhole) return found;
    } else {
      mark = marks.next(at);
      cells_[column] = {{at, static_cast<std::uint32_t>(mark - at)},
                        static_cast<std::size_t>(end - at)};
    }
    if (mark == end) {
      if (!last) return Found::kCut;
      at = end;
    } else if (*mark == delimiter_) {
      at = mark + 1;
      continue;
    } else if (*mark == '\n') {
      at = mark + 1;
    } else if (*mark == '\r' && mark + 1 == end && !last) {
      return Found::kCut;
    } else if (*mark == '\r' && mark + 1 < end && mark[1] == '\n') {
      at = mark + 2;
    } else {
      // a quote inside a cell, something after a closed one, or a line that ends with \r alone
      return Found::kIrregular;
    }
    return column + 1 == width_ ? Found::kWhole : Found::kIrregular;
  }
}

namespace {

// After so many records of a block it is asked whether codes are worth their while: numbers with
// many digits are all different at once, names of many states only seem so for a while.
constexpr std::size_t kFirst = 64, kSoon = 512, kLater = 8192;
constexpr std::size_t kTogether = 32;  // records whose numbers go to their columns at once

bool all_differ(const CsvColumn& column) {
  const std::size_t rows = column.codes.size(), different = column.texts.met().size();
  return different > (rows == kSoon ? rows - 3 : rows - rows / 16);
}

}  // namespace

void CsvRecords::arrange() {
  numbers_.clear();
  others_.clear();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    auto& places = columns_[i].kept == CsvColumn::Kept::kNumbers ? numbers_ : others_;
    places.push_back({static_cast<std::uint32_t>(wanted_[i]), static_cast<std::uint32_t>(i)});
  }
  waiting_.resize(kTogether * numbers_.size());
}

void CsvRecords::take(std::size_t record) {
  for (const Place& place : others_) {
    CsvColumn& column = columns_[place.column];
    const CsvCell& cell = cells_[place.position];
    if (column.kept == CsvColumn::Kept::kCodes)
      column.codes.push_back(column.texts.code(cell.text, cell.room));
    else
      column.cells.push_back(cell.text);
  }
  if (numbers_.empty()) return;
  double* value = waiting_.data() + waits_ * numbers_.size();
  for (const Place& place : numbers_)
    *value++ = columns_[place.column].number(cells_[place.position], record, *spelling_);
  if (++waits_ == kTogether) flush();
}

void CsvRecords::flush() {
  for (std::size_t i = 0; waits_ > 0 && i < numbers_.size(); ++i) {
    std::vector<double>& values = columns_[numbers_[i].column].values;
    for (std::size_t record = 0; record < waits_; ++record)
      values.push_back(waiting_[record * numbers_.size() + i]);
  }
  waits_ = 0;
}

void CsvRecords::look_again(std::size_t records) {
  flush();
  for (CsvColumn& column : columns_) {
    const bool first = column.kept == CsvColumn::Kept::kFirstTexts;
    if (!first && column.kept != CsvColumn::Kept::kCodes) continue;
    const bool many = first || column.texts.met().size() > records / 4;
    if (many && spelling_ && column.becomes_numbers(*spelling_)) continue;
    if (first)
      column.becomes_codes();
    else if (records != kFirst && all_differ(column))
      column.becomes_texts();
  }
  arrange();
}

CsvRecords::Block CsvRecords::read(const std::uint8_t* bytes, std::size_t size, bool last) {
  Block block;
  const std::uint8_t *at = bytes, *const end = bytes + size;
  for (CsvColumn& column : columns_) column.next_block();
  arrange();
  undoubled_.clear();
  CsvMarks marks(bytes, end, delimiter_);
  while (at < end) {
    const std::uint8_t* const begin = at;
    if (width_ > 1 && (*at == '\n' || (*at == '\r' && at + 1 < end && at[1] == '\n'))) {
      at += *at == '\n' ? 1 : 2;  // an empty line is no record
      block.used = static_cast<std::size_t>(at - bytes);
      continue;
    }
    const Found found = record(marks, at, end, last);
    if (found == Found::kCut) break;
    if (found == Found::kIrregular || !is_utf8(begin, at)) {
      block.regular = false;
      break;
    }
    take(block.records++);
    block.used = static_cast<std::size_t>(at - bytes);
    if (block.records == kFirst || block.records == kSoon || block.records == kLater) {
      look_again(block.records);
      const std::size_t all = size / (block.used / block.records) + kTogether;
      for (const Place& place : numbers_) columns_[place.column].values.reserve(all);
    }
  }
  flush();
  for (CsvColumn& column : columns_) {
    if (column.kept != CsvColumn::Kept::kFirstTexts) continue;
    if (!spelling_ || !column.becomes_numbers(*spelling_, true)) column.becomes_codes();
  }
  return block;
}

}  // namespace credo
