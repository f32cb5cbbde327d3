// Sets that differ in their last variable only are counted together. A row's cell in the table of
// what they share is its bucket; its record has one bit for each state of the last variables. How
// often each bit is set in each bucket is all the tables at once, so that a row costs the same
// whatever their number. The last state of a variable without gaps is what remains of the bucket.
#include "count/kernels.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "common/memory.hpp"

namespace credo {
namespace {

constexpr std::size_t kCountsTogether = std::size_t{1} << 17;  // in the second-level cache

// One layer of records, and as much of it as the siblings need.
struct LayerBits {
  std::size_t layer;
  std::size_t parts;

  std::size_t stride() const { return parts * kRecordPart; }  // of the counts of a bucket
};

// Reads the records in their order, so that they are near when they are read in another, which the
// CPU cannot foresee. (It does not heed all of so many prefetches.)
void bring_near(const Record* records, std::size_t n) {
  constexpr std::size_t kOfLine = 64 / sizeof(Record);
  std::uint64_t read = 0;
  for (std::size_t i = 0; i < n; i += kOfLine) read |= records[i].words[0];
  asm volatile("" : : "r"(read));
}

// The order of a block's rows that puts those of the same bucket together (counting sort).
// Every eighth row is in the same stream, and a stream has counters of its own. So the counters of
// eight rows can be read before any of them is written: one by one, the CPU would have to know where
// a row went before it could trust what it reads for the next.
class BucketOrder {
 public:
  static constexpr std::size_t kStreams = 8;
  static constexpr std::size_t kFewBuckets = 512;  // beyond, the same one seldom comes twice in a row
  static constexpr std::size_t kMostRows = 127 * 512;  // of a block: numbers of rows fit 16 bits

  BucketOrder(std::size_t n_buckets, std::size_t most_rows)
      : n_streams_(n_buckets <= kFewBuckets ? kStreams : 1),
        n_buckets_(n_buckets),
        next_(n_streams_ * n_buckets),
        ends_(n_buckets),
        rows_(most_rows) {}

  // Takes the rows of a block. IN bucket [n].
  void sort(const std::uint16_t* bucket, std::size_t n) {
    std::fill_n(next_.data(), next_.size(), 0);
    count(bucket, n);
    std::uint32_t end = 0;
    for (std::size_t b = 0; b < n_buckets_; ++b) {
      for (std::size_t s = 0; s < n_streams_; ++s)
        end += std::exchange(next_[b * n_streams_ + s], end);
      ends_[b] = end;
    }
    place(bucket, n);
  }

  // The rows of the block in this order, and where the run of each bucket ends.
  const std::uint16_t* rows() const { return rows_.data(); }
  const std::uint32_t* ends() const { return ends_.data(); }

 private:
  void count(const std::uint16_t* bucket, std::size_t n) {
    std::uint32_t* const next = next_.data();
    std::size_t i = 0;
    if (n_streams_ == kStreams)
      for (; i + kStreams <= n; i += kStreams)
        for (std::size_t s = 0; s < kStreams; ++s) ++next[kStreams * bucket[i + s] + s];
    for (; i < n; ++i) ++next[n_streams_ * bucket[i]];
  }

  void place(const std::uint16_t* bucket, std::size_t n) {
    std::uint16_t* const rows = rows_.data();
    std::uint32_t* const next = next_.data();
    std::size_t i = 0;
    if (n_streams_ == kStreams) {
      for (; i + kStreams <= n; i += kStreams) {
        std::array<std::uint32_t, kStreams> at;
        for (std::size_t s = 0; s < kStreams; ++s) at[s] = next[kStreams * bucket[i + s] + s];
        for (std::size_t s = 0; s < kStreams; ++s) next[kStreams * bucket[i + s] + s] = at[s] + 1;
        for (std::size_t s = 0; s < kStreams; ++s) rows[at[s]] = static_cast<std::uint16_t>(i + s);
      }
    }
    for (; i < n; ++i) rows[next[n_streams_ * bucket[i]]++] = static_cast<std::uint16_t>(i);
  }

