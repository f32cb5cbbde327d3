#include "naive/cells.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "naive/loops.hpp"

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

bool are_rows(const std::vector<Cells>& columns, std::size_t& stride, CellType type) {
  std::size_t size = 0;
  with_type(type, [&]<class T>(T) { size = sizeof(T); });
  if (columns.empty() || columns[0].stride <= 0 ||
      static_cast<std::size_t>(columns[0].stride) % size != 0 ||
      reinterpret_cast<std::uintptr_t>(columns[0].data) % size != 0)
    return false;
  for (std::size_t j = 0; j < columns.size(); ++j)
    if (columns[j].type != type || columns[j].stride != columns[0].stride ||
        columns[j].data != columns[0].data + size * j)
      return false;
  stride = static_cast<std::size_t>(columns[0].stride) / size;
  return true;
}

namespace {

// Which of the loops over numbers side by side reads a column; -1 for none.
int loop_of(const CodeColumn& column) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  const auto loop = [&](int number, std::ptrdiff_t size) {
    if (column.cells.stride != size || column.lut != nullptr ||
        reinterpret_cast<std::uintptr_t>(column.cells.data) % static_cast<std::size_t>(size) != 0)
      return -1;
    const bool fits = column.above || (column.low >= -kMost && column.span < (1u << 30) &&
                                       column.low < kMost - (std::int64_t{1} << 30));
    return size == 8 || fits ? number : -1;
  };
  switch (column.cells.type) {
    case CellType::kI8: return loop(0, 1);
    case CellType::kI16: return loop(1, 2);
    case CellType::kI32: return loop(2, 4);
    case CellType::kI64: return loop(3, 8);
    case CellType::kU8: return loop(4, 1);
    case CellType::kU16: return loop(5, 2);
    default: return -1;
  }
}

// OUT codes [n]: those of rows first ... first + n - 1, times `times`. Returns whether a value was
// not seen in training.
bool encode_codes(const CodeColumn& column, std::size_t first, std::size_t n, std::uint16_t times,
                  std::uint16_t* codes) {
  const std::ptrdiff_t stride = column.cells.stride;
  const unsigned char* data = column.cells.data + static_cast<std::ptrdiff_t>(first) * stride;
  const std::uint16_t unseen = column.missing + 1;
  const int loop = loop_of(column);
  if (loop >= 0)
    return loops_for_this_cpu().column_codes[loop](
        data, n, {column.low, column.span, column.above, unseen, times}, codes);
  bool any = false;
  with_type(column.cells.type, [&]<class T>(T) {
    const unsigned char* p = data;
    const std::uint64_t span = column.span;
    const std::int64_t low = column.low;
    const std::uint16_t* lut = column.lut;
    if (column.above) {
      for (std::size_t r = 0; r < n; ++r, p += stride) {
        const T v = at<T>(p);
        codes[r] = v != v ? column.missing : static_cast<std::uint16_t>(v > T{0});
      }
    } else {
      for (std::size_t r = 0; r < n; ++r, p += stride) {
        const T v = at<T>(p);
        const std::uint64_t u = position(v, low);
        std::uint16_t code = unseen;
        if (u < span) code = lut == nullptr ? static_cast<std::uint16_t>(u) : lut[u];
        if constexpr (std::is_floating_point_v<T>)
          if (v != v) code = column.missing;
        any |= code == unseen;
        codes[r] = code;
      }
    }
  });
  if (times != 1)
    for (std::size_t r = 0; r < n; ++r) codes[r] = static_cast<std::uint16_t>(codes[r] * times);
  return any;
}

constexpr std::size_t kStrip = 32;  // rows of all columns that stay in the nearest cache

