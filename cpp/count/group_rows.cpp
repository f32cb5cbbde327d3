#include "count/group_rows.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "common/memory.hpp"

namespace credo {
namespace {

constexpr std::size_t kKeyRows = 2048;
constexpr std::size_t kPrefetch = 16;  // rows ahead in the hash table

// ---------------------------------------------------------------- keys

// Variables that share a word of the key.
using KeyWord = std::vector<std::int32_t>;

std::vector<KeyWord> key_words(const Columns& columns, std::span<const std::int32_t> variables) {
  std::vector<KeyWord> words(1);
  std::uint64_t configurations = 1;
  for (const std::int32_t v : variables) {
    if (__builtin_mul_overflow(configurations, columns.radix(v), &configurations)) {
      words.emplace_back();
      configurations = columns.radix(v);
    }
    words.back().push_back(v);
  }
  return words;
}

// The keys of one block of rows, word by word: keys[w * kKeyRows + i].
struct BlockKeys {
  std::vector<std::uint64_t> keys;
  std::vector<char> skipped;
  bool any_skipped = false;
};

void pack(const Columns& columns, const std::vector<KeyWord>& words, std::size_t first,
          std::size_t n, MissingRows missing, const LaneKernels& kernels, BlockKeys& block) {
  std::fill(block.keys.begin(), block.keys.end(), 0);
  block.any_skipped = false;
  for (std::size_t w = 0; w < words.size(); ++w) {
    for (const std::int32_t v : words[w]) {
      kernels.extend_key(block.keys.data() + w * kKeyRows, columns[v], first, n,
                         columns.radix(v));
      if (missing == MissingRows::kKeep || !columns[v].missing) continue;
      if (!block.any_skipped) block.skipped.assign(kKeyRows, 0);
      block.any_skipped = true;
      for (std::size_t i = 0; i < n; ++i)
        block.skipped[i] |= columns.code(v, first + i) == columns[v].arity;
    }
  }
}

// ---------------------------------------------------------------- hash table of groups

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0x9E3779B97F4A7C15u;
  return x ^ (x >> 29);
}

// Open addressing with linear probing. The key of group g is keys[g * n_words ...].
class GroupTable {
 public:
  explicit GroupTable(std::size_t n_words)
      : n_words_(n_words), slots_(std::size_t{1} << 10, Slot{}) {}

  std::size_t size() const { return keys.size() / n_words_; }

