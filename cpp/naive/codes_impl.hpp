// Numbers become codes and places in tables, for one instruction set; included by
// loops_impl.hpp only.
#include "common/four_doubles.hpp"

namespace credo::naive {
namespace {

typedef std::uint64_t FourCodes __attribute__((vector_size(32), aligned(8), may_alias));
typedef std::uint16_t FourShort __attribute__((vector_size(8), aligned(2), may_alias));
typedef std::uint16_t SixteenShort __attribute__((vector_size(32), aligned(2), may_alias));
struct __attribute__((packed, may_alias)) TwoShort {
  std::uint32_t pair;
};
typedef std::uint32_t EightPairs __attribute__((vector_size(32), aligned(2), may_alias));
typedef std::uint64_t FourQuads __attribute__((vector_size(32), aligned(2), may_alias));

// Which of four are negative, a bit for each.
inline unsigned signs_of(Four v) {
#if defined(CREDO_NAIVE_AVX2)
  return static_cast<unsigned>(__builtin_ia32_movmskpd256(v));
#else
  const FourBits bits = (FourBits)v;
  unsigned out = 0;
  for (unsigned i = 0; i < 4; ++i) out |= (bits[i] < 0 ? 1u : 0u) << i;
  return out;
#endif
}
void add_codes(std::uint16_t* codes, std::size_t n, std::size_t width, std::size_t step) {
  const auto some = [&](std::uint16_t* row, std::size_t size) {
    std::size_t j = 0;
    for (; j + 16 <= size; j += 16) {
      if (step == 2) {
        EightPairs& pairs = *reinterpret_cast<EightPairs*>(row + j);
        pairs += pairs >> 16;
      } else {
        FourQuads& quads = *reinterpret_cast<FourQuads*>(row + j);
        quads += quads >> 16;
        quads += quads >> 32;
      }
    }
    for (; j < size; j += step)
      for (std::size_t i = j + 1; i < j + step && i < size; ++i)
        row[j] = static_cast<std::uint16_t>(row[j] + row[i]);
  };
  if (width % step == 0) return some(codes, n * width);
  for (std::size_t r = 0; r < n; ++r) some(codes + r * width, width);
}

// The codes of four numbers of four columns; `beyond` is not 0 once one is outside its window.
struct FourWindows {
  FourCodes low, span, mask, one, outside, missing, above;

  FourCodes codes(const std::int64_t* x, FourCodes& beyond) const {
    const FourCodes u = *reinterpret_cast<const FourCodes*>(x) - low;
    const FourCodes inside = (FourCodes)(u < span);
    beyond |= ~inside;
    return (inside & ((u & mask) + one)) | (~inside & outside);
  }

