// Naive Bayes of credo._core. Columns may have any stride and any number type (they are only read);
// everything else comes contiguous and of the exact type, as in bindings.cpp.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "binding_arrays.hpp"
#include "naive_fit.hpp"
#include "naive_predict.hpp"
#include "naive_text.hpp"
#include "parallel.hpp"

namespace credo::binding {

using namespace nb::literals;

namespace {

using naive::Cells;
using naive::CellType;
using naive::CodeColumn;
using Column = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Group = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Lut = nb::ndarray<const std::uint16_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutMatrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Cells cells_of(const Column& column) {
  const auto is = [&]<class T>(T) { return column.dtype() == nb::dtype<T>(); };
  const auto as = [&](CellType type) {
    return Cells{static_cast<const unsigned char*>(column.data()),
                 column.stride(0) * static_cast<std::ptrdiff_t>(column.itemsize()), type};
  };
  if (is(double{})) return as(CellType::kF64);
  if (is(float{})) return as(CellType::kF32);
  if (is(std::int64_t{})) return as(CellType::kI64);
  if (is(std::int32_t{})) return as(CellType::kI32);
  if (is(std::int16_t{})) return as(CellType::kI16);
  if (is(std::int8_t{})) return as(CellType::kI8);
  if (is(std::uint8_t{}) || is(bool{})) return as(CellType::kU8);
  if (is(std::uint16_t{})) return as(CellType::kU16);
  if (is(std::uint32_t{})) return as(CellType::kU32);
  if (is(std::uint64_t{})) return as(CellType::kU64);
  throw std::invalid_argument("A column must hold integers, floats or booleans.");
}

void same_rows(const std::vector<Column>& columns, std::size_t n) {
  for (const Column& column : columns)
    require(column.shape(0) == n, "Every column must have as many rows as the first.");
}

// The window of a column of states is a tuple: low, span, look-up table or None, code of missing;
// a span of -1 stands for above 0 or not.
std::vector<CodeColumn> code_columns(const std::vector<Column>& columns, const nb::list& windows) {
  require(columns.size() == nb::len(windows), "Every column of states needs its window.");
  std::vector<CodeColumn> out;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const nb::tuple window = nb::cast<nb::tuple>(windows[j]);
    const auto low = nb::cast<std::int64_t>(window[0]);
    const auto span = nb::cast<std::int64_t>(window[1]);
    const auto missing = nb::cast<std::int64_t>(window[3]);
    require(span >= -1 && missing >= 0 && missing < 65535, "A window must have 0..65534 codes.");
    CodeColumn column{cells_of(columns[j]), low, static_cast<std::uint64_t>(std::max<std::int64_t>(span, 0)),
                      nullptr, static_cast<std::uint16_t>(missing), span == -1};
    if (column.above) {
      require(missing == 2, "A column of numbers above 0 or not has two states.");
    } else if (window[2].is_none()) {
      require(span <= missing + 2, "A window without a look-up table must fit its codes.");
    } else {
      const Lut lut = nb::cast<Lut>(window[2], false);
      require(lut.size() == static_cast<std::size_t>(span), "A look-up table must fit its window.");
      bool inside = true;
      for (std::size_t i = 0; i < lut.size(); ++i) inside &= lut.data()[i] <= missing + 1;
      require(inside, "A code of a look-up table is too large.");
      column.lut = lut.data();
    }
    out.push_back(column);
  }
  return out;
}

// ---------------------------------------------------------------- fitting

nb::list cell_ranges(const std::vector<Column>& columns) {
  const std::size_t n_rows = columns.empty() ? 0 : columns[0].shape(0);
  same_rows(columns, n_rows);
  std::vector<Cells> cells;
  for (const Column& column : columns) cells.push_back(cells_of(column));
  std::vector<naive::CellRange> ranges;
  {
    const nb::gil_scoped_release release;
    ranges = naive::cell_ranges(cells, n_rows);
  }
  nb::list out;
  for (const naive::CellRange& r : ranges)
    out.append(nb::make_tuple(r.low, r.high, r.whole, r.missing, r.infinite));
  return out;
}

naive::ClassRows class_rows(const Group& group, std::int64_t groups, int threads) {
  require(groups >= 1, "The 'groups' parameter must be at least 1.");
  require(threads >= 1, "The 'threads' parameter must be at least 1.");
  return {group.data(), static_cast<std::size_t>(groups), group.size()};
}

nb::object class_counts(const std::vector<Column>& columns, const nb::list& windows,
                        const Group& group, std::int64_t groups,
                        const std::optional<AnyVector>& weights, int threads) {
  const naive::ClassRows rows = class_rows(group, groups, threads);
  same_rows(columns, rows.n_rows);
  const std::vector<CodeColumn> codes = code_columns(columns, windows);
  std::size_t size = 0;
  for (const CodeColumn& column : codes) size += rows.groups * (std::size_t{column.missing} + 2);
  if (weights) require(weights->size() == rows.n_rows, "There must be one weight for each row.");
  const auto run = [&]<class Cell>(const Cell* w) -> nb::object {
    NewArray<Cell> table({size});
    {
      const nb::gil_scoped_release release;
      naive::class_counts<Cell>(codes, rows, w, threads, table.data());
    }
    return table.release();
  };
  if (weights && weights->dtype() == nb::dtype<double>())
    return run(static_cast<const double*>(weights->data()));
  if (weights && weights->dtype() != nb::dtype<std::int64_t>())
    throw std::invalid_argument("The 'weights' parameter must be of int64 or float64.");
  return run(weights ? static_cast<const std::int64_t*>(weights->data())
                     : static_cast<const std::int64_t*>(nullptr));
}

nb::tuple class_moments(const std::vector<Column>& columns, const Group& group,
                        std::int64_t groups, const std::optional<Reals>& weights, int threads) {
  const naive::ClassRows rows = class_rows(group, groups, threads);
  same_rows(columns, rows.n_rows);
  if (weights) require(weights->size() == rows.n_rows, "There must be one weight for each row.");
  std::vector<Cells> cells;
  for (const Column& column : columns) cells.push_back(cells_of(column));
  NewArray<double> n({rows.groups, cells.size()}), mean({rows.groups, cells.size()}),
      scatter({rows.groups, cells.size()});
  {
    const nb::gil_scoped_release release;
    naive::class_moments(cells, rows, weights ? weights->data() : nullptr, threads,
                         {n.data(), mean.data(), scatter.data()});
  }
  return nb::make_tuple(n.release(), mean.release(), scatter.release());
}

// ---------------------------------------------------------------- prediction

naive::Answer answer_of(const std::string& text) {
  if (text == "joint") return naive::Answer::kJoint;
  if (text == "log") return naive::Answer::kLogPosterior;
  if (text == "posterior") return naive::Answer::kPosterior;
  if (text == "best") return naive::Answer::kBest;
  throw std::invalid_argument("The 'answer' parameter must be 'joint', 'log', 'posterior' or "
                              "'best', got '" + text + "' instead.");
}

// The tables of a fitted model, padded to whole vectors of classes; kept between calls.
class PyScorer {
 public:
  // singles: (column, rows of the table); pairs: (column a, column b, rows of b); their tables
  // stand one after the other, the singles first.
  PyScorer(const Reals& bias, const std::vector<std::array<std::int64_t, 2>>& singles,
           const std::vector<std::array<std::int64_t, 4>>& pairs, const Matrix& tables,
           const Matrix& centre, const Matrix& half, const Matrix& constant)
      : classes_(bias.size()) {
    const std::size_t unit = naive::kClassUnit;
    padded_ = (classes_ + unit - 1) / unit * unit;
    bias_ = padded(bias.data(), 1);
    require(tables.shape(1) == classes_ && centre.shape(1) == classes_,
            "Every table must have a column for each class.");
    require(half.shape(0) == centre.shape(0) && constant.shape(0) == centre.shape(0) &&
                half.shape(1) == classes_ && constant.shape(1) == classes_,
            "The Gaussian tables must have the same shape.");
    const std::vector<double> given = padded(tables.data(), tables.shape(0));
    centre_ = padded(centre.data(), centre.shape(0));
    half_ = padded(half.data(), half.shape(0));
    constant_ = padded(constant.data(), constant.shape(0));
    std::size_t at = 0;
    std::vector<double> held;  // the table of the columns that are looked up together
    std::size_t held_rows = 0;
    const auto close = [&] {
      if (held_rows == 0) return;
      offset_.push_back(tables_.size());
      group_end_.push_back(member_.size());
      tables_.insert(tables_.end(), held.begin(), held.end());
      held_rows = 0;
    };
    for (const auto& [column, rows] : singles) {
      require(column >= 0 && rows >= 1, "A term must have a column and rows.");
      need(column, rows);
      const auto r = static_cast<std::size_t>(rows);
      require(at + r <= tables.shape(0), "The tables must have a row for each code of each term.");
      if (held_rows * r > kTogether) close();
      const double* own = given.data() + at * padded_;
      if (held_rows == 0) {
        held.assign(own, own + r * padded_);
        held_rows = r;
      } else {
        std::vector<double> both(held_rows * r * padded_);
        for (std::size_t i = 0; i < held_rows * r; ++i)
          for (std::size_t c = 0; c < padded_; ++c)
            both[i * padded_ + c] = held[i / r * padded_ + c] + own[i % r * padded_ + c];
        for (std::size_t m = group_end_.empty() ? 0 : group_end_.back(); m < times_.size(); ++m)
          times_[m] *= static_cast<std::uint32_t>(r);
        held = std::move(both);
        held_rows *= r;
      }
      member_.push_back(static_cast<std::uint32_t>(column));
      times_.push_back(1);
      at += r;
    }
    close();
    const std::size_t singles_end = at * padded_, moved = tables_.size();
    for (const auto& [a, b, rows_a, rows_b] : pairs) {
      require(a >= 0 && b >= 0 && rows_a >= 1 && rows_b >= 1, "A term must have columns and rows.");
      pair_a_.push_back(static_cast<std::uint32_t>(a));
      pair_b_.push_back(static_cast<std::uint32_t>(b));
      pair_rows_.push_back(static_cast<std::uint32_t>(rows_b));
      pair_offset_.push_back(at * padded_ - singles_end + moved);
      need(a, rows_a);
      need(b, rows_b);
      at += static_cast<std::size_t>(rows_a) * static_cast<std::size_t>(rows_b);
    }
    require(at == tables.shape(0), "The tables must have a row for each code of each term.");
    tables_.insert(tables_.end(), given.begin() + static_cast<std::ptrdiff_t>(singles_end),
                   given.end());
  }

