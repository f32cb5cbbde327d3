// Sets that differ in their last variable only are counted together. A row's cell in the table of
// what they share is its bucket; its record has one bit for each state of the last variables. How
// often each bit is set in each bucket is all the tables at once, so that a row costs the same
// whatever their number. The last state of a variable without gaps is what remains of the bucket.
#include "count_records.hpp"

#include <algorithm>

#include "big_array.hpp"
#include "bucket_order.hpp"

namespace credo {
namespace {

constexpr std::size_t kFlushRows = std::size_t{1} << 31;     // before a 32-bit count can overflow
constexpr std::uint64_t kMostBuckets = std::uint64_t{1} << 16;

// Rows that are sorted by their buckets at a time: many for each bucket, few enough for the cache.
std::size_t block_rows(std::size_t n_buckets) {
  constexpr std::size_t kLeast = 8192, kMost = 65536, kOfBucket = 64;
  return std::clamp(kOfBucket * n_buckets, kLeast, kMost);
}

// The memory behind RecordBuckets, for one group of siblings after the other.
class BucketMemory {
 public:
  RecordBuckets of(std::size_t n) {
    if (n > size_) {
      size_ = n;
      waiting_ = BigArray<Record>(n * RecordBuckets::kGroup);
      sums_ = BigArray<std::uint64_t>(n * RecordBuckets::kSumWords);
      numbers_ = BigArray<std::uint32_t>(n * (3 + kRecordBits));
    }
    std::uint32_t* counts = numbers_.data();
    std::uint32_t* waits = counts + size_ * kRecordBits;
    return {waits, waiting_.data(), sums_.data(), waits + size_, waits + 2 * size_, counts};
  }

 private:
  std::size_t size_ = 0;
  BigArray<Record> waiting_;
  BigArray<std::uint64_t> sums_;
  BigArray<std::uint32_t> numbers_;
};

// The cell of every row of a block in the table of some variables; past the last if one is missing.
class Cells {
 public:
  Cells(const Columns& columns, std::span<const std::int32_t> variables, std::size_t rows)
      : columns_(columns), variables_(variables), index_(rows, 0), before_(rows) {}

  const std::uint32_t* of_rows(std::size_t first, std::size_t n, const LaneKernels& kernels) {
    std::uint32_t cells = 1;
    bool gaps = false;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      const CodeView& column = columns_[variables_[i]];
      cells *= column.arity;
      gaps = gaps || column.missing;
      std::swap(index_, before_);
      kernels.extend_index(i == 0 ? nullptr : before_.data(), column, first, n, cells, gaps,
                           index_.data());
    }
    return index_.data();
  }

 private:
  const Columns& columns_;
  std::span<const std::int32_t> variables_;
  BigArray<std::uint32_t> index_, before_;
};

// Siblings whose last variables are in one layer of records, or in two that are read together.
class SiblingCount {
 public:
  SiblingCount(const Columns& columns, std::span<const std::int32_t> prefix, std::size_t rows,
               BucketMemory& memory)
      : columns_(columns),
        n_cells_(cells_of(columns, prefix)),
        block_(std::min(block_rows(n_cells_), rows)),
        cells_(columns, prefix, block_),
        order_(n_cells_ + 1, block_),               // the last bucket is for rows with a gap
        buckets_(memory.of(2 * (n_cells_ + 1))) {}

  // IN layers: one or two.
  void count_rows(std::span<const std::size_t> layers, RowRange rows, const LaneKernels& kernels) {
    const std::size_t n_buckets = n_cells_ + 1;
    layers_ = layers;
    kernels.clear_buckets(buckets_, n_buckets * layers.size());
    for (std::size_t first = rows.begin; first < rows.end; first += block_) {
      rows.poll();
      const std::size_t n = std::min(block_, rows.end - first);
      order_.sort(cells_.of_rows(first, n, kernels), n);
      for (std::size_t i = 0; i < layers.size(); ++i) {
        const Record* records = columns_.records(layers[i], kernels) + first;
        kernels.add_runs(order_.sorted(records), order_.ends(), part(i), n_buckets);
      }
    }
    kernels.finish_buckets(buckets_, n_buckets * layers.size());
  }

