#include "data/read_number.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace credo {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f'); }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// What a text is by its form alone.
enum class Form { kWhole, kDecimal, kNone };

Form form_of(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto digits = [&] {
    const char* const first = at;
    while (at != end && is_digit(*at)) ++at;
    return at - first;
  };
  if (at != end && (*at == '+' || *at == '-')) ++at;
  const char* const first = at;
  const auto before = digits();
  bool whole = before > 0;
  if (before > 1 && *first == '0' && at == end) return Form::kNone;  // a code
  if (at != end && *at == '.') {
    ++at;
    whole = false;
    if (digits() == 0 && before == 0) return Form::kNone;
  } else if (before == 0) {
    return Form::kNone;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    whole = false;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    if (digits() == 0) return Form::kNone;
  }
  if (at != end) return Form::kNone;
  return whole ? Form::kWhole : Form::kDecimal;
}

}  // namespace

Spelling::Spelling(std::vector<std::string> words, char point)
    : words_(std::move(words)), point_(point) {
  for (const std::string& word : words_) {
    longest_ = std::max(longest_, word.size());
    may_be_numbers_ = may_be_numbers_ || form_of(word) != Form::kNone;
  }
}

int Spelling::find(std::string_view text) const {
  if (text.size() > longest_) return -1;
  const auto found = std::find(words_.begin(), words_.end(), text);
  return found == words_.end() ? -1 : static_cast<int>(found - words_.begin());
}

Read read_any_number(std::string_view cell, const Spelling& spelling, double& value, int& word) {
  value = 0;
  if (std::any_of(cell.begin(), cell.end(), [](char c) { return static_cast<signed char>(c) < 0; }))
    return Read::kUnsure;
  std::string_view text = trimmed(cell);
  word = spelling.find(text);
  if (word >= 0) return Read::kWord;
  std::string pointed;
  if (spelling.point() != '.') {
    if (text.find('.') != text.npos) return Read::kUnsure;
    const std::size_t comma = text.find(spelling.point());
    if (comma != text.npos) {
      if (comma + 1 == text.size() || !is_digit(text[comma + 1])) return Read::kOther;
      pointed = text;
      pointed[comma] = '.';
      text = pointed;
    }
  }
  const Form form = form_of(text);
  if (form == Form::kNone) return Read::kOther;
  const char* const begin = text.data() + (text.front() == '+');
  if (std::from_chars(begin, text.data() + text.size(), value).ec != std::errc{}) {
    value = 0;
    return Read::kUnsure;
  }
  return form == Form::kWhole ? Read::kWhole : Read::kDecimal;
}

}  // namespace credo