  std::size_t n_streams_, n_buckets_;
  BigArray<std::uint32_t> next_;  // [buckets][streams]: where the next row of each goes
  BigArray<std::uint32_t> ends_;
  BigArray<std::uint16_t> rows_;
};

// The cell of every row of a block in the table of some variables; past the last if one is missing.
class Cells {
 public:
  Cells(const Columns& columns, std::span<const std::int32_t> variables, std::size_t rows)
      : columns_(columns), variables_(variables), index_(rows), before_(rows) {
    if (variables.empty()) std::fill_n(index_.data(), rows, 0);
  }

  const std::uint16_t* of_rows(std::size_t first, std::size_t n, const LaneKernels& kernels) {
    std::uint32_t cells = 1;
    bool gaps = false;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      const CodeView& column = columns_[variables_[i]];
      cells *= column.arity;
      gaps = gaps || column.missing;
      std::swap(index_, before_);
      kernels.extend_short(i == 0 ? nullptr : before_.data(), column, first, n, cells, gaps,
                           index_.data());
    }
    return index_.data();
  }

 private:
  const Columns& columns_;
  std::span<const std::int32_t> variables_;
  BigArray<std::uint16_t> index_, before_;
};

// Siblings: a few layers of their records are counted together.
class SiblingCount {
 public:
  SiblingCount(const Columns& columns, std::span<const std::int32_t> prefix, std::size_t rows,
               std::size_t n_layers)
      : columns_(columns),
        n_cells_(cells_of(columns, prefix)),
        n_buckets_(n_cells_ + 1),  // the last one is for rows with a gap
        together_(std::clamp<std::size_t>(kCountsTogether / n_buckets_ / kRecordBits, 1, n_layers)),
        block_(std::min(records_block(n_buckets_), rows)),
        cells_(columns, prefix, block_),
        order_(n_buckets_, block_),
        sizes_(n_buckets_),
        counts_(together_ * n_buckets_ * kRecordBits) {}

  // Layers that can be counted at a time.
  std::size_t together() const { return together_; }

  // IN layers: up to together() of them.
  void count_rows(std::span<const LayerBits> layers, RowRange rows, const LaneKernels& kernels) {
    layers_ = layers;
    std::fill_n(sizes_.data(), n_buckets_, 0);
    for (std::size_t i = 0; i < layers.size(); ++i)
      std::fill_n(counts_of(i), n_buckets_ * layers[i].stride(), 0);
    for (std::size_t first = rows.begin; first < rows.end; first += block_) {
      rows.poll();
      const std::size_t n = std::min(block_, rows.end - first);
      order_.sort(cells_.of_rows(first, n, kernels), n);
      const std::uint32_t* ends = order_.ends();
      for (std::size_t b = 0; b < n_buckets_; ++b) sizes_[b] += ends[b] - (b > 0 ? ends[b - 1] : 0);
      for (std::size_t i = 0; i < layers.size(); ++i) {
        const Record* records = columns_.records(layers[i].layer, kernels) + first;
        if (n < rows.end - rows.begin) bring_near(records, n);  // one block is near from last time
        kernels.add_runs(records, order_.rows(), ends, n_buckets_, layers[i].parts, counts_of(i));
      }
    }
  }

  // The table of one more variable, from the buckets.
  std::span<const std::int64_t> table_of(std::int32_t variable) {
    const Columns::Place& place = columns_.place(variable);
    const std::size_t arity = columns_[variable].arity;
    std::size_t i = 0;
    while (layers_[i].layer != static_cast<std::size_t>(place.layer)) ++i;
    const std::uint32_t* counts = counts_of(i) + place.bit;
    const std::size_t stride = layers_[i].stride();
    table_.resize(n_cells_ * arity);
    if (place.states == arity) read_states(counts, stride, arity, false);
    else if (arity == 2) read_states(counts, stride, 2, true);  // loops of known length
    else if (arity == 3) read_states(counts, stride, 3, true);
    else if (arity == 4) read_states(counts, stride, 4, true);
    else read_states(counts, stride, arity, true);
    return table_;
  }

