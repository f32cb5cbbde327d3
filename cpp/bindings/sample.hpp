// The door to sampling: rows of a network, parents first, and standard normal numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "bindings/arrays.hpp"
#include "common/monitor.hpp"
#include "sample/sampler.hpp"

namespace credo::doors {

// IN a table for each scope, `fixed` a code or -1 for each variable, `weights` a table or none for
// each scope. The codes of each variable, and ln of the weight of each row where there are weights.
using SampledCodes = std::variant<Array<std::uint8_t>, Array<std::uint16_t>>;
using Sampled = std::tuple<std::vector<SampledCodes>, std::optional<Array<double>>>;
Sampled sample_rows(Monitor& monitor, const sample::Sampler& sampler,
                    const std::vector<Table>& tables, std::int64_t n, std::uint64_t seed,
                    std::uint64_t first, const std::optional<View<const std::int32_t, 1>>& fixed,
                    const std::optional<std::vector<std::optional<Table>>>& weights, int threads,
                    const std::string& path);

Array<double> normals(Monitor& monitor, std::int64_t n, std::uint64_t seed, std::uint32_t stream,
                      std::uint64_t first, int threads);

}  // namespace credo::doors
