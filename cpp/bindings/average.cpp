// Averages over graphs: lists of families, exact sums over all DAGs, and chains through them.
#include <cstdint>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

#include "average/chains.hpp"
#include "average/dag_sums.hpp"
#include "average/family_lists.hpp"
#include "average/order_sums.hpp"
#include "bindings/module.hpp"
#include "bindings/score.hpp"
#include "common/constants.hpp"
#include "common/parallel.hpp"

namespace credo::bindings {
namespace {

using average::Block;
using average::FamilyList;
using Marks = View<const std::uint8_t, 2>;  // [child, parent]
using Told = std::function<bool(std::int64_t scored)>;

class FamilyLists {
 public:
  FamilyLists(KeptScores& scores, const Marks& allowed, const Marks& required, const Numbers& most,
              const std::vector<double>& by_size, double gap, const Told& told) {
    const std::size_t n = most.size();
    require(n == scores->variables() && n >= 1, "The rules are for other variables.");
    for (const Marks* marks : {&allowed, &required})
      require(marks->shape(0) == n && marks->shape(1) == n,
              "The 'allowed' and 'required' parameters must be [n, n].");
    require(by_size.size() == n, "The 'by_size' parameter must have a number for each size.");
    require(gap >= 0, "The 'gap' parameter must not be negative.");
    search::Rules rules{n,
                        {allowed.data(), allowed.data() + n * n},
                        {required.data(), required.data() + n * n},
                        most};
    average::FamilyLists found = unlocked([&] {
      return average::list_families(
          *scores, rules, by_size, gap,
          [&](double, std::int64_t scored, std::int64_t) { return !told || told(scored); });
    });
    scored_ = found.scored;
    stopped_ = found.stopped;
    lists_ = std::make_shared<const std::vector<FamilyList>>(std::move(found.of));
  }

  const std::shared_ptr<const std::vector<FamilyList>>& lists() const { return lists_; }
  std::int64_t scored() const { return scored_; }
  bool stopped() const { return stopped_; }
  std::size_t size() const {
    std::size_t total = 0;
    for (const FamilyList& list : *lists_) total += list.scores.size();
    return total;
  }
  Array<double> outside() const {
    std::vector<double> out;
    for (const FamilyList& list : *lists_) out.push_back(list.outside);
    return copied(out);
  }
  std::tuple<Lists, Array<double>> sets(std::int64_t child) const {
    const FamilyList& list = at(child);
    return {list.sets, copied(list.scores)};
  }
  // One set of a child.
  std::vector<std::int32_t> set(std::int64_t child, std::int64_t place) const {
    const FamilyList& list = at(child);
    require(place >= 0 && static_cast<std::size_t>(place) < list.sets.size(), "No such set.");
    return list.sets[static_cast<std::size_t>(place)];
  }

  // ln Z, the most by which a child's shares miss 1, P(path) [n, n], and P(family) in the lists' order.
  std::tuple<double, double, Array<double>, std::vector<Array<double>>> sums(Monitor& monitor,
                                                                             int threads) const {
    const std::size_t n = lists_->size();
    require(!stopped_, "The lists are not complete.");
    require(n <= average::kMostVariables, "Too many variables for sums over all graphs.");
    const std::size_t half = std::size_t{1} << (n - 1);
    BigArray<double> weights(n * half, kMinusInfinity), shares(n * half);
    double shift = 0;
    const auto place = [&](std::size_t child, const std::vector<std::int32_t>& set) {
      std::size_t mask = 0;
      for (const std::int32_t p : set) mask |= std::size_t{1} << p;
      return child * half + average::without_place(mask, child);
    };
    for (std::size_t c = 0; c < n; ++c) {
      const FamilyList& list = (*lists_)[c];
      if (list.scores.empty()) continue;
      shift += list.scores[0];
      for (std::size_t i = 0; i < list.scores.size(); ++i)
        weights[place(c, list.sets[i])] = list.scores[i] - list.scores[0];
    }
    const average::DagSums found =
        average::dag_sums(n, weights.data(), shares.data(), threads, monitor);
    std::vector<Array<double>> p;
    for (std::size_t c = 0; c < n; ++c) {
      const FamilyList& list = (*lists_)[c];
      std::vector<double> own(list.scores.size());
      if (found.log_total > kMinusInfinity)
        for (std::size_t i = 0; i < own.size(); ++i) own[i] = shares[place(c, list.sets[i])];
      p.push_back(copied(own));
    }
    return {found.log_total + shift, found.error, copied(found.path, {n, n}), std::move(p)};
  }

  // The same over orders: ln L(V), the error, P(family), and what comes before each variable in
  // orders that were drawn [draws, n].
  std::tuple<double, double, std::vector<Array<double>>, Array<std::uint32_t>> order_sums(
      Monitor& monitor, std::size_t draws, std::uint64_t seed, int threads) const {
    const std::size_t n = lists_->size();
    require(!stopped_, "The lists are not complete.");
    require(n <= average::kMostOrdered, "Too many variables for sums over all orders.");
    const average::OrderSums found = average::order_sums(*lists_, draws, seed, threads, monitor);
    std::vector<Array<double>> p;
    for (const std::vector<double>& own : found.share) p.push_back(copied(own));
    const std::size_t drawn = found.before.size() / n;
    return {found.log_total, found.error, std::move(p), copied(found.before, {drawn, n})};
  }

 private:
  const FamilyList& at(std::int64_t child) const {
    require(child >= 0 && static_cast<std::size_t>(child) < lists_->size(),
            "There is no such variable.");
    return (*lists_)[static_cast<std::size_t>(child)];
  }