 private:
  const std::uint32_t* counts_of(std::size_t i) const {
    return counts_.data() + i * n_buckets_ * kRecordBits;
  }
  std::uint32_t* counts_of(std::size_t i) { return counts_.data() + i * n_buckets_ * kRecordBits; }

  [[gnu::always_inline]] void read_states(const std::uint32_t* counts, std::size_t stride,
                                          std::size_t arity, bool last_by_subtraction) {
    const std::size_t states = last_by_subtraction ? arity - 1 : arity;
    std::int64_t* out = table_.data();
    for (std::size_t cell = 0; cell < n_cells_; ++cell, out += arity, counts += stride) {
      std::uint32_t rest = sizes_[cell];
      for (std::size_t s = 0; s < states; ++s) {
        out[s] = counts[s];
        rest -= counts[s];
      }
      if (last_by_subtraction) out[states] = rest;
    }
  }

  const Columns& columns_;
  std::size_t n_cells_, n_buckets_, together_, block_;
  Cells cells_;
  BucketOrder order_;
  BigArray<std::uint32_t> sizes_;   // rows of each bucket
  BigArray<std::uint32_t> counts_;  // of each layer: [buckets][its stride], rows that have each bit
  std::span<const LayerBits> layers_;  // what the counts are of
  std::vector<std::int64_t> table_;
};

// The layers that the last variables of the siblings are in.
std::vector<LayerBits> layers_of(const Columns& columns, const SetList& sets,
                                 std::span<const std::size_t> siblings) {
  std::vector<std::size_t> parts(columns.n_layers());
  for (const std::size_t position : siblings) {
    const Columns::Place& place = columns.place(sets[position].back());
    const std::size_t end = (place.bit + place.states + kRecordPart - 1) / kRecordPart;
    parts[place.layer] = std::max({parts[place.layer], end, std::size_t{1}});
  }
  std::vector<LayerBits> layers;
  for (std::size_t layer = 0; layer < parts.size(); ++layer)
    if (parts[layer] > 0) layers.push_back({layer, parts[layer]});
  return layers;
}

void count_siblings(const Columns& columns, const SetList& sets,
                    std::span<const std::size_t> siblings, RowRange rows,
                    const LaneKernels& kernels, const TableSink<std::int64_t>& sink) {
  const auto set = sets[siblings[0]];
  const std::vector<LayerBits> layers = layers_of(columns, sets, siblings);
  SiblingCount count(columns, set.first(set.size() - 1), rows.end - rows.begin, layers.size());
  for (std::size_t first = 0; first < layers.size(); first += count.together()) {
    const std::size_t end = std::min(first + count.together(), layers.size());
    const auto some = std::span(layers).subspan(first, end - first);
    count.count_rows(some, rows, kernels);
    for (const std::size_t position : siblings) {
      const auto layer = static_cast<std::size_t>(columns.place(sets[position].back()).layer);
      if (some.front().layer <= layer && layer <= some.back().layer)
        sink(position, 0, count.table_of(sets[position].back()));
    }
  }
}

}  // namespace

bool has_record(const Columns& columns, std::span<const std::int32_t> set) {
  return !set.empty() && columns.place(set.back()).layer >= 0 &&
         cells_of(columns, set.first(set.size() - 1)) <= kShortCells;
}

// Many for each bucket, few enough for the cache.
std::size_t records_block(std::size_t n_buckets) {
  constexpr std::size_t kLeast = 16384, kOfBucket = 64;
  return std::clamp(kOfBucket * n_buckets, kLeast, BucketOrder::kMostRows);
}

void count_by_records(const Columns& columns, const SetList& sets,
                      std::span<const std::size_t> chosen, RowRange rows,
                      const LaneKernels& kernels, const TableSink<std::int64_t>& sink) {
  for (std::size_t i = 0; i < chosen.size();) {
    const std::size_t end = siblings_end(sets, chosen, i);
    for (std::size_t first = rows.begin; first < rows.end; first += kFlushRows)
      count_siblings(columns, sets, chosen.subspan(i, end - i),
                     {first, std::min(first + kFlushRows, rows.end), rows.monitor}, kernels, sink);
    i = end;
  }
}

}  // namespace credo
