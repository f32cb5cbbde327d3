// Numbers drawn one after the other from the bits of one place (common/random.hpp): uniform, normal,
// binomial, and how many of n rows fall into each of some states.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/random.hpp"

namespace credo::em {

class Chance {
 public:
  Chance(std::uint64_t seed, std::uint64_t place, random::Purpose purpose)
      : seed_(seed), place_(place), purpose_(purpose) {}

  double uniform();  // in (0, 1)
  double normal();

  // How many of n, each with probability p (Hörmann 1993, BTRS; by inversion where few are expected).
  double binomial(double n, double p);

  // One of some states, with probabilities that add up to 1.
  std::size_t state(const double* p, std::size_t states);

  // OUT counts [states] of rows that weigh `weight` together: each whole row goes to one state, and
  // so does what is left of a weight that is not whole.
  void multinomial(double weight, const double* p, std::size_t states, double* counts);

 private:
  std::uint64_t seed_, place_;
  random::Purpose purpose_;
  std::uint32_t block_ = 0;
  random::Words words_{};
  int used_ = 4;
};

}  // namespace credo::em