// Columns whose numbers lie side by side, all doubles or all 64-bit integers, become rows; false
// where they do not, or hold numbers that need a closer look.
bool turn(const std::vector<Cells>& columns, std::size_t first, std::size_t n, double* values,
          char* endless) {
  const std::size_t d = columns.size();
  const CellType type = columns[0].type;
  if (type != CellType::kF64 && type != CellType::kI64) return false;
  for (std::size_t j = 0; j < d; ++j)
    if (columns[j].type != type || columns[j].stride != 8 ||
        reinterpret_cast<std::uintptr_t>(columns[j].data) % 8 != 0)
      return false;
  std::vector<const void*> at(d);
  for (std::size_t j = 0; j < d; ++j) at[j] = columns[j].data + 8 * first;
  const Loops& loops = loops_for_this_cpu();
  if (type == CellType::kI64) return loops.turn_wholes(at.data(), n, d, values);
  if (!loops.turn_reals(at.data(), n, d, values) && endless != nullptr)
    for (std::size_t i = 0; i < n * d; ++i)
      if (std::isinf(values[i])) endless[i % d] = 1;
  return true;
}

}  // namespace

CodeTiles::CodeTiles(const std::vector<CodeColumn>& columns,
                     const std::vector<std::uint16_t>& times)
    : columns_(columns), times_(times) {
  const std::size_t d = columns.size();
  times_.resize(d, 1);
  constexpr std::int64_t kFar = std::int64_t{1} << 50;
  together_ = d > 1 && columns[0].cells.stride > 0 && columns[0].cells.stride % 8 == 0 &&
              reinterpret_cast<std::uintptr_t>(columns[0].cells.data) % 8 == 0;
  const CellType type = d > 0 ? columns[0].cells.type : CellType::kI64;
  real_ = type == CellType::kF64;
  together_ &= real_ || type == CellType::kI64;
  for (std::size_t j = 0; j < d && together_; ++j)
    together_ = columns[j].cells.type == type && columns[j].lut == nullptr &&
                columns[j].cells.stride == columns[0].cells.stride &&
                columns[j].cells.data == columns[0].cells.data + 8 * j &&
                (!real_ || (columns[j].low > -kFar && columns[j].low < kFar));
  if (!together_) return;
  stride_ = static_cast<std::size_t>(columns[0].cells.stride) / 8;
  low_.reserve(d);
  for (auto* each : {&span_, &mask_, &one_, &outside_, &missing_, &above_}) each->reserve(d);
  for (const CodeColumn& c : columns) {  // above 0: from 1 on
    low_.push_back(c.above ? 1 : c.low);
    span_.push_back(c.above ? (std::uint64_t{1} << 63) - 1 : c.span);
    mask_.push_back(c.above ? 0 : ~std::uint64_t{0});
    one_.push_back(c.above ? 1 : 0);
    outside_.push_back(c.above ? 0 : std::uint64_t{c.missing} + 1);
    missing_.push_back(c.missing);
    above_.push_back(c.above ? ~std::uint64_t{0} : 0);
  }
}

bool CodeTiles::four_above() const {
  return together_ && columns_.size() % 4 == 0 &&
         std::all_of(columns_.begin(), columns_.end(), [](const CodeColumn& c) { return c.above; });
}

std::vector<std::uint16_t> CodeTiles::above_sums() const {
  std::vector<std::uint16_t> sums(columns_.size() / 4 * 16);
  for (std::size_t i = 0; i < sums.size(); ++i)
    for (std::size_t m = 0; m < 4; ++m)
      if ((i % 16) >> m & 1) sums[i] = static_cast<std::uint16_t>(sums[i] + times_[i / 16 * 4 + m]);
  return sums;
}

bool CodeTiles::add_above(std::size_t first, std::size_t n, const std::uint16_t* sums,
                          std::uint16_t* places) const {
  return loops_for_this_cpu().above_places[real_](columns_[0].cells.data + 8 * first * stride_,
                                                  stride_, n, columns_.size() / 4, sums, places);
}

