// The loops themselves; the includer says for which instruction set. No standard containers here:
// an inline function compiled with AVX2 must not be the copy the linker keeps for all.
#include "four_turned.hpp"
#include "naive_sparse_impl.hpp"

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

constexpr double kFarthest = 1e290;  // a squared distance stays finite, so that classes cancel

// The Gaussian terms of one row that has a gap, or lies beyond what doubles can hold: INOUT sum
// [classes]. Returns whether a number is infinite.
bool add_reals(const ScoreTerms& t, const double* reals, double* sum) {
  bool endless = false;
  for (std::size_t j = 0; j < t.n_real; ++j) {
    const double x = reals[j];
    if (x != x) continue;
    endless |= x - x != 0;
    for (std::size_t k = 0; k < t.classes; ++k) {
      const double z = x - t.centre[j * t.classes + k];
      const double far = z * z * t.half[j * t.classes + k];
      sum[k] += t.constant[j * t.classes + k] - (far < kFarthest ? far : kFarthest);
    }
  }
  return endless;
}

template <std::size_t N>
bool score_rows(const ScoreTerms& t, const ScoreTile& tile, std::size_t n, double* joint) {
  const Four zero = {0, 0, 0, 0};
  bool endless = false;
  for (std::size_t r = 0; r < n; ++r) {
    Four sum[N];
    for (std::size_t k = 0; k < N; ++k) sum[k] = four(t.bias + 4 * k);
    const std::uint16_t* code = tile.codes.data + r * tile.codes.row;
    if (t.member == nullptr) {
      const std::uint16_t* place = tile.places.data + r * tile.places.row;
      for (std::size_t g = 0; g < t.n_group; ++g, place += tile.places.column) {
        const double* row = t.tables + t.offset[g] + std::size_t{*place} * (4 * N);
        for (std::size_t k = 0; k < N; ++k) sum[k] += four(row + 4 * k);
      }
    } else {  // each group by itself, as its table would have it
      for (std::size_t g = 0, m = 0; g < t.n_group; ++g) {
        const auto row = [&](std::size_t i) {
          const std::size_t at = code[t.member[i] * tile.codes.column];
          return t.tables + t.member_offset[i] + at * (4 * N);
        };
        Four group[N];
        for (std::size_t k = 0; k < N; ++k) group[k] = four(row(m) + 4 * k);
        for (++m; m < t.member_end[g]; ++m)
          for (std::size_t k = 0; k < N; ++k) group[k] += four(row(m) + 4 * k);
        for (std::size_t k = 0; k < N; ++k) sum[k] += group[k];
      }
    }
    for (std::size_t j = 0; j < t.n_pair; ++j) {
      const std::size_t a = code[t.pair_a[j] * tile.codes.column];
      const std::size_t at = a * t.pair_rows[j] + code[t.pair_b[j] * tile.codes.column];
      const double* row = t.tables + t.pair_offset[j] + at * (4 * N);
      for (std::size_t k = 0; k < N; ++k) sum[k] += four(row + 4 * k);
    }
    if (t.n_real > 0) {
      const double* reals = tile.reals + r * tile.real_stride;
      Four far[N];
      for (std::size_t k = 0; k < N; ++k) far[k] = zero;
      for (std::size_t j = 0; j < t.n_real; ++j)
        for (std::size_t k = 0; k < N; ++k) {
          const std::size_t at = j * (4 * N) + 4 * k;
          const Four z = reals[j] - four(t.centre + at);
          far[k] += z * four(t.half + at) * z;
        }
      bool near = true;  // false for NaN too
      for (std::size_t k = 0; k < N; ++k)
        for (std::size_t i = 0; i < 4; ++i) near &= far[k][i] < kFarthest;
      if (near) {
        for (std::size_t k = 0; k < N; ++k) sum[k] += four(t.constants + 4 * k) - far[k];
      } else {
        double held[4 * N];
        for (std::size_t k = 0; k < N; ++k) four(held + 4 * k) = sum[k];
        endless |= add_reals(t, reals, held);
        for (std::size_t k = 0; k < N; ++k) sum[k] = four(held + 4 * k);
      }
    }
    for (std::size_t k = 0; k < N; ++k) four(joint + (r * N + k) * 4) = sum[k];
  }
  return endless;
}

