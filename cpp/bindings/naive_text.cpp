// Documents as rows of word counts, and naive Bayes over them.
//
// Documents are read one at a time, so that a corpus is never held twice. Lone surrogates, which
// UTF-8 has no place for, go through as they are.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/module.hpp"
#include "common/parallel.hpp"
#include "naive/text.hpp"

namespace credo::bindings {
namespace {

// Sparse rows: begin, words, counts; the first two of int32 where that is wide enough.
using SparseIndex = std::variant<Array<std::int32_t>, Array<std::int64_t>>;

bool is_ascii(std::string_view text) {
  bool ascii = true;
  for (const char c : text) ascii &= static_cast<unsigned char>(c) < 0x80;
  return ascii;
}

std::tuple<SparseIndex, SparseIndex, Array<std::int32_t>> sparse_rows(const naive::Bags& bags) {
  if (bags.words.size() < 0x7FFFFFFF)
    return {copied<std::int32_t>(bags.begin, {bags.begin.size()}), copied(bags.words),
            copied(bags.counts)};
  return {copied(bags.begin), copied<std::int64_t>(bags.words, {bags.words.size()}),
          copied(bags.counts)};
}

// Calls f with the sparse rows in their own types, and the places of these among the loops.
template <class F>
void with_sparse(const AnyVector& begin, const AnyVector& columns, const AnyVector& values,
                 std::size_t n_columns, F&& f) {
  require(begin.size() >= 1 && columns.size() == values.size(), "The sparse rows do not fit.");
  require(begin.number() == columns.number(), "The sparse indices must be of one type.");
  const auto typed = [&]<class Index>(Index, std::size_t index) {
    const auto* b = begin.data_as<Index>();
    require(b[0] == 0 && static_cast<std::size_t>(b[begin.size() - 1]) == columns.size(),
            "The sparse rows do not fit.");
    bool rising = true;
    for (std::size_t r = 0; r + 1 < begin.size(); ++r) rising &= b[r] <= b[r + 1];
    require(rising, "The sparse rows do not fit.");
    const auto valued = [&]<class Value>(Value, std::size_t value) {
      f(naive::SparseRows<Index, Value>{b, columns.data_as<Index>(), values.data_as<Value>(),
                                        begin.size() - 1, n_columns},
        index, value);
    };
    if (values.is<double>()) valued(double{}, 0);
    else if (values.is<float>()) valued(float{}, 1);
    else if (values.is<std::int64_t>()) valued(std::int64_t{}, 2);
    else if (values.is<std::int32_t>()) valued(std::int32_t{}, 3);
    else throw std::invalid_argument("The sparse values must be int32, int64 or floats.");
  };
  if (begin.is<std::int32_t>()) typed(std::int32_t{}, 0);
  else if (begin.is<std::int64_t>()) typed(std::int64_t{}, 1);
  else throw std::invalid_argument("The sparse indices must be int32 or int64.");
}

std::tuple<Array<double>, bool> sparse_answer(Array<double> array, unsigned wrong) {
  require((wrong & naive::kBadColumn) == 0, "A column of the sparse rows is out of range.");
  return {std::move(array), (wrong & naive::kBadValue) == 0};
}

// Sums of sparse rows by group [groups][columns], and whether all values were finite and not
// negative. IN begin and columns of one type, int32 or int64; values of int32, int64 or floats.
std::tuple<Array<double>, bool> sparse_totals(const AnyVector& begin, const AnyVector& columns,
                                              const AnyVector& values, std::int64_t n_columns,
                                              const View<const std::uint32_t, 1>& group,
                                              std::int64_t groups,
                                              const std::optional<Reals>& weights, bool present,
                                              int threads) {
  require(groups >= 1 && n_columns >= 0 && threads >= 1 && group.size() + 1 == begin.size(),
          "There must be a class for each document.");
  require(!weights || weights->size() == group.size(), "There must be one weight for each row.");
  const auto k = static_cast<std::size_t>(groups), v = static_cast<std::size_t>(n_columns);
  const double* w = data_or_null(weights);
  Array<double> totals({k, v});
  std::atomic<unsigned> wrong{0};
  with_sparse(begin, columns, values, v, [&](const auto& rows, std::size_t, std::size_t) {
    if (threads == 1) {
      wrong = naive::sparse_totals(rows, group.data(), 0, k, w, present, totals.data());
      return;
    }
    parallel_for(k, threads, [&](std::size_t c) {  // a class has its own row: the same bits
      wrong |= naive::sparse_totals(rows, group.data(), c, c + 1, w, present, totals.data());
    });
  });
  return sparse_answer(std::move(totals), wrong);
}

// bias + Σ value · table[column] for each row, and the same.
std::tuple<Array<double>, bool> sparse_joint(const AnyVector& begin, const AnyVector& columns,
                                             const AnyVector& values, const Matrix& table,
                                             const Reals& bias, bool present, int threads) {
  require(table.shape(1) == bias.size() && threads >= 1, "The table must fit the bias.");
  require(begin.size() >= 1, "The sparse rows do not fit.");
  Array<double> joint({begin.size() - 1, bias.size()});
  std::atomic<unsigned> wrong{0};
  with_sparse(
      begin, columns, values, table.shape(0),
      [&](const auto& rows, std::size_t index, std::size_t value) {
        constexpr std::size_t kTask = 4096;
        const naive::SparseTerms terms{rows.begin,  rows.columns,   rows.values, table.data(),
                                       bias.data(), rows.n_columns, bias.size(), present};
        const auto score = naive::loops_for_this_cpu().sparse_scores[index][value];
        parallel_for((rows.n_rows + kTask - 1) / kTask, threads, [&](std::size_t task) {
          wrong |=
              score(terms, task * kTask, std::min((task + 1) * kTask, rows.n_rows), joint.data());
        });
      });
  return sparse_answer(std::move(joint), wrong);
}

// The weights of the words [words][classes], and what they add to the bias of each class.
std::tuple<Array<double>, Array<double>> text_table(const Matrix& totals, const std::string& form,
                                                    const Reals& weight, const Reals& smoothing) {
  const std::size_t k = totals.shape(0), v = totals.shape(1);
  require(weight.size() == k, "There must be a weight for each class.");
  require(smoothing.size() == v, "Every word needs its smoothing.");
  require(form == "multinomial" || form == "bernoulli" || form == "complement",
          "The 'form' parameter must be 'multinomial', 'bernoulli' or 'complement'.");
  const naive::TextForm kind = form == "multinomial" ? naive::TextForm::kMultinomial
                               : form == "bernoulli" ? naive::TextForm::kBernoulli
                                                     : naive::TextForm::kComplement;
  Array<double> table({v, k}), bias({k});
  naive::text_table(kind, totals.data(), weight.data(), k, v, smoothing.data(), table.data(),
                    bias.data());
  return {std::move(table), std::move(bias)};
}

Array<double> log_kernel_density(const Reals& x, const Reals& points, const Reals& weights,
                                 double width) {
  require(points.size() == weights.size() && points.size() > 0 && width > 0,
          "A kernel density needs points, their weights, and a width above 0.");
  Array<double> out({x.size()});
  naive::log_kernel_density(x.data(), x.size(), points.data(), weights.data(), points.size(), width,
                            out.data());
  return out;
}

// Words, numbered in the order in which they came. Texts are UTF-8.
class Vocabulary {
 public:
  // `is_letter` says whether a code point above ASCII is part of a word; asked once for each.
  explicit Vocabulary(std::function<bool(std::uint32_t)> is_letter)
      : asked_(std::move(is_letter)), kinds_(0x110000, -1) {}

