#include "data/csv_column.hpp"

#include <algorithm>
#include <limits>

namespace credo {
namespace {

constexpr std::size_t kMany = 50;  // different numbers that are not looked at as states
constexpr std::size_t kFew = 20;   // different whole numbers that may be states
constexpr double kExact = 9007199254740992.0;  // 2^53: larger whole numbers are not told apart

// Whether different numbers, in their order, are no states: some are fractions, or they are many whole
// ones and written so.
bool are_no_states(const std::vector<double>& numbers, bool point) {
  if (numbers.size() < 2) return false;
  if (std::any_of(numbers.begin(), numbers.end(), is_fraction)) return true;
  return !point && numbers.size() > kFew && numbers.front() > -kExact && numbers.back() < kExact;
}

}  // namespace

void CsvColumn::next_block() {
  if (kept == Kept::kNumbers) {
    if (never_numbers || odd.size() * 4 > values.size()) kept = Kept::kCodes, never_numbers = true;
  } else if (kept == Kept::kCodes && !texts.pays(codes.size())) {
    kept = Kept::kTexts;
  }
  codes.clear();
  cells.clear();
  texts.clear();
  values.clear();
  any_decimal = false;
  words.clear();
  odd.clear();
}

double CsvColumn::not_a_number(Text text, std::size_t record, Read kind, int word,
                               const Spelling& spelling) {
  if (kind == Read::kWord) {
    words.resize(spelling.size());
    ++words[static_cast<std::size_t>(word)];
  } else {
    odd.push_back({record, text, kind});
  }
  return std::numeric_limits<double>::quiet_NaN();
}

void CsvColumn::becomes_codes() {
  for (const Text& text : cells) codes.push_back(texts.code(text, text.length));
  cells.clear();
  kept = Kept::kCodes;
}

void CsvColumn::becomes_texts() {
  for (const std::int32_t code : codes) cells.push_back(texts.met()[static_cast<std::size_t>(code)]);
  codes.clear();
  kept = Kept::kTexts;
}

bool CsvColumn::becomes_numbers(const Spelling& spelling, bool all) {
  if (never_numbers) return false;
  const bool coded = kept == Kept::kCodes;
  const std::vector<Text>& given = coded ? texts.met() : cells;
  struct Found {
    double value;
    Read kind;
    int word;
  };
  std::vector<Found> found;
  std::vector<double> different;
  bool point = false;
  for (const Text& text : given) {
    Found one{0, Read::kOther, 0};
    one.kind = read_number(text.at, text.length, text.length, spelling, one.value, one.word);
    if (one.kind > Read::kWord) return false;
    if (one.kind != Read::kWord) different.push_back(one.value);
    point = point || one.kind == Read::kDecimal;
    found.push_back(one);
  }
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  if (all ? !are_no_states(different, point) : different.size() <= kMany) return false;
  any_decimal = point;
  const std::size_t records = coded ? codes.size() : cells.size();
  for (std::size_t i = 0; i < records; ++i) {
    const auto at = coded ? static_cast<std::size_t>(codes[i]) : i;
    const Found& one = found[at];
    values.push_back(one.kind != Read::kWord
                         ? one.value
                         : not_a_number(given[at], i, one.kind, one.word, spelling));
  }
  codes.clear();
  cells.clear();
  texts.clear();
  kept = Kept::kNumbers;
  return true;
}

}  // namespace credo