// Any number of classes, four at a time.
bool score_wide(const ScoreTerms& t, const ScoreTile& tile, std::size_t n, double* joint) {
  const std::size_t c = t.classes;
  bool endless = false;
  for (std::size_t r = 0; r < n; ++r, joint += c) {
    for (std::size_t k = 0; k < c; ++k) joint[k] = t.bias[k];
    const std::uint16_t* code = tile.codes.data + r * tile.codes.row;
    const std::uint16_t* place = tile.places.data + r * tile.places.row;
    for (std::size_t g = 0, m = 0; g < t.n_group; ++g, place += tile.places.column) {
      if (t.member == nullptr) {
        const double* row = t.tables + t.offset[g] + std::size_t{*place} * c;
        for (std::size_t k = 0; k < c; ++k) joint[k] += row[k];
        continue;
      }
      const std::size_t first = m, last = t.member_end[g];
      const auto row = [&](std::size_t i) {
        return t.tables + t.member_offset[i] + code[t.member[i] * tile.codes.column] * c;
      };
      for (std::size_t k = 0; k < c; k += 4) {
        Four group = four(row(first) + k);
        for (m = first + 1; m < last; ++m) group += four(row(m) + k);
        four(joint + k) += group;
      }
      m = last;
    }
    for (std::size_t j = 0; j < t.n_pair; ++j) {
      const std::size_t a = code[t.pair_a[j] * tile.codes.column];
      const std::size_t at = a * t.pair_rows[j] + code[t.pair_b[j] * tile.codes.column];
      const double* row = t.tables + t.pair_offset[j] + at * c;
      for (std::size_t k = 0; k < c; ++k) joint[k] += row[k];
    }
    endless |= add_reals(t, tile.reals + r * tile.real_stride, joint);
  }
  return endless;
}

// R rows and N vectors of classes at a time: INOUT joint [R][classes] += counts x weights. A word
// that a class rules out (kRuled) says so only where it stands.
template <std::size_t R, std::size_t N, bool kRuled>
void add_counts(const ScoreTerms& t, const double* counts, std::size_t stride, double* joint,
                std::size_t first) {
  Four sum[R][N];
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t k = 0; k < N; ++k) sum[r][k] = four(joint + r * t.classes + first + 4 * k);
  for (std::size_t j = 0; j < t.n_count; ++j) {
    const double* weights = t.weights + j * t.classes + first;
    for (std::size_t r = 0; r < R; ++r) {
      const double x = counts[r * stride + j];
      if (kRuled && x == 0) continue;
      for (std::size_t k = 0; k < N; ++k) sum[r][k] += x * four(weights + 4 * k);
    }
  }
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t k = 0; k < N; ++k) four(joint + r * t.classes + first + 4 * k) = sum[r][k];
}

template <std::size_t R, bool kRuled>
void add_counts(const ScoreTerms& t, const double* counts, std::size_t stride, double* joint) {
  std::size_t k = 0;
  for (; k + 8 <= t.classes; k += 8) add_counts<R, 2, kRuled>(t, counts, stride, joint, k);
  if (k < t.classes) add_counts<R, 1, kRuled>(t, counts, stride, joint, k);
}

template <bool kRuled>
void add_counts(const ScoreTerms& t, const double* counts, std::size_t stride, std::size_t n,
                double* joint) {
  std::size_t r = 0;
  for (; t.classes == 4 && r + 8 <= n; r += 8)  // more rows: sums that need not wait for each other
    add_counts<8, 1, kRuled>(t, counts + r * stride, stride, joint + r * 4, 0);
  for (; r + 4 <= n; r += 4)
    add_counts<4, kRuled>(t, counts + r * stride, stride, joint + r * t.classes);
  for (; r < n; ++r) add_counts<1, kRuled>(t, counts + r * stride, stride, joint + r * t.classes);
}

