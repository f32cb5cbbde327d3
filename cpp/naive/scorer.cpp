#include "naive/scorer.hpp"

#include <algorithm>
#include <cmath>

#include "naive/loops.hpp"

namespace credo::naive {
namespace {

constexpr std::size_t kTogether = 256;  // rows of a table of several columns, of which few are used
constexpr std::size_t kManyRows = 512;  // from here on the tables of several columns are worth it

}  // namespace

Scorer::Scorer(std::size_t classes)
    : classes_(classes), padded_((classes + kClassUnit - 1) / kClassUnit * kClassUnit) {}

std::vector<double> Scorer::padded_rows(const double* values, std::size_t rows) const {
  std::vector<double> out(rows * padded_);
  for (std::size_t r = 0; r < rows; ++r)
    std::copy(values + r * classes_, values + (r + 1) * classes_, out.data() + r * padded_);
  return out;
}

void Scorer::set_bias(const double* bias) { bias_ = padded_rows(bias, 1); }

// ln N(x) = constant - half (x - centre)^2; nothing in the places that only fill a row.
void Scorer::set_normals(std::size_t n, const double* mean, const double* variance) {
  constexpr double kTwoPi = 6.283185307179586;
  n_real_ = n;
  centre_ = padded_rows(mean, n);
  half_.assign(n * padded_, 0.0);
  constant_.assign(n * padded_, 1.0);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t c = 0; c < classes_; ++c) {
      half_[j * padded_ + c] = 0.5 / variance[j * classes_ + c];
      constant_[j * padded_ + c] = kTwoPi * variance[j * classes_ + c];
    }
  loops_for_this_cpu().logarithms(constant_.data(), constant_.size());
  constants_.assign(padded_, 0.0);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t c = 0; c < padded_; ++c)
      constants_[c] += constant_[j * padded_ + c] *= -0.5;
}

void Scorer::set_counts(std::size_t n, const double* weights) {
  n_count_ = n;
  weights_ = padded_rows(weights, n);
  for (const double w : weights_) impossible_words_ |= w == -HUGE_VAL;
}

void Scorer::set_tables(const double* tables, std::size_t rows) {
  given_ = padded_rows(tables, rows);
}

void Scorer::reserve(std::size_t singles) {
  need_.reserve(singles);
  grouping_.times.reserve(singles);
  grouping_.member.reserve(singles);
  for (auto* each : {&group_rows_, &member_rows_, &member_offset_, &grouping_.end})
    each->reserve(singles);
}

void Scorer::need(std::size_t column, std::size_t rows) {
  if (need_.size() <= column) {
    need_.resize(column + 1, 0);
    grouping_.times.resize(column + 1, 1);
  }
  need_[column] = static_cast<std::int64_t>(rows);
}

void Scorer::add_single(std::size_t column, std::size_t rows, bool together) {
  need(column, rows);
  const bool joins = together && !group_rows_.empty() && group_rows_.back() * rows <= kTogether;
  if (joins) {
    const std::size_t first = grouping_.end.size() > 1 ? grouping_.end[grouping_.end.size() - 2] : 0;
    for (std::size_t m = first; m < grouping_.member.size(); ++m)
      grouping_.times[grouping_.member[m]] *= static_cast<std::uint16_t>(rows);
    group_rows_.back() *= rows;
    ++grouping_.end.back();
  } else {
    group_rows_.push_back(rows);
    grouping_.end.push_back(grouping_.member.size() + 1);
  }
  grouping_.member.push_back(static_cast<std::uint32_t>(column));
  member_rows_.push_back(rows);
  member_offset_.push_back(at_ * padded_);
  at_ += rows;
  singles_end_ = at_ * padded_;
}

void Scorer::add_pair(std::size_t a, std::size_t b, std::size_t rows_a, std::size_t rows_b) {
  need(a, rows_a);
  need(b, rows_b);
  pair_a_.push_back(static_cast<std::uint32_t>(a));
  pair_b_.push_back(static_cast<std::uint32_t>(b));
  pair_rows_.push_back(static_cast<std::uint32_t>(rows_b));
  pair_offset_.push_back(at_ * padded_);  // counted from the given tables
  at_ += rows_a * rows_b;
}

void Scorer::multiply_out() {
  if (multiplied_) return;
  std::size_t size = 0;
  for (const std::size_t rows : group_rows_) size += rows * padded_;
  tables_.reserve(size + given_.size() - singles_end_);
  std::vector<double> held, both;
  for (std::size_t g = 0, m = 0; g < group_rows_.size(); ++g) {
    held.clear();
    for (; m < grouping_.end[g]; ++m) {
      const double* own = given_.data() + member_offset_[m];
      const std::size_t rows = member_rows_[m], before = held.size() / padded_;
      if (before == 0) {
        held.assign(own, own + rows * padded_);
        continue;
      }
      both.resize(before * rows * padded_);
      for (std::size_t i = 0; i < before; ++i)
        for (std::size_t r = 0; r < rows; ++r)
          for (std::size_t c = 0; c < padded_; ++c)
            both[(i * rows + r) * padded_ + c] = held[i * padded_ + c] + own[r * padded_ + c];
      held.swap(both);
    }
    offset_.push_back(tables_.size());
    tables_.insert(tables_.end(), held.begin(), held.end());
  }
  for (std::size_t& offset : pair_offset_) offset = offset - singles_end_ + tables_.size();
  tables_.insert(tables_.end(), given_.begin() + static_cast<std::ptrdiff_t>(singles_end_),
                 given_.end());
  multiplied_ = true;
}

ScoreTerms Scorer::terms(std::size_t n_rows) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (n_rows >= kManyRows || !pair_a_.empty()) multiply_out();
  const bool loose = !multiplied_;
  return {padded_,
          bias_.data(),
          grouping_.end.size(),
          offset_.data(),
          loose ? grouping_.member.data() : nullptr,
          grouping_.end.data(),
          member_offset_.data(),
          pair_a_.size(),
          pair_a_.data(),
          pair_b_.data(),
          pair_rows_.data(),
          pair_offset_.data(),
          loose ? given_.data() : tables_.data(),
          n_real_,
          centre_.data(),
          half_.data(),
          constant_.data(),
          constants_.data(),
          n_count_,
          weights_.data(),
          impossible_words_};
}

}  // namespace credo::naive
