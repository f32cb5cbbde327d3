// The door to columns of texts: their codes, the records of CSV and JSON files, and rows as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "csv_records.hpp"
#include "door_arrays.hpp"
#include "door_record.hpp"
#include "json_records.hpp"

namespace credo::doors {

// IN offsets of int32 or int64, one more than the texts. A code for each text, numbered as first
// met, and the row in which each is first met.
std::tuple<Array<std::int32_t>, Array<std::int32_t>> encode_texts(const AnyArray& offsets,
                                                                  const AnyArray& bytes);

// A column: codes and the texts they stand for (offsets and bytes), or no codes and a text for each
// record.
using TextColumnParts =
    std::tuple<std::optional<Array<std::int32_t>>, Array<std::int32_t>, Array<std::uint8_t>>;

class CsvReader {
 public:
  CsvReader(const std::string& delimiter, std::size_t width, std::vector<std::size_t> wanted);

  // Bytes of whole records, their number, whether what follows is regular, the columns.
  using Block = std::tuple<std::size_t, std::size_t, bool, std::vector<TextColumnParts>>;
  Block read(const AnyArray& bytes, bool last);

 private:
  CsvRecords records_;
};

class JsonReader {
 public:
  explicit JsonReader(std::size_t most_columns) : records_(most_columns) {}

  // Bits, whole numbers, decimals or texts.
  using Cells = std::variant<Array<std::uint8_t>, Array<std::int64_t>, Array<double>,
                             TextColumnParts>;
  // Key, types (of JsonColumn), a bit for each record that is not null, and the cells: Arrow's
  // buffers all.
  using Column = std::tuple<std::string, int, Array<std::uint8_t>, Cells>;
  // Bytes and number of the lines read, objects, the columns; nothing where lines are not plain.
  using Block = std::tuple<std::size_t, std::size_t, std::size_t, std::vector<Column>>;
  std::optional<Block> read(const AnyArray& bytes, std::size_t most_records);

 private:
  JsonRecords records_;
};

// Each code of each column has its text; a row is the texts of its cells end to end.
Bytes join_rows(const std::vector<AnyVector>& codes,
                const std::vector<View<const std::uint8_t, 1>>& texts,
                const std::vector<Ints>& ends);

}  // namespace credo::doors
