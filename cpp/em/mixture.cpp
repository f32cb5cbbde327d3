#include "em/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/parallel.hpp"

namespace credo::mixture {
namespace {

constexpr double kLog2Pi = 1.8378770664093454836;
constexpr std::size_t kMostChunks = 64;
constexpr std::size_t kAbove = 16;  // rows of an inverse root that are taken away at a time
constexpr std::size_t kChunkRows = 16 * kRows;      // at least so many rows in a chunk
constexpr std::size_t kTile = 32;  // rows and columns of a matrix that are turned at a time
constexpr std::size_t kMostDoubles = std::size_t{1} << 24;  // of sums, over all chunks

// What one pattern of missing cells makes of every class: the inverse roots of the observed part
// of the covariances, and the regression of the missing part on it.
struct Pattern {
  std::vector<std::size_t> here, gone;
  std::vector<double> root;      // [k][packed]
  std::vector<double> shift;     // [k][padded p]
  std::vector<double> constant;  // [k]
  std::vector<double> slope;     // [k][gone][p]
  std::vector<double> left;      // [k][gone][gone]: the covariance that is left
  std::vector<double> means;     // [k][p]
};

// OUT inverse [p][p]: R = L^-1 of the covariance s [d][d] of the columns here; ln |L|.
double inverse_root(const double* s, std::size_t d, const std::vector<std::size_t>& here,
                    const Loops& loops, std::vector<double>& upper, std::vector<double>& inverse) {
  const std::size_t p = here.size();
  double log_root = 0;
  for (std::size_t i = 0; i < p; ++i) {  // U_i = (S_i - sum_t<i U_ti U_t) / U_ii, L = U^T
    double* row = upper.data() + i * p;
    for (std::size_t j = i; j < p; ++j) row[j] = s[here[j] * d + here[i]];
    loops.take_rows(row + i, p - i, upper.data() + i, upper.data() + i, p, i);
    if (!(row[i] > 0) || !std::isfinite(row[i])) throw NotPositive{};
    const double side = std::sqrt(row[i]);
    row[i] = side;
    for (std::size_t j = i + 1; j < p; ++j) row[j] /= side;
    log_root += std::log(side);
  }
  for (std::size_t i = 0; i < p; ++i) {  // R_i = (e_i - sum_t<i L_it R_t) / L_ii
    double* row = inverse.data() + i * p;
    std::fill_n(row, i, 0.0);
    for (std::size_t t = 0; t < i; t += kAbove) {  // R_t is 0 beyond its own place
      const std::size_t end = std::min(t + kAbove, i);
      loops.take_rows(row, end, inverse.data() + t * p, upper.data() + t * p + i, p, end - t);
    }
    const double scale = 1 / upper[i * p + i];
    for (std::size_t j = 0; j < i; ++j) row[j] *= scale;
    row[i] = scale;
  }
  return log_root;
}

Pattern factored(const Model& model, const Loops& loops, std::size_t d, const std::uint8_t* seen) {
  Pattern out;
  for (std::size_t j = 0; j < d; ++j) (seen[j] ? out.here : out.gone).push_back(j);
  const std::size_t p = out.here.size(), q = out.gone.size(), packed = packed_size(p);
  out.root.assign(model.k * packed, 0);
  out.shift.assign(model.k * padded(p), 0);
  out.constant.resize(model.k);
  out.slope.assign(model.k * q * p, 0);
  out.left.assign(model.k * q * q, 0);
  out.means.resize(model.k * p);
  std::vector<double> upper, made, half(q * p);
  if (!model.rooted) upper.resize(p * p), made.resize(p * p);
  for (std::size_t c = 0; c < model.k; ++c) {
    const double* s = model.covariances + c * d * d;
    const double* mean = model.means + c * d;
    const double* inverse = s;
    double log_root = 0;
    if (model.rooted) {
      for (std::size_t i = 0; i < p; ++i) log_root -= std::log(s[i * d + i]);
    } else {
      log_root = inverse_root(s, d, out.here, loops, upper, made);
      inverse = made.data();
    }
    double* root = out.root.data() + c * packed;
    double* shift = out.shift.data() + c * padded(p);
    for (std::size_t i = 0; i < p; ++i) {
      double* row = root + packed_place(p, i, 0);
      for (std::size_t j = 0; j <= i; ++j) {
        row[4 * j] = inverse[i * p + j];
        shift[i] += inverse[i * p + j] * mean[out.here[j]];
      }
    }
    out.constant[c] = -0.5 * static_cast<double>(p) * kLog2Pi - log_root;
    for (std::size_t i = 0; i < p; ++i) out.means[c * p + i] = mean[out.here[i]];
    // half = S_mo R^T, slope = half R, left = S_mm - half half^T
    for (std::size_t m = 0; m < q; ++m)
      for (std::size_t i = 0; i < p; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j <= i; ++j)
          sum += s[out.gone[m] * d + out.here[j]] * inverse[i * p + j];
        half[m * p + i] = sum;
      }
    for (std::size_t m = 0; m < q; ++m) {
      double* slope = out.slope.data() + (c * q + m) * p;
      for (std::size_t i = 0; i < p; ++i)
        for (std::size_t j = 0; j <= i; ++j) slope[j] += half[m * p + i] * inverse[i * p + j];
      for (std::size_t l = 0; l < q; ++l) {
        double sum = s[out.gone[m] * d + out.gone[l]];
        for (std::size_t i = 0; i < p; ++i) sum -= half[m * p + i] * half[l * p + i];
        out.left[(c * q + m) * q + l] = sum;
      }
    }
  }
  return out;
}

// The sums of one chunk of rows.
struct Chunk {
  double log_likelihood = 0;
  std::int64_t impossible = 0;
  std::vector<double> mass, counts, first, second;
};

// Walks the rows of one chunk, block by block.
class Walk {
 public:
  Walk(const Rows& rows, const Model& model, const Loops& loops, const std::vector<double>& tables,
       const Pattern* only)
      : rows_(rows), model_(model), loops_(loops), tables_(tables), only_(only),
        classes_(padded(model.k)), joint_(classes_ * kRows), x_(rows.d * kRows),
        weights_(kRows), logs_(kRows), part_mass_(4 * model.k) {
    if (model.joint) z_.resize(padded(rows.d) * kRows), rz_ = z_;
  }

