// The door to EM: the rows of a table folded, one expectation step, and rows completed.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "bindings/arrays.hpp"
#include "common/monitor.hpp"
#include "em/rows.hpp"

namespace credo::doors {

// A column for each variable: codes, numbers where its arity is 0, or none where all is missing.
using GappyColumns = std::vector<std::optional<AnyArray>>;

class Expectations {
 public:
  Expectations(std::vector<std::int64_t> arities, std::vector<std::vector<std::int32_t>> scopes,
               std::uint64_t most, std::uint64_t most_mixed);

  void add(const GappyColumns& columns, std::size_t n_rows, const std::optional<Reals>& weights);

  // Expected counts, moments, ln P of the rows not left, and whether one is impossible.
  std::tuple<Array<double>, Array<double>, double, bool> step(Monitor& monitor, const Reals& theta,
                                                              const Reals& lines,
                                                              int threads) const;
  // The rows left to the engine, and their weights.
  std::tuple<Array<std::int32_t>, Array<double>> left() const;
  // The counts and moments of the families that were observed.
  std::tuple<Array<double>, Array<double>> counted() const;
  const em::Rows& rows() const { return rows_; }

 private:
  em::Rows rows_;
};

// Codes, weights, the rows left out, how many were given draws, the first impossible row or -1.
std::tuple<Array<std::uint16_t>, Array<double>, Array<std::int64_t>, std::size_t, std::int64_t>
complete_rows(std::vector<std::int64_t> arities, std::vector<std::vector<std::int32_t>> scopes,
              const Reals& theta, const GappyColumns& columns, std::size_t n_rows,
              const std::optional<Reals>& weights, std::uint64_t most, std::uint64_t draws,
              std::uint64_t most_states, std::uint64_t seed);

}  // namespace credo::doors
