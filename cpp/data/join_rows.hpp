// Rows as text: each code of each column has its text, separators and all, and a row is the texts of
// its cells end to end. Nothing is made for a cell but the bytes that go out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace credo {

struct TextColumn {
  const void* codes;          // IN [rows]
  std::uint8_t width;         // bytes of a code: 1, 2 or 4
  const std::uint8_t* texts;  // IN, and kTextSlack bytes more that may be read
  const std::int64_t* ends;   // IN [n_texts + 1]: text i is from ends[i] to ends[i + 1]
  std::size_t n_texts;
};

inline constexpr std::size_t kTextSlack = 16;

// The bytes of rows begin..end; throws std::invalid_argument for a code without a text.
std::size_t joined_size(const std::vector<TextColumn>& columns, std::size_t begin,
                        std::size_t end);

// OUT text: as many bytes, and kTextSlack more that are written over.
void join_rows(const std::vector<TextColumn>& columns, std::size_t begin, std::size_t end,
               std::uint8_t* text);

}  // namespace credo
