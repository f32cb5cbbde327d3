// Words and bags of words: a vocabulary that grows, and sparse matrices of counts by document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace credo::naive {

// Words numbered in the order in which they came. Open addressing; letters in one arena.
class Vocabulary {
 public:
  Vocabulary() : slots_(1024, -1) {}
  std::size_t size() const { return begin_.size() - 1; }
  std::string_view word(std::size_t i) const {
    return {letters_.data() + begin_[i], begin_[i + 1] - begin_[i]};
  }
  // The number of a word; of one not known: a new number if `learn`, else -1.
  std::int32_t number(std::string_view word, bool learn);

 private:
  void grow();
  std::vector<std::int32_t> slots_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::size_t> begin_{0};
  std::vector<char> letters_;
};

// Rows of word counts, made document by document; each word of a document once.
class Bags {
 public:
  void add(std::int32_t word) {
    if (static_cast<std::size_t>(word) >= last_.size()) last_.resize(word + std::size_t{1024}, -1);
    const std::int64_t at = last_[word];
    if (at >= begin.back()) {
      ++counts[at];
      return;
    }
    last_[word] = static_cast<std::int64_t>(words.size());
    words.push_back(word);
    counts.push_back(1);
  }
  void end_document() { begin.push_back(static_cast<std::int64_t>(words.size())); }

  std::vector<std::int64_t> begin{0};
  std::vector<std::int32_t> words;
  std::vector<std::int32_t> counts;

 private:
  std::vector<std::int64_t> last_;  // where each word was counted last
};

// A sparse matrix of documents. Index is int32 or int64, Value a number.
template <class Index, class Value>
struct SparseRows {
  const Index* begin;    // IN [n_rows + 1]
  const Index* columns;  // IN [begin[n_rows]], each below n_columns
  const Value* values;   // IN
  std::size_t n_rows, n_columns;
};

inline constexpr int kAhead = 12;  // cells fetched before they are needed: a vocabulary is large

// OUT totals [groups][n_columns], zero on entry: sums by class of w * value, or of w where the value
// is not 0 with `present`. IN group [n_rows] (groups: skipped), weights [n_rows] or null.
template <class Index, class Value>
void sparse_totals(const SparseRows<Index, Value>& rows, const std::uint32_t* group,
                   std::size_t groups, const double* weights, bool present, double* totals) {
  for (std::size_t r = 0; r < rows.n_rows; ++r) {
    if (group[r] >= groups) continue;
    double* row = totals + group[r] * rows.n_columns;
    const double w = weights == nullptr ? 1.0 : weights[r];
    const Index last = rows.begin[rows.n_rows];
    for (Index i = rows.begin[r]; i < rows.begin[r + 1]; ++i) {
      if (i + kAhead < last) __builtin_prefetch(row + rows.columns[i + kAhead], 1);
      const double v = static_cast<double>(rows.values[i]);
      row[rows.columns[i]] += present ? (v != 0 ? w : 0.0) : w * v;
    }
  }
}

// OUT joint [n_rows][classes] = bias + sum value * table[column]. IN table [n_columns][classes].
// kClasses is the number of classes where it is small, so that sums stay in registers; else 0.
template <std::size_t kClasses, class Index, class Value>
void sparse_joint_of(const SparseRows<Index, Value>& rows, std::size_t first, std::size_t end,
                     const double* table, const double* bias, std::size_t n_classes, bool present,
                     double* joint) {
  const std::size_t classes = kClasses > 0 ? kClasses : n_classes;
  const Index last = rows.begin[rows.n_rows];
  for (std::size_t r = first; r < end; ++r) {
    double local[kClasses > 0 ? kClasses : 1];
    double* sum = kClasses > 0 ? local : joint + r * classes;
    for (std::size_t c = 0; c < classes; ++c) sum[c] = bias[c];
    for (Index i = rows.begin[r]; i < rows.begin[r + 1]; ++i) {
      if (i + kAhead < last)
        __builtin_prefetch(table + static_cast<std::size_t>(rows.columns[i + kAhead]) * classes);
      double v = static_cast<double>(rows.values[i]);
      if (v == 0) continue;
      if (present) v = 1;
      const double* row = table + static_cast<std::size_t>(rows.columns[i]) * classes;
      for (std::size_t c = 0; c < classes; ++c) sum[c] += v * row[c];
    }
    if (kClasses > 0)
      for (std::size_t c = 0; c < classes; ++c) joint[r * classes + c] = sum[c];
  }
}

template <class Index, class Value>
void sparse_joint(const SparseRows<Index, Value>& rows, std::size_t first, std::size_t end,
                  const double* table, const double* bias, std::size_t classes, bool present,
                  double* joint) {
  const auto run = [&]<std::size_t kClasses>() {
    sparse_joint_of<kClasses>(rows, first, end, table, bias, classes, present, joint);
  };
  switch (classes) {
    case 2: return run.template operator()<2>();
    case 3: return run.template operator()<3>();
    case 4: return run.template operator()<4>();
    case 5: return run.template operator()<5>();
    case 6: return run.template operator()<6>();
    case 8: return run.template operator()<8>();
    default: return run.template operator()<0>();
  }
}

// ln of a kernel density at each x: points in order, each with its weight, Gaussian kernels of
// width h. Never 0: far from all points the nearest ones decide.
// IN x [n] (NaN gives 0: the cell is missing), points and weights [m]; OUT density [n].
void log_kernel_density(const double* x, std::size_t n, const double* points,
                        const double* weights, std::size_t m, double h, double* density);

}  // namespace credo::naive
