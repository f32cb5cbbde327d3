#include "naive_cells.hpp"

#include <type_traits>

#include "naive_loops.hpp"

namespace credo::naive {
namespace {

template <class T>
T at(const unsigned char* p) {
  return *reinterpret_cast<const T*>(p);
}

// The position of a value in its column's window, or a number past the window.
template <class T>
std::uint64_t position(T v, std::int64_t low) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr double kWhole = 9007199254740992.0;  // up to here every whole number is a double
    const double x = static_cast<double>(v);
    if (!(x > -kWhole && x < kWhole)) return ~std::uint64_t{0};
    const std::int64_t whole = static_cast<std::int64_t>(x);
    if (static_cast<double>(whole) != x) return ~std::uint64_t{0};
    return static_cast<std::uint64_t>(whole) - static_cast<std::uint64_t>(low);
  } else {
    return static_cast<std::uint64_t>(v) - static_cast<std::uint64_t>(low);
  }
}

}  // namespace

bool are_rows(const std::vector<Cells>& columns, std::size_t& stride) {
  if (columns.empty() || columns[0].stride <= 0 || columns[0].stride % 8 != 0 ||
      reinterpret_cast<std::uintptr_t>(columns[0].data) % 8 != 0)
    return false;
  for (std::size_t j = 0; j < columns.size(); ++j)
    if (columns[j].type != CellType::kF64 || columns[j].stride != columns[0].stride ||
        columns[j].data != columns[0].data + 8 * j)
      return false;
  stride = static_cast<std::size_t>(columns[0].stride) / 8;
  return true;
}

CodeTiles::CodeTiles(const std::vector<CodeColumn>& columns) : columns_(columns) {
  const std::size_t d = columns.size();
  together_ = d > 1 && columns[0].cells.stride > 0 && columns[0].cells.stride % 8 == 0 &&
              reinterpret_cast<std::uintptr_t>(columns[0].cells.data) % 8 == 0;
  for (std::size_t j = 0; j < d && together_; ++j)
    together_ = columns[j].cells.type == CellType::kI64 && columns[j].lut == nullptr &&
                columns[j].cells.stride == columns[0].cells.stride &&
                columns[j].cells.data == columns[0].cells.data + 8 * j;
  if (!together_) return;
  stride_ = static_cast<std::size_t>(columns[0].cells.stride) / 8;
  for (const CodeColumn& c : columns) {  // above 0: from 1 on
    low_.push_back(c.above ? 1 : c.low);
    span_.push_back(c.above ? (std::uint64_t{1} << 63) - 1 : c.span);
    mask_.push_back(c.above ? 0 : ~std::uint64_t{0});
    one_.push_back(c.above ? 1 : 0);
    outside_.push_back(c.above ? 0 : std::uint64_t{c.missing} + 1);
  }
}

void CodeTiles::encode(std::size_t first, std::size_t n, std::uint16_t* codes,
                       std::uint64_t* strange) const {
  const std::size_t d = columns_.size();
  if (!together_) {
    for (std::size_t j = 0; j < d; ++j)
      if (encode_codes(columns_[j], first, n, d, j, codes)) strange[j] = 1;
    return;
  }
  const auto* x = reinterpret_cast<const std::int64_t*>(columns_[0].cells.data) + first * stride_;
  loops_for_this_cpu().window_codes(
      {d, low_.data(), span_.data(), mask_.data(), one_.data(), outside_.data()}, x, stride_, n,
      codes, strange);
  for (std::size_t j = 0; j < d; ++j)
    if (columns_[j].above) strange[j] = 0;
}

bool encode_codes(const CodeColumn& column, std::size_t first, std::size_t n, std::size_t width,
                  std::size_t j, std::uint16_t* codes) {
  bool any = false;
  with_type(column.cells.type, [&]<class T>(T) {
    const std::ptrdiff_t stride = column.cells.stride;
    const unsigned char* p = column.cells.data + static_cast<std::ptrdiff_t>(first) * stride;
    const std::uint16_t unseen = column.missing + 1;
    const std::uint64_t span = column.span;
    const std::int64_t low = column.low;
    const std::uint16_t* lut = column.lut;
    std::uint16_t* out = codes + j;
    if (column.above) {
      for (std::size_t r = 0; r < n; ++r, p += stride, out += width) {
        const T v = at<T>(p);
        *out = v != v ? column.missing : static_cast<std::uint16_t>(v > T{0});
      }
      return;
    }
    for (std::size_t r = 0; r < n; ++r, p += stride, out += width) {
      const T v = at<T>(p);
      const std::uint64_t u = position(v, low);
      std::uint16_t code = unseen;
      if (u < span) code = lut == nullptr ? static_cast<std::uint16_t>(u) : lut[u];
      if constexpr (std::is_floating_point_v<T>)
        if (v != v) code = column.missing;
      any |= code == unseen;
      *out = code;
    }
  });
  return any;
}

bool encode_values(const Cells& cells, std::size_t first, std::size_t n, std::size_t width,
                   std::size_t j, double* values) {
  bool infinite = false;
  with_type(cells.type, [&]<class T>(T) {
    const unsigned char* p = cells.data + static_cast<std::ptrdiff_t>(first) * cells.stride;
    double* out = values + j;
    for (std::size_t r = 0; r < n; ++r, p += cells.stride, out += width) {
      const double x = static_cast<double>(at<T>(p));
      if constexpr (std::is_floating_point_v<T>) infinite |= x - x != 0 && x == x;
      *out = x;
    }
  });
  return infinite;
}

}  // namespace credo::naive
