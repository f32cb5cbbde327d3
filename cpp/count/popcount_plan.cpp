#include "count/popcount_plan.hpp"

#include <algorithm>

namespace credo {
namespace {

struct Aunt {
  std::uint64_t key;  // the node it hangs under, and its variable
  std::int32_t users = 0;
  std::int32_t in_trie = -1;  // its node there, if it has one
  std::int32_t in_plan = -1;
};

using Aunts = std::vector<Aunt>;  // sorted by their keys

std::uint64_t key_of(std::int32_t under, std::int32_t variable) {
  return static_cast<std::uint64_t>(under) << 32 | static_cast<std::uint32_t>(variable);
}

bool complete(const Columns& columns, std::int32_t variable) {
  return variable >= 0 && !columns[variable].missing;
}

// Whether a table could be spared its parent's last state.
bool may_use_aunt(const Columns& columns, const SetTrie& trie, const TrieNode& node) {
  return node.depth >= 2 && node.requested && complete(columns, trie.nodes[node.parent].variable);
}

Aunt* find(Aunts& aunts, std::uint64_t key) {
  const auto found = std::ranges::lower_bound(aunts, key, {}, &Aunt::key);
  return found != aunts.end() && found->key == key ? &*found : nullptr;
}

Aunts find_aunts(const Columns& columns, const SetTrie& trie) {
  std::vector<std::uint64_t> keys;
  for (const TrieNode& node : trie.nodes)
    if (may_use_aunt(columns, trie, node))
      keys.push_back(key_of(trie.nodes[node.parent].parent, node.variable));
  std::ranges::sort(keys);
  Aunts aunts;
  for (const std::uint64_t key : keys) {
    if (aunts.empty() || aunts.back().key != key) aunts.push_back({key});
    ++aunts.back().users;
  }
  if (aunts.empty()) return aunts;
  for (std::size_t i = 1; i < trie.nodes.size(); ++i)
    if (Aunt* aunt = find(aunts, key_of(trie.nodes[i].parent, trie.nodes[i].variable)))
      aunt->in_trie = static_cast<std::int32_t>(i);
  std::erase_if(aunts, [&](const Aunt& aunt) {
    return aunt.users < 2 && (aunt.in_trie < 0 || !trie.nodes[aunt.in_trie].requested);
  });
  return aunts;
}

PopcountNode leaf_under(const Columns& columns, const PopcountNode& parent, std::int32_t parent_at,
                        std::int32_t variable) {
  PopcountNode leaf{variable, parent_at, parent.depth + 1, parent.cells * columns[variable].arity,
                    false};
  leaf.counted = true;
  return leaf;
}

// Copies the trie into the plan with the missing aunts; returns the plan's node of each trie node.
std::vector<std::int32_t> copy_nodes(const Columns& columns, const SetTrie& trie, Aunts& aunts,
                                     PopcountPlan& plan) {
  plan.nodes.reserve(trie.nodes.size() + aunts.size());
  std::vector<std::int32_t> position(trie.nodes.size());
  auto next = aunts.begin();
  for (std::size_t i = 0; i < trie.nodes.size(); ++i) {
    const TrieNode& node = trie.nodes[i];
    const auto at = static_cast<std::int32_t>(plan.nodes.size());
    position[i] = at;
    plan.nodes.push_back({node.variable, node.parent < 0 ? -1 : position[node.parent], node.depth,
                          node.cells, node.has_children, node.requested});
    for (; next != aunts.end() && next->key >> 32 == i; ++next) {
      if (next->in_trie >= 0) continue;
      next->in_plan = static_cast<std::int32_t>(plan.nodes.size());
      plan.nodes.push_back(leaf_under(columns, plan.nodes[at], at,
                                      static_cast<std::int32_t>(next->key & 0xFFFFFFFF)));
    }
  }
  for (Aunt& aunt : aunts)
    if (aunt.in_trie >= 0) aunt.in_plan = position[aunt.in_trie];
  return position;
}

}  // namespace

PopcountPlan plan_popcount(const Columns& columns, const SetTrie& trie) {
  PopcountPlan plan;
  plan.depth = trie.depth;
  Aunts aunts = find_aunts(columns, trie);
  const std::vector<std::int32_t> position = copy_nodes(columns, trie, aunts, plan);
  for (std::size_t i = 0; i < trie.nodes.size() && !aunts.empty(); ++i) {
    const TrieNode& node = trie.nodes[i];
    if (!may_use_aunt(columns, trie, node)) continue;
    const Aunt* aunt = find(aunts, key_of(trie.nodes[node.parent].parent, node.variable));
    if (aunt == nullptr) continue;
    plan.nodes[position[i]].aunt = aunt->in_plan;
    plan.nodes[aunt->in_plan].counted = true;
  }
  // From the leaves up: a complete variable finds its last state from its parent's table.
  for (std::size_t i = plan.nodes.size(); i-- > 1;) {
    PopcountNode& node = plan.nodes[i];
    PopcountNode& parent = plan.nodes[node.parent];
    const std::uint32_t arity = columns[node.variable].arity;
    const bool subtracts = complete(columns, node.variable);
    node.count_states = subtracts ? arity - 1 : arity;
    parent.counted = parent.counted || (node.counted && subtracts);
    if (parent.depth > 0) {
      const std::uint32_t all = columns[parent.variable].arity;
      const std::uint32_t read = node.aunt >= 0 && !node.has_children ? all - 1 : all;
      parent.mask_states = std::max(parent.mask_states, read);
    }
  }
  for (PopcountNode& node : plan.nodes) {
    node.table = plan.table_cells;
    if (node.counted || node.depth == 0) plan.table_cells += node.cells;
  }
  for (const std::int32_t node : trie.node_of) plan.node_of.push_back(position[node]);
  return plan;
}

void subtract_cells(const Columns& columns, const PopcountPlan& plan, std::int64_t* tables) {
  const auto subtract = [&](const PopcountNode& node) {
    const std::size_t arity = columns[node.variable].arity;
    std::int64_t* table = tables + node.table;
    const PopcountNode& parent = plan.nodes[node.parent];
    const std::size_t prefixes = parent.cells;
    if (node.count_states < arity) {
      for (std::size_t p = 0; p < prefixes; ++p) {
        std::int64_t rest = tables[parent.table + p];
        for (std::size_t s = 0; s + 1 < arity; ++s) rest -= table[p * arity + s];
        table[p * arity + arity - 1] = rest;
      }
    }
    if (node.aunt >= 0) {
      const std::size_t states = columns[parent.variable].arity;
      for (std::size_t q = 0; q < prefixes / states; ++q) {
        for (std::size_t s = 0; s < arity; ++s) {
          std::int64_t rest = tables[plan.nodes[node.aunt].table + q * arity + s];
          for (std::size_t v = 0; v + 1 < states; ++v) rest -= table[(q * states + v) * arity + s];
          table[(q * states + states - 1) * arity + s] = rest;
        }
      }
    }
  };
  // By depth: a parent and an aunt are one level up.
  for (std::int32_t depth = 1; depth <= plan.depth; ++depth)
    for (const PopcountNode& node : plan.nodes)
      if (node.depth == depth && node.counted) subtract(node);
}

}  // namespace credo
