// The tables of a fitted model as rows are scored by them: padded to whole vectors of classes, and
// columns of few states looked up together in one table, which is multiplied out when many rows
// come. Few rows add the members of a group one after the other: the same sums, to the last bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "naive/predict.hpp"

namespace credo::naive {

class Scorer {
 public:
  explicit Scorer(std::size_t classes);
  std::size_t classes() const { return classes_; }
  std::size_t padded() const { return padded_; }

  // Each takes tables [rows][classes]. A single is looked up by the code of its column, a pair by
  // code[a] * rows_b + code[b]; singles come before pairs.
  void set_bias(const double* bias);
  void set_normals(std::size_t n, const double* mean, const double* variance);
  void set_counts(std::size_t n, const double* weights);
  void set_tables(const double* tables, std::size_t rows);
  void reserve(std::size_t singles);
  void add_single(std::size_t column, std::size_t rows, bool together);
  void add_pair(std::size_t a, std::size_t b, std::size_t rows_a, std::size_t rows_b);

  std::size_t rows_used() const { return at_; }
  std::size_t n_real() const { return n_real_; }
  std::size_t n_count() const { return n_count_; }
  // The codes each column must have; 0 where it is not looked up.
  const std::vector<std::int64_t>& need() const { return need_; }
  const Grouping& grouping() const { return grouping_; }

  // What `n_rows` rows are scored by; lives as long as the scorer.
  ScoreTerms terms(std::size_t n_rows);

 private:
  std::vector<double> padded_rows(const double* values, std::size_t rows) const;
  void need(std::size_t column, std::size_t rows);
  void multiply_out();

  std::size_t classes_, padded_, at_ = 0, n_real_ = 0, n_count_ = 0, singles_end_ = 0;
  std::vector<double> bias_, given_, tables_, centre_, half_, constant_, constants_, weights_;
  bool impossible_words_ = false, multiplied_ = false;
  std::mutex mutex_;
  Grouping grouping_;
  std::vector<std::size_t> group_rows_, member_rows_, member_offset_, offset_, pair_offset_;
  std::vector<std::uint32_t> pair_a_, pair_b_, pair_rows_;
  std::vector<std::int64_t> need_;
};

}  // namespace credo::naive
