// The inner loops of sampling, one set per instruction set; the results are the same bit for bit.
//
// A row's state is found by comparing 16 random bits u with the limits t_k = ⌊2^16 C_k⌋ of the
// cumulative probabilities C_k of its parents' configuration:
//
//   u > t_k: beyond C_k      u < t_k: before it      u = t_k: more bits must tell
//
// so the state is the number of t_k below u, unless u meets a limit (one row in 2^16 for each
// limit): such rows are listed, and decided by 64 bits. (To list a row that need not be is no harm:
// the further bits never contradict the first.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace credo::sample {

// Rows of a block of codes; a multiple of random::kGroup.
inline constexpr std::size_t kMaxBlock = 1024;

// Codes of one variable in a block: one byte each, or two.
struct Codes {
  void* data;
  bool wide;
};

struct Parent {
  std::int32_t variable;
  std::uint32_t stride;  // in configurations
};

// One variable's tables, made ready. The limits are less 2^15, so that they compare as signed.
struct Choice {
  std::uint32_t arity = 1;
  std::uint32_t configurations = 1;
  std::vector<Parent> parents;
  std::uint32_t stride = 0;             // of a row of limits, at least arity - 1
  std::vector<std::int16_t> limits;     // [configurations][stride]; beyond arity - 1 the largest
  // The same as planes of bytes for lookup by shuffling, where the tables are small:
  std::vector<std::uint8_t> strides;    // [parents][16]: code · stride
  std::vector<std::uint8_t> planes;     // [arity - 1][chunk of 16 configurations][low, high][16]
  std::size_t chunks() const { return (configurations + 15) / 16; }
  bool shuffles() const { return !planes.empty(); }
};

// Is a table small enough for shuffles to win?
bool can_shuffle(std::uint32_t arity, double configurations, std::uint32_t largest_parent);

// Limits are compared 8 or 16 at a time up to this many, and searched beyond.
inline constexpr std::uint32_t kCompared = 64;
std::uint32_t limit_stride(std::uint32_t arity);

struct Kernels {
  // OUT u [groups · 64]: the random bits of rows 64 · group ...
  void (*fill)(std::uint64_t seed, std::uint32_t stream, std::uint64_t group, std::size_t groups,
               std::int16_t* u);
  // OUT codes of `rows` rows (a multiple of 64), from IN u and the IN columns of the parents.
  // OUT undecided lists the rows whose bits meet a limit; their number is returned.
  std::size_t (*choose)(const Choice& choice, const Codes* columns, const std::int16_t* u,
                        std::size_t rows, Codes codes, std::uint16_t* undecided);
  // OUT configuration [rows] of the parents: Σ code · stride, for a multiple of 64 rows.
  void (*configurations)(const Choice& choice, const Codes* columns, std::size_t rows,
                         std::uint32_t* configuration);
};

const Kernels& avx2_sample_kernels();
const Kernels& plain_sample_kernels();

// Of a path as named by cpu.hpp. ("avx512" has no kernels of its own: it runs those of avx2.)
const Kernels& sample_kernels_for(const std::string& path);

}  // namespace credo::sample
