#include "text_numbers.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

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

template <class Offset>
void read_numbers(const Offset* offsets, std::size_t n, const std::uint8_t* bytes,
                  const std::vector<std::string>& words, double* values, Read* kinds) {
  std::size_t longest = 0;
  for (const std::string& word : words) longest = std::max(longest, word.size());
  for (std::size_t i = 0; i < n; ++i) {
    const auto first = static_cast<std::size_t>(offsets[i]);
    const auto length = static_cast<std::size_t>(offsets[i + 1]) - first;
    const std::string_view cell(reinterpret_cast<const char*>(bytes) + first, length);
    values[i] = 0;
    if (std::any_of(cell.begin(), cell.end(), [](char c) { return static_cast<signed char>(c) < 0; })) {
      kinds[i] = Read::kUnsure;
      continue;
    }
    const std::string_view text = trimmed(cell);
    if (text.size() <= longest && std::find(words.begin(), words.end(), text) != words.end()) {
      kinds[i] = Read::kWord;
      continue;
    }
    const Form form = form_of(text);
    if (form == Form::kNone) {
      kinds[i] = Read::kOther;
      continue;
    }
    const char* const begin = text.data() + (text.front() == '+');
    const bool fits = std::from_chars(begin, text.data() + text.size(), values[i]).ec == std::errc{};
    if (!fits) values[i] = 0;
    kinds[i] = !fits ? Read::kUnsure : form == Form::kWhole ? Read::kWhole : Read::kDecimal;
  }
}

template void read_numbers(const std::int32_t*, std::size_t, const std::uint8_t*,
                           const std::vector<std::string>&, double*, Read*);
template void read_numbers(const std::int64_t*, std::size_t, const std::uint8_t*,
                           const std::vector<std::string>&, double*, Read*);

}  // namespace credo
