#include "em/complete.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/random.hpp"
#include "em/mixed.hpp"

namespace credo::em {
namespace {

constexpr double kNothing = 1e-12;  // a way less probable than this is left out

// A number in [0, 1) from the seed, the row and a counter.
double uniform(std::uint64_t seed, std::uint64_t row, std::uint64_t counter) {
  const std::uint64_t place = seed + row * random::kGolden + counter * 0xD1B54A32D192ED03u;
  return static_cast<double>(random::splitmix(random::splitmix(place)) >> 11) * 0x1p-53;
}

// The ways to fill one component.
struct Ways {
  std::vector<std::int32_t> variables;
  std::vector<std::uint32_t> states;  // of each way, as one number
  std::vector<double> p;
};

}  // namespace

Completed complete(const Network& net, const double* theta, const std::vector<Column>& columns,
                   std::size_t n_rows, const double* weights, std::uint64_t most,
                   std::uint64_t draws, std::uint64_t most_states, std::uint64_t seed) {
  const std::size_t n = net.size();
  std::vector<double> log_theta(net.cells), joint;
  for (std::size_t c = 0; c < net.cells; ++c) log_theta[c] = std::log(theta[c]);
  Completed out;
  std::vector<std::int32_t> codes(n), holes, factors;
  std::vector<std::uint16_t> row_codes(n);
  std::vector<char> reached(n);
  std::vector<std::size_t> place;
  std::vector<Ways> all;
  // Writes way `w` of a component into row_codes.
  const auto fill = [&](const Ways& ways, std::size_t w) {
    std::uint32_t rest = ways.states[w];
    for (std::size_t i = ways.variables.size(); i-- > 0;) {
      const auto arity = static_cast<std::uint32_t>(net.arity[ways.variables[i]]);
      row_codes[ways.variables[i]] = static_cast<std::uint16_t>(rest % arity);
      rest /= arity;
    }
  };
  const auto emit = [&](double weight) {
    out.codes.insert(out.codes.end(), row_codes.begin(), row_codes.end());
    out.weights.push_back(weight);
  };
  for (std::size_t r = 0; r < n_rows; ++r) {
    const double weight = weights == nullptr ? 1 : weights[r];
    if (weight == 0) continue;
    holes.clear();
    for (std::size_t v = 0; v < n; ++v) {
      codes[v] = -1;
      if (columns[v].codes.codes != nullptr) {
        const std::uint32_t code = columns[v].codes.at(r);
        if (code < columns[v].codes.arity) codes[v] = static_cast<std::int32_t>(code);
      }
      if (codes[v] < 0) holes.push_back(static_cast<std::int32_t>(v));
      row_codes[v] = static_cast<std::uint16_t>(std::max(codes[v], 0));
    }
    all.clear();
    bool large = false, impossible = false;
    for (const std::int32_t hole : holes) {
      if (reached[hole]) continue;
      Ways ways;
      ways.variables.assign(1, hole);
      reached[hole] = 1;
      factors.clear();
      for (std::size_t i = 0; i < ways.variables.size(); ++i)
        for (const std::int32_t f : net.families_of[ways.variables[i]]) {
          factors.push_back(f);
          for (const std::int32_t u : net.families[f].scope)
            if (codes[u] < 0 && !reached[u]) {
              reached[u] = 1;
              ways.variables.push_back(u);
            }
        }
      if (large) continue;
      std::sort(ways.variables.begin(), ways.variables.end());
      std::sort(factors.begin(), factors.end());
      factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
      std::uint64_t states = 1;
      for (const std::int32_t v : ways.variables) {
        states *= static_cast<std::uint64_t>(net.arity[v]);
        if (states > most_states) break;
      }
      if (states > most_states) {
        large = true;
        continue;
      }
      joint.assign(states, 0.0);
      for (const std::int32_t f : factors) {
        const Family& family = net.families[f];
        std::uint64_t base = family.at;
        place.assign(ways.variables.size(), 0);
        for (std::size_t j = 0; j < family.states.size(); ++j) {
          const std::int32_t v = family.states[j];
          if (codes[v] >= 0) base += static_cast<std::uint64_t>(codes[v]) * family.strides[j];
          else
            place[std::lower_bound(ways.variables.begin(), ways.variables.end(), v) -
                  ways.variables.begin()] = family.strides[j];
        }
        for (std::uint64_t s = 0; s < states; ++s) {
          std::uint64_t rest = s, at = base;
          for (std::size_t i = ways.variables.size(); i-- > 0;) {
            const auto arity = static_cast<std::uint64_t>(net.arity[ways.variables[i]]);
            at += rest % arity * place[i];
            rest /= arity;
          }
          joint[s] += log_theta[at];
        }
      }
      impossible |= !(softmax(joint.data(), states) > -std::numeric_limits<double>::infinity());
      double total = 0;
      for (std::uint64_t s = 0; s < states && !impossible; ++s)
        if (joint[s] > kNothing) {
          ways.states.push_back(static_cast<std::uint32_t>(s));
          ways.p.push_back(joint[s]);
          total += joint[s];
        }
      for (double& p : ways.p) p /= total;
      all.push_back(std::move(ways));
    }
    for (const std::int32_t hole : holes) reached[hole] = 0;
    if (impossible && out.impossible < 0) out.impossible = static_cast<std::int64_t>(r);
    if (impossible) continue;
    if (large) {
      out.left.push_back(static_cast<std::int64_t>(r));
      continue;
    }
    std::uint64_t count = 1;
    for (const Ways& ways : all) count = std::min(count * ways.p.size(), most + 1);
    if (count > most) {
      out.drawn.push_back(static_cast<std::int64_t>(r));
      for (std::uint64_t d = 0; d < draws; ++d) {
        for (std::size_t c = 0; c < all.size(); ++c) {
          double u = uniform(seed, r, d * n + c);
          std::size_t w = 0;
          while (w + 1 < all[c].p.size() && u >= all[c].p[w]) u -= all[c].p[w++];
          fill(all[c], w);
        }
        emit(weight / static_cast<double>(draws));
      }
      continue;
    }
    std::vector<std::size_t> at(all.size());
    for (;;) {
      double p = weight;
      for (std::size_t c = 0; c < all.size(); ++c) {
        fill(all[c], at[c]);
        p *= all[c].p[at[c]];
      }
      emit(p);
      std::size_t c = all.size();
      while (c-- > 0) {
        if (++at[c] < all[c].p.size()) break;
        at[c] = 0;
      }
      if (c == static_cast<std::size_t>(-1)) break;
    }
  }
  return out;
}

}  // namespace credo::em
