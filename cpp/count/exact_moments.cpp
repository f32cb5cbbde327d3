// Rows are taken in blocks. A column of a block is cut into slices of kSliceBits bits, from its
// greatest value down to the last bit of any:
//
//   x = sum_s slice_s,   slice_s a multiple of 2^unit_s and at most 2^kSliceBits such units
//
// so that the products of two slices, added up over the block, are whole numbers below 2^53 of the
// unit 2^(unit_s + unit_t): the kernel for products of real columns makes no error. Those sums go
// into wide whole numbers. A column of ones gives n and the first sums. Columns of whole numbers
// need one slice, of decimals three. (Ozaki, Ogita, Oishi and Rump 2012, "Error-free
// transformations of matrix multiplication".)
//
// Values too far apart or too far from 1 for slices, and groups of few rows, go number by number.
#include "count/exact_moments.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "common/parallel.hpp"
#include "count/moment_rows.hpp"

namespace credo {
namespace {

using exact::Bits;
using exact::Int128;
using exact::Sizes;
using exact::Window;

constexpr std::size_t kSumRows = 512;
constexpr int kSliceBits = 22;           // 2^22 2^22 512 = 2^53
constexpr std::size_t kFewRows = 4;      // fewer are quicker number by number
constexpr std::size_t kMostSlices = 12;  // of a column
constexpr double kMostSize = 0x1p300;
constexpr int kLeastUnit = -400;  // products of two are far from the least double

// The windows of the three kinds of sums.
struct Windows {
  Window n, first, second;
};

// Sums that are being added to: digits of the windows.
struct DigitSums {
  std::vector<std::int64_t> n, first, second;

  DigitSums() = default;
  DigitSums(const Windows& windows, std::size_t d)
      : n(windows.n.room()),
        first(d * windows.first.room()),
        second(triangle(d) * windows.second.room()) {}

  void clear() {
    for (auto* digits : {&n, &first, &second}) std::fill(digits->begin(), digits->end(), 0);
  }

  void add(const DigitSums& other) {
    const auto plus = [](const std::vector<std::int64_t>& from, std::vector<std::int64_t>& to) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    };
    plus(other.n, n);
    plus(other.first, first);
    plus(other.second, second);
  }
};

// The greatest size among values; `n` is a multiple of kRowUnit.
double greatest(const double* values, std::size_t n) {
  double lanes[kRowUnit] = {};
  for (std::size_t i = 0; i < n; i += kRowUnit) {
    for (std::size_t k = 0; k < kRowUnit; ++k) {
      const double size = std::fabs(values[i + k]);
      lanes[k] = size > lanes[k] ? size : lanes[k];
    }
  }
  return *std::max_element(lanes, lanes + kRowUnit);
}

// ---------------------------------------------------------------- slices

struct Slice {
  std::size_t column;
  int unit;
  double per_unit;  // 2^-unit
};

// The slices of some columns of a block, in the order of the columns.
class Slices {
 public:
  explicit Slices(const LaneKernels& kernels) : kernels_(kernels) {}

  void begin(std::size_t rows) {
    rows_ = rows;
    slices_.clear();
  }

  // Cuts z [rows], which is used up; false where that takes too many slices.
  bool cut(double* z, std::size_t column) {
    double most = greatest(z, rows_);
    if (!(most < kMostSize)) return false;
    int top;
    std::frexp(most, &top);
    const std::size_t before = slices_.size();
    for (int unit = top - kSliceBits; most > 0; unit -= kSliceBits + 1) {
      if (unit < kLeastUnit || slices_.size() - before == kMostSlices) return false;
      const double shift = std::ldexp(1.5, exact::kDoubleBits - 1 + unit);  // its last bit: 2^unit
      most = kernels_.take_slice(z, rows_, shift, next(column, unit));
    }
    return true;
  }

  // A column of ones where there are rows: 1 is a slice.
  void ones(std::size_t rows, std::size_t column) {
    double* out = next(column, 0);
    std::fill(out, out + rows, 1.0);
    std::fill(out + rows, out + rows_, 0.0);
  }

