// Sets that differ in their last variable only are counted together. A row's cell in the table of
// what they share is its bucket; its record has one bit for each state of the last variables. How
// often each bit is set in each bucket is all the tables at once, so that a row costs the same
// whatever their number. The last state of a variable without gaps is what remains of the bucket.
#include "count_records.hpp"

#include <algorithm>

#include "big_array.hpp"

namespace credo {
namespace {

constexpr std::size_t kBlockRows = 4096;                     // whose buckets are found at a time
constexpr std::size_t kFlushRows = std::size_t{1} << 31;     // before a 32-bit count can overflow
constexpr std::uint64_t kMostBuckets = std::uint64_t{1} << 16;

// The memory behind RecordBuckets.
class BucketMemory {
 public:
  explicit BucketMemory(std::size_t n)
      : next_(n),
        waiting_((n + 1) * RecordBuckets::kGroup),
        sums_(n * RecordBuckets::kSumWords),
        groups_(n),
        rows_(n),
        counts_(n * kRecordBits) {}

  RecordBuckets view() {
    constexpr std::size_t kGroupBytes = RecordBuckets::kGroup * sizeof(Record);
    const std::size_t past = reinterpret_cast<std::uintptr_t>(waiting_.data()) % kGroupBytes;
    Record* first = waiting_.data() + (past == 0 ? 0 : kGroupBytes - past) / sizeof(Record);
    return {next_.data(),   first,        sums_.data(),
            groups_.data(), rows_.data(), counts_.data()};
  }

 private:
  BigArray<Record*> next_;
  BigArray<Record> waiting_;
  BigArray<std::uint64_t> sums_;
  BigArray<std::uint32_t> groups_, rows_, counts_;
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

// Siblings from `first` on in `chosen`: those whose last variables are in one layer are counted.
class SiblingCount {
 public:
  SiblingCount(const Columns& columns, std::span<const std::int32_t> prefix, std::size_t block)
      : columns_(columns),
        cells_(columns, prefix, block),
        n_cells_(cells_of(columns, prefix)),
        memory_(n_cells_ + 1),  // the last one is for rows with a gap
        buckets_(memory_.view()) {}

  void count_rows(std::size_t layer, RowRange rows, const LaneKernels& kernels) {
    const Record* records = columns_.records(layer, kernels);
    kernels.clear_buckets(buckets_, n_cells_ + 1);
    for (std::size_t first = rows.begin; first < rows.end; first += kBlockRows) {
      const std::size_t n = std::min(kBlockRows, rows.end - first);
      kernels.add_records(records + first, cells_.of_rows(first, n, kernels), n, buckets_);
    }
    kernels.finish_buckets(buckets_, n_cells_);
  }

  // The table of one more variable, from the buckets.
  std::span<const std::int64_t> table_of(std::int32_t variable) {
    const Columns::Place& place = columns_.place(variable);
    const std::size_t arity = columns_[variable].arity;
    table_.resize(n_cells_ * arity);
    if (place.states == arity) read_states(place, arity, false);
    else if (arity == 2) read_states(place, 2, true);  // loops of known length
    else if (arity == 3) read_states(place, 3, true);
    else if (arity == 4) read_states(place, 4, true);
    else read_states(place, arity, true);
    return table_;
  }

 private:
  [[gnu::always_inline]] void read_states(const Columns::Place& place, std::size_t arity,
                                          bool last_by_subtraction) {
    const std::size_t states = last_by_subtraction ? arity - 1 : arity;
    const std::uint32_t* counts = buckets_.counts + place.bit;
    std::int64_t* out = table_.data();
    for (std::size_t cell = 0; cell < n_cells_; ++cell, out += arity, counts += kRecordBits) {
      std::uint32_t rest = buckets_.rows[cell];
      for (std::size_t s = 0; s < states; ++s) {
        out[s] = counts[s];
        rest -= counts[s];
      }
      if (last_by_subtraction) out[states] = rest;
    }
  }

  const Columns& columns_;
  Cells cells_;
  std::size_t n_cells_;
  BucketMemory memory_;
  RecordBuckets buckets_;
  std::vector<std::int64_t> table_;
};

void count_siblings(const Columns& columns, const SetList& sets,
                    std::span<const std::size_t> siblings, RowRange rows,
                    const LaneKernels& kernels, const TableSink<std::int64_t>& sink) {
  const auto set = sets[siblings[0]];
  SiblingCount count(columns, set.first(set.size() - 1),
                     std::min(kBlockRows, rows.end - rows.begin));
  for (std::size_t layer = 0; layer < columns.n_layers(); ++layer) {
    const auto here = [&](std::size_t position) {
      return columns.place(sets[position].back()).layer == static_cast<std::int32_t>(layer);
    };
    if (std::ranges::none_of(siblings, here)) continue;
    count.count_rows(layer, rows, kernels);
    for (const std::size_t position : siblings)
      if (here(position)) sink(position, 0, count.table_of(sets[position].back()));
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
  for (std::size_t i = 0; i < chosen.size();) {
    const std::size_t end = siblings_end(sets, chosen, i);
    for (std::size_t first = rows.begin; first < rows.end; first += kFlushRows)
      count_siblings(columns, sets, chosen.subspan(i, end - i),
                     {first, std::min(first + kFlushRows, rows.end)}, kernels, sink);
    i = end;
  }
}

}  // namespace credo
