#include "bindings/naive_text.hpp"

#include <algorithm>
#include <atomic>

#include "common/parallel.hpp"

namespace credo::doors {

// ---------------------------------------------------------------- words

Vocabulary::Vocabulary(std::function<bool(std::uint32_t)> is_letter)
    : asked_(std::move(is_letter)), kinds_(0x110000, -1) {}

void Vocabulary::count_word(std::string_view word, bool learn, naive::Bags& bags) {
  const std::int32_t number = words_.number(word, learn);
  if (number >= 0) bags.add(number);
}

void Vocabulary::count_text(std::string_view text, const Reading& how, naive::Bags& bags) {
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

bool Vocabulary::is_letter(std::uint32_t point) {
  if (point >= kinds_.size()) return false;
  if (kinds_[point] < 0) kinds_[point] = asked_(point) ? 1 : 0;
  return kinds_[point] == 1;
}

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

// ---------------------------------------------------------------- sparse rows

namespace {

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

}  // namespace

std::tuple<Array<double>, bool> sparse_totals(
    const AnyVector& begin, const AnyVector& columns, const AnyVector& values,
    std::int64_t n_columns, const View<const std::uint32_t, 1>& group, std::int64_t groups,
    const std::optional<Reals>& weights, bool present, int threads) {
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

std::tuple<Array<double>, bool> sparse_joint(const AnyVector& begin, const AnyVector& columns,
                                             const AnyVector& values, const Matrix& table,
                                             const Reals& bias, bool present, int threads) {
  require(table.shape(1) == bias.size() && threads >= 1, "The table must fit the bias.");
  require(begin.size() >= 1, "The sparse rows do not fit.");
  Array<double> joint({begin.size() - 1, bias.size()});
  std::atomic<unsigned> wrong{0};
  with_sparse(begin, columns, values, table.shape(0),
              [&](const auto& rows, std::size_t index, std::size_t value) {
                constexpr std::size_t kTask = 4096;
                const naive::SparseTerms terms{rows.begin,     rows.columns,   rows.values,
                                               table.data(),   bias.data(),    rows.n_columns,
                                               bias.size(),    present};
                const auto score = naive::loops_for_this_cpu().sparse_scores[index][value];
                parallel_for((rows.n_rows + kTask - 1) / kTask, threads, [&](std::size_t task) {
                  wrong |= score(terms, task * kTask, std::min((task + 1) * kTask, rows.n_rows),
                                 joint.data());
                });
              });
  return sparse_answer(std::move(joint), wrong);
}

// ---------------------------------------------------------------- weights and densities

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
  naive::log_kernel_density(x.data(), x.size(), points.data(), weights.data(), points.size(),
                            width, out.data());
  return out;
}

}  // namespace credo::doors
