// Records of a text file with a delimiter, as columns of codes.
//
// Only what is regular is read here: every record as wide as the first, a quoted cell closed right
// before its delimiter and with quotes inside doubled, lines that end with \n or \r\n, valid UTF-8. At
// anything else reading stops, and a careful parser goes on from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "text_codes.hpp"

namespace credo {

// One column of a block of records: codes and the texts they stand for, or, where nearly every
// text is another, the texts themselves.
struct CsvColumn {
  bool coded = true;
  std::vector<std::int32_t> codes;  // a code for each record, if coded
  TextCodes texts;
  std::vector<Text> cells;  // a text for each record, if not

  // Keeps the texts of the records so far, and those to come, instead of codes.
  void let_codes_go();
};

class CsvMarks;

class CsvRecords {
 public:
  // `wanted` are positions of columns, rising.
  CsvRecords(char delimiter, std::size_t width, std::vector<std::size_t> wanted);

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

 private:
  enum class Found { kWhole, kCut, kIrregular };

  // One record into cells_; cut where more bytes are needed.
  Found record(CsvMarks& marks, const std::uint8_t*& at, const std::uint8_t* end, bool last);
  // A quoted cell, up to the byte after its closing quote.
  Found quoted(std::size_t column, const std::uint8_t*& at, const std::uint8_t* end, bool last);

  struct Cell {
    Text text;
    std::size_t room;  // bytes that may be read from where it begins
  };

  std::uint8_t delimiter_;
  std::size_t width_;
  std::vector<int> column_of_;  // of each position, -1: not wanted
  std::vector<Cell> cells_;     // of one record
  std::vector<CsvColumn> columns_;
  std::deque<std::string> undoubled_;  // cells with quotes inside
};

}  // namespace credo
