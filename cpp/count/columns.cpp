#include "count/columns.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace credo {
namespace {

template <class Code>
std::uint64_t largest(const void* codes, std::size_t n_rows) {
  const auto* typed = static_cast<const Code*>(codes);
  Code most = 0;
  for (std::size_t r = 0; r < n_rows; ++r) most = std::max(most, typed[r]);
  return most;
}

// Checks a variable, and finds out whether it may be missing if nobody told.
void check(CodeView& view, Columns::Gaps gaps, std::size_t n_rows, std::size_t variable) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument("Variable " + std::to_string(variable) + ": " + why);
  };
  if (view.arity < 1) refuse("the arity must be at least 1.");
  const std::uint64_t most = view.width == 1   ? largest<std::uint8_t>(view.codes, n_rows)
                             : view.width == 2 ? largest<std::uint16_t>(view.codes, n_rows)
                                               : largest<std::uint32_t>(view.codes, n_rows);
  if (gaps == Columns::Gaps::kLookedFor) view.missing = most >= view.arity;
  const std::uint64_t radix = std::uint64_t{view.arity} + (view.missing ? 1 : 0);
  if (radix > std::uint64_t{1} << (8 * view.width))
    refuse(std::to_string(radix) + " codes do not fit an unsigned integer of " +
           std::to_string(view.width) + " byte(s).");
  if (n_rows > 0 && most >= radix)
    refuse("codes must be below " + std::to_string(radix) + ", got " + std::to_string(most) +
           " instead.");
}

// Whole 512-bit units, an odd number of them: a power of two between masks would put the same
// rows of every state in the same cache set.
std::size_t padded_words(std::size_t n_rows) {
  const std::size_t units = (n_rows + 64 * kMaskUnit - 1) / (64 * kMaskUnit);
  return (units | 1) * kMaskUnit;
}

}  // namespace

Columns::Columns(std::vector<CodeView> views, std::size_t n_rows, Gaps gaps)
    : views_(std::move(views)),
      n_rows_(n_rows),
      words_per_mask_(padded_words(n_rows)),
      bitmaps_(std::make_unique<Bitmap[]>(views_.size())) {
  for (std::size_t v = 0; v < views_.size(); ++v) check(views_[v], gaps, n_rows, v);
  place_variables();
}

void Columns::place_variables() {
  constexpr std::uint32_t kMostStates = 8;  // so that records take no more room than codes
  std::size_t bit = kRecordBits;            // the first free one in the last layer
  places_.resize(views_.size());
  for (std::size_t v = 0; v < views_.size(); ++v) {
    const std::uint32_t states = views_[v].missing ? views_[v].arity : views_[v].arity - 1;
    if (states > kMostStates) continue;
    if (bit + states > kRecordBits) {
      ++n_layers_;
      bit = 0;
    }
    places_[v] = {static_cast<std::int32_t>(n_layers_ - 1), static_cast<std::uint32_t>(bit),
                  states};
    bit += states;
  }
  layers_ = std::make_unique<Layer[]>(n_layers_);
}

MaskRows Columns::bitmap(std::size_t variable, const LaneKernels& kernels) const {
  Bitmap& bitmap = bitmaps_[variable];
  const CodeView& view = views_[variable];
  std::call_once(bitmap.built, [&] {
    bitmap.masks = BigArray<std::uint64_t>(view.arity * words_per_mask_, 0);
    kernels.state_bits(view, n_rows_, bitmap.masks.data(), words_per_mask_);
    bitmap.bytes = bitmap.masks.size() * sizeof(std::uint64_t);
  });
  return {bitmap.masks.data(), words_per_mask_, view.arity};
}

const Record* Columns::records(std::size_t layer, const LaneKernels& kernels) const {
  Layer& made = layers_[layer];
  std::call_once(made.built, [&] {
    std::vector<RecordPlace> places;
    for (std::size_t v = 0; v < views_.size(); ++v)
      if (places_[v].layer == static_cast<std::int32_t>(layer))
        places.push_back({views_[v], places_[v].bit, places_[v].states});
    made.records = BigArray<Record>(n_rows_);
    kernels.fill_records(places.data(), places.size(), 0, n_rows_, made.records.data());
    made.ready = true;
  });
  return made.records.data();
}

std::size_t Columns::bitmap_bytes() const {
  std::size_t bytes = 0;
  for (std::size_t v = 0; v < views_.size(); ++v) bytes += bitmaps_[v].bytes;
  return bytes;
}

}  // namespace credo
