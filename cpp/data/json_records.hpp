// Objects of a JSON file, as columns: one a line, or the elements of one array.
//
// Only what is plain is read here: no key twice in an object, numbers that 64 bits hold. What is
// nested is kept as it is written, for another parser. At anything else reading stops, and a careful
// parser goes on from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/text_codes.hpp"

namespace credo {

// One column of a block of objects; an object without its key has null there.
struct JsonColumn {
  enum Type : std::uint8_t {
    kNull = 0, kTruth = 1, kWhole = 2, kDecimal = 4, kText = 8, kNested = 16
  };

  explicit JsonColumn(std::string_view name);

  std::string key;
  bool key_as_written;  // it stands in a file as it is, without escapes
  std::vector<std::uint8_t> types;  // of each object's value
  // True or false, a whole number, the bits of a decimal, the code of a text or its place in `cells`,
  // the place in `cells` of what is nested.
  std::vector<std::uint64_t> values;
  TextCodes texts;
  bool coded = true;        // false: nearly every text is another, so they are not coded
  std::vector<Text> cells;  // texts without codes, and what is nested

  std::uint8_t all_types() const;

  void clear();                    // for the next block
  void pass(std::size_t objects);  // so many, with nulls for those that are not there
  void add(Type type, std::uint64_t value);
  void add_text(Text text, std::size_t room);
  void add_nested(Text text);
};

class JsonRecords {
 public:
  explicit JsonRecords(std::size_t most_columns) : most_columns_(most_columns) {}

  struct Block {
    std::size_t used = 0;     // bytes read, of whole lines
    std::size_t lines = 0;    // line ends among them
    std::size_t objects = 0;  // how many
    bool plain = true;        // false: what follows the bytes used is for another parser
  };

  // Reads lines of UTF-8, the last of which ends with \n. At most so many objects are read, fewer
  // where there are many columns.
  Block read(const std::uint8_t* bytes, std::size_t size, std::size_t most_objects);

  // Those of which the block has a key, valid until the next call and as long as the bytes are.
  std::vector<const JsonColumn*> columns() const;

 private:
  struct Found {
    Text text;
    std::size_t room;  // bytes that may be read from where it begins
  };

  static const std::uint8_t* past_blanks(const std::uint8_t* at);
  // These move `at` past what they read; where they fail it is where they stopped.
  bool line(const std::uint8_t*& at, const std::uint8_t* end, std::size_t row, bool& blank);
  bool object(const std::uint8_t*& at, const std::uint8_t* end, std::size_t row);
  bool value(const std::uint8_t*& at, const std::uint8_t* end, JsonColumn& column);
  // A list or an object, by its brackets; which kind closes which is not looked at.
  bool nested(const std::uint8_t*& at, const std::uint8_t* end) const;
  bool number(const std::uint8_t*& at, JsonColumn& column);
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
  std::vector<JsonColumn*> order_;   // by place in the last object: the next is mostly the same
  std::size_t seen_ = 0;             // columns of which the block has a key
  std::deque<std::string> escaped_;  // texts that are not written as they are
};

}  // namespace credo
