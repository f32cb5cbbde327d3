#include "em/network.hpp"

#include <limits>
#include <stdexcept>
#include <string>

namespace credo::em {

Network::Network(std::vector<std::int64_t> arities, std::vector<std::vector<std::int32_t>> scopes)
    : arity(std::move(arities)), families_of(arity.size()) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const auto n = static_cast<std::int32_t>(arity.size());
  if (scopes.size() != arity.size())
    throw std::invalid_argument("There must be a scope for each variable.");
  std::vector<bool> has_child(arity.size());
  for (std::int32_t v = 0; v < n; ++v) {
    Family family;
    family.scope = std::move(scopes[v]);
    family.discrete = arity[v] > 0;
    if (family.scope.empty() || family.scope.back() != v)
      throw std::invalid_argument("Scope " + std::to_string(v) + " must end in its variable.");
    for (const std::int32_t u : family.scope) {
      if (u < 0 || u >= n) throw std::invalid_argument("A scope names a variable there is not.");
      if (u != v) has_child[u] = true;
      if (arity[u] > 0) family.states.push_back(u);
      else family.line.push_back(u);
      families_of[u].push_back(v);
    }
    if (family.discrete && !family.line.empty())
      throw std::invalid_argument("A discrete variable cannot have a continuous parent.");
    family.strides.resize(family.states.size());
    family.cells = 1;
    for (std::size_t i = family.states.size(); i-- > 0;) {
      family.strides[i] = static_cast<std::uint32_t>(family.cells);
      family.cells *= static_cast<std::uint64_t>(arity[family.states[i]]);
      if (family.cells > kMost)
        throw std::invalid_argument("The table of variable " + std::to_string(v) + " is too large.");
    }
    if (family.discrete) {
      family.at = cells;
      family.parents_at = configurations;
      cells += family.cells;
      configurations += family.cells / static_cast<std::uint64_t>(arity[v]);
    } else {
      family.at = line_numbers;
      family.moments_at = moment_numbers;
      line_numbers += family.cells * family.line_size();
      moment_numbers += family.cells * family.moments_size();
    }
    if (cells > kMost || line_numbers > kMost || moment_numbers > kMost)
      throw std::invalid_argument("The tables of the network are too large together.");
    families.push_back(std::move(family));
  }
  for (std::int32_t v = 0; v < n; ++v) families[v].leaf = !has_child[v];
}

}  // namespace credo::em
