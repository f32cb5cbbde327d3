// The door to the records of CSV files.
#include <limits>

#include "bindings/text.hpp"
#include "bindings/text_parts.hpp"

namespace credo::doors {
namespace {

char one_byte(const std::string& text, const char* name) {
  require(text.size() == 1, "The '" + std::string(name) + "' parameter must be one byte.");
  return text[0];
}

std::optional<Spelling> spelling_of(std::optional<std::vector<std::string>> words, char point) {
  require(point == '.' || point == ',', "The 'point' parameter must be '.' or ','.");
  if (!words) return {};
  return Spelling(std::move(*words), point);
}

// The least and the greatest of some numbers, those that are not one aside.
void range_of(const std::vector<double>& values, double* range) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values) {
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  range[0] = low;
  range[1] = high;
}

// Whether one of some numbers is no whole number; those that are written so are.
bool any_fraction(const CsvColumn& column) {
  return column.any_decimal &&
         std::any_of(column.values.begin(), column.values.end(), is_fraction);
}

}  // namespace

CsvReader::CsvReader(const std::string& delimiter, std::size_t width,
                     std::vector<std::size_t> wanted,
                     std::optional<std::vector<std::string>> words, const std::string& point)
    : records_(one_byte(delimiter, "delimiter"), width, std::move(wanted),
               spelling_of(std::move(words), one_byte(point, "point"))) {}

CsvReader::Block CsvReader::read(const AnyArray& bytes, bool last) {
  const std::uint8_t* text = bytes_of(bytes);
  require(bytes.size() <= 0x7fffffff, "The 'bytes' parameter must be of at most 2^31 - 1 bytes.");
  const CsvRecords::Block block = records_.read(text, bytes.size(), last);
  std::vector<std::optional<TextColumnParts>> columns;
  columns.reserve(records_.columns().size());
  for (const CsvColumn& column : records_.columns()) {
    switch (column.kept) {
      case CsvColumn::Kept::kCodes:
        columns.emplace_back(coded_texts(column.codes, column.texts.met()));
        break;
      case CsvColumn::Kept::kFirstTexts:
      case CsvColumn::Kept::kTexts: columns.emplace_back(plain_texts(column.cells)); break;
      case CsvColumn::Kept::kNumbers: columns.emplace_back(); break;
    }
  }
  numbers_ = made();
  return {block.used, block.records, block.regular, std::move(columns)};
}

CsvReader::Numbers CsvReader::numbers() {
  require(numbers_.has_value(), "The numbers of a block can be asked for once, after it was read.");
  Numbers numbers = std::move(*numbers_);
  numbers_.reset();
  return numbers;
}

CsvReader::Numbers CsvReader::made() const {
  std::vector<const CsvColumn*> kept;
  for (const CsvColumn& column : records_.columns())
    if (column.kept == CsvColumn::Kept::kNumbers) kept.push_back(&column);
  const std::size_t k = kept.size(), n = kept.empty() ? 0 : kept[0]->values.size();
  Array<double> values({k, n}, Filled::kLater), ranges({k, 2}, Filled::kLater);
  Array<std::uint8_t> kinds({k, 2}, Filled::kLater);
  Array<std::int64_t> words({k, records_.words()});
  std::vector<std::int64_t> columns, records;
  std::vector<std::uint8_t> what;
  std::vector<Text> texts;
  for (std::size_t i = 0; i < k; ++i) {
    const CsvColumn& column = *kept[i];
    std::copy(column.values.begin(), column.values.end(), values.data() + i * n);
    range_of(column.values, ranges.data() + 2 * i);
    kinds.data()[2 * i] = column.any_decimal;
    kinds.data()[2 * i + 1] = any_fraction(column);
    std::copy(column.words.begin(), column.words.end(), words.data() + i * records_.words());
    for (const CsvColumn::Odd& odd : column.odd) {
      columns.push_back(static_cast<std::int64_t>(i));
      records.push_back(static_cast<std::int64_t>(odd.record));
      what.push_back(static_cast<std::uint8_t>(odd.kind));
      texts.push_back(odd.text);
    }
  }
  Packed packed(texts);
  return {std::move(values), std::move(ranges), std::move(kinds), std::move(words),
          copied(columns), copied(records), copied(what), std::move(packed.offsets),
          std::move(packed.bytes)};
}

void CsvReader::want_texts(const std::vector<std::size_t>& columns) {
  for (const std::size_t column : columns) {
    require(column < records_.columns().size(), "A column is beyond those that are wanted.");
    records_.want_texts(column);
  }
}

}  // namespace credo::doors
