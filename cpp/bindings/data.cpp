// Columns of texts: their codes, the records of JSON files, and rows as text.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "bindings/module.hpp"
#include "data/join_rows.hpp"
#include "data/json_records.hpp"
#include "data/text_codes.hpp"
#include "data/text_numbers.hpp"

namespace credo::bindings {
namespace {

// A column: codes (small where few texts are different) and the texts they stand for (offsets and
// bytes), or no codes and a text for each record.
using TextColumnParts =
    std::tuple<std::variant<std::monostate, Array<std::int8_t>, Array<std::int32_t>>,
               Array<std::int32_t>, Array<std::uint8_t>>;

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

std::size_t texts_of(const AnyArray& offsets) {
  require(
      offsets.ndim() == 1 && offsets.size() >= 1 && offsets.size() <= 0x7fffffff &&
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

// Values of several types: the type of each (of JsonColumn; 0: null), and a number (bits of a
// decimal) or a place among the texts, which are those of values and of what is nested.
using MixedCells =
    std::tuple<Array<std::uint8_t>, Array<std::int64_t>, Array<std::int32_t>, Array<std::uint8_t>>;
// Values of one type: bits, whole numbers, decimals or texts, as Arrow has them.
using JsonCells = std::variant<Array<std::uint8_t>, Array<std::int64_t>, Array<double>,
                               TextColumnParts, MixedCells>;

MixedCells mixed_of(const JsonColumn& column) {
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

JsonCells cells_of(const JsonColumn& column, std::uint8_t types) {
  switch (types) {
    case JsonColumn::kNull:
    case JsonColumn::kTruth: return bits_of(column.values);
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

// IN offsets of int32 or int64, one more than the texts. A code for each text, numbered as first
// met, and the row in which each is first met.
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

// IN texts as above, words that stand for missing. The numbers they are (0 for the others), what
// each text is (credo::Read).
std::tuple<Array<double>, Array<std::uint8_t>> read_numbers(const AnyArray& offsets,
                                                            const AnyArray& bytes,
                                                            const std::vector<std::string>& words) {
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

// Each code of each column has its text; a row is the texts of its cells end to end.
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

class JsonReader {
 public:
  explicit JsonReader(std::size_t most_columns) : records_(most_columns) {}

  // Key, types that are there, bits of the objects that are not null (nothing: all), and the cells.
  using Column = std::tuple<std::string, int, std::optional<Array<std::uint8_t>>, JsonCells>;
  // Bytes read, line ends among them, objects, whether what follows is plain, the columns.
  using Block = std::tuple<std::size_t, std::size_t, std::size_t, bool, std::vector<Column>>;
  JsonReader::Block read(const AnyArray& bytes, std::size_t most_objects) {
    const std::uint8_t* text = bytes_of(bytes);
    require(
        bytes.size() >= 1 && bytes.size() <= 0x7fffffff &&
            text[bytes.size() - 1] == '\n',
        "The 'bytes' parameter must be at most 2^31 - 1 bytes, and end with a line end.");
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

 private:
  JsonRecords records_;
};

}  // namespace

void bind_texts(nb::module_& m) {
  m.def("encode_texts", bound(&encode_texts), "offsets"_a, "bytes"_a);
  m.def("read_numbers", bound(&read_numbers), "offsets"_a, "bytes"_a, "words"_a);
  m.def("join_rows", bound(&join_rows), "codes"_a, "texts"_a, "ends"_a);
  nb::class_<JsonReader>(m, "JsonRecords")
      .def(nb::init<std::size_t>(), "most_columns"_a)
      .def("read", bound(&JsonReader::read), "bytes"_a, "most_objects"_a);
}

}  // namespace credo::bindings