bool score(const ScoreTerms& t, const ScoreTile& tile, std::size_t n, double* joint) {
  bool endless = false;
  switch (t.classes / kClassUnit) {
    case 1: endless = score_rows<1>(t, tile, n, joint); break;
    case 2: endless = score_rows<2>(t, tile, n, joint); break;
    case 3: endless = score_rows<3>(t, tile, n, joint); break;
    case 4: endless = score_rows<4>(t, tile, n, joint); break;
    default: endless = score_wide(t, tile, n, joint);
  }
  if (t.n_count > 0 && t.impossible_words)
    add_counts<true>(t, tile.counts, tile.count_stride, n, joint);
  else if (t.n_count > 0)
    add_counts<false>(t, tile.counts, tile.count_stride, n, joint);
  return endless;
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

// ln x for x > 0: x = 2^k m with m in [0.7, 1.42], ln m = 2 (s + s^3/3 + ...), s = (m - 1)/(m + 1).
// Ten terms leave less than 1e-17 (s is at most 0.172).
inline Four four_logarithms(Four x) {
  constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
  const FourBits bits = (FourBits)x;
  const FourBits up = ((bits & 0xFFFFFFFFFFFFF) > 0x6A09E667F3BCC) & 1;  // above the root of 2
  const FourBits k = (bits >> 52) - 1023 + up;
  const Four m = (Four)(bits - (k << 52));
  const Four e = {double(k[0]), double(k[1]), double(k[2]), double(k[3])};
  const Four s = (m - 1.0) / (m + 1.0), z = s * s;
  Four p = {1.0 / 19, 1.0 / 19, 1.0 / 19, 1.0 / 19};
  p = p * z + 1.0 / 17;
  p = p * z + 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  return e * kLn2High + (e * kLn2Low + (2.0 * s + 2.0 * s * z * p));
}

void logarithms(double* x, std::size_t n) {
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) four(x + i) = four_logarithms(four(x + i));
  if (i < n) {
    double last[4] = {1, 1, 1, 1};
    for (std::size_t k = i; k < n; ++k) last[k - i] = x[k];
    four(last) = four_logarithms(four(last));
    for (std::size_t k = i; k < n; ++k) x[k] = last[k - i];
  }
}

void add_moments(const double* values, std::size_t stride, const std::uint32_t* group,
                 const double* weights, const double* centre, std::size_t n, std::size_t width,
                 std::size_t groups, double* weight, double* first, double* second) {
  const Four zero = {0, 0, 0, 0};
  for (std::size_t r = 0; r < n; ++r, values += stride) {
    if (group[r] >= groups) continue;
    const double w = weights == nullptr ? 1.0 : weights[r];
    const Four all = {w, w, w, w};
    const std::size_t at = group[r] * width;
    std::size_t j = 0;
    for (; j + 4 <= width; j += 4) {
      const Four x = four(values + j);
      const Four wj = x == x ? all : zero;
      const Four z = x == x ? x - four(centre + at + j) : zero;
      const Four wz = wj * z;
      four(weight + at + j) += wj;
      four(first + at + j) += wz;
      four(second + at + j) += wz * z;
    }
    for (; j < width; ++j) {
      const double x = values[j];
      const bool there = x == x;
      const double wj = there ? w : 0.0;
      const double z = there ? x - centre[at + j] : 0.0;
      weight[at + j] += wj;
      first[at + j] += wj * z;
      second[at + j] += wj * z * z;
    }
  }
}

// Four rows at a time, a class after the other; R of them count.
template <bool kLogarithms>
std::int64_t normalise_rows(const double* joint, std::size_t n, std::size_t stride,
                            std::size_t classes, double* answers) {
  constexpr std::size_t kHeld = 16;
  constexpr double kInfinity = __builtin_inf();
  for (std::size_t first = 0; first < n; first += 4) {
    const std::size_t rows = n - first < 4 ? n - first : 4;
    const double* s[4];
    double* out[4];
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t r = first + (i < rows ? i : 0);
      s[i] = joint + r * stride;
      out[i] = answers + r * classes;
    }
    const auto column = [&](std::size_t c) { return Four{s[0][c], s[1][c], s[2][c], s[3][c]}; };
    const auto put = [&](std::size_t c, Four v) {
      for (std::size_t i = 0; i < rows; ++i) out[i][c] = v[i];
    };
    Four held[kHeld];  // of the first classes; the others are read again
    Four top = column(0);
    for (std::size_t c = 0; c < classes; ++c) {
      const Four v = column(c);
      if (c < kHeld) held[c] = v;
      top = v > top ? v : top;
    }
    for (std::size_t i = 0; i < rows; ++i)
      if (top[i] == -kInfinity) return static_cast<std::int64_t>(first + i);
    Four total = {0, 0, 0, 0};
    for (std::size_t c = 0; c < classes; ++c) {
      const Four away = (c < kHeld ? held[c] : column(c)) - top;
      const Four e = four_exponentials(away);
      total += e;
      if (c < kHeld) held[c] = kLogarithms ? away : e;
      else put(c, kLogarithms ? away : e);
    }
    const Four last = kLogarithms ? four_logarithms(total) : 1.0 / total;
    for (std::size_t c = 0; c < classes; ++c) {
      Four v;
      if (c < kHeld) v = held[c];
      else for (std::size_t i = 0; i < 4; ++i) v[i] = out[i][c];
      put(c, kLogarithms ? v - last : v * last);
    }
  }
  return -1;
}

