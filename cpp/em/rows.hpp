// The rows of a table, folded into the problems that an expectation step has to solve.
//
// A family that is observed in a row is counted at once and never again. The missing variables of a
// row fall into components: two are in the same when a family has both. A component is a problem of
// its own, given the observed variables of its families, its boundary; and components of the same
// shape with the same boundary are one problem, whose weight is that of all their rows. So
//
//     ln P(rows) = Σ_counted n ln θ + Σ_problems weight · ln Z
//
// and a table of a hundred thousand rows with scattered gaps is a few thousand problems of one or
// two variables. A component with a continuous family is a problem for each row by itself. A
// missing leaf is not summed over (it adds up to one): it only shares its parents' weight.
// A component of discrete variables with too many states leaves its row to the inference engine.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>

#include "common/lane_kernels.hpp"
#include "em/network.hpp"

namespace credo::em {

struct Column {
  CodeView codes{nullptr, 1, 0, false};  // of a discrete variable; null: never observed
  const double* reals = nullptr;         // of a continuous variable; null: never observed
};

// A factor of a problem: its place for the boundary comes with the problem, for the states of the
// missing variables from `offsets`.
struct Part {
  std::int32_t family;
  std::uint32_t offsets;  // [states of the shape] in the pool
  enum Kind : std::uint8_t { kTable, kLeaf, kLine } kind;
};

// One set of missing variables that hang together.
struct Shape {
  std::uint32_t states;                 // combinations of the missing variables that are summed over
  std::uint32_t first_part, n_parts;    // tables, then leaves, then lines
  std::uint32_t n_tables, n_leaves;
  std::uint32_t first_real, n_missing;  // continuous variables: the missing ones,
  std::uint32_t n_reals;                // then the observed ones of its lines
  std::uint32_t first_variable, n_variables;  // all missing variables, sorted
  bool large;
  bool mixed() const { return n_parts > n_tables + n_leaves; }
};

struct Problem {
  std::uint32_t shape;
  std::uint64_t bases;  // in the pool: for each part, where it begins for this boundary
  std::uint64_t reals;  // in the pool: the observed continuous values
};

// The problems of other rows of the same network, as arrays: shapes by their missing variables.
struct Folded {
  std::span<const std::int32_t> missing;   // of each shape, one after the other
  std::span<const std::uint32_t> sizes;    // of each shape, how many of them
  std::span<const std::uint32_t> shapes;   // of each problem
  std::span<const std::uint32_t> bases;    // of each problem, one for each part of its shape
  std::span<const double> reals;           // of each problem, those of its shape
  std::span<const double> weights;
};

class Rows {
 public:
  // Components of discrete variables with more than `most` states are left to the engine, with
  // their row; one with lines may have `most_mixed`. In a network with continuous variables no row
  // can be left, and `too_large` names the variables of the first component that would be.
  Rows(std::shared_ptr<const Network> network, std::uint64_t most, std::uint64_t most_mixed);

  // IN columns: of each variable; IN weights [n_rows] or null. Rows of weight 0 are skipped.
  void add(const std::vector<Column>& columns, std::size_t n_rows, const double* weights);

  // The problems of other rows beside these; throws std::invalid_argument where the arrays do not
  // belong together. The public sums are the caller's to add.
  void absorb(const Folded& other);
  void pack(std::vector<std::int32_t>& missing, std::vector<std::uint32_t>& sizes,
            std::vector<std::uint32_t>& shapes) const;
  const std::vector<std::uint32_t>& all_bases() const { return bases_; }
  const std::vector<double>& all_reals() const { return reals_; }

  const Network& network() const { return *network_; }
  std::span<const Problem> problems() const { return problems_; }
  const std::vector<double>& weights() const { return weights_; }
  const Shape& shape(const Problem& problem) const { return shapes_[problem.shape]; }
  std::size_t n_shapes() const { return shapes_.size(); }
  std::span<const Part> parts(const Shape& shape) const {
    return {parts_.data() + shape.first_part, shape.n_parts};
  }
  const std::uint32_t* offsets(const Part& part) const { return offsets_.data() + part.offsets; }
  const std::uint32_t* bases(const Problem& problem) const { return bases_.data() + problem.bases; }
  const double* reals(const Problem& problem) const { return reals_.data() + problem.reals; }
  std::span<const std::int32_t> real_variables(const Shape& shape) const {
    return {lists_.data() + shape.first_real, std::size_t{shape.n_missing} + shape.n_reals};
  }

  std::vector<double> counted;  // cells of the families observed, over rows not left to the engine
  std::vector<double> moments;  // of the lines observed, likewise
  std::vector<std::int32_t> left;  // rows left to the engine: codes of every variable, -1 missing
  std::vector<double> left_weights;
  std::vector<std::int32_t> too_large;
  double total = 0;  // weight of all rows
  std::size_t most_states = 0;

 private:
  struct Row;
  std::uint32_t shape_of(std::span<const std::int32_t> missing);
  std::uint32_t new_shape(std::span<const std::int32_t> missing);
  void keep(std::uint32_t shape, const Row& row, double weight);
  void put(std::uint32_t shape, std::span<const std::uint32_t> bases,
           std::span<const double> reals, double weight);
  void count(const Row& row, double weight);

  std::shared_ptr<const Network> network_;
  std::uint64_t most_, most_mixed_;
  std::vector<Shape> shapes_;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> offsets_, bases_;
  std::vector<double> reals_;
  std::vector<std::int32_t> lists_;
  std::vector<Problem> problems_;
  std::vector<double> weights_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> shape_at_;
  std::vector<std::uint32_t> table_;  // open addressing: a problem plus one, or zero
  std::vector<std::uint32_t> scratch_;
  std::vector<double> cells_;
};

}  // namespace credo::em
