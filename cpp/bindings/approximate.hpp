// The door to inference where exact is too much: belief propagation in loops, Gibbs sampling, and
// the sums of weighted rows.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/record.hpp"
#include "common/monitor.hpp"
#include "infer/loopy.hpp"
#include "sample/gibbs.hpp"

namespace credo::doors {

class Loopy {
 public:
  Loopy(std::vector<std::int64_t> arities, std::vector<infer::Variables> scopes);

  // The parts of loopy::Result by their names.
  Record run(Monitor& monitor, const std::vector<Table>& tables, int sweeps, double tolerance,
             double damping, double seconds) const;

  const std::vector<std::size_t>& offsets() const { return graph_.offset; }
  const std::vector<std::size_t>& belief_offsets() const { return graph_.belief_offset; }

 private:
  loopy::Graph graph_;
};

class Gibbs {
 public:
  Gibbs(std::vector<std::int64_t> arities, std::vector<infer::Variables> scopes);

  // IN states [chains][variables]. The states they moved to, and the sums of the queries [chains].
  std::tuple<Array<std::int32_t>, Array<double>> run(
      Monitor& monitor, const std::vector<Table>& tables, const View<const std::int32_t, 2>& states,
      std::vector<infer::Variables> queries, std::size_t sweeps, std::uint64_t first,
      std::uint64_t seed, bool collect, int threads) const;

 private:
  gibbs::Sampler sampler_;
};

// IN columns of uint8 or uint16. Σ weight and Σ weight² of each state of each column.
Array<double> weighted_sums(const std::vector<AnyVector>& columns,
                            const std::vector<std::size_t>& arities, const Reals& weights,
                            int threads);

}  // namespace credo::doors
