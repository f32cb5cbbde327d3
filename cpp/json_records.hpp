// Lines that hold one JSON object each, as columns.
//
// Only what is plain is read here: values that are texts, numbers that 64 bits hold, true, false or
// null, one type to a column (whole numbers among decimals are decimals), no key twice. A list or an
// object within is kept as it is written, for another parser. At anything else reading stops, and a
// careful parser takes the block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text_codes.hpp"

namespace credo {

// One column of a block of records; a record without its key has null there.
struct JsonColumn {
  enum Type : std::uint8_t { kTruth = 1, kWhole = 2, kDecimal = 4, kText = 8, kNested = 16 };

  explicit JsonColumn(std::string_view name) : key(name) {}

  std::string key;
  std::uint8_t types = 0;           // of the values met; only kWhole and kDecimal go together
  std::vector<std::uint8_t> there;  // of each record, 0: null
  // Of each record: true or false, a whole number, the bits of a decimal, the code of a text.
  std::vector<std::uint64_t> values;
  TextCodes texts;
  // The texts themselves, instead of codes, in a column where nearly every text is another, and
  // what is nested.
  bool coded = true;
  std::vector<Text> cells;
  bool has_codes() const { return coded && types == kText; }

  void clear();                    // for the next block
  void pass(std::size_t records);  // nulls, until so many records are there
  // One more cell; false where it does not go with those before.
  bool add_truth(bool value);
  bool add_whole(std::int64_t value);
  bool add_decimal(double value);
  bool add_text(Text text, std::size_t room);
  bool add_nested(Text text) { return (types & ~kNested) == 0 && add_cell(text, kNested); }

 private:
  bool add(std::uint64_t value);
  bool add_cell(Text cell, Type type);
};

class JsonRecords {
 public:
  explicit JsonRecords(std::size_t most_columns) : most_columns_(most_columns) {}

  struct Block {
    std::size_t used = 0;     // bytes of the lines read
    std::size_t lines = 0;    // how many, blank ones too
    std::size_t records = 0;  // how many objects
    bool plain = true;        // false: nothing was read, the lines are for another parser
  };

  // Reads whole lines: the bytes must be UTF-8 and end with \n. At most so many records are read,
  // fewer where there are many columns.
  Block read(const std::uint8_t* bytes, std::size_t size, std::size_t most_records);

  // Those of which the block has a key, valid until the next call and as long as the bytes are.
  std::vector<const JsonColumn*> columns() const;

 private:
  bool record(const std::uint8_t*& at, const std::uint8_t* end, std::size_t row);
  bool value(const std::uint8_t*& at, const std::uint8_t* end, JsonColumn& column);
  struct Found {
    Text text;
    std::size_t room;  // bytes that may be read from where it begins
  };
  bool text(const std::uint8_t*& at, const std::uint8_t* end, Found& found);
  bool unescape(const std::uint8_t* begin, const std::uint8_t*& at, const std::uint8_t* end,
                Found& found);
  JsonColumn* column(Text key, std::size_t place);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const {
      return std::hash<std::string_view>{}(key);
    }
  };

  std::size_t most_columns_;
  std::deque<JsonColumn> columns_;
  std::unordered_map<std::string, JsonColumn*, Hash, std::equal_to<>> by_key_;
  std::vector<JsonColumn*> order_;   // by place in the last record: the next is mostly the same
  std::size_t seen_ = 0;             // columns of which the block has a key
  std::deque<std::string> escaped_;  // texts that are not written as they are
};

}  // namespace credo
