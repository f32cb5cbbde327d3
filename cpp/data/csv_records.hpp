// Records of a text file with a delimiter, as columns of codes or numbers.
//
// Only what is regular is read here: every record as wide as the first, a quoted cell closed right
// before its delimiter and with quotes inside doubled, lines that end with \n or \r\n, valid UTF-8. At
// anything else reading stops, and a careful parser goes on from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "data/csv_column.hpp"
#include "data/text_codes.hpp"

namespace credo {

class CsvMarks;

class CsvRecords {
 public:
  // `wanted` are positions of columns, rising. Where it is told how numbers are spelled, columns of
  // many different ones are kept as numbers.
  CsvRecords(char delimiter, std::size_t width, std::vector<std::size_t> wanted,
             std::optional<Spelling> spelling = {});

  struct Block {
    std::size_t used = 0;     // bytes of whole records
    std::size_t records = 0;  // how many
    bool regular = true;      // false: what follows the bytes used is for another parser
  };

  // Reads the whole records of some bytes; `last` says that no more will come, so that a record
  // may end with the bytes. The columns are those of these records, valid until the next call and
  // as long as the bytes are.
  Block read(const std::uint8_t* bytes, std::size_t size, bool last);

  const std::vector<CsvColumn>& columns() const { return columns_; }
  std::size_t words() const { return spelling_ ? spelling_->size() : 0; }

  // From the next block on, a column is kept as texts, whatever they are.
  void want_texts(std::size_t column) { columns_.at(column).never_numbers = true; }

 private:
  enum class Found { kWhole, kCut, kIrregular };

  // One record into cells_; cut where more bytes are needed.
  Found record(CsvMarks& marks, const std::uint8_t*& at, const std::uint8_t* end, bool last);
  // A quoted cell, up to the byte after its closing quote.
  Found quoted(std::size_t column, const std::uint8_t*& at, const std::uint8_t* end, bool last);

  // Which columns are numbers, as they are kept now.
  void arrange();
  // Takes the cells of the record that has just been found.
  void take(std::size_t record);
  // The numbers that wait, each to its column.
  void flush();
  // Changes how columns are kept, if what they hold so far says so.
  void look_again(std::size_t records);

  struct Place {
    std::uint32_t position, column;
  };

  std::uint8_t delimiter_;
  std::size_t width_;
  std::vector<std::size_t> wanted_;
  std::optional<Spelling> spelling_;
  std::vector<CsvCell> cells_;  // of one record
  std::vector<CsvColumn> columns_;
  std::vector<Place> numbers_, others_;
  std::vector<double> waiting_;  // numbers of a few records, side by side as in the file
  std::size_t waits_ = 0;        // how many records
  std::deque<std::string> undoubled_;  // cells with quotes inside
};

}  // namespace credo