  // The hash of a key; of a one-word key the key itself can be told from it.
  std::uint64_t hash(const std::uint64_t* key, std::size_t stride) const {
    std::uint64_t h = mix(key[0]);
    for (std::size_t w = 1; w < n_words_; ++w) h = mix(h * 31 + key[w * stride]);
    return h * 0xD6E8FEB86659FD93u;
  }

  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[slot_of(hash)]); }

  // The group of a key; adds it if it is new.
  std::size_t find_or_add(const std::uint64_t* key, std::size_t stride, std::uint64_t hash) {
    for (std::size_t at = slot_of(hash);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      if (slot.group < 0) {
        const std::size_t group = size();
        slot = {hash, static_cast<std::int64_t>(group)};
        for (std::size_t w = 0; w < n_words_; ++w) keys.push_back(key[w * stride]);
        if (2 * size() > slots_.size()) grow();
        return group;
      }
      if (slot.hash == hash && same(key, stride, slot.group)) return slot.group;
    }
  }

  std::vector<std::uint64_t> keys;

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::int64_t group = -1;
  };

  std::size_t slot_of(std::uint64_t hash) const { return hash >> shift_; }

  // Every step of hash() is a bijection of the first word, so one word needs no comparison.
  bool same(const std::uint64_t* key, std::size_t stride, std::int64_t group) const {
    if (n_words_ == 1) return true;
    for (std::size_t w = 0; w < n_words_; ++w)
      if (keys[group * n_words_ + w] != key[w * stride]) return false;
    return true;
  }

  void grow() {
    const BigArray<Slot> old = std::exchange(slots_, BigArray<Slot>(4 * slots_.size(), Slot{}));
    shift_ -= 2;
    for (const Slot& slot : old) {
      if (slot.group < 0) continue;
      std::size_t at = slot_of(slot.hash);
      while (slots_[at].group >= 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::size_t n_words_;
  int shift_ = 64 - 10;
  BigArray<Slot> slots_;
};

// ---------------------------------------------------------------- order of the groups

struct KeyedGroup {
  std::uint64_t key;
  std::int64_t group;
};

// Least-significant-digit radix sort by key; stable.
void radix_sort(BigArray<KeyedGroup>& items, BigArray<KeyedGroup>& spare, Monitor* monitor) {
  constexpr int kBits = 11;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  std::uint64_t all = 0;
  for (const KeyedGroup& item : items) all |= item.key;
  for (int shift = 0; shift < 64 && all >> shift != 0; shift += kBits) {
    if (monitor != nullptr) monitor->poll();
    const auto digit = [&](const KeyedGroup& item) { return item.key >> shift & (kBuckets - 1); };
    std::array<std::size_t, kBuckets + 1> begin{};
    for (const KeyedGroup& item : items) ++begin[digit(item) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (const KeyedGroup& item : items) spare[begin[digit(item)]++] = item;
    std::swap(items, spare);
  }
}

// Groups in order of their keys: by the last word first, each sort keeping the one before.
BigArray<KeyedGroup> sorted_groups(const GroupTable& table, std::size_t n_words,
                                   Monitor* monitor) {
  constexpr std::size_t kFew = 1024;  // a comparison sort is faster
  BigArray<KeyedGroup> order(table.size());
  for (std::size_t g = 0; g < order.size(); ++g) order[g].group = static_cast<std::int64_t>(g);
  BigArray<KeyedGroup> spare(order.size());
  for (std::size_t word = n_words; word-- > 0;) {
    for (KeyedGroup& item : order) item.key = table.keys[item.group * n_words + word];
    if (order.size() > kFew)
      radix_sort(order, spare, monitor);
    else
      std::ranges::stable_sort(order, {}, &KeyedGroup::key);
  }
  return order;
}

}  // namespace

template <class Weight>
std::optional<RowGroups<Weight>> group_rows(const Columns& columns,
                                            std::span<const std::int32_t> variables,
                                            const Weight* weights, MissingRows missing,
                                            std::int64_t limit, const LaneKernels& kernels,
                                            Monitor* monitor) {
  const std::vector<KeyWord> words = key_words(columns, variables);
  const std::size_t most_groups =
      limit < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(limit);
  GroupTable table(words.size());
  RowGroups<Weight> found;
  BlockKeys block{std::vector<std::uint64_t>(words.size() * kKeyRows), {}};
  std::array<std::uint64_t, kKeyRows> hashes;
  for (std::size_t first = 0; first < columns.n_rows(); first += kKeyRows) {
    if (monitor != nullptr) monitor->poll();
    const std::size_t n = std::min(kKeyRows, columns.n_rows() - first);
    pack(columns, words, first, n, missing, kernels, block);
    const std::uint64_t* keys = block.keys.data();
    for (std::size_t i = 0; i < n; ++i) hashes[i] = table.hash(keys + i, kKeyRows);
    for (std::size_t i = 0; i < n; ++i) {
      if (i + kPrefetch < n) table.prefetch(hashes[i + kPrefetch]);
      if (block.any_skipped && block.skipped[i]) continue;
      const std::size_t group = table.find_or_add(keys + i, kKeyRows, hashes[i]);
      if (group == found.weight.size()) {
        if (group >= most_groups) return std::nullopt;
        found.first_row.push_back(static_cast<std::int64_t>(first + i));
        found.weight.push_back(0);
      }
      found.weight[group] += weights == nullptr ? Weight{1} : weights[first + i];
    }
  }
  const BigArray<KeyedGroup> order = sorted_groups(table, words.size(), monitor);
  RowGroups<Weight> sorted;
  sorted.first_row.reserve(order.size());
  sorted.weight.reserve(order.size());
  for (const KeyedGroup& item : order) {
    sorted.first_row.push_back(found.first_row[item.group]);
    sorted.weight.push_back(found.weight[item.group]);
  }
  return sorted;
}

template std::optional<RowGroups<std::int64_t>> group_rows(const Columns&,
                                                           std::span<const std::int32_t>,
                                                           const std::int64_t*, MissingRows,
                                                           std::int64_t, const LaneKernels&,
                                                           Monitor*);
template std::optional<RowGroups<double>> group_rows(const Columns&, std::span<const std::int32_t>,
                                                     const double*, MissingRows, std::int64_t,
                                                     const LaneKernels&, Monitor*);

}  // namespace credo