  void sums(std::size_t from, std::size_t to, Chunk& out) {
    out.mass.assign(model_.k, 0);
    out.counts.assign(tables_.size(), 0);
    const std::size_t d = rows_.d;
    out.first.assign(model_.k * d, 0);
    out.second.assign(model_.k * d * (model_.joint ? d : 2), 0);
    if (!model_.joint) moments_.assign(model_.k * d * 12, 0);
    segments(from, to, [&](const Pattern* pattern, std::size_t begin, std::size_t end) {
      std::fill(part_mass_.begin(), part_mass_.end(), 0.0);
      const std::size_t p = pattern ? pattern->here.size() : 0, side = padded(p);
      if (pattern) {
        part_first_.assign(model_.k * side, 0);
        part_second_.assign(model_.k * p * side, 0);
      }
      for (std::size_t at = begin; at < end; at += kRows) {
        const std::size_t n = std::min(kRows, end - at);
        share(pattern, at, n);
        for (std::size_t r = 0; r < n; ++r) {
          if (weights_[r] == 0) continue;
          if (logs_[r] == -std::numeric_limits<double>::infinity()) ++out.impossible;
          else out.log_likelihood += weights_[r] * logs_[r];
        }
        add(pattern, at, n, out);
      }
      for (std::size_t c = 0; c < model_.k; ++c) {
        const double* m = part_mass_.data() + 4 * c;
        const double mass = (m[0] + m[1]) + (m[2] + m[3]);
        out.mass[c] += mass;
        if (pattern) expand(*pattern, c, mass, out);
      }
    });
    if (!model_.joint)
      for (std::size_t i = 0; i < model_.k * d; ++i) {
        const double* m = moments_.data() + 12 * i;
        const auto sum = [&](int t) { return (m[t] + m[t + 1]) + (m[t + 2] + m[t + 3]); };
        const std::size_t c = i / d, j = i % d;
        out.first[i] = sum(4);
        out.second[2 * c * d + j] = sum(8);
        out.second[(2 * c + 1) * d + j] = sum(0);
      }
  }

  void score(std::size_t from, std::size_t to, double* share_out, double* logs) {
    segments(from, to, [&](const Pattern* pattern, std::size_t begin, std::size_t end) {
      for (std::size_t at = begin; at < end; at += kRows) {
        const std::size_t n = std::min(kRows, end - at);
        share(pattern, at, n, true);
        for (std::size_t r = 0; r < n; ++r) {
          logs[at + r] = logs_[r];
          const bool never = logs_[r] == -std::numeric_limits<double>::infinity();
          for (std::size_t c = 0; c < model_.k; ++c)
            share_out[(at + r) * model_.k + c] =
                never ? 1.0 / static_cast<double>(model_.k) : joint_[c * kRows + r];
        }
      }
    });
  }

 private:
  template <class F>
  void segments(std::size_t from, std::size_t to, F&& f) {
    if (!model_.joint) return f(nullptr, from, to);
    const std::int64_t* at = std::upper_bound(rows_.starts, rows_.starts + rows_.patterns + 1,
                                              static_cast<std::int64_t>(from)) - 1;
    for (; from < to; ++at) {
      const std::size_t end = std::min(to, static_cast<std::size_t>(at[1]));
      if (end == from) continue;
      if (only_ != nullptr) {
        f(only_, from, end);
      } else {
        const Pattern pattern =
            factored(model_, loops_, rows_.d,
                     rows_.seen + static_cast<std::size_t>(at - rows_.starts) * rows_.d);
        f(&pattern, from, end);
      }
      from = end;
    }
  }

