// Words and documents of naive Bayes in credo._core: vocabularies, sparse rows, the weights of words;
// and the density of a kernel feature.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <atomic>

#include "naive_binding_arrays.hpp"
#include "naive_text.hpp"
#include "parallel.hpp"

namespace credo::binding {

using namespace nb::literals;

namespace {

class PyVocabulary {
 public:
  PyVocabulary() : kinds_(0x110000, -1) {}

  std::size_t size() const { return words_.size(); }

  nb::list words() const {
    nb::list out;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::string_view w = words_.word(i);
      out.append(nb::steal(PyUnicode_DecodeUTF8(w.data(), static_cast<Py_ssize_t>(w.size()),
                                                "surrogatepass")));
    }
    return out;
  }

  // Documents as rows of word counts; a document is a text, or a list of its words.
  nb::tuple bags(const nb::list& documents, bool learn, std::int64_t shortest, bool lower) {
    naive::Bags bags;
    std::size_t row = 0;
    for (const nb::handle document : documents) {
      if (++row % 4096 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
      if (PyUnicode_Check(document.ptr())) {
        add_text(nb::borrow(document), learn, shortest, lower, bags);
      } else {
        for (const nb::handle token : document) {
          nb::object held;
          const std::int32_t number = words_.number(utf8(token, held), learn);
          if (number >= 0) bags.add(number);
        }
      }
      bags.end_document();
    }
    if (bags.words.size() < 0x7FFFFFFF) {
      const std::vector<std::int32_t> begin(bags.begin.begin(), bags.begin.end());
      return nb::make_tuple(array(begin), array(bags.words), array(bags.counts));
    }
    const std::vector<std::int64_t> words(bags.words.begin(), bags.words.end());
    return nb::make_tuple(array(bags.begin), array(words), array(bags.counts));
  }

  void add(const nb::list& words) {
    for (const nb::handle word : words) {
      nb::object held;
      words_.number(utf8(word, held), true);
    }
  }

 private:
  template <class T>
  static nb::object array(const std::vector<T>& values) {
    NewArray<T> out({values.size()});
    std::copy(values.begin(), values.end(), out.data());
    return out.release();
  }

  static std::string_view utf8(nb::handle text, nb::object& held) {
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

  void add_text(nb::object text, bool learn, std::int64_t shortest, bool lower,
                naive::Bags& bags) {
    nb::object held;
    std::string_view bytes = utf8(text, held);
    bool ascii = true;
    for (const char c : bytes) ascii &= static_cast<unsigned char>(c) < 0x80;
    if (!ascii && lower) {
      text = text.attr("lower")();
      bytes = utf8(text, held);
    }
    word_.clear();
    std::int64_t letters = 0;
    const auto end_word = [&] {
      if (letters >= shortest && letters > 0) {
        const std::int32_t number = words_.number({word_.data(), word_.size()}, learn);
        if (number >= 0) bags.add(number);
      }
      word_.clear();
      letters = 0;
    };
    for (std::size_t i = 0; i < bytes.size();) {
      const unsigned char c = static_cast<unsigned char>(bytes[i]);
      if (c < 0x80) {
        const bool upper = c >= 'A' && c <= 'Z';
        if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_') {
          word_.push_back(static_cast<char>(upper && lower ? c + 32 : c));
          ++letters;
        } else {
          end_word();
        }
        ++i;
        continue;
      }
      const std::size_t n = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
      std::uint32_t point = c & (0xFF >> (n + 1));
      for (std::size_t k = 1; k < n && i + k < bytes.size(); ++k)
        point = (point << 6) | (static_cast<unsigned char>(bytes[i + k]) & 0x3F);
      if (is_letter(point)) {
        word_.insert(word_.end(), bytes.begin() + i, bytes.begin() + std::min(i + n, bytes.size()));
        ++letters;
      } else {
        end_word();
      }
      i += n;
    }
    end_word();
  }

  // Whether Python's str.isalnum says so; asked once for each character.
  bool is_letter(std::uint32_t point) {
    if (point >= kinds_.size()) return false;
    if (kinds_[point] < 0) {
      const nb::object text = nb::steal(PyUnicode_FromOrdinal(static_cast<int>(point)));
      kinds_[point] = nb::cast<bool>(text.attr("isalnum")()) ? 1 : 0;
    }
    return kinds_[point] == 1;
  }

  naive::Vocabulary words_;
  std::vector<std::int8_t> kinds_;
  std::vector<char> word_;
};

// Calls f with the sparse rows in their own types, and the places of these among the loops.
template <class F>
void with_sparse(const AnyVector& begin, const AnyVector& columns, const AnyVector& values,
                 std::size_t n_columns, F&& f) {
  require(begin.size() >= 1 && columns.size() == values.size(), "The sparse rows do not fit.");
  require(begin.dtype() == columns.dtype(), "The sparse indices must be of one type.");
  const auto typed = [&]<class Index>(Index, std::size_t index) {
    const auto* b = static_cast<const Index*>(begin.data());
    const auto* c = static_cast<const Index*>(columns.data());
    require(b[0] == 0 && static_cast<std::size_t>(b[begin.size() - 1]) == columns.size(),
            "The sparse rows do not fit.");
    bool rising = true;
    for (std::size_t r = 0; r + 1 < begin.size(); ++r) rising &= b[r] <= b[r + 1];
    require(rising, "The sparse rows do not fit.");
    const auto valued = [&]<class Value>(Value, std::size_t value) {
      f(naive::SparseRows<Index, Value>{b, c, static_cast<const Value*>(values.data()),
                                        begin.size() - 1, n_columns},
        index, value);
    };
    if (values.dtype() == nb::dtype<double>()) valued(double{}, 0);
    else if (values.dtype() == nb::dtype<float>()) valued(float{}, 1);
    else if (values.dtype() == nb::dtype<std::int64_t>()) valued(std::int64_t{}, 2);
    else if (values.dtype() == nb::dtype<std::int32_t>()) valued(std::int32_t{}, 3);
    else throw std::invalid_argument("The sparse values must be int32, int64 or floats.");
  };
  if (begin.dtype() == nb::dtype<std::int32_t>()) typed(std::int32_t{}, 0);
  else if (begin.dtype() == nb::dtype<std::int64_t>()) typed(std::int64_t{}, 1);
  else throw std::invalid_argument("The sparse indices must be int32 or int64.");
}

// The results of both are pairs: the array, and whether all values were finite and not negative.
nb::tuple sparse_answer(NewArray<double>& array, unsigned wrong) {
  require((wrong & naive::kBadColumn) == 0, "A column of the sparse rows is out of range.");
  return nb::make_tuple(array.release(), (wrong & naive::kBadValue) == 0);
}

nb::tuple sparse_totals(const AnyVector& begin, const AnyVector& columns, const AnyVector& values,
                        std::int64_t n_columns, const Group& group, std::int64_t groups,
                        const std::optional<Reals>& weights, bool present, int threads) {
  require(groups >= 1 && n_columns >= 0 && threads >= 1 && group.size() + 1 == begin.size(),
          "There must be a class for each document.");
  if (weights) require(weights->size() == group.size(), "There must be one weight for each row.");
  const auto k = static_cast<std::size_t>(groups), v = static_cast<std::size_t>(n_columns);
  NewArray<double> totals({k, v});
  std::atomic<unsigned> wrong{0};
  with_sparse(begin, columns, values, v, [&](const auto& rows, std::size_t, std::size_t) {
    const nb::gil_scoped_release release;
    const double* w = weights ? weights->data() : nullptr;
    if (threads == 1) {
      wrong = naive::sparse_totals(rows, group.data(), 0, k, w, present, totals.data());
      return;
    }
    parallel_for(k, threads, [&](std::size_t c) {  // a class has its own row: the same bits
      wrong |= naive::sparse_totals(rows, group.data(), c, c + 1, w, present, totals.data());
    });
  });
  return sparse_answer(totals, wrong);
}

nb::tuple sparse_joint(const AnyVector& begin, const AnyVector& columns, const AnyVector& values,
                       const Matrix& table, const Reals& bias, bool present, int threads) {
  require(table.shape(1) == bias.size() && threads >= 1, "The table must fit the bias.");
  NewArray<double> joint({begin.size() - 1, bias.size()});
  std::atomic<unsigned> wrong{0};
  with_sparse(begin, columns, values, table.shape(0),
              [&](const auto& rows, std::size_t index, std::size_t value) {
                constexpr std::size_t kTask = 4096;
                const naive::SparseTerms terms{rows.begin,     rows.columns,   rows.values,
                                               table.data(),   bias.data(),    rows.n_columns,
                                               bias.size(),    present};
                const auto score = naive::loops_for_this_cpu().sparse_scores[index][value];
                const nb::gil_scoped_release release;
                parallel_for((rows.n_rows + kTask - 1) / kTask, threads, [&](std::size_t task) {
                  wrong |= score(terms, task * kTask, std::min((task + 1) * kTask, rows.n_rows),
                                 joint.data());
                });
              });
  return sparse_answer(joint, wrong);
}

// The weights of the words [words][classes], and what they add to the bias of each class.
nb::tuple text_table(const Matrix& totals, const std::string& form, const Reals& weight,
                     double smoothing) {
  const std::size_t k = totals.shape(0), v = totals.shape(1);
  require(weight.size() == k && smoothing >= 0, "There must be a weight for each class.");
  require(form == "multinomial" || form == "bernoulli" || form == "complement",
          "The 'form' parameter must be 'multinomial', 'bernoulli' or 'complement'.");
  NewArray<double> table({v, k}), bias({k});
  {
    const nb::gil_scoped_release release;
    const naive::TextForm kind = form == "multinomial" ? naive::TextForm::kMultinomial
                                 : form == "bernoulli" ? naive::TextForm::kBernoulli
                                                       : naive::TextForm::kComplement;
    naive::text_table(kind, totals.data(), weight.data(), k, v, smoothing, table.data(),
                      bias.data());
  }
  return nb::make_tuple(table.release(), bias.release());
}

nb::object log_kernel_density(const Reals& x, const Reals& points, const Reals& weights, double h) {
  require(points.size() == weights.size() && points.size() > 0 && h > 0,
          "A kernel density needs points, their weights, and a width above 0.");
  NewArray<double> out({x.size()});
  {
    const nb::gil_scoped_release release;
    naive::log_kernel_density(x.data(), x.size(), points.data(), weights.data(), points.size(), h,
                              out.data());
  }
  return out.release();
}

}  // namespace

void bind_naive_texts(nb::module_& m) {
  m.def("sparse_totals", &sparse_totals, "begin"_a.noconvert(), "columns"_a.noconvert(),
        "values"_a.noconvert(), "n_columns"_a, "group"_a.noconvert(), "groups"_a,
        "weights"_a.noconvert().none() = nb::none(), "present"_a = false, "threads"_a = 1);
  m.def("text_table", &text_table, "totals"_a.noconvert(), "form"_a, "weight"_a.noconvert(),
        "smoothing"_a);
  m.def("sparse_joint", &sparse_joint, "begin"_a.noconvert(), "columns"_a.noconvert(),
        "values"_a.noconvert(), "table"_a.noconvert(), "bias"_a.noconvert(), "present"_a = false,
        "threads"_a = 1);
  m.def("log_kernel_density", &log_kernel_density, "x"_a.noconvert(), "points"_a.noconvert(),
        "weights"_a.noconvert(), "width"_a);
  nb::class_<PyVocabulary>(m, "Vocabulary")
      .def(nb::init<>())
      .def("__len__", &PyVocabulary::size)
      .def("words", &PyVocabulary::words)
      .def("add", &PyVocabulary::add, "words"_a)
      .def("bags", &PyVocabulary::bags, "documents"_a, "learn"_a, "shortest"_a = 1,
           "lower"_a = true);
}

}  // namespace credo::binding
