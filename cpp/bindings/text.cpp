#include "bindings/text.hpp"

#include <bit>
#include <cstring>

#include "bindings/text_parts.hpp"
#include "data/join_rows.hpp"
#include "data/text_codes.hpp"
#include "data/text_numbers.hpp"

namespace credo::doors {
namespace {

std::size_t texts_of(const AnyArray& offsets) {
  require(offsets.ndim() == 1 && offsets.size() >= 1 && offsets.size() <= 0x7fffffff &&
              (offsets.is<std::int64_t>() || offsets.is<std::int32_t>()),
          "The 'offsets' parameter must be a 1-D array of int32 or int64, one more than the texts.");
  return offsets.size() - 1;
}

// Calls f with the offsets as a pointer of their own type.
template <class F>
auto with_offsets(const AnyArray& offsets, F&& f) {
  return offsets.is<std::int64_t>() ? f(offsets.data_as<std::int64_t>())
                                    : f(offsets.data_as<std::int32_t>());
}

// A bit for each byte that is not zero, the first in the lowest place.
template <class Values>
Array<std::uint8_t> bits_of(const Values& values) {
  Array<std::uint8_t> bits({(values.size() + 7) / 8});
  for (std::size_t i = 0; i < values.size(); ++i)
    bits.data()[i / 8] |= static_cast<std::uint8_t>((values[i] != 0) << (i % 8));
  return bits;
}

JsonReader::Mixed mixed_of(const JsonColumn& column) {
  std::vector<Text> every = column.texts.met();
  const auto coded = static_cast<std::int64_t>(every.size());
  every.insert(every.end(), column.cells.begin(), column.cells.end());
  Packed texts(every);
  auto values = copied<std::int64_t>(column.values, {column.values.size()});
  for (std::size_t i = 0; i < column.types.size(); ++i)
    if (column.types[i] == JsonColumn::kNested) values.data()[i] += coded;
  return {copied(column.types), std::move(values), std::move(texts.offsets),
          std::move(texts.bytes)};
}

TextColumnParts texts_of(const JsonColumn& column, bool coded) {
  if (coded) return coded_texts(column.values, column.texts.met());
  std::vector<Text> every(column.types.size(), Text{nullptr, 0});
  for (std::size_t i = 0; i < every.size(); ++i)
    if (column.types[i] != JsonColumn::kNull) every[i] = column.cells[column.values[i]];
  return plain_texts(every);
}

JsonReader::Cells cells_of(const JsonColumn& column, std::uint8_t types) {
  switch (types) {
    case JsonColumn::kNull: case JsonColumn::kTruth: return bits_of(column.values);
    case JsonColumn::kWhole: return copied<std::int64_t>(column.values, {column.values.size()});
    case JsonColumn::kDecimal: {
      Array<double> decimals({column.values.size()}, Filled::kLater);
      std::transform(column.values.begin(), column.values.end(), decimals.data(),
                     [](std::uint64_t bits) { return std::bit_cast<double>(bits); });
      return decimals;
    }
    case JsonColumn::kText: return texts_of(column, column.coded);
    case JsonColumn::kNested: return texts_of(column, false);
    default: return mixed_of(column);
  }
}

}  // namespace

std::tuple<Array<std::int32_t>, Array<std::int32_t>> encode_texts(const AnyArray& offsets,
                                                                  const AnyArray& bytes) {
  const std::uint8_t* text = bytes_of(bytes);
  const std::size_t n = texts_of(offsets);
  Array<std::int32_t> codes({n});
  const std::vector<std::int32_t> first = with_offsets(offsets, [&](const auto* at) {
    return credo::encode_texts(at, n, text, bytes.size(), codes.data());
  });
  return {std::move(codes), copied(first)};
}

std::tuple<Array<double>, Array<std::uint8_t>> read_numbers(
    const AnyArray& offsets, const AnyArray& bytes, const std::vector<std::string>& words) {
  const std::uint8_t* text = bytes_of(bytes);
  const std::size_t n = texts_of(offsets);
  Array<double> values({n}, Filled::kLater);
  Array<std::uint8_t> kinds({n}, Filled::kLater);
  with_offsets(offsets, [&](const auto* at) {
    for (std::size_t i = 0; i < n; ++i)
      require(at[i] >= 0 && at[i] <= at[i + 1], "The 'offsets' parameter must not fall.");
    require(static_cast<std::size_t>(at[n]) <= bytes.size(),
            "The 'offsets' parameter must stay within the bytes.");
    credo::read_numbers(at, n, text, bytes.size(), Spelling(words), values.data(),
                        reinterpret_cast<Read*>(kinds.data()));
  });
  return {std::move(values), std::move(kinds)};
}

JsonReader::Block JsonReader::read(const AnyArray& bytes, std::size_t most_objects) {
  const std::uint8_t* text = bytes_of(bytes);
  require(bytes.size() >= 1 && bytes.size() <= 0x7fffffff &&
              text[bytes.size() - 1] == (array_ ? '\0' : '\n'),
          "The 'bytes' parameter must be at most 2^31 - 1 bytes, and end with a line end, or in an "
          "array with a zero.");
  const JsonRecords::Block block = records_.read(text, bytes.size(), most_objects);
  std::vector<Column> columns;
  for (const JsonColumn* column : records_.columns()) {
    const std::uint8_t types = column->all_types();
    std::optional<Array<std::uint8_t>> there;
    if (std::memchr(column->types.data(), JsonColumn::kNull, column->types.size()) != nullptr)
      there = bits_of(column->types);
    columns.emplace_back(column->key, types, std::move(there), cells_of(*column, types));
  }
  return {block.used, block.lines, block.objects, block.plain, std::move(columns)};
}

Bytes join_rows(const std::vector<AnyVector>& codes,
                const std::vector<View<const std::uint8_t, 1>>& texts,
                const std::vector<Ints>& ends) {
  require(codes.size() == texts.size() && codes.size() == ends.size(),
          "The 'codes', 'texts' and 'ends' parameters must have the same length.");
  const std::size_t rows = codes.empty() ? 0 : codes[0].shape(0);
  std::vector<TextColumn> columns;
  for (std::size_t c = 0; c < codes.size(); ++c) {
    require(codes[c].shape(0) == rows, "All columns must have the same number of rows.");
    const std::size_t n = ends[c].shape(0);
    require(n >= 1 && ends[c].data()[0] >= 0, "The ends of texts must begin at 0 or later.");
    for (std::size_t i = 1; i < n; ++i)
      require(ends[c].data()[i] >= ends[c].data()[i - 1], "The ends of texts must not fall.");
    require(static_cast<std::size_t>(ends[c].data()[n - 1]) + kTextSlack <= texts[c].shape(0),
            "The texts must be followed by " + std::to_string(kTextSlack) + " more bytes.");
    const std::uint8_t width = code_bytes(codes[c]);
    require(width > 0, "Codes must be a 1-D array of uint8, uint16 or uint32.");
    columns.push_back({codes[c].data(), width, texts[c].data(), ends[c].data(), n - 1});
  }
  const std::size_t bytes = joined_size(columns, 0, rows);
  Bytes text{std::vector<std::uint8_t>(bytes + kTextSlack)};
  credo::join_rows(columns, 0, rows, text.data.data());
  text.data.resize(bytes);
  return text;
}

}  // namespace credo::doors