  static std::size_t in_use(std::size_t n) { return (n + 7) / 8 * 8; }

  // The classes that only fill up a vector.
  void clear_spare() {
    std::fill(joint_.begin() + static_cast<std::ptrdiff_t>(model_.k * kRows), joint_.end(), 0.0);
  }

  // joint_ becomes the share of each class, logs_ and weights_ those of the rows.
  void share(const Pattern* pattern, std::size_t at, std::size_t n, bool plain = false) {
    const std::size_t d = rows_.d, wide = in_use(n);
    for (std::size_t c = 0; c < model_.k; ++c)
      std::fill_n(joint_.data() + c * kRows, wide, model_.log_weights[c]);
    clear_spare();
    for (std::size_t r = 0; r < wide; ++r)
      weights_[r] = r >= n ? 0.0 : plain || rows_.weights == nullptr ? 1.0 : rows_.weights[at + r];
    const std::size_t p = pattern ? pattern->here.size() : d;
    for (std::size_t j = 0; j < p; ++j) {
      const double* from = rows_.reals + (pattern ? pattern->here[j] : j) * rows_.n + at;
      double* to = x_.data() + j * kRows;
      std::copy_n(from, n, to);
      std::fill(to + n, to + wide, 0.0);
    }
    if (rows_.groups > 0)
      loops_.add_tables(rows_.codes + at * rows_.groups, n, rows_.groups, rows_.offset,
                        tables_.data(), classes_, joint_.data());
    for (std::size_t c = 0; c < model_.k; ++c) {
      double* joint = joint_.data() + c * kRows;
      if (pattern) {
        if (p > 0)
          loops_.add_distances(x_.data(), wide, p, pattern->root.data() + c * packed_size(p),
                               pattern->shift.data() + c * padded(p), pattern->constant[c], joint);
        continue;
      }
      const double* terms = model_.covariances + c * 3 * d;
      for (std::size_t j = 0; j < d; ++j)
        loops_.add_column(x_.data() + j * kRows, wide, rows_.seen[j] == 0,
                          model_.means[c * d + j], terms[j], terms[d + j], terms[2 * d + j], joint);
    }
    loops_.share(joint_.data(), wide, model_.k, weights_.data(), logs_.data(), part_mass_.data());
  }

  void add(const Pattern* pattern, std::size_t at, std::size_t n, Chunk& out) {
    if (rows_.groups > 0) {
      clear_spare();
      loops_.add_counts(rows_.codes + at * rows_.groups, n, rows_.groups, rows_.offset, classes_,
                        joint_.data(), out.counts.data());
    }
    const std::size_t d = rows_.d, p = pattern ? pattern->here.size() : d, side = padded(p);
    const std::size_t wide = in_use(n);
    for (std::size_t c = 0; c < model_.k; ++c) {
      const double* r = joint_.data() + c * kRows;
      if (pattern) {
        if (p > 0)
          loops_.add_scatter(x_.data(), wide, r, pattern->means.data() + c * p, p,
                             part_first_.data() + c * side, part_second_.data() + c * p * side,
                             z_.data(), rz_.data());
        continue;
      }
      for (std::size_t j = 0; j < d; ++j)
        loops_.add_moments(x_.data() + j * kRows, wide, rows_.seen[j] == 0, r, model_.means[c * d + j],
                           moments_.data() + (c * d + j) * 12);
    }
  }

  // The sums over the observed cells become those over all: missing cells are a regression on the
  // observed ones, with the covariance that is left.
  void expand(const Pattern& pattern, std::size_t c, double mass, Chunk& out) {
    const std::size_t d = rows_.d, p = pattern.here.size(), q = pattern.gone.size();
    const std::size_t side = padded(p);
    double* first = out.first.data() + c * d;
    double* second = out.second.data() + c * d * d;
    const double* f = part_first_.data() + c * side;
    const double* s = part_second_.data() + c * p * side;
    const auto cell = [&](std::size_t i, std::size_t j) {
      return i >= j ? s[j * side + i] : s[i * side + j];
    };
    for (std::size_t i = 0; i < p; ++i) first[pattern.here[i]] += f[i];
    for (std::size_t bi = 0; bi < p; bi += kTile)  // in squares that stay in the cache
      for (std::size_t bj = 0; bj < p; bj += kTile)
        for (std::size_t i = bi; i < std::min(bi + kTile, p); ++i)
          for (std::size_t j = bj; j < std::min(bj + kTile, p); ++j)
            second[pattern.here[i] * d + pattern.here[j]] += cell(i, j);
    if (q == 0) return;
    cross_.assign(q * p, 0);
    for (std::size_t m = 0; m < q; ++m) {
      const double* slope = pattern.slope.data() + (c * q + m) * p;
      double sum = 0;
      for (std::size_t i = 0; i < p; ++i) {
        sum += slope[i] * f[i];
        double product = 0;
        for (std::size_t j = 0; j < p; ++j) product += slope[j] * cell(j, i);
        cross_[m * p + i] = product;
        second[pattern.gone[m] * d + pattern.here[i]] += product;
        second[pattern.here[i] * d + pattern.gone[m]] += product;
      }
      first[pattern.gone[m]] += sum;
    }
    for (std::size_t m = 0; m < q; ++m)
      for (std::size_t l = 0; l < q; ++l) {
        const double* slope = pattern.slope.data() + (c * q + l) * p;
        double sum = mass * pattern.left[(c * q + m) * q + l];
        for (std::size_t i = 0; i < p; ++i) sum += cross_[m * p + i] * slope[i];
        second[pattern.gone[m] * d + pattern.gone[l]] += sum;
      }
  }

