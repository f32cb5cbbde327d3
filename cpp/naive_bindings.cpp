// Naive Bayes of credo._core. Columns may have any stride and any number type (they are only read);
// everything else comes contiguous and of the exact type, as in bindings.cpp.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cmath>

#include "naive_binding_arrays.hpp"
#include "naive_fit.hpp"
#include "naive_predict.hpp"

namespace credo::binding {

using namespace nb::literals;

namespace {

using naive::Cells;
using naive::CellType;
using naive::CodeColumn;
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

// The totals [groups][columns], and whether all counts were finite and not negative.
nb::tuple class_totals(const std::vector<Column>& columns, const Group& group, std::int64_t groups,
                       const std::optional<Reals>& weights, int threads) {
  const naive::ClassRows rows = class_rows(group, groups, threads);
  same_rows(columns, rows.n_rows);
  if (weights) require(weights->size() == rows.n_rows, "There must be one weight for each row.");
  std::vector<Cells> cells;
  for (const Column& column : columns) cells.push_back(cells_of(column));
  NewArray<double> totals({rows.groups, cells.size()});
  bool wrong;
  {
    const nb::gil_scoped_release release;
    wrong = naive::class_totals(cells, rows, weights ? weights->data() : nullptr, threads,
                                totals.data());
  }
  return nb::make_tuple(totals.release(), !wrong);
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
           const Matrix& centre, const Matrix& half, const Matrix& constant,
           const std::optional<Matrix>& weights)
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
    constants_.resize(padded_);
    for (std::size_t i = 0; i < constant_.size(); ++i) constants_[i % padded_] += constant_[i];
    if (weights) {
      require(weights->shape(1) == classes_, "Every table must have a column for each class.");
      weights_ = padded(weights->data(), weights->shape(0));
      for (const double w : weights_) impossible_words_ |= w == -HUGE_VAL;
    }
    // a code that is part of a pair must stay what it is
    const std::size_t together = pairs.empty() ? kTogether : 1;
    std::size_t at = 0;
    std::vector<double> held;  // the table of the columns that are looked up together
    std::size_t held_rows = 0;
    const auto close = [&] {
      if (held_rows == 0) return;
      offset_.push_back(tables_.size());
      grouping_.end.push_back(grouping_.member.size());
      tables_.insert(tables_.end(), held.begin(), held.end());
      held_rows = 0;
    };
    for (const auto& [column, rows] : singles) {
      require(column >= 0 && rows >= 1, "A term must have a column and rows.");
      need(column, rows);
      const auto r = static_cast<std::size_t>(rows);
      require(at + r <= tables.shape(0), "The tables must have a row for each code of each term.");
      if (held_rows * r > together) close();
      const double* own = given.data() + at * padded_;
      if (held_rows == 0) {
        held.assign(own, own + r * padded_);
        held_rows = r;
      } else {
        std::vector<double> both(held_rows * r * padded_);
        for (std::size_t i = 0; i < held_rows * r; ++i)
          for (std::size_t c = 0; c < padded_; ++c)
            both[i * padded_ + c] = held[i / r * padded_ + c] + own[i % r * padded_ + c];
        for (std::size_t m = grouping_.end.empty() ? 0 : grouping_.end.back();
             m < grouping_.member.size(); ++m)
          grouping_.times[grouping_.member[m]] *= static_cast<std::uint16_t>(r);
        held = std::move(both);
        held_rows *= r;
      }
      grouping_.member.push_back(static_cast<std::uint32_t>(column));
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
                  const std::optional<Matrix>& extra, const std::string& answer, int threads,
                  const std::vector<Column>& counts) const {
    require(threads >= 1 && n_rows >= 0, "The 'threads' parameter must be at least 1.");
    naive::ScoreInput input{code_columns(columns, windows), {}, {}, grouping_, {}, 0, classes_,
                            nullptr};
    input.n_rows = static_cast<std::size_t>(n_rows);
    same_rows(columns, input.n_rows);
    same_rows(reals, input.n_rows);
    same_rows(counts, input.n_rows);
    for (const Column& column : reals) input.reals.push_back(cells_of(column));
    for (const Column& column : counts) input.counts.push_back(cells_of(column));
    require(counts.size() * padded_ == weights_.size(), "There must be a column for each weight.");
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
    input.terms = {padded_,
                   bias_.data(),
                   grouping_.end.size(),
                   offset_.data(),
                   pair_a_.size(),
                   pair_a_.data(),
                   pair_b_.data(),
                   pair_rows_.data(),
                   pair_offset_.data(),
                   tables_.data(),
                   input.reals.size(),
                   centre_.data(),
                   half_.data(),
                   constant_.data(),
                   constants_.data(),
                   input.counts.size(),
                   weights_.data(),
                   impossible_words_};
    const naive::Answer kind = answer_of(answer);
    const bool only_best = kind == naive::Answer::kBest;
    NewArray<std::int64_t> best({only_best ? input.n_rows : 0});
    NewArray<double> out({only_best ? 0 : input.n_rows, classes_});
    naive::Oddities odd;
    std::int64_t bad;
    {
      const nb::gil_scoped_release release;
      bad = naive::score(input, kind, threads, only_best ? nullptr : out.data(),
                         only_best ? best.data() : nullptr, odd);
    }
    nb::object answers = only_best ? best.release() : out.release();
    return nb::make_tuple(answers, bad, positions(odd.unseen), positions(odd.infinite),
                          !odd.no_count);
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
    if (need_.size() <= static_cast<std::size_t>(column)) {
      need_.resize(column + 1, 0);
      grouping_.times.resize(column + 1, 1);
    }
    require(need_[column] == 0 || need_[column] == rows, "The tables of a column differ in rows.");
    need_[column] = rows;
  }

