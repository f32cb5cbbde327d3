#include "search/exact.hpp"

#include <stdexcept>

#include "common/memory.hpp"
#include "common/constants.hpp"

namespace credo::search {
Found exact_search(const ParentLists& lists, const Report& report) {
  const std::size_t n = lists.rules().n;
  if (n > 28) throw std::invalid_argument("At most 28 variables can be searched exactly.");
  // Lists over all variables, as 32-bit masks.
  std::vector<std::vector<std::uint32_t>> masks(n);
  for (std::size_t v = 0; v < n; ++v)
    for (const std::uint64_t mask : lists.lists()[v].masks) {
      std::uint32_t whole = 0;
      for (const std::int32_t p : lists.lists()[v].parents_of(mask)) whole |= 1u << p;
      masks[v].push_back(whole);
    }
  const auto best = [&](std::size_t v, std::uint32_t allowed) {
    const auto& list = masks[v];
    std::size_t i = 0;
    while (i < list.size() && (list[i] & ~allowed) != 0) ++i;
    return i;
  };
  const auto gets = [&](std::size_t v, std::uint32_t allowed) {
    const std::size_t i = best(v, allowed);
    return i < masks[v].size() ? lists.lists()[v].scores[i] : kMinusInfinity;
  };
  const std::size_t subsets = std::size_t{1} << n;
  BigArray<double> total(subsets);
  total[0] = 0;
  Found out;
  for (std::size_t w = 1; w < subsets; ++w) {
    if (w % (1 << 16) == 0 && !report(total[w - 1], static_cast<std::int64_t>(w), 0)) {
      out.stopped = true;
      return out;
    }
    double most = kMinusInfinity;
    for (std::uint32_t rest = static_cast<std::uint32_t>(w); rest != 0; rest &= rest - 1) {
      const auto x = static_cast<std::size_t>(__builtin_ctz(rest));
      const auto without = static_cast<std::uint32_t>(w) & ~(1u << x);
      const double before = total[without];
      // No entry can make up for more than the list's best.
      if (masks[x].empty() || before + lists.lists()[x].scores[0] <= most) continue;
      most = std::max(most, before + gets(x, without));
    }
    total[w] = most;
  }
  out.score = total[subsets - 1];
  out.parents.resize(n);
  out.steps = static_cast<std::int64_t>(subsets);
  if (std::isinf(out.score)) return out;
  for (std::uint32_t w = static_cast<std::uint32_t>(subsets - 1); w != 0;) {
    std::size_t pick = n;
    double most = kMinusInfinity;
    for (std::uint32_t rest = w; rest != 0; rest &= rest - 1) {
      const auto x = static_cast<std::size_t>(__builtin_ctz(rest));
      const double now = total[w & ~(1u << x)] + gets(x, w & ~(1u << x));
      if (now > most + (std::isinf(most) ? 0 : slack_of(most))) {
        most = now;
        pick = x;
      }
    }
    w &= ~(1u << pick);
    const std::size_t entry = best(pick, w);
    out.parents[pick] = lists.lists()[pick].parents_of(lists.lists()[pick].masks[entry]);
  }
  return out;
}

}  // namespace credo::search