  const Rows& rows_;
  const Model& model_;
  const Loops& loops_;
  const std::vector<double>& tables_;
  const Pattern* only_;
  std::size_t classes_;
  std::vector<double> joint_, x_, weights_, logs_, part_mass_, z_, rz_, moments_;
  std::vector<double> part_first_, part_second_, cross_;
};

// The tables with their classes padded to whole vectors.
std::vector<double> padded_tables(const Rows& rows, const Model& model) {
  const std::size_t classes = padded(model.k);
  const std::size_t n = rows.groups > 0 ? static_cast<std::size_t>(rows.offset[rows.groups]) : 0;
  std::vector<double> out(n * classes);
  for (std::size_t r = 0; r < n; ++r)
    std::copy_n(model.tables + r * model.k, model.k, out.data() + r * classes);
  return out;
}

// How the rows are cut: it depends on the rows and the model, never on the threads.
std::vector<std::size_t> cuts(std::size_t n, std::size_t doubles) {
  const std::size_t blocks = (n + kRows - 1) / kRows;
  std::size_t chunks = std::clamp<std::size_t>(n / kChunkRows, 1, kMostChunks);
  chunks = std::min(chunks, std::max<std::size_t>(4, kMostDoubles / std::max<std::size_t>(doubles, 1)));
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i <= chunks; ++i) out.push_back(std::min(n, blocks * i / chunks * kRows));
  return out;
}

}  // namespace

Sums step(const Rows& rows, const Model& model, const Loops& loops, int threads,
          const std::function<void()>& poll) {
  const std::vector<double> tables = padded_tables(rows, model);
  const std::size_t d = rows.d, k = model.k;
  const std::vector<std::size_t> at = cuts(rows.n, tables.size() + k * d * (model.joint ? d : 2));
  Pattern one;
  const bool only = model.joint && rows.patterns == 1;
  if (only) one = factored(model, loops, d, rows.seen);
  std::vector<Chunk> chunks(at.size() - 1);
  parallel_for(chunks.size(), threads, [&](std::size_t i) {
    poll();
    Walk(rows, model, loops, tables, only ? &one : nullptr).sums(at[i], at[i + 1], chunks[i]);
  });
  Sums out;
  out.mass = std::move(chunks[0].mass);
  out.first = std::move(chunks[0].first);
  out.second = std::move(chunks[0].second);
  std::vector<double> counts = std::move(chunks[0].counts);
  const auto add = [](std::vector<double>& to, const std::vector<double>& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const Chunk& chunk = chunks[i];
    out.log_likelihood += chunk.log_likelihood;
    out.impossible += chunk.impossible;
    if (i == 0) continue;
    add(out.mass, chunk.mass);
    add(counts, chunk.counts);
    add(out.first, chunk.first);
    add(out.second, chunk.second);
  }
  const std::size_t classes = padded(k), n_rows = counts.size() / classes;
  out.counts.resize(n_rows * k);
  for (std::size_t r = 0; r < n_rows; ++r)
    std::copy_n(counts.data() + r * classes, k, out.counts.data() + r * k);
  return out;
}

void score(const Rows& rows, const Model& model, const Loops& loops, int threads, double* share,
           double* logs) {
  const std::vector<double> tables = padded_tables(rows, model);
  const std::vector<std::size_t> at = cuts(rows.n, 1);
  Pattern one;
  const bool only = model.joint && rows.patterns == 1;
  if (only) one = factored(model, loops, rows.d, rows.seen);
  parallel_for(at.size() - 1, threads, [&](std::size_t i) {
    Walk(rows, model, loops, tables, only ? &one : nullptr).score(at[i], at[i + 1], share, logs);
  });
}

}  // namespace credo::mixture
