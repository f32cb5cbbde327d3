// For any machine and any table: a search among the limits of each row's configuration.
#include <algorithm>

#include "common/cpu.hpp"
#include "common/random.hpp"
#include "sample/kernels.hpp"

namespace credo::sample {
namespace {

void fill(std::uint64_t seed, std::uint32_t stream, std::uint64_t group, std::size_t groups,
          std::int16_t* u) {
  for (std::size_t g = 0; g < groups; ++g, u += random::kGroup)
    for (std::size_t lane = 0; lane < 8; ++lane) {
      const random::Words words =
          random::bits(seed, (group + g) * 8 + lane, stream, random::kDraw);
      for (std::size_t w = 0; w < 4; ++w) {
        u[16 * w + 2 * lane] = static_cast<std::int16_t>(words[w] & 0xFFFF);
        u[16 * w + 2 * lane + 1] = static_cast<std::int16_t>(words[w] >> 16);
      }
    }
}

// How many of the sorted limits are below u.
inline std::uint32_t below(const std::int16_t* limits, std::uint32_t n, std::int16_t u) {
  if (n <= 8) {
    std::uint32_t count = 0;
    for (std::uint32_t k = 0; k < n; ++k) count += limits[k] < u;
    return count;
  }
  const std::int16_t* from = limits;
  while (n > 1) {
    const std::uint32_t half = n / 2;
    from += from[half - 1] < u ? half : 0;
    n -= half;
  }
  return static_cast<std::uint32_t>(from - limits) + (*from < u);
}

// kLimits limits, or as many as there are where it is 0.
template <std::uint32_t kLimits, class Code>
std::size_t choose_as(const Choice& choice, const std::uint32_t* configuration,
                      const std::int16_t* u, std::size_t rows, Code* codes,
                      std::uint16_t* undecided) {
  const std::uint32_t n = kLimits != 0 ? kLimits : choice.arity - 1;
  std::size_t count = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::int16_t* limits =
        choice.limits.data() + std::size_t{configuration[row]} * choice.stride;
    const std::uint32_t state = below(limits, n, u[row]);
    codes[row] = static_cast<Code>(state);
    undecided[count] = static_cast<std::uint16_t>(row);
    count += state < n && limits[state] == u[row];
  }
  return count;
}

template <class Code>
void add(const Code* codes, std::uint32_t stride, std::size_t rows, std::uint32_t* configuration) {
  for (std::size_t row = 0; row < rows; ++row) configuration[row] += codes[row] * stride;
}

void configurations(const Choice& choice, const Codes* columns, std::size_t rows,
                    std::uint32_t* configuration) {
  std::fill_n(configuration, rows, 0);
  for (const Parent& parent : choice.parents) {
    const Codes& column = columns[parent.variable];
    if (column.wide)
      add(static_cast<const std::uint16_t*>(column.data), parent.stride, rows, configuration);
    else
      add(static_cast<const std::uint8_t*>(column.data), parent.stride, rows, configuration);
  }
}

std::size_t choose(const Choice& choice, const Codes* columns, const std::int16_t* u,
                   std::size_t rows, Codes codes, std::uint16_t* undecided) {
  std::uint32_t configuration[kMaxBlock];
  configurations(choice, columns, rows, configuration);
  if (codes.wide)
    return choose_as<0>(choice, configuration, u, rows, static_cast<std::uint16_t*>(codes.data),
                        undecided);
  const auto of_bytes = choice.arity == 2   ? choose_as<1, std::uint8_t>
                        : choice.arity == 3 ? choose_as<2, std::uint8_t>
                        : choice.arity == 4 ? choose_as<3, std::uint8_t>
                                            : choose_as<0, std::uint8_t>;
  return of_bytes(choice, configuration, u, rows, static_cast<std::uint8_t*>(codes.data),
                  undecided);
}

}  // namespace

// A limit of 16 configurations costs about five instructions for 32 rows; comparing one row with 16
// limits costs about ten.
bool can_shuffle(std::uint32_t arity, double configurations, std::uint32_t largest_parent) {
  return arity <= 32 && configurations <= 256 && largest_parent <= 16 &&
         (arity - 1) * configurations <= 1024;
}

std::uint32_t limit_stride(std::uint32_t arity) {
  const std::uint32_t n = arity - 1;
  if (n > kCompared) return n;
  return n <= 8 ? 8 : (n + 15) / 16 * 16;
}

const Kernels& plain_sample_kernels() {
  static constexpr Kernels kernels{fill, choose, configurations};
  return kernels;
}

const Kernels& sample_kernels_for(const std::string& path) {
  const bool plain = &kernels_for(path) == &plain_kernels();  // throws for an unknown name
  return plain ? plain_sample_kernels() : avx2_sample_kernels();
}

}  // namespace credo::sample