  // Fills up with zeros to a multiple of `unit`.
  std::size_t pad(std::size_t unit) {
    const std::size_t all = padded(slices_.size(), unit);
    make_room(all);
    std::fill(data_.data() + slices_.size() * rows_, data_.data() + all * rows_, 0.0);
    return all;
  }

  const double* data() const { return data_.data(); }
  const std::vector<Slice>& all() const { return slices_; }

 private:
  void make_room(std::size_t slices) {
    if (data_.size() < slices * rows_) data_.resize(std::max(slices * rows_, 2 * data_.size()));
  }

  double* next(std::size_t column, int unit) {
    make_room(slices_.size() + 1);
    double* out = data_.data() + slices_.size() * rows_;
    slices_.push_back({column, unit, std::ldexp(1.0, -unit)});
    return out;
  }

  const LaneKernels& kernels_;
  std::size_t rows_ = 0;
  std::vector<double> data_;
  std::vector<Slice> slices_;
};

// a b = product + rest without an error (Dekker 1971): each is cut into halves of 26 bits.
struct Product {
  double product, rest;
};

Product product_of(double a, double b) {
  constexpr double kCut = 0x1p27 + 1;
  const double ca = kCut * a, cb = kCut * b;
  const double a1 = ca - (ca - a), b1 = cb - (cb - b);
  const double a2 = a - a1, b2 = b - b1;
  const double product = a * b;
  return {product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}

// ---------------------------------------------------------------- blocks

// Adds rows of one group to sums; one for each thread.
class Adder {
 public:
  Adder(const MomentsInput& in, const OrderedRows& ordered, const Windows& windows,
        const LaneKernels& kernels)
      : in_(in), ordered_(ordered), windows_(windows), kernels_(kernels), d_(in.columns.size()),
        left_(kernels), right_(kernels) {}

  // The rows at positions first ... end - 1.
  void add(std::size_t first, std::size_t end, DigitSums& sums) {
    for (; first < end; first += kSumRows) {
      const std::size_t n = std::min(kSumRows, end - first);
      if (n < kFewRows || !add_block(first, n, sums)) add_rows(first, n, sums);
    }
  }

 private:
  bool add_block(std::size_t first, std::size_t n, DigitSums& sums) {
    const std::size_t rows = padded(n, kRowUnit);
    x_.resize(rows);
    left_.begin(rows);
    if (in_.weights == nullptr) {
      for (std::size_t j = 0; j < d_; ++j) {
        read(j, first, n, rows);
        if (!left_.cut(x_.data(), j)) return false;
      }
      left_.ones(n, d_);
      const std::size_t all = left_.pad(kProductTile);
      multiply(left_, left_, all, rows);
      drain(left_, left_, all, sums);
      return true;
    }
    right_.begin(rows);
    w_.assign(rows, 0.0);
    product_.resize(rows);
    rest_.resize(rows);
    for (std::size_t i = 0; i < n; ++i) w_[i] = weight_at(in_, ordered_, first + i);
    for (std::size_t j = 0; j < d_; ++j) {
      read(j, first, n, rows);
      for (std::size_t i = 0; i < rows; ++i) {
        const auto [product, rest] = product_of(w_[i], x_[i]);
        product_[i] = product;
        rest_[i] = rest;
      }
      if (!left_.cut(x_.data(), j)) return false;
      if (!right_.cut(product_.data(), j) || !right_.cut(rest_.data(), j)) return false;
    }
    left_.ones(n, d_);
    if (!right_.cut(w_.data(), d_)) return false;
    const std::size_t n_right = right_.pad(kProductTile);
    multiply(left_, right_, n_right, rows);
    drain(left_, right_, n_right, sums);
    return true;
  }

  void read(std::size_t j, std::size_t first, std::size_t n, std::size_t rows) {
    read_column(in_, ordered_, j, first, n, 0.0, x_.data());
    std::fill(x_.data() + n, x_.data() + rows, 0.0);
  }

  // Products of slices with those of the columns up to their own; where left and right are the same
  // slices, with those up to themselves.
  void multiply(const Slices& left, const Slices& right, std::size_t n_right, std::size_t rows) {
    const std::size_t n_left = left.all().size();
    ends_.resize(n_left);
    for (std::size_t i = 0, end = 0; i < n_left; ++i) {
      while (end < right.all().size() && right.all()[end].column <= left.all()[i].column) ++end;
      ends_[i] = &left == &right ? i + 1 : end;
    }
    products_.assign(n_left * n_right, 0.0);
    kernels_.add_products(left.data(), n_left, right.data(), n_right, rows, ends_.data(),
                          products_.data());
  }

  // Adds the products of slices to the sums that they are part of. Where left and right are the
  // same slices there is the lower triangle alone: two different slices of a column count twice.
  void drain(const Slices& left, const Slices& right, std::size_t n_right, DigitSums& sums) const {
    const bool same = &left == &right;
    for (std::size_t i = 0; i < left.all().size(); ++i) {
      const Slice& a = left.all()[i];
      const double* products = products_.data() + i * n_right;
      for (std::size_t j = 0; j < ends_[i]; ++j) {
        const Slice& b = right.all()[j];
        auto value = static_cast<std::int64_t>(products[j] * a.per_unit * b.per_unit);
        if (same && a.column == b.column && i != j) value *= 2;
        put(value, a.unit + b.unit, a.column, b.column, sums);
      }
    }
  }

  // Adds value 2^unit to the sum of column a times column b <= a; column d is of ones.
  template <class Value>
  void put(Value value, int unit, std::size_t a, std::size_t b, DigitSums& sums) const {
    const auto& [n, first, second] = windows_;
    if (a < d_)
      exact::add(value, second.offset(unit),
                 sums.second.data() + (triangle(a) + b) * second.room());
    else if (b < d_)
      exact::add(value, first.offset(unit), sums.first.data() + b * first.room());
    else
      exact::add(value, n.offset(unit), sums.n.data());
  }

  // Number by number.
  void add_rows(std::size_t first, std::size_t n, DigitSums& sums) {
    row_.resize(d_ + 1);
    for (std::size_t i = first; i < first + n; ++i) {
      for (std::size_t j = 0; j < d_; ++j) {
        double x;
        read_column(in_, ordered_, j, i, 1, 0.0, &x);
        row_[j] = exact::scaled(x);
      }
      row_[d_] = {1, 0};
      const exact::Scaled w =
          in_.weights == nullptr ? exact::Scaled{1, 0} : exact::scaled(weight_at(in_, ordered_, i));
      for (std::size_t a = 0; a <= d_; ++a)
        for (std::size_t b = 0; b <= a; ++b) add_product(w, row_[a], row_[b], a, b, sums);
    }
  }

  void add_product(const exact::Scaled& w, const exact::Scaled& x, const exact::Scaled& y,
                   std::size_t a, std::size_t b, DigitSums& sums) const {
    const Int128 product = static_cast<Int128>(x.mantissa) * y.mantissa;
    const int unit = x.exponent + y.exponent + w.exponent;
    if (product == 0) return;
    if (w.mantissa == 1) {
      put(product, unit, a, b, sums);
      return;
    }
    constexpr int kPart = 53;  // of the 106 bits of a product; times a weight, 106 bits again
    const Int128 low = product & ((Int128{1} << kPart) - 1), high = product >> kPart;
    put(low * w.mantissa, unit, a, b, sums);
    if (high != 0) put(high * w.mantissa, unit + kPart, a, b, sums);
  }

  const MomentsInput& in_;
  const OrderedRows& ordered_;
  const Windows& windows_;
  const LaneKernels& kernels_;
  const std::size_t d_;
  Slices left_, right_;
  std::vector<double> x_, w_, product_, rest_, products_;
  std::vector<std::size_t> ends_;
  std::vector<exact::Scaled> row_;
};

// ---------------------------------------------------------------- all rows

int log_of(std::size_t n) { return static_cast<int>(std::bit_width(n)); }

Windows windows_for(const MomentsInput& in, const OrderedRows& ordered) {
  const std::size_t n = ordered.begin.back(), d = in.columns.size();
  Sizes values, weights;
  const auto see = [&](const double* column, Sizes& sizes) {
    if (ordered.rows.empty()) return sizes.see(column, n);
    double some[kSumRows];
    for (std::size_t first = 0; first < n; first += kSumRows) {
      const std::size_t size = std::min(kSumRows, n - first);
      for (std::size_t i = 0; i < size; ++i) some[i] = column[ordered.rows[first + i]];
      sizes.see(some, size);
    }
  };
  if (!ordered.values.empty()) values.see(ordered.values.data(), n * d);
  else for (const double* column : in.columns) see(column, values);
  if (!values.finite()) throw std::invalid_argument("The columns must hold finite numbers.");
  Bits w{0, 1};
  if (in.weights != nullptr) {
    if (!ordered.weights.empty()) weights.see(ordered.weights.data(), n);
    else see(in.weights, weights);
    w = weights.bits();
  }
  const Bits x = values.bits();
  return {Window::of(w, log_of(n)), Window::of(w + x, log_of(n)), Window::of(w + x + x, log_of(n))};
}

void keep(DigitSums& sums, std::size_t u, const Windows& windows, std::size_t d, ExactMoments& out) {
  out.n.put(u, sums.n.data());
  for (std::size_t j = 0; j < d; ++j)
    out.first.put(u * d + j, sums.first.data() + j * windows.first.room());
  const std::size_t t = triangle(d);
  for (std::size_t j = 0; j < t; ++j)
    out.second.put(u * t + j, sums.second.data() + j * windows.second.room());
}

// So that they can be added to 2^31 more times.
void carry(DigitSums& sums, const Windows& windows) {
  const auto all = [](std::vector<std::int64_t>& digits, std::size_t room) {
    for (std::size_t i = 0; i < digits.size(); i += room) exact::carry(digits.data() + i, room);
  };
  all(sums.n, windows.n.room());
  all(sums.first, windows.first.room());
  all(sums.second, windows.second.room());
}

}  // namespace

ExactMoments exact_moments(const MomentsInput& in, const LaneKernels& kernels, int threads) {
  if (in.n_rows > 0xFFFFFFFF)
    throw std::invalid_argument("moments takes at most 2^32 - 1 rows at a time.");
  const std::size_t d = in.columns.size();
  const OrderedRows ordered = order_rows(in, threads);
  const Windows windows = windows_for(in, ordered);

  ExactMoments out;
  std::vector<std::uint32_t> place(in.n_groups);
  for (std::size_t g = 0; g < in.n_groups; ++g) {
    if (ordered.begin[g] == ordered.begin[g + 1]) continue;
    place[g] = static_cast<std::uint32_t>(out.groups.size());
    out.groups.push_back(static_cast<std::uint32_t>(g));
  }
  const std::size_t groups = out.groups.size();
  out.n = {groups, windows.n};
  out.first = {groups * d, windows.first};
  out.second = {groups * triangle(d), windows.second};

  // A group of one chunk is finished by its task; the parts of a larger group wait until all are
  // there.
  const ChunkPlan plan(ordered.begin);
  std::vector<DigitSums> parts(plan.chunks.size());
  parallel_for(plan.n_runs(), threads, [&](std::size_t run) {
    Adder adder(in, ordered, windows, kernels);
    DigitSums sums(windows, d);
    for (std::size_t i = plan.runs[run]; i < plan.runs[run + 1]; ++i) {
      const Chunk& chunk = plan.chunks[i];
      sums.clear();
      adder.add(chunk.begin, chunk.end, sums);
      if (whole_group(chunk, ordered)) {
        keep(sums, place[chunk.group], windows, d, out);
      } else {
        carry(sums, windows);
        parts[i] = sums;
      }
    }
  });
  for (std::size_t i = 0; i < plan.chunks.size();) {
    const std::size_t g = plan.chunks[i].group;
    const bool pending = !whole_group(plan.chunks[i], ordered);
    DigitSums& sums = parts[i];
    for (++i; i < plan.chunks.size() && plan.chunks[i].group == g; ++i) sums.add(parts[i]);
    if (pending) keep(sums, place[g], windows, d, out);
  }
  for (exact::Numbers* numbers : {&out.n, &out.first, &out.second}) numbers->trim();
  return out;
}

}  // namespace credo