  std::size_t size() const { return words_.size(); }
  std::string_view word(std::size_t i) const { return words_.word(i); }
  void add_word(std::string_view word) { words_.number(word, true); }

  struct Reading {
    bool learn;             // whether new words are added
    std::int64_t shortest;  // letters of a word
    bool lower;             // whether ASCII letters are lowered
  };
  // The words of a text, or one word as it is, counted in a document that is being made.
  void count_text(std::string_view text, const Reading& how, naive::Bags& bags) {
    word_.clear();
    std::int64_t letters = 0;
    const auto end_word = [&] {
      if (letters >= how.shortest && letters > 0)
        count_word({word_.data(), word_.size()}, how.learn, bags);
      word_.clear();
      letters = 0;
    };
    for (std::size_t i = 0; i < text.size();) {
      const unsigned char c = static_cast<unsigned char>(text[i]);
      if (c < 0x80) {
        const bool upper = c >= 'A' && c <= 'Z';
        if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_') {
          word_.push_back(static_cast<char>(upper && how.lower ? c + 32 : c));
          ++letters;
        } else {
          end_word();
        }
        ++i;
        continue;
      }
      const std::size_t n = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
      std::uint32_t point = c & (0xFF >> (n + 1));
      for (std::size_t k = 1; k < n && i + k < text.size(); ++k)
        point = (point << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3F);
      if (is_letter(point)) {
        word_.insert(word_.end(), text.begin() + i, text.begin() + std::min(i + n, text.size()));
        ++letters;
      } else {
        end_word();
      }
      i += n;
    }
    end_word();
  }
  void count_word(std::string_view word, bool learn, naive::Bags& bags) {
    const std::int32_t number = words_.number(word, learn);
    if (number >= 0) bags.add(number);
  }