  std::size_t classes_, padded_;
  std::vector<double> bias_, tables_, centre_, half_, constant_, constants_, weights_;
  bool impossible_words_ = false;
  naive::Grouping grouping_;
  static constexpr std::size_t kTogether = 128;  // rows of a table of several columns: 8 KB
  std::vector<std::uint32_t> pair_a_, pair_b_, pair_rows_;
  std::vector<std::size_t> offset_, pair_offset_;
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

}  // namespace

void bind_naive(nb::module_& m) {
  m.def("naive_ranges", &cell_ranges, "columns"_a.noconvert());
  m.def("naive_counts", &class_counts, "columns"_a.noconvert(), "windows"_a, "group"_a.noconvert(),
        "groups"_a, "weights"_a.noconvert().none() = nb::none(), "threads"_a = 1);
  m.def("naive_moments", &class_moments, "columns"_a.noconvert(), "group"_a.noconvert(), "groups"_a,
        "weights"_a.noconvert().none() = nb::none(), "threads"_a = 1);
  m.def("naive_totals", &class_totals, "columns"_a.noconvert(), "group"_a.noconvert(), "groups"_a,
        "weights"_a.noconvert().none() = nb::none(), "threads"_a = 1);
  m.def("naive_finish", &finish, "joint"_a.noconvert(), "answer"_a, "threads"_a = 1);
  nb::class_<PyScorer>(m, "NaiveScorer")
      .def(nb::init<Reals, std::vector<std::array<std::int64_t, 2>>,
                    std::vector<std::array<std::int64_t, 4>>, Matrix, Matrix, Matrix, Matrix,
                    std::optional<Matrix>>(),
           "bias"_a.noconvert(), "singles"_a, "pairs"_a, "tables"_a.noconvert(),
           "centre"_a.noconvert(), "half"_a.noconvert(), "constant"_a.noconvert(),
           "weights"_a.noconvert().none() = nb::none())
      .def("score", &PyScorer::score, "columns"_a.noconvert(), "windows"_a,
           "reals"_a.noconvert(), "n_rows"_a, "extra"_a.noconvert().none() = nb::none(),
           "answer"_a = "posterior", "threads"_a = 1,
           "counts"_a.noconvert() = std::vector<Column>{});
}

}  // namespace credo::binding