void CodeTiles::encode(std::size_t first, std::size_t n, std::uint16_t* codes,
                       std::uint64_t* strange) const {
  const std::size_t d = columns_.size();
  if (!together_) {
    for (std::size_t j = 0; j < d; ++j)
      if (encode_codes(columns_[j], first, n, times_[j], codes + j * kTileRows)) strange[j] = 1;
    return;
  }
  loops_for_this_cpu().window_codes[real_](
      {d, low_.data(), span_.data(), mask_.data(), one_.data(), outside_.data(), missing_.data(),
       above_.data(), times_.data()},
      columns_[0].cells.data + 8 * first * stride_, stride_, n, codes, strange);
  for (std::size_t j = 0; j < d; ++j)
    if (columns_[j].above) strange[j] = 0;
}

void encode_values(const std::vector<Cells>& columns, std::size_t first, std::size_t n,
                   double* values, char* endless) {
  const std::size_t d = columns.size();
  std::size_t stride = 0;
  if (d > 1 && are_rows(columns, stride, columns[0].type)) {
    with_type(columns[0].type, [&]<class T>(T) {
      const T* x = reinterpret_cast<const T*>(columns[0].data) + first * stride;
      bool finite = true;
      for (std::size_t r = 0; r < n; ++r, x += stride) {
        double* out = values + r * d;
        for (std::size_t j = 0; j < d; ++j) out[j] = static_cast<double>(x[j]);
        if constexpr (std::is_floating_point_v<T>)
          for (std::size_t j = 0; j < d; ++j) finite &= out[j] - out[j] == 0;
      }
      for (std::size_t i = 0; i < n * d && !finite && endless != nullptr; ++i)
        if (std::isinf(values[i])) endless[i % d] = 1;
    });
    return;
  }
  if (d > 1 && turn(columns, first, n, values, endless)) return;
  for (std::size_t strip = 0; strip < n; strip += kStrip) {
    const std::size_t m = std::min(kStrip, n - strip);
    for (std::size_t j = 0; j < d; ++j)
      with_type(columns[j].type, [&]<class T>(T) {
        const std::ptrdiff_t stride = columns[j].stride;
        const unsigned char* p =
            columns[j].data + static_cast<std::ptrdiff_t>(first + strip) * stride;
        double* out = values + strip * d + j;
        bool infinite = false;
        for (std::size_t r = 0; r < m; ++r, p += stride, out += d) {
          const double x = static_cast<double>(at<T>(p));
          if constexpr (std::is_floating_point_v<T>) infinite |= x - x != 0 && x == x;
          *out = x;
        }
        if (infinite && endless != nullptr) endless[j] = 1;
      });
  }
}

CountTile read_counts(const std::vector<Cells>& columns, std::size_t first, std::size_t n,
                      const CountRule& rule, double* scratch) {
  const Loops& loops = loops_for_this_cpu();
  const std::size_t d = columns.size();
  std::size_t stride = 0;
  if (!rule.present && are_rows(columns, stride)) {
    const auto* x = reinterpret_cast<const double*>(columns[0].data) + first * stride;
    if (loops.are_counts(x, stride, n, d)) return {x, stride, false};
  }
  const bool whole = are_rows(columns, stride, CellType::kI64) &&
                     !loops.whole_counts(
                         reinterpret_cast<const std::int64_t*>(columns[0].data) + first * stride,
                         stride, n, d, scratch);
  if (!whole) encode_values(columns, first, n, scratch, nullptr);
  if (whole || loops.are_counts(scratch, d, n, d)) {
    for (std::size_t i = 0; i < n * d && rule.present; ++i) scratch[i] = scratch[i] > 0 ? 1.0 : 0.0;
    return {scratch, d, false};
  }
  bool wrong = false;
  for (std::size_t i = 0; i < n * d; ++i) {
    const double x = scratch[i];
    wrong |= (x < 0 || x - x != 0) && (x == x || !rule.gaps);
    scratch[i] = x == x ? (rule.present ? (x > 0 ? 1.0 : 0.0) : x) : 0.0;
  }
  return {scratch, d, wrong};
}

}  // namespace credo::naive
