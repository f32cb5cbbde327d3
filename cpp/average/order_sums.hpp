// Sums over all orders of the variables of products of family weights (Koivisto and Sood 2004).
//
// A graph counts once for each order in which parents come before children. With
// A_j(W) = sum of B_j over the subsets of W, and the variables of S first or last,
//
//   L(S) = sum over j in S of A_j(S - j) L(S - j),   R(S) = sum over j outside of A_j(S) R(S + j)
//
// and P(j has the parents P) = B_j(P) sum_{W over P} L(W) R(W + j) / L(V) (Koivisto 2006): O(n^2 2^n).
// Nothing cancels, so the sums are of logarithms. n 2^(n-1) + 2^(n+1) of them are kept at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "average/family_lists.hpp"
#include "common/monitor.hpp"

namespace credo::average {

inline constexpr std::size_t kMostOrdered = 25;

struct OrderSums {
  double log_total = 0;                    // ln L(V); minus infinity if there is no graph
  double error = 0;                        // the most by which the shares of a child miss 1
  std::vector<std::vector<double>> share;  // P(family), in the order of the lists
  std::vector<std::uint32_t> before;       // [draws, n]: what comes before each variable
};

// The shares of families, and `draws` orders drawn in proportion to their weight.
OrderSums order_sums(const std::vector<FamilyList>& lists, std::size_t draws, std::uint64_t seed,
                     int threads, Monitor& monitor);

}  // namespace credo::average
