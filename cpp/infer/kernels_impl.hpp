// The inner loops of inference, for any vector type L. Included by one file per instruction set,
// which includes every other header first.
#pragma once

namespace credo::infer {
namespace {

template <class L, bool kMax>
struct Fold {
  using V = typename L::V;
  static V with(V sum, V x, V y) {
    if constexpr (kMax) return L::larger(sum, L::times(x, y));
    else return L::fma(x, y, sum);
  }
  static V both(V x, V y) {
    if constexpr (kMax) return L::larger(x, y);
    else return L::plus(x, y);
  }
  static double one(double x, double y) {
    if constexpr (kMax) return x > y ? x : y;
    else return x + y;
  }
};

// The cells of out along the last outer loop.
struct Line {
  const double *a, *b;
  double* out;
  std::size_t count, step_a, step_b, step_out;
  bool add;
};

// Long runs: many vectors of one cell at a time. kOne: a product without a sum.
template <class L, bool kMax, bool kRunA, bool kRunB, bool kOne>
inline void run_along(const Nest& nest, const double* a, const double* b, double* out, bool add) {
  using V = typename L::V;
  using F = Fold<L, kMax>;
  constexpr std::size_t kW = L::kWidth;
  const std::uint32_t *at_a = nest.at_a.data(), *at_b = nest.at_b.data();
  const std::size_t terms = kOne ? 1 : nest.at_a.size(), run = nest.run;
  const auto vectors = [&]<std::size_t kN>(std::size_t r) {
    V s[kN];
    for (std::size_t i = 0; i < kN; ++i) s[i] = L::zero();
    for (std::size_t k = 0; k < terms; ++k) {
      const double *x = a + at_a[k] + (kRunA ? r : 0), *y = b + at_b[k] + (kRunB ? r : 0);
      const V x_all = L::all(*x), y_all = L::all(*y);
      for (std::size_t i = 0; i < kN; ++i)
        s[i] = F::with(s[i], kRunA ? L::load(x + i * kW) : x_all,
                       kRunB ? L::load(y + i * kW) : y_all);
    }
    for (std::size_t i = 0; i < kN; ++i) {
      if (add) s[i] = F::both(s[i], L::load(out + r + i * kW));
      if (r + (i + 1) * kW <= run) L::store(out + r + i * kW, s[i]);
      else L::store_part(out + r + i * kW, s[i], run - r - i * kW);
    }
  };
  std::size_t r = 0;
  for (; r + 8 * kW <= run; r += 8 * kW) vectors.template operator()<8>(r);
  if (r + 4 * kW <= run) vectors.template operator()<4>(r), r += 4 * kW;
  if (r + 2 * kW <= run) vectors.template operator()<2>(r), r += 2 * kW;
  for (; r < run; r += kW) vectors.template operator()<1>(r);
}

// Short runs, of kV vectors: kJ cells of the line at a time, so that sums do not wait for
// themselves. The last vector reads past the end, which is allowed; it stores past the run only
// what the next cell overwrites.
template <class L, bool kMax, bool kRunB, std::size_t kV, std::size_t kJ>
inline void tile_along(const Nest& nest, const Line& line, std::size_t from) {
  using V = typename L::V;
  using F = Fold<L, kMax>;
  constexpr std::size_t kW = L::kWidth;
  const std::uint32_t *at_a = nest.at_a.data(), *at_b = nest.at_b.data();
  const std::size_t terms = nest.at_a.size(), run = nest.run;
  const double *a = line.a + from * line.step_a, *b = line.b + from * line.step_b;
  V s[kJ][kV];
  for (std::size_t j = 0; j < kJ; ++j)
    for (std::size_t v = 0; v < kV; ++v) s[j][v] = L::zero();
  for (std::size_t k = 0; k < terms; ++k) {
    const double *x = a + at_a[k], *y = b + at_b[k];
    for (std::size_t j = 0; j < kJ; ++j) {
      const double *xj = x + j * line.step_a, *yj = y + j * line.step_b;
      const V y_all = L::all(*yj);
      for (std::size_t v = 0; v < kV; ++v)
        s[j][v] = F::with(s[j][v], L::load(xj + v * kW), kRunB ? L::load(yj + v * kW) : y_all);
    }
  }
  double* out = line.out + from * line.step_out;
  const std::size_t rest = run - (kV - 1) * kW;
  const bool spill = !line.add && line.step_out == run;
  for (std::size_t j = 0; j < kJ; ++j, out += line.step_out) {
    if (line.add)
      for (std::size_t v = 0; v < kV; ++v) s[j][v] = F::both(s[j][v], L::load(out + v * kW));
    for (std::size_t v = 0; v + 1 < kV; ++v) L::store(out + v * kW, s[j][v]);
    double* last = out + (kV - 1) * kW;
    if (rest == kW || (j + 1 < kJ && spill)) L::store(last, s[j][kV - 1]);
    else L::store_part(last, s[j][kV - 1], rest);
  }
}

template <class L, bool kMax, bool kRunB, std::size_t kV>
inline void tiles_along(const Nest& nest, const Line& line) {
  constexpr std::size_t kJ = kV <= 2 ? 4 : 2;
  std::size_t j = 0;
  for (; j + kJ <= line.count; j += kJ) tile_along<L, kMax, kRunB, kV, kJ>(nest, line, j);
  if (kJ > 2 && j + 2 <= line.count) tile_along<L, kMax, kRunB, kV, 2>(nest, line, j), j += 2;
  if (j < line.count) tile_along<L, kMax, kRunB, kV, 1>(nest, line, j);
}

// The run is summed. Vectors of even and of odd place go to sums of their own.
template <class L, bool kMax, bool kRunB, std::size_t kJ>
inline void tile_summed(const Nest& nest, const Line& line, std::size_t from) {
  using V = typename L::V;
  using F = Fold<L, kMax>;
  constexpr std::size_t kW = L::kWidth;
  const std::uint32_t *at_a = nest.at_a.data(), *at_b = nest.at_b.data();
  const std::size_t terms = nest.at_a.size(), run = nest.run;
  const double *a = line.a + from * line.step_a, *b = line.b + from * line.step_b;
  V even[kJ], odd[kJ], y_all[kJ];
  for (std::size_t j = 0; j < kJ; ++j) even[j] = odd[j] = L::zero();
  for (std::size_t k = 0; k < terms; ++k) {
    const double *x = a + at_a[k], *y = b + at_b[k];
    if constexpr (!kRunB)
      for (std::size_t j = 0; j < kJ; ++j) y_all[j] = L::all(y[j * line.step_b]);
    const auto get_y = [&](std::size_t j, std::size_t r) {
      return kRunB ? L::load(y + j * line.step_b + r) : y_all[j];
    };
    std::size_t r = 0;
    for (; r + 2 * kW <= run; r += 2 * kW)
      for (std::size_t j = 0; j < kJ; ++j) {
        const double* xj = x + j * line.step_a + r;
        even[j] = F::with(even[j], L::load(xj), get_y(j, r));
        odd[j] = F::with(odd[j], L::load(xj + kW), get_y(j, r + kW));
      }
    if (r + kW <= run) {
      for (std::size_t j = 0; j < kJ; ++j)
        even[j] = F::with(even[j], L::load(x + j * line.step_a + r), get_y(j, r));
      r += kW;
    }
    if (r < run)
      for (std::size_t j = 0; j < kJ; ++j)
        odd[j] = F::with(odd[j], L::load_part(x + j * line.step_a + r, run - r),
                         kRunB ? L::load_part(y + j * line.step_b + r, run - r) : y_all[j]);
  }
  double* out = line.out + from * line.step_out;
  for (std::size_t j = 0; j < kJ; ++j, out += line.step_out) {
    double x[kW];
    L::store(x, F::both(even[j], odd[j]));
    double total = x[0];
    if constexpr (kW == 2) total = F::one(x[0], x[1]);
    if constexpr (kW == 4) total = F::one(F::one(x[0], x[1]), F::one(x[2], x[3]));
    *out = line.add ? F::one(*out, total) : total;
  }
}

// Calls sweep(line) for the outer cells begin..end, and again for each further part of their sums.
template <class Sweep>
inline void for_lines(const Nest& nest, const double* a, const double* b, double* out,
                      std::size_t begin, std::size_t end, Sweep&& sweep) {
  constexpr std::size_t kLoops = 64;
  const std::size_t n_loops = nest.outer.size();
  const auto whole = [&](Line line) {
    sweep(line);
    if (nest.again.empty()) return;
    line.add = true;
    std::size_t at[kLoops] = {};
    for (;;) {
      std::size_t d = nest.again.size();
      while (d-- > 0) {
        const Loop& loop = nest.again[d];
        line.a += loop.a;
        line.b += loop.b;
        if (++at[d] < loop.extent) break;
        line.a -= loop.a * loop.extent;
        line.b -= loop.b * loop.extent;
        at[d] = 0;
      }
      if (d == static_cast<std::size_t>(-1)) return;
      sweep(line);
    }
  };
  if (n_loops == 0) {
    if (begin < end) whole({a, b, out, 1, 0, 0, 0, false});
    return;
  }
  std::size_t at[kLoops];
  std::size_t rest = begin;
  for (std::size_t d = n_loops; d-- > 0;) {
    const Loop& loop = nest.outer[d];
    at[d] = rest % loop.extent;
    rest /= loop.extent;
    a += at[d] * loop.a;
    b += at[d] * loop.b;
    out += at[d] * loop.out;
  }
  const Loop last = nest.outer[n_loops - 1];
  std::size_t first = at[n_loops - 1];
  for (std::size_t i = begin; i < end;) {
    const std::size_t count = last.extent - first < end - i ? last.extent - first : end - i;
    whole({a, b, out, count, last.a, last.b, last.out, false});
    i += count;
    a -= first * last.a;
    b -= first * last.b;
    out -= first * last.out;
    first = 0;
    for (std::size_t d = n_loops - 1; d-- > 0;) {
      const Loop& loop = nest.outer[d];
      a += loop.a;
      b += loop.b;
      out += loop.out;
      if (++at[d] < loop.extent) break;
      a -= loop.a * loop.extent;
      b -= loop.b * loop.extent;
      out -= loop.out * loop.extent;
      at[d] = 0;
    }
  }
}

template <class L, bool kMax, bool kRunA, bool kRunB, bool kOne>
void sweep_long(const Nest& nest, const double* a, const double* b, double* out, std::size_t begin,
                std::size_t end) {
  for_lines(nest, a, b, out, begin, end, [&](const Line& line) {
    for (std::size_t j = 0; j < line.count; ++j)
      run_along<L, kMax, kRunA, kRunB, kOne>(nest, line.a + j * line.step_a,
                                             line.b + j * line.step_b,
                                             line.out + j * line.step_out, line.add);
  });
}

template <class L, bool kMax, bool kRunB, std::size_t kV>
void sweep_short(const Nest& nest, const double* a, const double* b, double* out, std::size_t begin,
                 std::size_t end) {
  for_lines(nest, a, b, out, begin, end,
            [&](const Line& line) { tiles_along<L, kMax, kRunB, kV>(nest, line); });
}

template <class L, bool kMax, bool kRunB>
void sweep_summed(const Nest& nest, const double* a, const double* b, double* out,
                  std::size_t begin, std::size_t end) {
  for_lines(nest, a, b, out, begin, end, [&](const Line& line) {
    std::size_t j = 0;
    for (; j + 4 <= line.count; j += 4) tile_summed<L, kMax, kRunB, 4>(nest, line, j);
    if (j + 2 <= line.count) tile_summed<L, kMax, kRunB, 2>(nest, line, j), j += 2;
    if (j < line.count) tile_summed<L, kMax, kRunB, 1>(nest, line, j);
  });
}

template <class L, bool kMax, bool kRunB>
void sweep_along(const Nest& nest, const double* a, const double* b, double* out, std::size_t begin,
                 std::size_t end) {
  constexpr std::size_t kW = L::kWidth;
  switch ((nest.run + kW - 1) / kW) {
    case 1: return sweep_short<L, kMax, kRunB, 1>(nest, a, b, out, begin, end);
    case 2: return sweep_short<L, kMax, kRunB, 2>(nest, a, b, out, begin, end);
    case 3: return sweep_short<L, kMax, kRunB, 3>(nest, a, b, out, begin, end);
    default: break;
  }
  if (nest.at_a.size() == 1) sweep_long<L, kMax, true, kRunB, true>(nest, a, b, out, begin, end);
  else sweep_long<L, kMax, true, kRunB, false>(nest, a, b, out, begin, end);
}

template <class L, bool kMax>
void sweep(const Nest& nest, const double* a, const double* b, double* out, std::size_t begin,
           std::size_t end) {
  if (nest.swapped) {
    const double* other = a;
    a = b;
    b = other;
  }
  if (!nest.run_a) return sweep_long<L, kMax, false, false, false>(nest, a, b, out, begin, end);
  if (nest.run_out) {
    if (nest.run_b) sweep_along<L, kMax, true>(nest, a, b, out, begin, end);
    else sweep_along<L, kMax, false>(nest, a, b, out, begin, end);
  } else {
    if (nest.run_b) sweep_summed<L, kMax, true>(nest, a, b, out, begin, end);
    else sweep_summed<L, kMax, false>(nest, a, b, out, begin, end);
  }
}

template <class L>
void extremes(const double* values, std::size_t cells, std::size_t lanes, double* high,
              double* low) {
  using V = typename L::V;
  constexpr std::size_t kW = L::kWidth;
  const auto one = [&](double x, std::size_t l) {
    if (x > high[l]) high[l] = x;
    if (x > 0 && x < low[l]) low[l] = x;
  };
  if (lanes == 1) {
    V h0 = L::zero(), h1 = h0, l0 = L::all(low[0]), l1 = l0;
    std::size_t i = 0;
    for (; i + 2 * kW <= cells; i += 2 * kW) {
      const V x = L::load(values + i), y = L::load(values + i + kW);
      h0 = L::larger(h0, x);
      h1 = L::larger(h1, y);
      l0 = L::smaller_positive(l0, x);
      l1 = L::smaller_positive(l1, y);
    }
    for (; i < cells; ++i) one(values[i], 0);
    double highs[kW], lows[kW];
    L::store(highs, L::larger(h0, h1));
    L::store(lows, L::smaller_positive(l0, l1));
    for (std::size_t w = 0; w < kW; ++w) {
      if (highs[w] > high[0]) high[0] = highs[w];
      if (lows[w] < low[0]) low[0] = lows[w];
    }
    return;
  }
  std::size_t l = 0;
  for (; l + 2 * kW <= lanes; l += 2 * kW) {
    V h0 = L::load(high + l), h1 = L::load(high + l + kW);
    V l0 = L::load(low + l), l1 = L::load(low + l + kW);
    for (std::size_t c = 0; c < cells; ++c) {
      const V x = L::load(values + c * lanes + l), y = L::load(values + c * lanes + l + kW);
      h0 = L::larger(h0, x);
      h1 = L::larger(h1, y);
      l0 = L::smaller_positive(l0, x);
      l1 = L::smaller_positive(l1, y);
    }
    L::store(high + l, h0);
    L::store(high + l + kW, h1);
    L::store(low + l, l0);
    L::store(low + l + kW, l1);
  }
  for (; l < lanes; ++l)
    for (std::size_t c = 0; c < cells; ++c) one(values[c * lanes + l], l);
}

template <class L>
void offsets(const std::int32_t* codes, std::size_t lanes, const Observed* observed,
             std::size_t n_observed, std::uint32_t* from) {
  for (std::size_t l = 0; l < lanes; ++l) from[l] = 0;
  for (std::size_t i = 0; i < n_observed; ++i) {
    const std::int32_t* column = codes + observed[i].column * lanes;
    const auto stride = static_cast<std::uint32_t>(observed[i].stride);
    for (std::size_t l = 0; l < lanes; ++l)
      from[l] += static_cast<std::uint32_t>(column[l]) * stride;
  }
}

template <class L>
constexpr Kernels infer_kernels_of() {
  return {&sweep<L, false>, &sweep<L, true>, &extremes<L>, &offsets<L>};
}

}  // namespace
}  // namespace credo::infer
