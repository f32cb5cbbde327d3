// Random bits as a function of where they are needed, not of when: Philox4x32-10 (Salmon, Moraes,
// Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011).
//
//   bits = philox(counter, key)      counter = (number, number >> 32, stream, purpose), key = seed
//
// There is no state to pass on, so any thread may draw any rows, in any order, in blocks of any
// size, and the rows are the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace credo::random {

// One number from another (splitmix64; Steele, Lea and Flood 2014): for seeds and hashes.
inline constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;

inline std::uint64_t splitmix(std::uint64_t x) {
  x += kGolden;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

using Words = std::array<std::uint32_t, 4>;

inline constexpr std::uint32_t kMultiply0 = 0xD2511F53, kMultiply1 = 0xCD9E8D57;
inline constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
inline constexpr int kRounds = 10;

inline Words philox(Words c, std::uint64_t seed) {
  auto k0 = static_cast<std::uint32_t>(seed), k1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < kRounds; ++round, k0 += kWeyl0, k1 += kWeyl1) {
    const std::uint64_t p0 = std::uint64_t{kMultiply0} * c[0];
    const std::uint64_t p1 = std::uint64_t{kMultiply1} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p0)};
  }
  return c;
}

// What the bits of a stream are for; each has counters of its own.
enum Purpose : std::uint32_t { kDraw = 0, kRefine = 1, kNormal = 2 };

inline Words bits(std::uint64_t seed, std::uint64_t number, std::uint32_t stream, Purpose purpose) {
  return philox({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32),
                 stream, purpose},
                seed);
}

// Rows come in groups of 64: eight counters of four words hold 16 bits for each row of a group.
// Word w of counter lane l gives rows 16 w + 2 l (its low half) and 16 w + 2 l + 1.
inline constexpr std::size_t kGroup = 64;

}  // namespace credo::random
