// The loops themselves; the includer says for which instruction set. No standard containers here:
// an inline function compiled with AVX2 must not be the copy the linker keeps for all.
#include "common/four_doubles.hpp"

namespace credo::mixture {
namespace {

constexpr double kFarthest = 1e290;  // a squared distance stays finite, so that classes cancel

void add_distances(const double* x, std::size_t n, std::size_t p, const double* root,
                   const double* shift, double constant, double* joint) {
  for (std::size_t v = 0; v < n; v += 8) {
    Four far0 = all(0), far1 = all(0);
    const double* w = root;
    for (std::size_t b = 0; b < p; b += 4) {
      Four y[4][2];
      for (int i = 0; i < 4; ++i) y[i][0] = y[i][1] = all(-shift[b + i]);
      const std::size_t end = b + 4 < p ? b + 4 : p;
      for (std::size_t j = 0; j < end; ++j, w += 4) {
        const Four x0 = four(x + j * kRows + v), x1 = four(x + j * kRows + v + 4);
        for (int i = 0; i < 4; ++i) {
          y[i][0] += w[i] * x0;
          y[i][1] += w[i] * x1;
        }
      }
      for (int i = 0; i < 4; ++i) {
        far0 += y[i][0] * y[i][0];
        far1 += y[i][1] * y[i][1];
      }
    }
    const Four farthest = all(kFarthest);
    four(joint + v) += constant - 0.5 * (far0 < farthest ? far0 : farthest);
    four(joint + v + 4) += constant - 0.5 * (far1 < farthest ? far1 : farthest);
  }
}

void add_column(const double* x, std::size_t n, bool gaps, double centre, double slope,
                double half, double constant, double* joint) {
  const Four nearest = all(-kFarthest), zero = all(0);
  for (std::size_t v = 0; v < n; v += 4) {
    const Four cell = four(x + v), z = cell - centre;
    Four term = z * (slope - half * z);
    term = constant + (term > nearest ? term : nearest);
    if (gaps) term = cell == cell ? term : zero;
    four(joint + v) += term;
  }
}

template <std::size_t N>
void add_tables_of(const std::uint16_t* codes, std::size_t rows, std::size_t groups,
                   const std::int64_t* offset, const double* tables, double* joint) {
  std::size_t r = 0;
  for (; r + 4 <= rows; r += 4, codes += 4 * groups) {
    Four sum[4][N];
    for (int i = 0; i < 4; ++i)
      for (std::size_t n = 0; n < N; ++n) sum[i][n] = all(0);
    for (std::size_t g = 0; g < groups; ++g) {
      const double* table = tables + offset[g] * std::int64_t{4 * N};
      for (int i = 0; i < 4; ++i) {
        const double* row = table + std::size_t{codes[i * groups + g]} * (4 * N);
        for (std::size_t n = 0; n < N; ++n) sum[i][n] += four(row + 4 * n);
      }
    }
    for (std::size_t n = 0; n < N; ++n) {
      transpose(sum[0][n], sum[1][n], sum[2][n], sum[3][n]);
      for (int i = 0; i < 4; ++i) four(joint + (4 * n + i) * kRows + r) += sum[i][n];
    }
  }
  for (; r < rows; ++r, codes += groups)
    for (std::size_t g = 0; g < groups; ++g) {
      const double* row = tables + (offset[g] + codes[g]) * std::int64_t{4 * N};
      for (std::size_t c = 0; c < 4 * N; ++c) joint[c * kRows + r] += row[c];
    }
}

void add_tables(const std::uint16_t* codes, std::size_t rows, std::size_t groups,
                const std::int64_t* offset, const double* tables, std::size_t classes,
                double* joint) {
  switch (classes / 4) {
    case 1: return add_tables_of<1>(codes, rows, groups, offset, tables, joint);
    case 2: return add_tables_of<2>(codes, rows, groups, offset, tables, joint);
    case 3: return add_tables_of<3>(codes, rows, groups, offset, tables, joint);
    default: break;
  }
  for (std::size_t r = 0; r < rows; ++r, codes += groups)
    for (std::size_t c = 0; c < classes; c += 4) {
      Four sum = all(0);
      for (std::size_t g = 0; g < groups; ++g)
        sum += four(tables + (offset[g] + codes[g]) * static_cast<std::int64_t>(classes) + c);
      for (int i = 0; i < 4; ++i) joint[(c + i) * kRows + r] += sum[i];
    }
}

// ln x for x > 0 that is neither tiny nor infinite: x = 2^e m with m in [sqrt 1/2, sqrt 2),
// s = (m - 1)/(m + 1), ln m = 2 s (1 + s^2/3 + s^4/5 + ...); ten terms leave 2e-17.
inline Four four_logarithms(Four x) {
  constexpr std::int64_t kRoot = 0x3FE6A09E667F3BCD;  // sqrt 1/2
  const FourBits bits = (FourBits)x - kRoot;
  const FourBits e = bits >> 52;
  const Four m = (Four)((FourBits)x - (e << 52));
  const Four power = (Four)(e + 0x4338000000000000) - 6755399441055744.0;  // 1.5 * 2^52
  const Four s = (m - 1.0) / (m + 1.0), q = s * s;
  Four p = all(1.0 / 19);
  p = p * q + 1.0 / 17;
  p = p * q + 1.0 / 15;
  p = p * q + 1.0 / 13;
  p = p * q + 1.0 / 11;
  p = p * q + 1.0 / 9;
  p = p * q + 1.0 / 7;
  p = p * q + 1.0 / 5;
  p = p * q + 1.0 / 3;
  p = p * q + 1.0;
  return power * 6.93147180559945309417e-01 + 2.0 * s * p;
}

void share(double* joint, std::size_t n, std::size_t k, const double* weights, double* logs,
           double* mass) {
  const Four lowest = all(-1.7976931348623157e308), zero = all(0), one = all(1);
  const Four never = all(-__builtin_inf());
  for (std::size_t v = 0; v < n; v += 4) {
    Four top = four(joint + v);
    for (std::size_t c = 1; c < k; ++c) {
      const Four x = four(joint + c * kRows + v);
      top = x > top ? x : top;
    }
    const FourBits can = top >= lowest;
    top = can ? top : zero;
    Four total = zero;
    for (std::size_t c = 0; c < k; ++c) {
      Four& x = four(joint + c * kRows + v);
      x = four_exponentials(x - top);
      total += x;
    }
    total = can ? total : one;
    four(logs + v) = can ? top + four_logarithms(total) : never;
    const Four scale = four(weights + v) / total;
    for (std::size_t c = 0; c < k; ++c) {
      Four& x = four(joint + c * kRows + v);
      x *= scale;
      four(mass + 4 * c) += x;
    }
  }
}

void add_scatter(const double* x, std::size_t n, const double* r, const double* centre,
                 std::size_t p, double* first, double* second, double* z, double* rz) {
  const std::size_t side = padded(p);
  for (std::size_t i = 0; i < p; ++i) {
    Four sum0 = all(0), sum1 = all(0);
    const double m = centre[i];
    for (std::size_t v = 0; v < n; v += 8) {
      const Four z0 = four(x + i * kRows + v) - m, z1 = four(x + i * kRows + v + 4) - m;
      const Four y0 = z0 * four(r + v), y1 = z1 * four(r + v + 4);
      four(z + i * kRows + v) = z0;
      four(z + i * kRows + v + 4) = z1;
      four(rz + i * kRows + v) = y0;
      four(rz + i * kRows + v + 4) = y1;
      sum0 += y0;
      sum1 += y1;
    }
    first[i] += sum_of(sum0 + sum1);
  }
  for (std::size_t i = p; i < side; ++i)
    for (std::size_t v = 0; v < n; ++v) z[i * kRows + v] = rz[i * kRows + v] = 0;
  for (std::size_t i = 0; i < side; i += 4) {
    const double* a = z + i * kRows;
    for (std::size_t j = 0; j < i + 4 && j < p; j += 2) {  // side is even: j + 1 has room
      const double* b = rz + j * kRows;
      Four sum[4][2];
      for (int t = 0; t < 4; ++t) sum[t][0] = sum[t][1] = all(0);
      for (std::size_t v = 0; v < n; v += 4) {
        const Four b0 = four(b + v), b1 = four(b + kRows + v);
        for (int t = 0; t < 4; ++t) {
          const Four at = four(a + t * kRows + v);
          sum[t][0] += at * b0;
          sum[t][1] += at * b1;
        }
      }
      four(second + j * side + i) += sums_of(sum[0][0], sum[1][0], sum[2][0], sum[3][0]);
      if (j + 1 < p)
        four(second + (j + 1) * side + i) += sums_of(sum[0][1], sum[1][1], sum[2][1], sum[3][1]);
    }
  }
}

void add_moments(const double* x, std::size_t n, bool gaps, const double* r, double centre,
                 double* sums) {
  Four there = four(sums), first = four(sums + 4), second = four(sums + 8);
  const Four zero = all(0);
  for (std::size_t v = 0; v < n; v += 4) {
    const Four cell = four(x + v);
    Four w = four(r + v), z = cell - centre;
    if (gaps) {
      w = cell == cell ? w : zero;
      z = cell == cell ? z : zero;
    }
    const Four wz = w * z;
    there += w;
    first += wz;
    second += wz * z;
  }
  four(sums) = there;
  four(sums + 4) = first;
  four(sums + 8) = second;
}

template <std::size_t N>
void add_counts_of(const std::uint16_t* codes, std::size_t rows, std::size_t groups,
                   const std::int64_t* offset, const double* r, double* counts) {
  for (std::size_t at = 0; at < rows; at += 4) {
    Four part[N][4];
    for (std::size_t n = 0; n < N; ++n) {
      for (int i = 0; i < 4; ++i) part[n][i] = four(r + (4 * n + i) * kRows + at);
      transpose(part[n][0], part[n][1], part[n][2], part[n][3]);
    }
    const std::size_t some = rows - at < 4 ? rows - at : 4;
    for (std::size_t i = 0; i < some; ++i, codes += groups)
      for (std::size_t g = 0; g < groups; ++g) {
        double* row = counts + (offset[g] + codes[g]) * std::int64_t{4 * N};
        for (std::size_t n = 0; n < N; ++n) four(row + 4 * n) += part[n][i];
      }
  }
}

void add_counts(const std::uint16_t* codes, std::size_t rows, std::size_t groups,
                const std::int64_t* offset, std::size_t classes, const double* r, double* counts) {
  switch (classes / 4) {
    case 1: return add_counts_of<1>(codes, rows, groups, offset, r, counts);
    case 2: return add_counts_of<2>(codes, rows, groups, offset, r, counts);
    case 3: return add_counts_of<3>(codes, rows, groups, offset, r, counts);
    default: break;
  }
  for (std::size_t at = 0; at < rows; ++at, codes += groups)
    for (std::size_t c = 0; c < classes; c += 4) {
      Four part;
      for (int i = 0; i < 4; ++i) part[i] = r[(c + i) * kRows + at];
      for (std::size_t g = 0; g < groups; ++g)
        four(counts + (offset[g] + codes[g]) * static_cast<std::int64_t>(classes) + c) += part;
    }
}

void take_rows(double* row, std::size_t n, const double* above, const double* by,
               std::size_t stride, std::size_t count) {
  constexpr std::size_t kFours = 8;
  std::size_t j = 0;
  for (; j + 4 * kFours <= n; j += 4 * kFours) {  // stays in registers while rows go by
    Four sum[kFours];
    for (std::size_t i = 0; i < kFours; ++i) sum[i] = four(row + j + 4 * i);
    for (std::size_t t = 0; t < count; ++t) {
      const double times = by[t * stride];
      const double* from = above + t * stride + j;
      for (std::size_t i = 0; i < kFours; ++i) sum[i] -= times * four(from + 4 * i);
    }
    for (std::size_t i = 0; i < kFours; ++i) four(row + j + 4 * i) = sum[i];
  }
  for (std::size_t t = 0; t < count; ++t)
    for (std::size_t i = j; i < n; ++i) row[i] -= by[t * stride] * above[t * stride + i];
}

constexpr Loops kLoops = {add_distances, add_column,  add_tables, share,
                          add_scatter,   add_moments, add_counts, take_rows};

}  // namespace
}  // namespace credo::mixture
