#include "data/join_rows.hpp"

#include <cstring>
#include <stdexcept>
#include <string>

namespace credo {
namespace {

template <class F>
void with_codes(const TextColumn& column, F&& f) {
  if (column.width == 1) f(static_cast<const std::uint8_t*>(column.codes));
  if (column.width == 2) f(static_cast<const std::uint16_t*>(column.codes));
  if (column.width == 4) f(static_cast<const std::uint32_t*>(column.codes));
}

constexpr std::size_t kRows = 128;  // whose places in the text are kept at a time

}  // namespace

std::size_t joined_size(const std::vector<TextColumn>& columns, std::size_t begin,
                        std::size_t end) {
  std::size_t bytes = 0;
  for (const TextColumn& column : columns)
    with_codes(column, [&](const auto* codes) {
      for (std::size_t row = begin; row < end; ++row) {
        const std::size_t code = codes[row];
        if (code >= column.n_texts)
          throw std::invalid_argument("There is no text for code " + std::to_string(code) + ".");
        bytes += static_cast<std::size_t>(column.ends[code + 1] - column.ends[code]);
      }
    });
  return bytes;
}

void join_rows(const std::vector<TextColumn>& columns, std::size_t begin, std::size_t end,
               std::uint8_t* text) {
  // Cells are copied by rows, in order: a copy of 16 bytes may spill into the next cell, which is
  // written after it.
  std::vector<std::uint32_t> block(columns.size() * kRows);
  for (std::size_t first = begin; first < end; first += kRows) {
    const std::size_t rows = end - first < kRows ? end - first : kRows;
    for (std::size_t c = 0; c < columns.size(); ++c)
      with_codes(columns[c], [&](const auto* codes) {
        for (std::size_t row = 0; row < rows; ++row)
          block[row * columns.size() + c] = static_cast<std::uint32_t>(codes[first + row]);
      });
    const std::uint32_t* code = block.data();
    for (std::size_t row = 0; row < rows; ++row)
      for (const TextColumn& column : columns) {
        const std::int64_t* ends = column.ends + *code++;
        const auto length = static_cast<std::size_t>(ends[1] - ends[0]);
        const std::uint8_t* from = column.texts + ends[0];
        if (length <= kTextSlack) std::memcpy(text, from, kTextSlack);
        else std::memcpy(text, from, length);
        text += length;
      }
  }
}

}  // namespace credo
