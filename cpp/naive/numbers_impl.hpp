// Numbers of any layout become rows of doubles, and are looked at on the way, for one instruction
// set; included by loops_impl.hpp only.
#include "common/four_doubles.hpp"

namespace credo::naive {
namespace {

typedef std::uint64_t FourWhole __attribute__((vector_size(32), aligned(8), may_alias));

// Four doubles from four numbers; `odd` is not 0 once one is not finite, or not below 2^51.
inline Four as_doubles(const double* p, FourBits& odd) {
  const Four v = four(p);
  odd |= (v - v) != Four{0, 0, 0, 0};
  return v;
}

inline Four as_doubles(const std::int64_t* p, FourBits& odd) {
  constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52: its low bits are a whole number
  const FourBits v = *reinterpret_cast<const FourBits*>(p);
  odd |= (v + (std::int64_t{1} << 51)) & ~((std::int64_t{1} << 52) - 1);
  return (Four)(v + 0x4338000000000000) - kShift;
}

template <class T>
bool turn_columns(const void* const* columns, std::size_t n, std::size_t width, double* values) {
  FourBits odd = {0, 0, 0, 0};
  std::size_t j = 0;
  for (; j + 4 <= width; j += 4) {
    const T* x[4];
    for (std::size_t i = 0; i < 4; ++i) x[i] = static_cast<const T*>(columns[j + i]);
    double* out = values + j;
    std::size_t r = 0;
    for (; r + 4 <= n; r += 4, out += 4 * width) {
      Four a = as_doubles(x[0] + r, odd), b = as_doubles(x[1] + r, odd),
           c = as_doubles(x[2] + r, odd), d = as_doubles(x[3] + r, odd);
      transpose(a, b, c, d);
      four(out) = a;
      four(out + width) = b;
      four(out + 2 * width) = c;
      four(out + 3 * width) = d;
    }
    for (; r < n; ++r, out += width)
      for (std::size_t i = 0; i < 4; ++i) {
        const T held[4] = {x[i][r], x[i][r], x[i][r], x[i][r]};
        out[i] = as_doubles(held, odd)[0];
      }
  }
  for (; j < width; ++j)
    for (std::size_t r = 0; r < n; ++r) {
      const T v = static_cast<const T*>(columns[j])[r];
      const T held[4] = {v, v, v, v};
      values[r * width + j] = as_doubles(held, odd)[0];
    }
  return (odd[0] | odd[1] | odd[2] | odd[3]) == 0;
}

bool are_counts(const double* x, std::size_t stride, std::size_t n, std::size_t width) {
  constexpr double kMost = 1.7976931348623157e308;
  const Four zero = {0, 0, 0, 0}, most = {kMost, kMost, kMost, kMost};
  FourBits all = {-1, -1, -1, -1};
  bool rest = true;
  for (std::size_t r = 0; r < n; ++r, x += stride) {
    std::size_t j = 0;
    for (; j + 4 <= width; j += 4) all &= (four(x + j) >= zero) & (four(x + j) <= most);
    for (; j < width; ++j) rest &= x[j] >= 0 && x[j] <= kMost;
  }
  return rest && (all[0] & all[1] & all[2] & all[3]) != 0;
}

bool usual_moments(const double* n, const double* mean, const double* scatter, std::size_t size) {
  constexpr double kLeast = 1e-290, kMost = 1.7976931348623157e308, kNear = 1e-145;
  const Four zero = {0, 0, 0, 0}, one = zero + 1, least = zero + kLeast, most = zero + kMost,
             near = zero + kNear;
  FourBits all = {-1, -1, -1, -1};
  std::size_t i = 0;
  for (; i + 4 <= size; i += 4) {
    const Four m = four(mean + i), s = four(scatter + i);
    const FourBits alone = (four(n + i) <= one) | (m >= near) | (m <= -near);
    all &= (m - m == zero) & ((s >= least) | ((s == zero) & alone)) & (s <= most);
  }
  bool rest = true;
  for (; i < size; ++i) {
    const double m = mean[i], s = scatter[i];
    const bool alone = n[i] <= 1 || m >= kNear || m <= -kNear;
    rest &= m - m == 0 && (s >= kLeast || (s == 0 && alone)) && s <= kMost;
  }
  return rest && (all[0] & all[1] & all[2] & all[3]) != 0;
}

bool whole_counts(const std::int64_t* x, std::size_t stride, std::size_t n, std::size_t width,
                  double* values) {
  constexpr double kShift = 4503599627370496.0;  // 2^52: its low bits are a whole number
  constexpr std::uint64_t kShiftBits = 0x4330000000000000;
  FourWhole all = {0, 0, 0, 0};
  std::uint64_t rest = 0;
  for (std::size_t r = 0; r < n; ++r, x += stride, values += width) {
    std::size_t j = 0;
    for (; j + 4 <= width; j += 4) {
      const FourWhole v = *reinterpret_cast<const FourWhole*>(x + j);
      all |= v;
      four(values + j) = (Four)(v + kShiftBits) - kShift;
    }
    for (; j < width; ++j) {
      rest |= static_cast<std::uint64_t>(x[j]);
      values[j] = static_cast<double>(x[j]);
    }
  }
  return ((all[0] | all[1] | all[2] | all[3] | rest) >> 51) != 0;
}

}  // namespace
}  // namespace credo::naive
