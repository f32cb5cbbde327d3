// Mixtures: the rows of a table as a mixture sees them, and one pass over them.
#include "em/mixture.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

#include "bindings/module.hpp"

namespace credo::bindings {
namespace {

class MixtureRows {
 public:
  // IN reals [d][n], IN starts [patterns + 1], IN seen [patterns][d], IN codes [n][groups],
  // IN offset [groups + 1], IN weights [n] or none. They are kept.
  MixtureRows(Matrix reals, Ints starts, View<const std::uint8_t, 2> seen,
              View<const std::uint16_t, 2> codes, Ints offset, std::optional<Reals> weights)
      : reals_(std::move(reals)),
        starts_(std::move(starts)),
        seen_(std::move(seen)),
        codes_(std::move(codes)),
        offset_(std::move(offset)),
        weights_(std::move(weights)) {
    rows_ = {reals_.shape(1), reals_.shape(0),       reals_.data(),   seen_.shape(0),
             starts_.data(),  seen_.data(),          codes_.shape(1), codes_.data(),
             offset_.data(),  data_or_null(weights_)};
    require(codes_.shape(0) == rows_.n, "The 'codes' parameter must have a row for each row.");
    require(!weights_ || weights_->shape(0) == rows_.n, "There must be a weight for each row.");
    require(seen_.shape(1) == rows_.d && rows_.patterns >= 1,
            "The 'seen' parameter must have a cell for each pattern and real column.");
    require(starts_.shape(0) == rows_.patterns + 1, "Every pattern must have its start.");
    require(starts_.data()[0] == 0 &&
                starts_.data()[rows_.patterns] == static_cast<std::int64_t>(rows_.n),
            "The patterns must cover the rows.");
    for (std::size_t i = 0; i < rows_.patterns; ++i)
      require(starts_.data()[i] <= starts_.data()[i + 1], "The starts must not fall.");
    require(offset_.shape(0) == rows_.groups + 1 && offset_.data()[0] == 0,
            "Every group must have its offset.");
    for (std::size_t g = 0; g < rows_.groups; ++g)
      require(offset_.data()[g] < offset_.data()[g + 1], "The offsets must rise.");
    bool inside = true;
    for (std::size_t i = 0; i < rows_.n; ++i)
      for (std::size_t g = 0; g < rows_.groups; ++g)
        inside &= codes_.data()[i * rows_.groups + g] < offset_.data()[g + 1] - offset_.data()[g];
    require(inside, "A code is too large for its group.");
  }

  using NoRoot = std::tuple<std::monostate>;  // a covariance has none

  // ln P of the rows, those impossible, mass, counts, first and second moments.
  using Sums =
      std::tuple<double, std::int64_t, Array<double>, Array<double>, Array<double>, Array<double>>;
  std::variant<MixtureRows::NoRoot, MixtureRows::Sums> step(
      Monitor& monitor, const Reals& log_weights, const Matrix& tables, const Matrix& means,
      const View<const double, 3>& covariances, bool joint, int threads, const std::string& path,
      bool rooted) const {
    const mixture::Model model =
        model_of(log_weights, tables, means, covariances, joint, rooted, threads);
    const mixture::Loops& loops = mixture::loops_for(path.c_str());
    const std::size_t d = rows_.d, k = model.k;
    try {
      const mixture::Sums found =
          mixture::step(rows_, model, loops, threads, [&] { monitor.poll(); });
      return Sums(found.log_likelihood, found.impossible, copied(found.mass),
                  copied(found.counts, {tables.shape(0), k}), copied(found.first, {k, d}),
                  copied(found.second, {k, model.joint ? d : 2, d}));
    } catch (const mixture::NotPositive&) {
      return NoRoot();
    }
  }

  // P(class | row) and ln P(row).
  using Scores = std::tuple<Array<double>, Array<double>>;
  std::variant<MixtureRows::NoRoot, MixtureRows::Scores> score(
      const Reals& log_weights, const Matrix& tables, const Matrix& means,
      const View<const double, 3>& covariances, bool joint, int threads, const std::string& path,
      bool rooted) const {
    const mixture::Model model =
        model_of(log_weights, tables, means, covariances, joint, rooted, threads);
    const mixture::Loops& loops = mixture::loops_for(path.c_str());
    Array<double> share({rows_.n, model.k}), logs({rows_.n});
    try {
      mixture::score(rows_, model, loops, threads, share.data(), logs.data());
    } catch (const mixture::NotPositive&) {
      return NoRoot();
    }
    return Scores(std::move(share), std::move(logs));
  }

 private:
  mixture::Model model_of(const Reals& log_weights, const Matrix& tables, const Matrix& means,
                          const View<const double, 3>& covariances, bool joint, bool rooted,
                          int threads) const {
    require(threads >= 1, "The 'threads' parameter must be at least 1.");
    const std::size_t k = log_weights.shape(0), d = rows_.d;
    require(k >= 1, "There must be a class.");
    require(tables.shape(0) == static_cast<std::size_t>(offset_.data()[rows_.groups]) &&
                tables.shape(1) == k,
            "The 'tables' parameter must have a row for each code and a column for each class.");
    require(means.shape(0) == k && means.shape(1) == d, "There must be a mean for each class.");
    require(covariances.shape(0) == k && covariances.shape(1) == (joint ? d : 3) &&
                covariances.shape(2) == d,
            "The 'covariances' parameter must have the shape of the classes and columns.");
    require(joint || rows_.patterns == 1, "Columns by themselves have one pattern: their gaps.");
    bool whole = joint && rows_.patterns == 1;
    for (std::size_t j = 0; j < d; ++j) whole = whole && seen_.data()[j];
    require(!rooted || whole, "Inverse roots are for rows without gaps.");
    return {k, log_weights.data(), tables.data(), joint, means.data(), covariances.data(), rooted};
  }

  Matrix reals_;
  Ints starts_;
  View<const std::uint8_t, 2> seen_;
  View<const std::uint16_t, 2> codes_;
  Ints offset_;
  std::optional<Reals> weights_;
  mixture::Rows rows_;
};

}  // namespace

void bind_mixtures(nb::module_& m) {
  nb::class_<MixtureRows>(m, "MixtureRows")
      .def(nb::init<Matrix, Ints, View<const std::uint8_t, 2>, View<const std::uint16_t, 2>, Ints,
                    std::optional<Reals>>(),
           "reals"_a, "starts"_a, "seen"_a, "codes"_a, "offset"_a, "weights"_a.none())
      .def("step", bound(&MixtureRows::step), "log_weights"_a, "tables"_a, "means"_a,
           "covariances"_a, "joint"_a, "threads"_a = 1, "path"_a = "auto", "rooted"_a = false)
      .def("score", bound(&MixtureRows::score), "log_weights"_a, "tables"_a, "means"_a,
           "covariances"_a, "joint"_a, "threads"_a = 1, "path"_a = "auto", "rooted"_a = false);
}

}  // namespace credo::bindings
