// A table of discrete variables as the kernels see it: one array of codes per variable, and one
// bitmap per state, built when a popcount first asks for it. Records hold the same bits row by row.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/memory.hpp"
#include "common/lane_kernels.hpp"

namespace credo {

class Columns {
 public:
  // Whether the views say which variables may be missing, or the codes are to be looked at.
  enum class Gaps { kTold, kLookedFor };

  // IN views: the codes must outlive this object and keep their values.
  // Throws std::invalid_argument if a code is out of its variable's range.
  Columns(std::vector<CodeView> views, std::size_t n_rows, Gaps gaps = Gaps::kTold);

  std::size_t n_rows() const { return n_rows_; }
  std::size_t n_variables() const { return views_.size(); }
  const CodeView& operator[](std::size_t variable) const { return views_[variable]; }

  // Values a code can take: the states, and missing where it may occur.
  std::uint64_t radix(std::size_t variable) const {
    return std::uint64_t{views_[variable].arity} + (views_[variable].missing ? 1 : 0);
  }

  std::uint32_t code(std::size_t variable, std::size_t row) const {
    return views_[variable].at(row);
  }

  // One mask per state, `words_per_mask()` apart; rows past the end are zero. Built by the first
  // caller, then shared; safe to call from many threads.
  MaskRows bitmap(std::size_t variable, const LaneKernels& kernels) const;
  std::size_t words_per_mask() const { return words_per_mask_; }
  std::size_t bitmap_bytes() const;

  // Where a variable's states stand in the records: in which layer of them, and at which bit.
  // A variable without gaps leaves out its last state; one of many states has no place (layer -1).
  struct Place {
    std::int32_t layer = -1;
    std::uint32_t bit = 0;
    std::uint32_t states = 0;
  };
  const Place& place(std::size_t variable) const { return places_[variable]; }
  std::size_t n_layers() const { return n_layers_; }

  // One record per row. Built by the first caller, then shared, like the bitmaps.
  const Record* records(std::size_t layer, const LaneKernels& kernels) const;
  bool has_records(std::size_t layer) const { return layers_[layer].ready; }

 private:
  struct Bitmap {
    std::once_flag built;
    BigArray<std::uint64_t> masks;
    std::atomic<std::size_t> bytes{0};
  };

  struct Layer {
    std::once_flag built;
    BigArray<Record> records;
    std::atomic<bool> ready{false};
  };

  void place_variables();

  std::vector<CodeView> views_;
  std::size_t n_rows_;
  std::size_t words_per_mask_;
  std::unique_ptr<Bitmap[]> bitmaps_;
  std::vector<Place> places_;
  std::size_t n_layers_ = 0;
  std::unique_ptr<Layer[]> layers_;
};

}  // namespace credo