  std::shared_ptr<const std::vector<FamilyList>> lists_;
  std::int64_t scored_ = 0;
  bool stopped_ = false;
};

// Several chains side by side, each with random numbers of its own, and each with copies where
// `shares` of the scores says so.
class Chains {
 public:
  // `start`: a graph for each chain, as the parents of each variable; none draws one.
  Chains(const FamilyLists& lists, const std::vector<std::uint64_t>& seeds,
         const std::vector<Lists>& start, const std::vector<double>& shares)
      : n_(lists.lists()->size()) {
    require(!shares.empty() && shares[0] == 1, "The 'shares' parameter must begin with 1.");
    for (const double share : shares)
      require(share > 0 && share <= 1, "The 'shares' parameter must be between 0 and 1.");
    require(!lists.stopped(), "The lists are not complete.");
    require(n_ <= average::kMostChained, "Too many variables for a chain.");
    require(start.empty() || start.size() == seeds.size(), "Each chain needs a graph to start from.");
    for (std::size_t c = 0; c < start.size(); ++c) {
      require(start[c].size() == n_, "A graph has parents for each variable.");
      for (const auto& parents : start[c])
        for (const std::int32_t p : parents)
          require(p >= 0 && static_cast<std::size_t>(p) < n_, "There is no such variable.");
    }
    for (std::size_t c = 0; c < seeds.size(); ++c) {
      std::vector<std::unique_ptr<average::Chain>> copies(shares.size());
      for (std::size_t k = 0; k < copies.size(); ++k) {
        const std::uint64_t seed = seeds[c] + (static_cast<std::uint64_t>(k) << 48);
        if (!start.empty()) {
          copies[k] = average::make_chain(lists.lists(), seed, &start[c]);
          require(copies[k] != nullptr, "The graph is not one of the lists.");
        }
        for (std::uint64_t again = 0; again < 100 && !copies[k]; ++again)
          copies[k] = average::make_chain(lists.lists(), seed + (again << 32));
        require(copies[k] != nullptr, "No order has a graph in the lists.");
      }
      chains_.emplace_back(std::move(copies), shares, ~seeds[c]);
    }
  }

  Chains(const Chains&) = delete;

  // The share of sweeps with each edge [chains, n * n], families kept [chains, keep, n], their scores
  // [chains, keep], and for each kind of move, and for exchanges, what was proposed and accepted [4, 2].
  std::tuple<Array<double>, Array<std::int32_t>, Array<double>, Array<double>> run(
      Monitor& monitor, std::size_t sweeps, std::size_t moves, std::size_t keep, int threads,
      double cold) {
    require(cold > 0 && cold <= 1, "The 'cold' parameter must be between 0 and 1.");
    require(sweeps >= 1 && keep <= sweeps, "The 'sweeps' parameter must be at least 1 and 'keep'.");
    const std::size_t count = chains_.size();
    std::vector<Block> blocks(count);
    parallel_for(count, threads, [&](std::size_t c) {
      blocks[c] = chains_[c].run(n_, sweeps, moves, keep, cold, monitor);
    }, &monitor);
    Array<double> edges({count, n_ * n_}), scores({count, keep}), moved({4, 2});
    Array<std::int32_t> kept({count, keep, n_});
    for (std::size_t c = 0; c < count; ++c) {
      const Block& block = blocks[c];
      for (std::size_t i = 0; i < n_ * n_; ++i)
        edges.data()[c * n_ * n_ + i] =
            static_cast<double>(block.edges[i]) / static_cast<double>(sweeps);
      std::copy(block.kept.begin(), block.kept.end(), kept.data() + c * keep * n_);
      std::copy(block.scores.begin(), block.scores.end(), scores.data() + c * keep);
      for (std::size_t k = 0; k < 4; ++k) {
        moved.data()[2 * k] += static_cast<double>(block.proposed[k]);
        moved.data()[2 * k + 1] += static_cast<double>(block.accepted[k]);
      }
    }
    return {std::move(edges), std::move(kept), std::move(scores), std::move(moved)};
  }

 private:
  std::size_t n_;
  std::vector<average::Ladder> chains_;
};

}  // namespace

void bind_averages(nb::module_& m) {
  nb::class_<FamilyLists>(m, "FamilyLists")
      .def(nb::init<KeptScores&, const Marks&, const Marks&, const Numbers&,
                    const std::vector<double>&, double, const Told&>(),
           "scores"_a, "allowed"_a, "required"_a, "most"_a, "by_size"_a,
           "gap"_a = std::numeric_limits<double>::infinity(), "told"_a.none() = nb::none())
      .def("sets", &FamilyLists::sets, "child"_a)
      .def("set", &FamilyLists::set, "child"_a, "place"_a)
      .def("sums", bound(&FamilyLists::sums), "threads"_a = 1)
      .def("order_sums", bound(&FamilyLists::order_sums), "draws"_a, "seed"_a, "threads"_a = 1)
      .def_prop_ro("outside", &FamilyLists::outside)
      .def_prop_ro("scored", &FamilyLists::scored)
      .def_prop_ro("stopped", &FamilyLists::stopped)
      .def_prop_ro("size", &FamilyLists::size);
  nb::class_<Chains>(m, "Chains")
      .def(nb::init<const FamilyLists&, const std::vector<std::uint64_t>&,
                    const std::vector<Lists>&, const std::vector<double>&>(),
           "lists"_a, "seeds"_a, "start"_a = std::vector<Lists>(),
           "shares"_a = std::vector<double>{1.0})
      .def("run", bound(&Chains::run), "sweeps"_a, "moves"_a, "keep"_a, "threads"_a = 1,
           "cold"_a = 1.0);
}

}  // namespace credo::bindings