  nb::tuple score(const std::vector<Column>& columns, const nb::list& windows,
                  const std::vector<Column>& reals, std::int64_t n_rows,
                  const std::optional<Matrix>& extra, const std::string& answer,
                  int threads) const {
    require(threads >= 1 && n_rows >= 0, "The 'threads' parameter must be at least 1.");
    naive::ScoreInput input{code_columns(columns, windows), {}, {}, 0, classes_, nullptr};
    input.n_rows = static_cast<std::size_t>(n_rows);
    same_rows(columns, input.n_rows);
    same_rows(reals, input.n_rows);
    for (const Column& column : reals) input.reals.push_back(cells_of(column));
    require(reals.size() * padded_ == centre_.size(), "There must be a column for each Gaussian.");
    require(columns.size() >= need_.size(), "There must be a column for each term.");
    for (std::size_t j = 0; j < need_.size(); ++j)
      require(need_[j] == 0 || need_[j] == std::int64_t{input.codes[j].missing} + 2,
              "The codes of a column do not fit its table.");
    if (extra) {
      require(extra->shape(0) == input.n_rows && extra->shape(1) == classes_,
              "The 'extra' parameter must have a row for each row and a column for each class.");
      input.extra = extra->data();
    }
    input.terms = {padded_,          bias_.data(),     0,
                   group_end_.size(), group_end_.data(), member_.data(), times_.data(),
                   offset_.data(),
                   pair_a_.size(),   pair_a_.data(),   pair_b_.data(),
                   pair_rows_.data(), pair_offset_.data(), tables_.data(),
                   0,                0,                centre_.data(),   half_.data(),
                   constant_.data()};
    const naive::Answer kind = answer_of(answer);
    std::vector<char> unseen, infinite;
    if (kind == naive::Answer::kBest) {
      NewArray<std::int64_t> best({input.n_rows});
      std::int64_t bad;
      {
        const nb::gil_scoped_release release;
        bad = naive::score(input, kind, threads, nullptr, best.data(), unseen, infinite);
      }
      return nb::make_tuple(best.release(), bad, positions(unseen), positions(infinite));
    }
    NewArray<double> out({input.n_rows, classes_});
    std::int64_t bad;
    {
      const nb::gil_scoped_release release;
      bad = naive::score(input, kind, threads, out.data(), nullptr, unseen, infinite);
    }
    return nb::make_tuple(out.release(), bad, positions(unseen), positions(infinite));
  }

