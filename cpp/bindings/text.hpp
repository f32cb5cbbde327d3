// The door to columns of texts: their codes, the records of CSV and JSON files, and rows as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/record.hpp"
#include "data/csv_records.hpp"
#include "data/json_records.hpp"

namespace credo::doors {

// IN offsets of int32 or int64, one more than the texts. A code for each text, numbered as first
// met, and the row in which each is first met.
std::tuple<Array<std::int32_t>, Array<std::int32_t>> encode_texts(const AnyArray& offsets,
                                                                  const AnyArray& bytes);

// IN texts as above, words that stand for missing. The numbers they are (0 for the others), what each
// text is (credo::Read).
std::tuple<Array<double>, Array<std::uint8_t>> read_numbers(
    const AnyArray& offsets, const AnyArray& bytes, const std::vector<std::string>& words);

// A column: codes (small where few texts are different) and the texts they stand for (offsets and
// bytes), or no codes and a text for each record.
using TextColumnParts =
    std::tuple<std::variant<std::monostate, Array<std::int8_t>, Array<std::int32_t>>,
               Array<std::int32_t>, Array<std::uint8_t>>;

class CsvReader {
 public:
  // With words for missing, columns of many different numbers are given as numbers; `point` is what
  // decimals have, a point or a comma.
  CsvReader(const std::string& delimiter, std::size_t width, std::vector<std::size_t> wanted,
            std::optional<std::vector<std::string>> words, const std::string& point);

  // Bytes of whole records, their number, whether what follows is regular, the columns (nothing for
  // those that are numbers).
  using Block =
      std::tuple<std::size_t, std::size_t, bool, std::vector<std::optional<TextColumnParts>>>;
  Block read(const AnyArray& bytes, bool last);

  // The columns of that block that are numbers, a row of each array for a column: the numbers (NaN
  // where a cell is none), the least and the greatest, whether one is written with a point and
  // whether one is no whole number, how many cells are each word. Then what is neither a number nor a
  // word: its column, its record, what it is (credo::Read), and the texts.
  using Numbers = std::tuple<Array<double>, Array<double>, Array<std::uint8_t>, Array<std::int64_t>,
                             Array<std::int64_t>, Array<std::int64_t>, Array<std::uint8_t>,
                             Array<std::int32_t>, Array<std::uint8_t>>;
  Numbers numbers();

  // From the next block on, these columns are given as texts.
  void want_texts(const std::vector<std::size_t>& columns);

 private:
  Numbers made() const;

  CsvRecords records_;
  std::optional<Numbers> numbers_;  // they are made while the bytes are there
};

class JsonReader {
 public:
  JsonReader(std::size_t most_columns, bool array, bool began)
      : records_(most_columns, array, began), array_(array) {}

  // Values of several types: the type of each (of JsonColumn; 0: null), and a number (bits of a
  // decimal) or a place among the texts, which are those of values and of what is nested.
  using Mixed = std::tuple<Array<std::uint8_t>, Array<std::int64_t>, Array<std::int32_t>,
                           Array<std::uint8_t>>;
  // Values of one type: bits, whole numbers, decimals or texts, as Arrow has them.
  using Cells = std::variant<Array<std::uint8_t>, Array<std::int64_t>, Array<double>,
                             TextColumnParts, Mixed>;
  // Key, types that are there, bits of the objects that are not null (nothing: all), and the cells.
  using Column = std::tuple<std::string, int, std::optional<Array<std::uint8_t>>, Cells>;
  // Bytes read, line ends among them, objects, whether what follows is plain, the columns.
  using Block =
      std::tuple<std::size_t, std::size_t, std::size_t, bool, std::vector<Column>>;
  Block read(const AnyArray& bytes, std::size_t most_objects);

 private:
  JsonRecords records_;
  bool array_;
};

// Each code of each column has its text; a row is the texts of its cells end to end.
Bytes join_rows(const std::vector<AnyVector>& codes,
                const std::vector<View<const std::uint8_t, 1>>& texts,
                const std::vector<Ints>& ends);

}  // namespace credo::doors
