// The door to mixtures: the rows of a table as a mixture sees them, and one pass over them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

#include "bindings/arrays.hpp"
#include "common/monitor.hpp"
#include "em/mixture.hpp"

namespace credo::doors {

class MixtureRows {
 public:
  // IN reals [d][n], IN starts [patterns + 1], IN seen [patterns][d], IN codes [n][groups],
  // IN offset [groups + 1], IN weights [n] or none. They are kept.
  MixtureRows(Matrix reals, Ints starts, View<const std::uint8_t, 2> seen,
              View<const std::uint16_t, 2> codes, Ints offset, std::optional<Reals> weights);

  using NoRoot = std::tuple<std::monostate>;  // a covariance has none

  // ln P of the rows, those impossible, mass, counts, first and second moments.
  using Sums = std::tuple<double, std::int64_t, Array<double>, Array<double>, Array<double>,
                          Array<double>>;
  std::variant<NoRoot, Sums> step(Monitor& monitor, const Reals& log_weights, const Matrix& tables,
                                  const Matrix& means, const View<const double, 3>& covariances,
                                  bool joint, int threads, const std::string& path,
                                  bool rooted) const;

  // P(class | row) and ln P(row).
  using Scores = std::tuple<Array<double>, Array<double>>;
  std::variant<NoRoot, Scores> score(const Reals& log_weights, const Matrix& tables,
                                     const Matrix& means,
                                     const View<const double, 3>& covariances, bool joint,
                                     int threads, const std::string& path, bool rooted) const;

 private:
  mixture::Model model_of(const Reals& log_weights, const Matrix& tables, const Matrix& means,
                          const View<const double, 3>& covariances, bool joint, bool rooted,
                          int threads) const;

  Matrix reals_;
  Ints starts_;
  View<const std::uint8_t, 2> seen_;
  View<const std::uint16_t, 2> codes_;
  Ints offset_;
  std::optional<Reals> weights_;
  mixture::Rows rows_;
};

}  // namespace credo::doors