 private:
  std::vector<double> padded(const double* values, std::size_t rows) const {
    std::vector<double> out(rows * padded_);
    for (std::size_t r = 0; r < rows; ++r)
      std::copy(values + r * classes_, values + (r + 1) * classes_, out.data() + r * padded_);
    return out;
  }
  static nb::list positions(const std::vector<char>& flags) {
    nb::list out;
    for (std::size_t j = 0; j < flags.size(); ++j)
      if (flags[j] != 0) out.append(j);
    return out;
  }
  void need(std::int64_t column, std::int64_t rows) {
    if (need_.size() <= static_cast<std::size_t>(column)) need_.resize(column + 1, 0);
    require(need_[column] == 0 || need_[column] == rows, "The tables of a column differ in rows.");
    need_[column] = rows;
  }

  std::size_t classes_, padded_;
  std::vector<double> bias_, tables_, centre_, half_, constant_;
  static constexpr std::size_t kTogether = 128;  // rows of a table of several columns: 8 KB
  std::vector<std::uint32_t> member_, times_, pair_a_, pair_b_, pair_rows_;
  std::vector<std::size_t> offset_, group_end_, pair_offset_;
  std::vector<std::int64_t> need_;
};

nb::object finish(const OutMatrix& joint, const std::string& answer, int threads) {
  const naive::Answer kind = answer_of(answer);
  const std::size_t n = joint.shape(0), classes = joint.shape(1);
  NewArray<std::int64_t> best({kind == naive::Answer::kBest ? n : 0});
  std::int64_t bad;
  {
    const nb::gil_scoped_release release;
    bad = naive::finish(joint.data(), n, classes, kind, threads, best.data());
  }
  return nb::make_tuple(best.release(), bad);
}

// ---------------------------------------------------------------- text

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

// Calls f with the sparse rows in their own types.
template <class F>
void with_sparse(const AnyVector& begin, const AnyVector& columns, const AnyVector& values,
                 std::size_t n_columns, F&& f) {
  require(begin.size() >= 1 && columns.size() == values.size(), "The sparse rows do not fit.");
  require(begin.dtype() == columns.dtype(), "The sparse indices must be of one type.");
  const auto typed = [&]<class Index>(Index) {
    const auto* b = static_cast<const Index*>(begin.data());
    const auto* c = static_cast<const Index*>(columns.data());
    require(b[0] == 0 && static_cast<std::size_t>(b[begin.size() - 1]) == columns.size(),
            "The sparse rows do not fit.");
    bool rising = true, inside = true;
    for (std::size_t r = 0; r + 1 < begin.size(); ++r) rising &= b[r] <= b[r + 1];
    for (std::size_t i = 0; i < columns.size(); ++i)
      inside &= c[i] >= 0 && static_cast<std::size_t>(c[i]) < n_columns;
    require(rising, "The sparse rows do not fit.");
    require(inside, "A column of the sparse rows is out of range.");
    const auto valued = [&]<class Value>(Value) {
      f(naive::SparseRows<Index, Value>{b, c, static_cast<const Value*>(values.data()),
                                        begin.size() - 1, n_columns});
    };
    if (values.dtype() == nb::dtype<double>()) valued(double{});
    else if (values.dtype() == nb::dtype<float>()) valued(float{});
    else if (values.dtype() == nb::dtype<std::int64_t>()) valued(std::int64_t{});
    else if (values.dtype() == nb::dtype<std::int32_t>()) valued(std::int32_t{});
    else throw std::invalid_argument("The sparse values must be int32, int64 or floats.");
  };
  if (begin.dtype() == nb::dtype<std::int32_t>()) typed(std::int32_t{});
  else if (begin.dtype() == nb::dtype<std::int64_t>()) typed(std::int64_t{});
  else throw std::invalid_argument("The sparse indices must be int32 or int64.");
}

nb::object sparse_totals(const AnyVector& begin, const AnyVector& columns, const AnyVector& values,
                         std::int64_t n_columns, const Group& group, std::int64_t groups,
                         const std::optional<Reals>& weights, bool present) {
  require(groups >= 1 && n_columns >= 0 && group.size() + 1 == begin.size(),
          "There must be a class for each document.");
  if (weights) require(weights->size() == group.size(), "There must be one weight for each row.");
  NewArray<double> totals({static_cast<std::size_t>(groups), static_cast<std::size_t>(n_columns)});
  with_sparse(begin, columns, values, static_cast<std::size_t>(n_columns), [&](const auto& rows) {
    const nb::gil_scoped_release release;
    naive::sparse_totals(rows, group.data(), static_cast<std::size_t>(groups),
                         weights ? weights->data() : nullptr, present, totals.data());
  });
  return totals.release();
}

nb::object sparse_joint(const AnyVector& begin, const AnyVector& columns, const AnyVector& values,
                        const Matrix& table, const Reals& bias, bool present, int threads) {
  require(table.shape(1) == bias.size() && threads >= 1, "The table must fit the bias.");
  NewArray<double> joint({begin.size() - 1, bias.size()});
  with_sparse(begin, columns, values, table.shape(0), [&](const auto& rows) {
    constexpr std::size_t kTask = 4096;
    const nb::gil_scoped_release release;
    parallel_for((rows.n_rows + kTask - 1) / kTask, threads, [&](std::size_t task) {
      naive::sparse_joint(rows, task * kTask, std::min((task + 1) * kTask, rows.n_rows),
                          table.data(), bias.data(), bias.size(), present, joint.data());
    });
  });
  return joint.release();
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

void bind_naive(nb::module_& m) {
  m.def("naive_ranges", &cell_ranges, "columns"_a.noconvert());
  m.def("naive_counts", &class_counts, "columns"_a.noconvert(), "windows"_a, "group"_a.noconvert(),
        "groups"_a, "weights"_a.noconvert().none() = nb::none(), "threads"_a = 1);
  m.def("naive_moments", &class_moments, "columns"_a.noconvert(), "group"_a.noconvert(), "groups"_a,
        "weights"_a.noconvert().none() = nb::none(), "threads"_a = 1);
  m.def("naive_finish", &finish, "joint"_a.noconvert(), "answer"_a, "threads"_a = 1);
  m.def("sparse_totals", &sparse_totals, "begin"_a.noconvert(), "columns"_a.noconvert(),
        "values"_a.noconvert(), "n_columns"_a, "group"_a.noconvert(), "groups"_a,
        "weights"_a.noconvert().none() = nb::none(), "present"_a = false);
  m.def("sparse_joint", &sparse_joint, "begin"_a.noconvert(), "columns"_a.noconvert(),
        "values"_a.noconvert(), "table"_a.noconvert(), "bias"_a.noconvert(), "present"_a = false,
        "threads"_a = 1);
  m.def("log_kernel_density", &log_kernel_density, "x"_a.noconvert(), "points"_a.noconvert(),
        "weights"_a.noconvert(), "width"_a);
  nb::class_<PyScorer>(m, "NaiveScorer")
      .def(nb::init<Reals, std::vector<std::array<std::int64_t, 2>>,
                    std::vector<std::array<std::int64_t, 4>>, Matrix, Matrix, Matrix, Matrix>(),
           "bias"_a.noconvert(), "singles"_a, "pairs"_a, "tables"_a.noconvert(),
           "centre"_a.noconvert(), "half"_a.noconvert(), "constant"_a.noconvert())
      .def("score", &PyScorer::score, "columns"_a.noconvert(), "windows"_a,
           "reals"_a.noconvert(), "n_rows"_a, "extra"_a.noconvert().none() = nb::none(),
           "answer"_a = "posterior", "threads"_a = 1);
  nb::class_<PyVocabulary>(m, "Vocabulary")
      .def(nb::init<>())
      .def("__len__", &PyVocabulary::size)
      .def("words", &PyVocabulary::words)
      .def("add", &PyVocabulary::add, "words"_a)
      .def("bags", &PyVocabulary::bags, "documents"_a, "learn"_a, "shortest"_a = 1,
           "lower"_a = true);
}

}  // namespace credo::binding