  // The table of one more variable, from the buckets.
  std::span<const std::int64_t> table_of(std::int32_t variable) {
    const Columns::Place& place = columns_.place(variable);
    const std::size_t arity = columns_[variable].arity;
    const bool second = static_cast<std::size_t>(place.layer) != layers_[0];
    const std::size_t first = second ? n_cells_ + 1 : 0;  // bucket
    table_.resize(n_cells_ * arity);
    if (place.states == arity) read_states(place, first, arity, false);
    else if (arity == 2) read_states(place, first, 2, true);  // loops of known length
    else if (arity == 3) read_states(place, first, 3, true);
    else if (arity == 4) read_states(place, first, 4, true);
    else read_states(place, first, arity, true);
    return table_;
  }

 private:
  // The buckets of one layer.
  RecordBuckets part(std::size_t layer) const {
    const std::size_t b = layer * (n_cells_ + 1);
    return {buckets_.waits + b,
            buckets_.waiting + b * RecordBuckets::kGroup,
            buckets_.sums + b * RecordBuckets::kSumWords,
            buckets_.groups + b,
            buckets_.rows + b,
            buckets_.counts + b * kRecordBits};
  }

  [[gnu::always_inline]] void read_states(const Columns::Place& place, std::size_t first,
                                          std::size_t arity, bool last_by_subtraction) {
    const std::size_t states = last_by_subtraction ? arity - 1 : arity;
    const std::uint32_t* counts = buckets_.counts + first * kRecordBits + place.bit;
    std::int64_t* out = table_.data();
    for (std::size_t cell = 0; cell < n_cells_; ++cell, out += arity, counts += kRecordBits) {
      std::uint32_t rest = buckets_.rows[first + cell];
      for (std::size_t s = 0; s < states; ++s) {
        out[s] = counts[s];
        rest -= counts[s];
      }
      if (last_by_subtraction) out[states] = rest;
    }
  }

  const Columns& columns_;
  std::size_t n_cells_, block_;
  Cells cells_;
  BucketOrder order_;
  RecordBuckets buckets_;
  std::span<const std::size_t> layers_;  // what the buckets hold
  std::vector<std::int64_t> table_;
};

void count_siblings(const Columns& columns, const SetList& sets,
                    std::span<const std::size_t> siblings, RowRange rows,
                    const LaneKernels& kernels, BucketMemory& memory,
                    const TableSink<std::int64_t>& sink) {
  const auto set = sets[siblings[0]];
  const auto layer_of = [&](std::size_t position) {
    return static_cast<std::size_t>(columns.place(sets[position].back()).layer);
  };
  std::vector<std::size_t> layers;
  for (const std::size_t position : siblings) layers.push_back(layer_of(position));
  std::ranges::sort(layers);
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  SiblingCount count(columns, set.first(set.size() - 1), rows.end - rows.begin, memory);
  for (std::size_t first = 0; first < layers.size(); first += 2) {
    const std::size_t end = std::min(first + 2, layers.size());
    const auto some = std::span(layers).subspan(first, end - first);
    count.count_rows(some, rows, kernels);
    for (const std::size_t position : siblings)
      if (std::ranges::find(some, layer_of(position)) != some.end())
        sink(position, 0, count.table_of(sets[position].back()));
  }
}

}  // namespace

bool has_record(const Columns& columns, std::span<const std::int32_t> set) {
  return !set.empty() && columns.place(set.back()).layer >= 0 &&
         cells_of(columns, set.first(set.size() - 1)) <= kMostBuckets;
}

void count_by_records(const Columns& columns, const SetList& sets,
                      std::span<const std::size_t> chosen, RowRange rows,
                      const LaneKernels& kernels, const TableSink<std::int64_t>& sink) {
  BucketMemory memory;
  for (std::size_t i = 0; i < chosen.size();) {
    const std::size_t end = siblings_end(sets, chosen, i);
    for (std::size_t first = rows.begin; first < rows.end; first += kFlushRows)
      count_siblings(columns, sets, chosen.subspan(i, end - i),
                     {first, std::min(first + kFlushRows, rows.end), rows.monitor}, kernels, memory,
                     sink);
    i = end;
  }
}

}  // namespace credo
