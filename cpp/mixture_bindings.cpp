// Mixtures of credo._core: the rows of a table as a mixture sees them, and one pass over them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "binding_arrays.hpp"
#include "binding_signals.hpp"
#include "mixture.hpp"

namespace credo::binding {

using namespace nb::literals;

namespace {

template <class T, int N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

nb::object given(const std::vector<double>& values, std::vector<std::size_t> shape) {
  NewArray<double> array(std::move(shape));
  std::copy(values.begin(), values.end(), array.data());
  return array.release();
}

class PyMixtureRows {
 public:
  // IN reals [d][n], IN starts [patterns + 1], IN seen [patterns][d], IN codes [n][groups],
  // IN offset [groups + 1], IN weights [n] or None.
  PyMixtureRows(In<double, 2> reals, In<std::int64_t, 1> starts, In<std::uint8_t, 2> seen,
                In<std::uint16_t, 2> codes, In<std::int64_t, 1> offset,
                std::optional<In<double, 1>> weights)
      : reals_(std::move(reals)), starts_(std::move(starts)), seen_(std::move(seen)),
        codes_(std::move(codes)), offset_(std::move(offset)), weights_(std::move(weights)) {
    rows_ = {reals_.shape(1), reals_.shape(0), reals_.data(), seen_.shape(0), starts_.data(),
             seen_.data(),    codes_.shape(1), codes_.data(), offset_.data(),
             weights_ ? weights_->data() : nullptr};
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

  nb::tuple step(const In<double, 1>& weights, const In<double, 2>& tables,
                 const In<double, 2>& means, const In<double, 3>& covariances, bool joint,
                 int threads, const std::string& path, bool rooted) const {
    const mixture::Model model =
        model_of(weights, tables, means, covariances, joint, rooted, threads);
    const mixture::Loops& loops = mixture::loops_for(path.c_str());
    mixture::Sums found;
    try {
      interruptible([&](Monitor& monitor) {
        found = mixture::step(rows_, model, loops, threads, [&] { monitor.poll(); });
      });
    } catch (const mixture::NotPositive&) {
      return nb::make_tuple(nb::none());
    }
    const std::size_t d = rows_.d, k = model.k;
    return nb::make_tuple(found.log_likelihood, found.impossible, given(found.mass, {k}),
                          given(found.counts, {tables.shape(0), k}), given(found.first, {k, d}),
                          given(found.second, {k, model.joint ? d : 2, d}));
  }

  nb::tuple score(const In<double, 1>& weights, const In<double, 2>& tables,
                  const In<double, 2>& means, const In<double, 3>& covariances, bool joint,
                  int threads, const std::string& path, bool rooted) const {
    const mixture::Model model =
        model_of(weights, tables, means, covariances, joint, rooted, threads);
    const mixture::Loops& loops = mixture::loops_for(path.c_str());
    NewArray<double> share({rows_.n, model.k}), logs({rows_.n});
    try {
      const nb::gil_scoped_release release;
      mixture::score(rows_, model, loops, threads, share.data(), logs.data());
    } catch (const mixture::NotPositive&) {
      return nb::make_tuple(nb::none());
    }
    return nb::make_tuple(share.release(), logs.release());
  }

 private:
  mixture::Model model_of(const In<double, 1>& weights, const In<double, 2>& tables,
                          const In<double, 2>& means, const In<double, 3>& covariances,
                          bool joint, bool rooted, int threads) const {
    require(threads >= 1, "The 'threads' parameter must be at least 1.");
    const std::size_t k = weights.shape(0), d = rows_.d;
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
    return {k, weights.data(), tables.data(), joint, means.data(), covariances.data(), rooted};
  }

  In<double, 2> reals_;
  In<std::int64_t, 1> starts_;
  In<std::uint8_t, 2> seen_;
  In<std::uint16_t, 2> codes_;
  In<std::int64_t, 1> offset_;
  std::optional<In<double, 1>> weights_;
  mixture::Rows rows_;
};

}  // namespace

void bind_mixture(nb::module_& m) {
  nb::class_<PyMixtureRows>(m, "MixtureRows")
      .def(nb::init<In<double, 2>, In<std::int64_t, 1>, In<std::uint8_t, 2>, In<std::uint16_t, 2>,
                    In<std::int64_t, 1>, std::optional<In<double, 1>>>(),
           "reals"_a.noconvert(), "starts"_a.noconvert(), "seen"_a.noconvert(),
           "codes"_a.noconvert(), "offset"_a.noconvert(), "weights"_a.noconvert().none())
      .def("step", &PyMixtureRows::step, "log_weights"_a.noconvert(), "tables"_a.noconvert(),
           "means"_a.noconvert(), "covariances"_a.noconvert(), "joint"_a, "threads"_a = 1,
           "path"_a = "auto", "rooted"_a = false)
      .def("score", &PyMixtureRows::score, "log_weights"_a.noconvert(), "tables"_a.noconvert(),
           "means"_a.noconvert(), "covariances"_a.noconvert(), "joint"_a, "threads"_a = 1,
           "path"_a = "auto", "rooted"_a = false);
}

}  // namespace credo::binding
