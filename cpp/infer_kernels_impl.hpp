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

// kTerms: terms of the sum, 0 for any number.
template <class L, bool kMax, bool kRunA, bool kRunB, int kTerms>
inline void run_along(const Nest& nest, const double* a, const double* b, double* out, bool add) {
  using V = typename L::V;
  using F = Fold<L, kMax>;
  constexpr std::size_t kW = L::kWidth;
  const std::uint32_t *at_a = nest.at_a.data(), *at_b = nest.at_b.data();
  const std::size_t terms = kTerms > 0 ? kTerms : nest.at_a.size(), run = nest.run;
  const auto get_a = [&](std::size_t k, std::size_t r) {
    return kRunA ? L::load(a + at_a[k] + r) : L::all(a[at_a[k]]);
  };
  const auto get_b = [&](std::size_t k, std::size_t r) {
    return kRunB ? L::load(b + at_b[k] + r) : L::all(b[at_b[k]]);
  };
  std::size_t r = 0;
  for (; r + 4 * kW <= run; r += 4 * kW) {
    V s0 = L::zero(), s1 = s0, s2 = s0, s3 = s0;
    for (std::size_t k = 0; k < terms; ++k) {
      if constexpr (kRunB) {
        s0 = F::with(s0, get_a(k, r), get_b(k, r));
        s1 = F::with(s1, get_a(k, r + kW), get_b(k, r + kW));
        s2 = F::with(s2, get_a(k, r + 2 * kW), get_b(k, r + 2 * kW));
        s3 = F::with(s3, get_a(k, r + 3 * kW), get_b(k, r + 3 * kW));
      } else {
        const V y = get_b(k, r);
        s0 = F::with(s0, get_a(k, r), y);
        s1 = F::with(s1, get_a(k, r + kW), y);
        s2 = F::with(s2, get_a(k, r + 2 * kW), y);
        s3 = F::with(s3, get_a(k, r + 3 * kW), y);
      }
    }
    if (add) {
      s0 = F::both(s0, L::load(out + r));
      s1 = F::both(s1, L::load(out + r + kW));
      s2 = F::both(s2, L::load(out + r + 2 * kW));
      s3 = F::both(s3, L::load(out + r + 3 * kW));
    }
    L::store(out + r, s0);
    L::store(out + r + kW, s1);
    L::store(out + r + 2 * kW, s2);
    L::store(out + r + 3 * kW, s3);
  }
  for (; r + kW <= run; r += kW) {
    V s = L::zero();
    for (std::size_t k = 0; k < terms; ++k) s = F::with(s, get_a(k, r), get_b(k, r));
    if (add) s = F::both(s, L::load(out + r));
    L::store(out + r, s);
  }
  if (r < run) {  // reads past the end, which is allowed, and stores what belongs to the run
    V s = L::zero();
    for (std::size_t k = 0; k < terms; ++k) s = F::with(s, get_a(k, r), get_b(k, r));
    if (add) s = F::both(s, L::load(out + r));
    L::store_part(out + r, s, run - r);
  }
}

template <class L, bool kMax, bool kRunB>
inline void run_summed(const Nest& nest, const double* a, const double* b, double* out, bool add) {
  using V = typename L::V;
  using F = Fold<L, kMax>;
  constexpr std::size_t kW = L::kWidth;
  const std::uint32_t *at_a = nest.at_a.data(), *at_b = nest.at_b.data();
  const std::size_t terms = nest.at_a.size(), run = nest.run;
  V s0 = L::zero(), s1 = s0;
  for (std::size_t k = 0; k < terms; ++k) {
    const double *x = a + at_a[k], *y = b + at_b[k];
    const V y_all = L::all(*y);
    std::size_t r = 0;
    for (; r + 2 * kW <= run; r += 2 * kW) {
      s0 = F::with(s0, L::load(x + r), kRunB ? L::load(y + r) : y_all);
      s1 = F::with(s1, L::load(x + r + kW), kRunB ? L::load(y + r + kW) : y_all);
    }
    for (; r + kW <= run; r += kW)
      s0 = F::with(s0, L::load(x + r), kRunB ? L::load(y + r) : y_all);
    if (r < run)
      s1 = F::with(s1, L::load_part(x + r, run - r),
                   kRunB ? L::load_part(y + r, run - r) : y_all);
  }
  double lanes[kW];
  L::store(lanes, F::both(s0, s1));
  double total = lanes[0];
  for (std::size_t i = 1; i < kW; ++i) total = F::one(total, lanes[i]);
  *out = add ? F::one(*out, total) : total;
}

