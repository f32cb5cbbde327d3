// Columns of codes that are kept, to be counted, grouped, recoded and scored.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "bindings/arrays.hpp"
#include "common/monitor.hpp"
#include "count/columns.hpp"
#include "count/moments.hpp"
#include "count/set_trie.hpp"

namespace credo::bindings {

// Weights of either type, or none.
struct RowWeights {
  const std::int64_t* integers = nullptr;
  const double* reals = nullptr;

  RowWeights(const std::optional<AnyArray>& array, std::size_t n_rows);

  // Calls f with the integer weights (null: 1 each) or with the real ones.
  template <class F>
  auto visit(F&& f) const {
    return reals != nullptr ? f(reals) : f(integers);
  }
};

// Sets of variables as they were written, and as they are known; these live as long as the call.
class GivenSets {
 public:
  GivenSets() = default;
  explicit GivenSets(std::optional<SetList> read) : read_(std::move(read)) {}
  const SetList& list() const;  // throws std::invalid_argument where nothing could be read

 private:
  std::optional<SetList> read_;
};

struct KnownSets {
  const SetList* list = nullptr;
};

// Cells of whole numbers, or of real weights.
struct Counts : std::variant<Array<std::int64_t>, Array<double>> {
  using variant::variant;
};

// Columns, and the arrays that they are views of. IN codes of uint8, uint16 or uint32.
class KeptColumns {
 public:
  // IN missing: which variables may be; they are looked at if it is nothing.
  KeptColumns(std::vector<AnyArray> codes, const std::vector<std::int64_t>& arities,
              const std::optional<std::vector<bool>>& missing);

  const Columns& operator*() const { return columns_; }
  const Columns* operator->() const { return &columns_; }

  // The bits of a variable, a row per state; they live as long as the columns.
  MaskRows bitmap(std::int64_t variable, const std::string& path) const;

  // All tables one after the other, and where each begins (and the last ends).
  std::tuple<Counts, Array<std::int64_t>> count(Monitor& monitor, const GivenSets& sets,
                                                const std::optional<AnyArray>& weights,
                                                const std::string& kernel, const std::string& path,
                                                int threads) const;
  // The tables alone.
  Counts count_tables(Monitor& monitor, KnownSets sets, const std::optional<AnyArray>& weights,
                      const std::string& kernel, const std::string& path, int threads) const;

  // Groups of equal rows: the first row of each, and its weight; none at more groups than `limit`.
  using Groups = std::tuple<Array<std::int64_t>, Counts>;
  std::optional<Groups> unique_within(Monitor& monitor, const std::vector<std::int32_t>& variables,
                                      const std::optional<AnyArray>& weights,
                                      std::int64_t limit) const;
  Groups unique(Monitor& monitor, const std::vector<std::int32_t>& variables,
                const std::optional<AnyArray>& weights) const {
    return *unique_within(monitor, variables, weights, -1);
  }

  // The configurations seen in rows with no missing cell, and their weights.
  std::tuple<Array<std::uint32_t>, Counts> count_sparse(
      Monitor& monitor, const std::vector<std::int32_t>& variables,
      const std::optional<AnyArray>& weights) const;

 private:
  Counts count_into(Monitor& monitor, const SetList& sets, std::span<const std::size_t> offsets,
                    const std::optional<AnyArray>& weights, const std::string& kernel,
                    const std::string& path, int threads) const;

  std::vector<AnyArray> arrays_;
  Columns columns_;
};

// OUT out[i] = lut[indices[i]], of the lut's type; IN indices of int32 or codes.
void take_codes(const AnyArray& indices, const AnyArray& lut, const View<void, kAnyRank>& out,
                const std::string& path);

// Columns, groups and weights of the same rows, checked.
MomentsInput moments_input(const std::vector<Reals>& columns,
                           const std::optional<View<const std::uint32_t, 1>>& group,
                           std::int64_t n_groups, const std::optional<Reals>& weights, int threads);

// Sum of weights [G], mean [G, d] and scatter [G, d, d] of each group of rows.
std::tuple<Array<double>, Array<double>, Array<double>> moments(
    const std::vector<Reals>& columns, const std::optional<View<const std::uint32_t, 1>>& group,
    std::int64_t n_groups, const std::optional<Reals>& weights, int threads,
    const std::string& path);

}  // namespace credo::bindings
