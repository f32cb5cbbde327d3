// The tables of all sets within a few variables, from one table of them all.
//
// What is looked at around one child are many sets of the same few variables. The rows are counted
// once; the cells that are not zero, far fewer than the rows, then give the table of any such set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace credo::score {

class Joint {
 public:
  Joint() = default;  // of nothing
  // IN table: of these variables without gaps, the last one fastest.
  template <class Cell>
  Joint(std::span<const std::int32_t> variables, std::span<const std::uint32_t> arities,
        std::span<const Cell> table);

  bool empty() const { return variables_.empty(); }
  bool is_real() const { return whole_.empty(); }
  // OUT out: the table of a set within the variables, the last one fastest.
  void table_of(std::span<const std::int32_t> set, std::vector<std::int64_t>& out) const;
  void table_of(std::span<const std::int32_t> set, std::vector<double>& out) const;

 private:
  template <class Cell>
  void add_up(std::span<const std::int32_t> set, const std::vector<Cell>& counts,
              std::vector<Cell>& out) const;

  std::vector<std::int32_t> variables_;
  std::vector<std::uint32_t> arities_;  // of each
  std::size_t n_slow_ = 0;              // variables that make up the slow part of a cell
  std::vector<std::uint32_t> slow_, fast_;  // of each cell that is not zero
  std::vector<std::int64_t> whole_;         // what it holds, of one kind
  std::vector<double> real_;
};

}  // namespace credo::score
