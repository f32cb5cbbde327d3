// Where the tables of counts come from that scores are computed from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "count/columns.hpp"
#include "count/set_trie.hpp"

namespace credo::score {

// Tables of counts, of whole numbers or of real weights.
struct Tables {
  std::vector<std::size_t> offsets;
  std::vector<std::int64_t> whole;
  std::vector<double> real;
  bool is_real = false;
};

// The non-zero cells of one table in the order of their codes, the last variable fastest.
struct SparseTable {
  std::vector<std::int64_t> whole;
  std::vector<double> real;
  std::vector<std::size_t> begin{0};  // rows of equal codes in all variables but the last
  bool is_real = false;
};

// Where tables come from.
class TableSource {
 public:
  virtual ~TableSource() = default;
  virtual std::vector<std::uint32_t> arities() const = 0;
  virtual double dense_cells() const = 0;  // a larger table is counted sparsely
  virtual double chunk_cells() const = 0;  // cells of one call of `count`
  virtual double chunk_sets() const = 0;   // small tables of one call: between two, work can be stopped
  virtual void count(const SetList& sets, int threads, Tables& out) = 0;
  virtual void count_sparse(std::span<const std::int32_t> set, SparseTable& out) = 0;
};

// Columns in memory. IN variables: the column of each variable. IN weights: one per row, of one
// kind, or null.
std::unique_ptr<TableSource> columns_source(const Columns& columns,
                                            std::vector<std::int32_t> variables,
                                            const std::int64_t* whole, const double* real);

}  // namespace credo::score