// Calls cell(a, b, out, add) for each outer cell in begin..end, and again for each further part of
// its sum.
template <class Cell>
inline void for_outer(const Nest& nest, const double* a, const double* b, double* out,
                      std::size_t begin, std::size_t end, Cell&& cell) {
  constexpr std::size_t kLoops = 64;
  const std::size_t step_out = nest.out_per_outer(), n_loops = nest.outer.size();
  out += begin * step_out;
  const auto whole = [&](const double* pa, const double* pb, double* to) {
    cell(pa, pb, to, false);
    if (nest.again.empty()) return;
    std::size_t at[kLoops] = {};
    for (;;) {
      std::size_t d = nest.again.size();
      while (d-- > 0) {
        const Loop& loop = nest.again[d];
        pa += loop.a;
        pb += loop.b;
        if (++at[d] < loop.extent) break;
        pa -= loop.a * loop.extent;
        pb -= loop.b * loop.extent;
        at[d] = 0;
      }
      if (d == static_cast<std::size_t>(-1)) return;
      cell(pa, pb, to, true);
    }
  };
  if (n_loops == 0) {
    if (begin < end) whole(a, b, out);
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
  }
  const Loop last = nest.outer[n_loops - 1];
  std::size_t first = at[n_loops - 1];
  for (std::size_t i = begin; i < end;) {
    const std::size_t count = last.extent - first < end - i ? last.extent - first : end - i;
    const double *pa = a, *pb = b;
    for (std::size_t j = 0; j < count; ++j) {
      whole(pa, pb, out);
      pa += last.a;
      pb += last.b;
      out += step_out;
    }
    i += count;
    a -= first * last.a;
    b -= first * last.b;
    first = 0;
    for (std::size_t d = n_loops - 1; d-- > 0;) {
      const Loop& loop = nest.outer[d];
      a += loop.a;
      b += loop.b;
      if (++at[d] < loop.extent) break;
      a -= loop.a * loop.extent;
      b -= loop.b * loop.extent;
      at[d] = 0;
    }
  }
}

template <class L, bool kMax, bool kRunA, bool kRunB, int kTerms>
void sweep_along(const Nest& nest, const double* a, const double* b, double* out, std::size_t begin,
                 std::size_t end) {
  for_outer(nest, a, b, out, begin, end,
            [&](const double* pa, const double* pb, double* to, bool add) {
              run_along<L, kMax, kRunA, kRunB, kTerms>(nest, pa, pb, to, add);
            });
}

template <class L, bool kMax, bool kRunB>
void sweep_summed(const Nest& nest, const double* a, const double* b, double* out,
                  std::size_t begin, std::size_t end) {
  for_outer(nest, a, b, out, begin, end,
            [&](const double* pa, const double* pb, double* to, bool add) {
              run_summed<L, kMax, kRunB>(nest, pa, pb, to, add);
            });
}

template <class L, bool kMax, bool kRunB>
void sweep_terms(const Nest& nest, const double* a, const double* b, double* out, std::size_t begin,
                 std::size_t end) {
  switch (nest.at_a.size()) {
    case 1: return sweep_along<L, kMax, true, kRunB, 1>(nest, a, b, out, begin, end);
    case 2: return sweep_along<L, kMax, true, kRunB, 2>(nest, a, b, out, begin, end);
    case 3: return sweep_along<L, kMax, true, kRunB, 3>(nest, a, b, out, begin, end);
    case 4: return sweep_along<L, kMax, true, kRunB, 4>(nest, a, b, out, begin, end);
    default: return sweep_along<L, kMax, true, kRunB, 0>(nest, a, b, out, begin, end);
  }
}

template <class L, bool kMax>
void sweep(const Nest& nest, const double* a, const double* b, double* out, std::size_t begin,
           std::size_t end) {
  if (nest.swapped) {
    const double* other = a;
    a = b;
    b = other;
  }
  if (!nest.run_a) return sweep_along<L, kMax, false, false, 0>(nest, a, b, out, begin, end);
  if (nest.run_out) {
    if (nest.run_b) sweep_terms<L, kMax, true>(nest, a, b, out, begin, end);
    else sweep_terms<L, kMax, false>(nest, a, b, out, begin, end);
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
constexpr Kernels infer_kernels_of() {
  return {&sweep<L, false>, &sweep<L, true>, &extremes<L>};
}

}  // namespace
}  // namespace credo::infer
