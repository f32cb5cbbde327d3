// Sparse documents times a table, for one instruction set; included by loops_impl.hpp only.
#include "common/four_doubles.hpp"

namespace credo::naive {
namespace {

constexpr int kAhead = 12;  // cells fetched before they are needed: a vocabulary is large

// N vectors hold the classes, at least half full: a row of the table is read to the end of its last
// vector, into the next row and no further; of the last word there is a copy with room.
template <std::size_t N, class Index, class Value>
unsigned sparse_rows(const SparseTerms& t, std::size_t first, std::size_t end, double* joint) {
  const Index* begin = static_cast<const Index*>(t.begin);
  const Index* columns = static_cast<const Index*>(t.columns);
  const Value* values = static_cast<const Value*>(t.values);
  const std::size_t classes = t.classes, last = t.n_words - 1;
  double final_row[4 * N] = {};
  for (std::size_t c = 0; c < classes && t.n_words > 0; ++c)
    final_row[c] = t.table[last * classes + c];
  double bias[4 * N] = {};
  for (std::size_t c = 0; c < classes; ++c) bias[c] = t.bias[c];
  const Index stop = begin[end];
  unsigned wrong = 0;
  for (std::size_t r = first; r < end; ++r) {
    Four sum[N];
    for (std::size_t k = 0; k < N; ++k) sum[k] = four(bias + 4 * k);
    for (Index i = begin[r]; i < begin[r + 1]; ++i) {
      if (i + kAhead < stop)
        __builtin_prefetch(t.table + static_cast<std::size_t>(columns[i + kAhead]) * classes);
      const std::size_t at = static_cast<std::size_t>(columns[i]);
      if (at >= t.n_words) {
        wrong |= kBadColumn;
        continue;
      }
      double v = static_cast<double>(values[i]);
      if (!(v >= 0 && v <= 1.7976931348623157e308)) wrong |= kBadValue;
      if (v == 0) continue;
      if (t.present) v = 1;
      const double* row = at == last ? final_row : t.table + at * classes;
      for (std::size_t k = 0; k < N; ++k) sum[k] += v * four(row + 4 * k);
    }
    double held[4 * N];
    for (std::size_t k = 0; k < N; ++k) four(held + 4 * k) = sum[k];
    for (std::size_t c = 0; c < classes; ++c) joint[r * classes + c] = held[c];
  }
  return wrong;
}

// Any number of classes.
template <class Index, class Value>
unsigned sparse_wide(const SparseTerms& t, std::size_t first, std::size_t end, double* joint) {
  const Index* begin = static_cast<const Index*>(t.begin);
  const Index* columns = static_cast<const Index*>(t.columns);
  const Value* values = static_cast<const Value*>(t.values);
  unsigned wrong = 0;
  for (std::size_t r = first; r < end; ++r) {
    double* sum = joint + r * t.classes;
    for (std::size_t c = 0; c < t.classes; ++c) sum[c] = t.bias[c];
    for (Index i = begin[r]; i < begin[r + 1]; ++i) {
      const std::size_t at = static_cast<std::size_t>(columns[i]);
      if (at >= t.n_words) {
        wrong |= kBadColumn;
        continue;
      }
      double v = static_cast<double>(values[i]);
      if (!(v >= 0 && v <= 1.7976931348623157e308)) wrong |= kBadValue;
      if (v == 0) continue;
      if (t.present) v = 1;
      const double* row = t.table + at * t.classes;
      for (std::size_t c = 0; c < t.classes; ++c) sum[c] += v * row[c];
    }
  }
  return wrong;
}

template <class Index, class Value>
unsigned sparse_scores(const SparseTerms& t, std::size_t first, std::size_t end, double* joint) {
  if (t.classes == 1) return sparse_wide<Index, Value>(t, first, end, joint);  // a quarter full
  if (t.classes <= 4) return sparse_rows<1, Index, Value>(t, first, end, joint);
  if (t.classes <= 8) return sparse_rows<2, Index, Value>(t, first, end, joint);
  return sparse_wide<Index, Value>(t, first, end, joint);
}

}  // namespace
}  // namespace credo::naive
