// A cell of the joint table is known by two parts, slow * fast_states + fast, so that its cell in
// the table of a set is the sum of two entries of short tables.
#include "score/joint_cache.hpp"

#include <algorithm>
#include <type_traits>

namespace credo::score {
namespace {

// For each combination of states, the sum of a step for each of them.
std::vector<std::uint32_t> steps_of(std::span<const std::uint32_t> arities,
                                    std::span<const std::uint32_t> steps) {
  std::vector<std::uint32_t> out{0};
  for (std::size_t v = 0; v < arities.size(); ++v) {
    std::vector<std::uint32_t> wider;
    wider.reserve(out.size() * arities[v]);
    for (const std::uint32_t at : out)
      for (std::uint32_t s = 0; s < arities[v]; ++s) wider.push_back(at + s * steps[v]);
    out.swap(wider);
  }
  return out;
}

}  // namespace

template <class Cell>
Joint::Joint(std::span<const std::int32_t> variables, std::span<const std::uint32_t> arities,
             std::span<const Cell> table)
    : variables_(variables.begin(), variables.end()) {
  for (const std::int32_t v : variables) arities_.push_back(arities[static_cast<std::size_t>(v)]);
  std::size_t fast = table.size();
  while (n_slow_ < arities_.size() && fast * fast > table.size()) fast /= arities_[n_slow_++];
  const auto take = [&](std::size_t cell, Cell count) {
    slow_.push_back(static_cast<std::uint32_t>(cell / fast));
    fast_.push_back(static_cast<std::uint32_t>(cell % fast));
    if constexpr (std::is_integral_v<Cell>) whole_.push_back(count);
    else real_.push_back(count);
  };
  for (std::size_t cell = 0; cell < table.size(); ++cell)
    if (table[cell] != 0) take(cell, table[cell]);
}

template <class Cell>
void Joint::add_up(std::span<const std::int32_t> set, const std::vector<Cell>& counts,
                   std::vector<Cell>& out) const {
  std::vector<std::uint32_t> steps(variables_.size(), 0);
  std::size_t cells = 1;
  for (std::size_t i = set.size(); i-- > 0;) {
    const auto at = static_cast<std::size_t>(
        std::find(variables_.begin(), variables_.end(), set[i]) - variables_.begin());
    steps[at] = static_cast<std::uint32_t>(cells);
    cells *= arities_[at];
  }
  const auto arities = std::span<const std::uint32_t>(arities_);
  const auto by = std::span<const std::uint32_t>(steps);
  const auto slow = steps_of(arities.first(n_slow_), by.first(n_slow_));
  const auto fast = steps_of(arities.subspan(n_slow_), by.subspan(n_slow_));
  out.assign(cells, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) out[slow[slow_[i]] + fast[fast_[i]]] += counts[i];
}

void Joint::table_of(std::span<const std::int32_t> set, std::vector<std::int64_t>& out) const {
  add_up(set, whole_, out);
}

void Joint::table_of(std::span<const std::int32_t> set, std::vector<double>& out) const {
  add_up(set, real_, out);
}

template Joint::Joint(std::span<const std::int32_t>, std::span<const std::uint32_t>,
                      std::span<const std::int64_t>);
template Joint::Joint(std::span<const std::int32_t>, std::span<const std::uint32_t>,
                      std::span<const double>);

}  // namespace credo::score