 private:
  bool is_letter(std::uint32_t point) {
    if (point >= kinds_.size()) return false;
    if (kinds_[point] < 0) kinds_[point] = asked_(point) ? 1 : 0;
    return kinds_[point] == 1;
  }

  naive::Vocabulary words_;
  std::function<bool(std::uint32_t)> asked_;
  std::vector<std::int8_t> kinds_;  // of code points: 1 of a word, 0 not, -1 not asked yet
  std::vector<char> word_;          // that is being read
};

// Whether Python's str.isalnum says so.
bool is_alphanumeric(std::uint32_t point) {
  const nb::object text = nb::steal(PyUnicode_FromOrdinal(static_cast<int>(point)));
  return nb::cast<bool>(text.attr("isalnum")());
}

std::string_view utf8(nb::handle text, nb::object& held) {
  if (!PyUnicode_Check(text.ptr())) throw std::invalid_argument("A word must be a text.");
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (data != nullptr) return {data, static_cast<std::size_t>(size)};
  PyErr_Clear();  // a lone surrogate
  held = text.attr("encode")("utf-8", "surrogatepass");
  char* bytes = nullptr;
  if (PyBytes_AsStringAndSize(held.ptr(), &bytes, &size) != 0) throw nb::python_error();
  return {bytes, static_cast<std::size_t>(size)};
}

nb::list words_of(const Vocabulary& vocabulary) {
  nb::list out;
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const std::string_view w = vocabulary.word(i);
    out.append(nb::steal(
        PyUnicode_DecodeUTF8(w.data(), static_cast<Py_ssize_t>(w.size()), "surrogatepass")));
  }
  return out;
}

void add_words(Vocabulary& vocabulary, const nb::typed<nb::list, nb::str>& words) {
  for (const nb::handle word : words) {
    nb::object held;
    vocabulary.add_word(utf8(word, held));
  }
}

// Documents as rows of word counts; a document is a text, or a list of its words.
auto bags_of(Vocabulary& vocabulary, const nb::typed<nb::list, nb::any>& documents, bool learn, std::int64_t shortest,
             bool lower) {
  naive::Bags bags;
  std::size_t row = 0;
  for (const nb::handle document : documents) {
    if (++row % 4096 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
    nb::object held, lowered;
    if (PyUnicode_Check(document.ptr())) {
      std::string_view text = utf8(document, held);
      if (lower && !is_ascii(text)) {
        lowered = document.attr("lower")();
        text = utf8(lowered, held);
      }
      vocabulary.count_text(text, {learn, shortest, lower}, bags);
    } else {
      for (const nb::handle word : document) vocabulary.count_word(utf8(word, held), learn, bags);
    }
    bags.end_document();
  }
  return sparse_rows(bags);
}

}  // namespace

void bind_documents(nb::module_& m) {
  m.def("sparse_totals", bound(&sparse_totals), "begin"_a, "columns"_a, "values"_a, "n_columns"_a,
        "group"_a, "groups"_a, "weights"_a = nb::none(), "present"_a = false, "threads"_a = 1);
  m.def("sparse_joint", bound(&sparse_joint), "begin"_a, "columns"_a, "values"_a, "table"_a,
        "bias"_a, "present"_a = false, "threads"_a = 1);
  m.def("text_table", bound(&text_table), "totals"_a, "form"_a, "weight"_a, "smoothing"_a);
  m.def("log_kernel_density", bound(&log_kernel_density), "x"_a, "points"_a, "weights"_a,
        "width"_a);
  nb::class_<Vocabulary>(m, "Vocabulary")
      .def("__init__", [](Vocabulary* self) { new (self) Vocabulary(is_alphanumeric); })
      .def("__len__", &Vocabulary::size)
      .def("words", &words_of, nb::sig("def words(self) -> list[str]"))
      .def("add", &add_words, "words"_a)
      .def("bags", &bags_of, "documents"_a, "learn"_a, "shortest"_a = 1, "lower"_a = true);
}

}  // namespace credo::bindings
