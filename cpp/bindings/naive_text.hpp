// The door to documents: words cut from texts, sparse rows, the weights of words; and the density
// of a kernel feature.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "bindings/arrays.hpp"
#include "naive/text.hpp"

namespace credo::doors {

// Words, numbered in the order in which they came. Texts are UTF-8.
class Vocabulary {
 public:
  // `is_letter` says whether a code point above ASCII is part of a word; asked once for each.
  explicit Vocabulary(std::function<bool(std::uint32_t)> is_letter);

  std::size_t size() const { return words_.size(); }
  std::string_view word(std::size_t i) const { return words_.word(i); }
  void add_word(std::string_view word) { words_.number(word, true); }

  struct Reading {
    bool learn;             // whether new words are added
    std::int64_t shortest;  // letters of a word
    bool lower;             // whether ASCII letters are lowered
  };
  // The words of a text, or one word as it is, counted in a document that is being made.
  void count_text(std::string_view text, const Reading& how, naive::Bags& bags);
  void count_word(std::string_view word, bool learn, naive::Bags& bags);

 private:
  bool is_letter(std::uint32_t point);

  naive::Vocabulary words_;
  std::function<bool(std::uint32_t)> asked_;
  std::vector<std::int8_t> kinds_;  // of code points: 1 of a word, 0 not, -1 not asked yet
  std::vector<char> word_;          // that is being read
};

bool is_ascii(std::string_view text);

// Sparse rows: begin, words, counts; the first two of int32 where that is wide enough.
using SparseIndex = std::variant<Array<std::int32_t>, Array<std::int64_t>>;
std::tuple<SparseIndex, SparseIndex, Array<std::int32_t>> sparse_rows(const naive::Bags& bags);

// Sums of sparse rows by group [groups][columns], and whether all values were finite and not
// negative. IN begin and columns of one type, int32 or int64; values of int32, int64 or floats.
std::tuple<Array<double>, bool> sparse_totals(
    const AnyVector& begin, const AnyVector& columns, const AnyVector& values,
    std::int64_t n_columns, const View<const std::uint32_t, 1>& group, std::int64_t groups,
    const std::optional<Reals>& weights, bool present, int threads);

// bias + Σ value · table[column] for each row, and the same.
std::tuple<Array<double>, bool> sparse_joint(const AnyVector& begin, const AnyVector& columns,
                                             const AnyVector& values, const Matrix& table,
                                             const Reals& bias, bool present, int threads);

// The weights of the words [words][classes], and what they add to the bias of each class.
std::tuple<Array<double>, Array<double>> text_table(const Matrix& totals, const std::string& form,
                                                    const Reals& weight,
                                                    const Reals& smoothing);

Array<double> log_kernel_density(const Reals& x, const Reals& points, const Reals& weights,
                                 double width);

}  // namespace credo::doors
