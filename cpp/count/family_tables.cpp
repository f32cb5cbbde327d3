#include "count/family_tables.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace credo {
namespace {

using Set = std::span<const std::int32_t>;

void append(SetList& list, Set set) {
  list.variables.insert(list.variables.end(), set.begin(), set.end());
  list.begin.push_back(list.variables.size());
}

bool is_mixed(Set set, std::span<const std::int64_t> states) {
  return std::any_of(set.begin(), set.end(), [&](std::int32_t v) { return states[v] < 0; });
}

// Cells of a table of discrete variables; saturates.
std::uint64_t cells_of(Set set, std::span<const std::int64_t> states) {
  std::uint64_t cells = 1;
  for (const std::int32_t v : set)
    if (__builtin_mul_overflow(cells, static_cast<std::uint64_t>(states[v]), &cells))
      cells = UINT64_MAX;
  return cells;
}

// Numbers different sets of variables, in the order met.
class SetNumbers {
 public:
  explicit SetNumbers(const SetList& most) : slots_(std::bit_ceil(2 * most.size() + 1), -1) {
    sorted_.reserve(most);
  }

  std::int32_t of(Set set) {
    key_.assign(set.begin(), set.end());
    std::sort(key_.begin(), key_.end());
    std::uint64_t hash = key_.size();
    for (const std::int32_t v : key_) hash = (hash ^ static_cast<std::uint64_t>(v)) * kMix;
    std::size_t at = (hash >> 32) & (slots_.size() - 1);
    for (; slots_[at] >= 0; at = (at + 1) & (slots_.size() - 1))
      if (std::ranges::equal(sorted_[static_cast<std::size_t>(slots_[at])], key_)) return slots_[at];
    slots_[at] = static_cast<std::int32_t>(sorted_.size());
    append(sorted_, key_);
    return slots_[at];
  }

 private:
  static constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;
  std::vector<std::int32_t> slots_, key_;
  SetList sorted_;
};

// The different sets of variables, and the set of each family that is not an earlier one again
// (the same child, and the same parents in any order).
struct Gathered {
  SetList sets;  // each as its first family has it
  std::vector<std::int32_t> kept, set_of;
};

Gathered gather(const SetList& families) {
  Gathered out;
  SetNumbers numbers(families);
  out.sets.reserve(families);
  std::vector<std::int32_t> last;      // of each set: the last family that was kept
  std::vector<std::int32_t> previous;  // of each kept family: the one before it with its set
  for (auto* list : {&last, &previous, &out.kept, &out.set_of}) list->reserve(families.size());
  for (std::size_t f = 0; f < families.size(); ++f) {
    const Set family = families[f];
    const std::int32_t set = numbers.of(family);
    if (static_cast<std::size_t>(set) == last.size()) {
      append(out.sets, family);
      last.push_back(-1);
    }
    std::int32_t same = last[set];
    while (same >= 0 && families[out.kept[same]].back() != family.back()) same = previous[same];
    if (same >= 0) continue;
    previous.push_back(last[set]);
    last[set] = static_cast<std::int32_t>(out.kept.size());
    out.kept.push_back(static_cast<std::int32_t>(f));
    out.set_of.push_back(set);
  }
  return out;
}

// Variables that many sets share come first, so that the kernel's prefixes are shared.
void order_variables(SetList& sets, std::size_t n_variables) {
  std::vector<std::uint32_t> often(n_variables);
  for (const std::int32_t v : sets.variables) ++often[v];
  for (std::size_t s = 0; s < sets.size(); ++s)
    std::sort(sets.variables.begin() + static_cast<std::ptrdiff_t>(sets.begin[s]),
              sets.variables.begin() + static_cast<std::ptrdiff_t>(sets.begin[s + 1]),
              [&](std::int32_t a, std::int32_t b) {
                return often[a] != often[b] ? often[a] > often[b] : a < b;
              });
}

// Numbers among the discrete variables instead of among all.
void number_discrete(SetList& sets, std::span<const std::int64_t> states) {
  std::vector<std::int32_t> number(states.size());
  std::int32_t next = 0;
  for (std::size_t v = 0; v < states.size(); ++v) number[v] = states[v] < 0 ? -1 : next++;
  for (std::int32_t& v : sets.variables) v = number[v];
}

}  // namespace

FamilyTables family_tables(const SetList& families, std::span<const std::int64_t> states,
                           std::uint64_t most) {
  FamilyTables out;
  Gathered gathered = gather(families);
  const std::size_t n_sets = gathered.sets.size();

  enum Kind { kDense, kSparse, kMixed };
  std::vector<Kind> kind(n_sets);
  std::vector<std::int32_t> place(n_sets);  // among the tables of its kind
  SetList chosen;                           // dense sets in the order met
  std::vector<std::size_t> set_of_chosen;
  chosen.reserve(gathered.sets);
  set_of_chosen.reserve(n_sets);
  for (std::size_t s = 0; s < n_sets; ++s) {
    const Set set = gathered.sets[s];
    const bool mixed = is_mixed(set, states);
    const std::uint64_t cells = mixed ? 0 : cells_of(set, states);
    kind[s] = mixed ? kMixed : cells <= most && set.size() <= kMostAxes ? kDense : kSparse;
    SetList& list = kind[s] == kMixed ? out.mixed : kind[s] == kDense ? chosen : out.sparse;
    place[s] = static_cast<std::int32_t>(list.size());
    append(list, set);
    if (kind[s] != kDense) continue;
    set_of_chosen.push_back(s);
    if (__builtin_add_overflow(out.cells, cells, &out.cells)) out.cells = UINT64_MAX;
  }

  order_variables(chosen, states.size());
  out.dense.reserve(chosen);
  out.first_cell.reserve(chosen.size());
  std::uint64_t cell = 0;
  for (const std::size_t i : sorted_order(chosen)) {
    place[set_of_chosen[i]] = static_cast<std::int32_t>(out.dense.size());
    out.first_cell.push_back(cell);
    cell += cells_of(chosen[i], states);
    append(out.dense, chosen[i]);
  }
  number_discrete(out.dense, states);

  out.kept = std::move(gathered.kept);
  const auto n_sparse = static_cast<std::int32_t>(out.sparse.size());
  out.dense_at.reserve(out.kept.size());
  out.other_at.reserve(out.kept.size());
  for (const std::int32_t set : gathered.set_of) {
    out.dense_at.push_back(kind[set] == kDense ? place[set] : -1);
    out.other_at.push_back(kind[set] == kDense    ? -1
                           : kind[set] == kSparse ? place[set]
                                                  : n_sparse + place[set]);
  }
  return out;
}

}  // namespace credo
