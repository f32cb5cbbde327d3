// One column of a block of records: codes and the texts they stand for; or numbers, where nearly
// every cell is another one; or, where they are all different and no numbers, the texts themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/read_number.hpp"
#include "data/text_codes.hpp"

namespace credo {

struct CsvCell {
  Text text;
  std::size_t room;  // bytes that may be read from where it begins
};

// Whether a number is no whole one; what is not a number is none either.
inline bool is_fraction(double value) {
  constexpr double kAllWhole = 4503599627370496.0;  // 2^52: from here on all are
  return value > -kAllWhole && value < kAllWhole &&
         value != static_cast<double>(static_cast<std::int64_t>(value));
}

struct CsvColumn {
  enum class Kept : std::uint8_t {
    kFirstTexts,  // the first texts of all, before it is known what pays
    kCodes,
    kTexts,
    kNumbers,
  };

  Kept kept = Kept::kFirstTexts;
  bool never_numbers = false;
  std::vector<std::int32_t> codes;  // a code for each record
  TextCodes texts;
  std::vector<Text> cells;  // a text for each record

  // A number for each record; not one where the cell is a word for missing, or something else.
  std::vector<double> values;
  bool any_decimal = false;        // whether a number is not written as a whole one
  std::vector<std::size_t> words;  // how many cells are each word
  struct Odd {
    std::size_t record;
    Text text;
    Read kind;
  };
  std::vector<Odd> odd;  // what is neither a number nor a word

  // Empties the column, and chooses how the next block is kept by what this one was.
  void next_block();
  // A cell as a number, which is given back.
  double number(const CsvCell& cell, std::size_t record, const Spelling& spelling) {
    double value;
    int word;
    const Read kind =
        read_number(cell.text.at, cell.text.length, cell.room, spelling, value, word);
    if (kind <= Read::kDecimal) {
      any_decimal |= kind == Read::kDecimal;
      return value;
    }
    return not_a_number(cell.text, record, kind, word, spelling);
  }

  // Keeps codes of the first texts, and of those to come.
  void becomes_codes();
  // Keeps the texts of the records so far, and those to come, instead of codes.
  void becomes_texts();
  // Keeps numbers instead, if the texts so far are many different numbers and nothing else; or, where
  // these are all the records there are, different numbers that cannot be states.
  bool becomes_numbers(const Spelling& spelling, bool all = false);

 private:
  double not_a_number(Text text, std::size_t record, Read kind, int word,
                      const Spelling& spelling);
};

}  // namespace credo
