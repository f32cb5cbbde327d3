// Numbers of about 32 digits: the sum of two doubles (Dekker 1971; Joldes, Muller and Popescu 2017).
//
// Products are split with a fused multiply-add where the file that includes this is compiled for one.
#pragma once

#include <cmath>

namespace credo::average {
namespace {  // each file that includes this has functions of its own instruction set

struct Wide {
  double high = 0, low = 0;
};

inline Wide quick_sum(double a, double b) {  // |a| >= |b|
  const double s = a + b;
  return {s, b - (s - a)};
}

inline Wide exact_sum(double a, double b) {
  const double s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

inline Wide exact_product(double a, double b) {
  const double p = a * b;
#ifdef __FMA__
  return {p, __builtin_fma(a, b, -p)};
#else
  constexpr double kSplit = 134217729.0;  // 2^27 + 1
  const double ta = kSplit * a, tb = kSplit * b;
  const double ha = ta - (ta - a), hb = tb - (tb - b);
  const double la = a - ha, lb = b - hb;
  return {p, ((ha * hb - p) + ha * lb + la * hb) + la * lb};
#endif
}

inline Wide operator+(const Wide& a, const Wide& b) {
  Wide s = exact_sum(a.high, b.high);
  const Wide t = exact_sum(a.low, b.low);
  s = quick_sum(s.high, s.low + t.high);
  return quick_sum(s.high, s.low + t.low);
}

inline Wide operator-(const Wide& a) { return {-a.high, -a.low}; }

inline Wide operator*(const Wide& a, const Wide& b) {
  const Wide p = exact_product(a.high, b.high);
  return quick_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

inline Wide operator*(const Wide& a, double power_of_two) {
  return {a.high * power_of_two, a.low * power_of_two};
}

}  // namespace
}  // namespace credo::average