std::int64_t normalise(const double* joint, std::size_t n, std::size_t stride, std::size_t classes,
                       bool logarithms, double* answers) {
  return logarithms ? normalise_rows<true>(joint, n, stride, classes, answers)
                    : normalise_rows<false>(joint, n, stride, classes, answers);
}

std::int64_t best(const double* joint, std::size_t n, std::size_t stride, std::size_t classes,
                  std::int64_t* best) {
  constexpr double kLeast = -__builtin_inf();
  std::int64_t impossible = -1;
  for (std::size_t first = 0; classes < 12 && first < n; first += 4) {  // four rows at a time
    const std::size_t rows = n - first < 4 ? n - first : 4;
    const double* s[4];
    for (std::size_t i = 0; i < 4; ++i) s[i] = joint + (first + (i < rows ? i : 0)) * stride;
    Four top = {s[0][0], s[1][0], s[2][0], s[3][0]};
    FourBits at = {0, 0, 0, 0};
    for (std::size_t c = 1; c < classes; ++c) {
      const Four v = {s[0][c], s[1][c], s[2][c], s[3][c]};
      const auto place = static_cast<std::int64_t>(c);
      at = v > top ? FourBits{place, place, place, place} : at;
      top = v > top ? v : top;
    }
    for (std::size_t i = 0; i < rows; ++i) best[first + i] = at[i];
    for (std::size_t i = 0; i < rows && impossible < 0; ++i)
      if (top[i] == kLeast) impossible = static_cast<std::int64_t>(first + i);
  }
  for (std::size_t r = 0; classes >= 12 && r < n; ++r, joint += stride) {
    Four most = four(joint);
    std::size_t c = 4, at = 0;
    for (; c + 4 <= classes; c += 4) most = four(joint + c) > most ? four(joint + c) : most;
    double top = most[0];
    for (std::size_t i = 1; i < 4; ++i) top = most[i] > top ? most[i] : top;
    for (; c < classes; ++c) top = joint[c] > top ? joint[c] : top;
    while (at + 1 < classes && joint[at] != top) ++at;
    if (top == kLeast && impossible < 0) impossible = static_cast<std::int64_t>(r);
    best[r] = static_cast<std::int64_t>(at);
  }
  return impossible;
}

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

void add_totals(const double* values, std::size_t stride, const std::uint32_t* group,
                const double* weights, std::size_t n, std::size_t width, std::size_t groups,
                double* totals) {
  for (std::size_t r = 0; r < n; ++r, values += stride) {
    if (group[r] >= groups) continue;
    const double w = weights == nullptr ? 1.0 : weights[r];
    double* sum = totals + group[r] * width;
    std::size_t j = 0;
    for (; j + 4 <= width; j += 4) four(sum + j) += w * four(values + j);
    for (; j < width; ++j) sum[j] += w * values[j];
  }
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

bool whole_counts(const std::int64_t* x, std::size_t stride, std::size_t n, std::size_t width,
                  double* values) {
  constexpr double kShift = 4503599627370496.0;  // 2^52: its low bits are a whole number
  constexpr std::uint64_t kShiftBits = 0x4330000000000000;
  FourCodes all = {0, 0, 0, 0};
  std::uint64_t rest = 0;
  for (std::size_t r = 0; r < n; ++r, x += stride, values += width) {
    std::size_t j = 0;
    for (; j + 4 <= width; j += 4) {
      const FourCodes v = *reinterpret_cast<const FourCodes*>(x + j);
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

constexpr Loops kLoops = {
    score,
    add_codes,
    normalise,
    best,
    logarithms,
    add_moments,
    add_totals,
    turn_columns<double>,
    turn_columns<std::int64_t>,
    are_counts,
    {window_codes<std::int64_t>, window_codes<double>},
    {above_places<std::int64_t>, above_places<double>},
    {column_codes<std::int8_t, std::uint32_t>, column_codes<std::int16_t, std::uint32_t>,
     column_codes<std::int32_t, std::uint32_t>, column_codes<std::int64_t, std::uint64_t>,
     column_codes<std::uint8_t, std::uint32_t>, column_codes<std::uint16_t, std::uint32_t>},
    whole_counts,
    {{sparse_scores<std::int32_t, double>, sparse_scores<std::int32_t, float>,
      sparse_scores<std::int32_t, std::int64_t>, sparse_scores<std::int32_t, std::int32_t>},
     {sparse_scores<std::int64_t, double>, sparse_scores<std::int64_t, float>,
      sparse_scores<std::int64_t, std::int64_t>, sparse_scores<std::int64_t, std::int32_t>}}};

}  // namespace
}  // namespace credo::naive
