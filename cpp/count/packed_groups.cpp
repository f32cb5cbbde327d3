#include "count/packed_groups.hpp"

#include <algorithm>
#include <map>

#include "count/kernel_choice.hpp"

namespace credo {
namespace {

constexpr std::uint64_t kMostStates = 256;  // of a packed variable: its codes are bytes
constexpr double kMostJointCells = 1 << 17;  // of a joint table: it stays in the second-level cache

// Some siblings, as positions begin..end, and what it takes to count them.
struct Siblings {
  std::size_t begin, end;
  std::uint64_t states;
  double ns;
};

// From the last to the first, so that prefixes with candidates that end alike share groups: a
// group grows as long as its sets get cheaper each.
std::vector<Siblings> group_siblings(const Columns& columns,
                                     std::span<const std::int32_t> variables, double prefixes,
                                     double rows) {
  std::vector<Siblings> groups;
  for (std::size_t i = variables.size(); i-- > 0;) {
    const std::uint64_t radix = columns.radix(variables[i]);
    const double alone = table_ns(rows, prefixes * columns[variables[i]].arity);
    if (!groups.empty()) {
      Siblings& last = groups.back();
      const std::uint64_t states = last.states * radix;
      const double cells = prefixes * static_cast<double>(states);
      if (states <= kMostStates && cells <= kMostJointCells) {
        const auto n = static_cast<double>(last.end - i);
        const double ns = packed_table_ns(rows, cells, n);
        if (ns / n < std::min(last.ns / (n - 1), alone)) {
          last = {i, last.end, states, ns};
          continue;
        }
      }
    }
    groups.push_back({i, i + 1, radix, alone});
  }
  return groups;
}

// Sums a table [prefixes][states of radices] over the digits of one half at a time.
void sum_digits(std::span<const std::uint32_t> radices, std::size_t prefixes,
                const std::uint32_t* joint, std::vector<std::vector<std::uint32_t>>& margins) {
  if (radices.size() == 1) {
    margins.emplace_back(joint, joint + prefixes * radices[0]);
    return;
  }
  const auto slow = radices.first(radices.size() / 2), fast = radices.subspan(slow.size());
  std::size_t n_slow = 1, n_fast = 1;
  for (const std::uint32_t radix : slow) n_slow *= radix;
  for (const std::uint32_t radix : fast) n_fast *= radix;
  std::vector<std::uint32_t> by_slow(prefixes * n_slow), by_fast(prefixes * n_fast);
  for (std::size_t p = 0; p < prefixes; ++p) {
    std::uint32_t* __restrict columns = by_fast.data() + p * n_fast;
    for (std::size_t s = 0; s < n_slow; ++s, joint += n_fast) {
      std::uint32_t row = 0;
      for (std::size_t f = 0; f < n_fast; ++f) {
        row += joint[f];
        columns[f] += joint[f];
      }
      by_slow[p * n_slow + s] = row;
    }
  }
  sum_digits(slow, prefixes, by_slow.data(), margins);
  sum_digits(fast, prefixes, by_fast.data(), margins);
}

}  // namespace

PackedTrie pack_nothing(const SetTrie& trie) {
  PackedTrie packed{trie, {}, {}};
  packed.trie.node_of.resize(trie.nodes.size());
  for (std::size_t i = 0; i < trie.nodes.size(); ++i)
    packed.trie.node_of[i] = static_cast<std::int32_t>(i);
  return packed;
}

PackedTrie pack_leaves(const Columns& columns, const SetTrie& trie, std::size_t rows) {
  std::vector<std::vector<std::int32_t>> leaves(trie.nodes.size());  // of each node, by variable
  for (std::size_t i = 1; i < trie.nodes.size(); ++i)
    if (!trie.nodes[i].has_children && columns.radix(trie.nodes[i].variable) <= kMostStates / 2)
      leaves[trie.nodes[i].parent].push_back(static_cast<std::int32_t>(i));

  PackedTrie packed;
  std::map<std::vector<std::int32_t>, std::size_t> packing_of;
  std::vector<std::int32_t> group_of(trie.nodes.size(), -1);
  std::vector<std::int32_t> variables;
  for (std::size_t parent = 0; parent < trie.nodes.size(); ++parent) {
    if (leaves[parent].size() < 2) continue;
    variables.clear();
    for (const std::int32_t leaf : leaves[parent]) variables.push_back(trie.nodes[leaf].variable);
    for (const Siblings& some :
         group_siblings(columns, variables, static_cast<double>(trie.nodes[parent].cells),
                        static_cast<double>(rows))) {
      if (some.end - some.begin < 2) continue;
      PackedTrie::Group group{0, {leaves[parent].begin() + some.begin,
                                  leaves[parent].begin() + some.end}};
      for (const std::int32_t leaf : group.leaves)
        group_of[leaf] = static_cast<std::int32_t>(packed.groups.size());
      packed.groups.push_back(std::move(group));
    }
  }

  // The packed trie, still in preorder: a group stands where its first leaf stood.
  packed.trie.depth = trie.depth;
  for (std::size_t i = 0; i < trie.nodes.size(); ++i) {
    TrieNode node = trie.nodes[i];
    const auto at = static_cast<std::int32_t>(packed.trie.nodes.size());
    if (node.parent >= 0) node.parent = packed.trie.node_of[node.parent];
    if (group_of[i] >= 0) {
      PackedTrie::Group& group = packed.groups[group_of[i]];
      if (group.leaves[0] != static_cast<std::int32_t>(i)) {
        packed.trie.node_of.push_back(group.node);
        continue;
      }
      group.node = at;
      variables.clear();
      std::uint32_t states = 1;
      for (const std::int32_t leaf : group.leaves) {
        variables.push_back(trie.nodes[leaf].variable);
        states *= static_cast<std::uint32_t>(columns.radix(variables.back()));
      }
      const auto [found, fresh] = packing_of.try_emplace(variables, packed.packings.size());
      if (fresh) packed.packings.push_back({variables, states});
      node.variable = static_cast<std::int32_t>(columns.n_variables() + found->second);
      node.cells = (packed.trie.nodes[node.parent].cells + 1) * states;
    }
    packed.trie.node_of.push_back(at);
    packed.trie.nodes.push_back(node);
  }
  return packed;
}

void pack_codes(const Columns& columns, const PackedTrie::Packing& packing, std::size_t first,
                std::size_t n, const LaneKernels& kernels, std::uint8_t* codes) {
  for (const std::int32_t v : packing.variables)
    kernels.extend_byte(codes, columns[v], first, n, static_cast<std::uint8_t>(columns.radix(v)),
                        v == packing.variables[0]);
}

std::vector<std::vector<std::uint32_t>> margins(const Columns& columns,
                                                const PackedTrie::Packing& packing,
                                                std::size_t prefixes, const std::uint32_t* joint) {
  std::vector<std::uint32_t> radices;
  for (const std::int32_t v : packing.variables)
    radices.push_back(static_cast<std::uint32_t>(columns.radix(v)));
  std::vector<std::vector<std::uint32_t>> tables;
  sum_digits(radices, prefixes, joint, tables);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const std::size_t arity = columns[packing.variables[i]].arity;
    if (arity == radices[i]) continue;
    for (std::size_t p = 1; p < prefixes; ++p)  // leave out the missing digit
      std::copy_n(tables[i].begin() + p * radices[i], arity, tables[i].begin() + p * arity);
    tables[i].resize(prefixes * arity);
  }
  return tables;
}

std::vector<double> leaf_times(const Columns& columns, std::span<const std::int32_t> variables,
                               double prefixes, double rows) {
  std::vector<double> times(variables.size());
  for (const Siblings& some : group_siblings(columns, variables, prefixes, rows))
    for (std::size_t i = some.begin; i < some.end; ++i)
      times[i] = some.ns / static_cast<double>(some.end - some.begin);
  return times;
}

}  // namespace credo
