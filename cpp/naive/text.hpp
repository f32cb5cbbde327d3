// Words and bags of words: a vocabulary that grows, and sparse matrices of counts by document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "naive/loops.hpp"

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

inline constexpr int kFetch = 12;  // cells fetched before they are needed: a vocabulary is large

// INOUT totals [groups][n_columns]: sums of w * value, or of w where the value is not 0 with
// `present`, of the rows whose class lies in from ... to - 1. IN group [n_rows] (groups: skipped),
// weights [n_rows] or null. Returns kBadColumn, kBadValue (negative or not finite), both or 0.
template <class Index, class Value>
unsigned sparse_totals(const SparseRows<Index, Value>& rows, const std::uint32_t* group,
                       std::size_t from, std::size_t to, const double* weights, bool present,
                       double* totals) {
  unsigned wrong = 0;
  const Index last = rows.begin[rows.n_rows];
  for (std::size_t r = 0; r < rows.n_rows; ++r) {
    if (group[r] < from || group[r] >= to) continue;
    double* row = totals + group[r] * rows.n_columns;
    const double w = weights == nullptr ? 1.0 : weights[r];
    for (Index i = rows.begin[r]; i < rows.begin[r + 1]; ++i) {
      if (i + kFetch < last) __builtin_prefetch(row + rows.columns[i + kFetch], 1);
      const std::size_t at = static_cast<std::size_t>(rows.columns[i]);
      if (at >= rows.n_columns) {
        wrong |= kBadColumn;
        continue;
      }
      const double v = static_cast<double>(rows.values[i]);
      if (!(v >= 0 && v <= 1.7976931348623157e308)) wrong |= kBadValue;
      row[at] += present ? (v != 0 ? w : 0.0) : w * v;
    }
  }
  return wrong;
}

enum class TextForm : std::uint8_t { kMultinomial, kBernoulli, kComplement };

// The weights of the words: OUT table [words][classes], INOUT bias [classes].
// IN totals [classes][words], weight [classes] of the documents; l [words] is the smoothing.
//   multinomial   ln (n + l) - ln (sum of n + l)
//   Bernoulli     ln (n + l) - ln (d + l - n), bias += sum of ln (d + l - n) - ln (d + 2 l)
//   complement    ln (sum of m) - ln m, with m = n of all other classes + l
void text_table(TextForm form, const double* totals, const double* weight, std::size_t classes,
                std::size_t words, const double* l, double* table, double* bias);

// ln of a kernel density at each x: points in order, each with its weight, Gaussian kernels of
// width h. Never 0: far from all points the nearest ones decide.
// IN x [n] (NaN gives 0: the cell is missing), points and weights [m]; OUT density [n].
void log_kernel_density(const double* x, std::size_t n, const double* points,
                        const double* weights, std::size_t m, double h, double* density);

}  // namespace credo::naive