  // A whole number below 2^51 has itself in the low bits of x + 1.5 * 2^52; windows lie far below.
  FourCodes codes(const double* p, FourCodes& beyond) const {
    constexpr double kShift = 6755399441055744.0;
    constexpr std::uint64_t kShiftBits = 0x4338000000000000;
    const Four x = four(p), shifted = x + kShift;
    const FourCodes gone = (FourCodes)(x != x), more = (FourCodes)(x > Four{0, 0, 0, 0});
    const FourCodes u = (FourCodes)shifted - kShiftBits - low;
    const FourCodes inside = (FourCodes)(u < span) & (FourCodes)(shifted - kShift == x);
    beyond |= ~(inside | gone | above);
    const FourCodes code = (inside & u) | (~inside & outside);
    return (gone & missing) | (~gone & ((above & more & 1) | (~above & code)));
  }
};

// Four columns of some rows at a time, so that their windows stay in registers.
template <class T>
void window_codes(const WindowCodes& t, const void* data, std::size_t stride, std::size_t n,
                  std::uint16_t* codes, std::uint64_t* strange) {
  constexpr std::size_t kRows = 64;
  const T* x = static_cast<const T*>(data);
  for (std::size_t first = 0; first < n; first += kRows) {
    const std::size_t rows = n - first < kRows ? n - first : kRows;
    const T* block = x + first * stride;
    std::uint16_t* out = codes + first * t.width;
    for (std::size_t j = 0; j < t.width; j += 4) {
      const std::size_t m = t.width - j < 4 ? t.width - j : 4;
      const auto four_of = [&](const auto* p) {
        FourCodes held = {0, 0, 0, 0};
        for (std::size_t i = 0; i < m; ++i) held[i] = static_cast<std::uint64_t>(p[j + i]);
        return held;
      };
      const FourWindows windows = {four_of(t.low),     four_of(t.span),    four_of(t.mask),
                                   four_of(t.one),     four_of(t.outside), four_of(t.missing),
                                   four_of(t.above)};
      const SixteenShort factor = (SixteenShort)four_of(t.times);
      FourCodes beyond = {0, 0, 0, 0};
      for (std::size_t r = 0; r < rows; ++r) {
        const T* own = block + r * stride + j;
        std::uint16_t* to = out + r * t.width + j;
        T last[4] = {};
        for (std::size_t i = 0; i < m && m < 4; ++i) last[i] = own[i];
        const FourCodes code = windows.codes(m < 4 ? last : own, beyond);
        // the low sixteen bits of each, side by side
        const EightPairs turned = (EightPairs)__builtin_shuffle(
            (SixteenShort)code * factor,
            SixteenShort{0, 4, 1, 1, 1, 1, 1, 1, 8, 12, 9, 9, 9, 9, 9, 9});
        if (m == 4) {
          reinterpret_cast<TwoShort*>(to)->pair = turned[0];
          reinterpret_cast<TwoShort*>(to + 2)->pair = turned[4];
        } else {
          for (std::size_t i = 0; i < m; ++i)
            to[i] = static_cast<std::uint16_t>(turned[i / 2 * 4] >> (16 * (i % 2)));
        }
      }
      for (std::size_t i = 0; i < m; ++i) strange[j + i] |= beyond[i];
    }
  }
}

// Which of four numbers are above 0; `gone` is not 0 once one is NaN.
inline unsigned which_above(const std::int64_t* p, FourBits&) {
  const FourBits v = *reinterpret_cast<const FourBits*>(p);
  return signs_of((Four)(v > FourBits{0, 0, 0, 0}));
}

inline unsigned which_above(const double* p, FourBits& gone) {
  const Four v = four(p);
  gone |= v != v;
  return signs_of((Four)(v > Four{0, 0, 0, 0}));
}

template <class T>
bool above_places(const void* data, std::size_t stride, std::size_t n, std::size_t groups,
                  const std::uint16_t* places, std::uint16_t* out) {
  const T* x = static_cast<const T*>(data);
  FourBits gone = {0, 0, 0, 0};
  for (std::size_t r = 0; r < n; ++r, x += stride, out += groups)
    for (std::size_t g = 0; g < groups; ++g)
      out[g] = places[16 * g + which_above(x + 4 * g, gone)];
  return (gone[0] | gone[1] | gone[2] | gone[3]) == 0;
}

// The caller has seen to it that v - low does not wrap around into the window.
template <class T, class Place>
bool column_codes(const void* data, std::size_t n, const ColumnCodes& t, std::uint16_t* codes) {
  const T* x = static_cast<const T*>(data);
  if (t.above) {
    for (std::size_t r = 0; r < n; ++r)
      codes[r] = static_cast<std::uint16_t>((x[r] > 0 ? 1 : 0) * t.times);
    return false;
  }
  const Place low = static_cast<Place>(t.low), span = static_cast<Place>(t.span),
              outside = t.outside;
  Place any = 0;
  for (std::size_t r = 0; r < n; ++r) {
    const Place u = static_cast<Place>(x[r]) - low;
    const Place code = u < span ? u : outside;
    any |= code == outside ? Place{1} : Place{0};  // a code of the window may say so itself
    codes[r] = static_cast<std::uint16_t>(code * t.times);
  }
  return any != 0;
}

}  // namespace
}  // namespace credo::naive
