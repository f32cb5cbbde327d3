#include "sample/gibbs.hpp"

#include <algorithm>
#include <cmath>

#include "common/parallel.hpp"
#include "common/random.hpp"

namespace credo::gibbs {

namespace {
constexpr std::size_t kLanes = 16;             // chains of a group
constexpr std::uint32_t kPurpose = 0x67696262;  // counters of its own
constexpr double kTiny = 1e-250;
}  // namespace

// Some chains, moved together: their states and products lie side by side.
class Group {
 public:
  Group(const Sampler& sampler, const std::vector<const double*>& tables, const Request& request,
        std::size_t first_chain, std::size_t count, std::size_t cells)
      : sampler_(sampler), tables_(tables), request_(request), first_(first_chain), count_(count),
        states_(sampler.model_.n_variables() * kLanes), product_(sampler.widest_ * kLanes),
        single_(sampler.model_.n_variables(), -1), cells_(cells) {
    std::size_t at = 0;
    for (std::size_t q = 0; q < request.queries.size(); ++q) {
      const infer::Variables& scope = request.queries[q];
      if (scope.size() == 1) single_[static_cast<std::size_t>(scope[0])] = static_cast<std::int64_t>(at);
      else joint_.push_back({&scope, at});
      at += static_cast<std::size_t>(sampler.model_.cells(scope));
    }
  }

  void run(std::int32_t* states, double* sums, Monitor& monitor) {
    const std::size_t n = sampler_.model_.n_variables();
    for (std::size_t l = 0; l < count_; ++l)
      for (std::size_t v = 0; v < n; ++v)
        states_[v * kLanes + l] = states[(first_ + l) * n + v];
    for (std::size_t s = 0; s < request_.sweeps; ++s) {
      for (std::size_t v = 0; v < n; ++v) move(v, request_.first + s, sums);
      if (request_.collect) visit(sums);
      monitor.poll();
    }
    for (std::size_t l = 0; l < count_; ++l)
      for (std::size_t v = 0; v < n; ++v)
        states[(first_ + l) * n + v] = states_[v * kLanes + l];
  }

 private:
  void move(std::size_t v, std::uint64_t sweep, double* sums) {
    const auto r = static_cast<std::size_t>(sampler_.model_.arity[v]);
    std::fill_n(product_.begin(), r * kLanes, 1.0);
    for (const Sampler::Term& term : sampler_.terms_[v]) {
      where(term);
      const double* table = tables_[term.factor];
      for (std::size_t k = 0; k < r; ++k)
        for (std::size_t l = 0; l < count_; ++l)
          product_[k * kLanes + l] *= table[base_[l] + k * term.stride];
    }
    const std::int64_t at = request_.collect ? single_[v] : -1;
    for (std::size_t l = 0; l < count_; ++l) {
      double total = 0;
      for (std::size_t k = 0; k < r; ++k) total += product_[k * kLanes + l];
      if (total < kTiny) total = by_logs(v, l);
      const random::Words words =
          random::philox({static_cast<std::uint32_t>(sweep),
                          static_cast<std::uint32_t>(sweep >> 32) ^
                              (static_cast<std::uint32_t>(first_ + l) << 8),
                          static_cast<std::uint32_t>(v), kPurpose},
                         request_.seed);
      const std::uint64_t bits = (std::uint64_t{words[0]} << 32 | words[1]) >> 11;
      double left = static_cast<double>(bits) * 0x1p-53 * total;
      std::size_t drawn = r;
      for (std::size_t k = 0; k < r; ++k) {
        const double p = product_[k * kLanes + l];
        if (at >= 0) sums[(first_ + l) * cells_ + static_cast<std::size_t>(at) + k] += p / total;
        if (drawn < r) continue;
        left -= p;
        if (left < 0) drawn = k;
      }
      if (drawn == r)  // rounding at the upper end: the last state there is
        for (std::size_t k = 0; k < r; ++k)
          if (product_[k * kLanes + l] > 0) drawn = k;
      states_[v * kLanes + l] = static_cast<std::int32_t>(drawn);
    }
  }

  // Where the other variables of a factor put each chain in its table.
  void where(const Sampler::Term& term) {
    std::fill_n(base_, kLanes, std::size_t{0});
    for (const auto& [u, stride] : term.others) {
      const std::int32_t* x = &states_[static_cast<std::size_t>(u) * kLanes];
      for (std::size_t l = 0; l < count_; ++l) base_[l] += stride * static_cast<std::size_t>(x[l]);
    }
  }

  // The same products where they are too small for a double; their sum.
  double by_logs(std::size_t v, std::size_t l) {
    const auto r = static_cast<std::size_t>(sampler_.model_.arity[v]);
    std::vector<double> log(r, 0.0);
    for (const Sampler::Term& term : sampler_.terms_[v]) {
      where(term);
      for (std::size_t k = 0; k < r; ++k)
        log[k] += std::log(tables_[term.factor][base_[l] + k * term.stride]);
    }
    const double most = *std::max_element(log.begin(), log.end());
    double total = 0;
    for (std::size_t k = 0; k < r; ++k) total += product_[k * kLanes + l] = std::exp(log[k] - most);
    return total;
  }

  void visit(double* sums) {
    for (const auto& [scope, at] : joint_) {
      for (std::size_t l = 0; l < count_; ++l) {
        std::size_t index = 0;
        for (const std::int32_t u : *scope)
          index = index * static_cast<std::size_t>(sampler_.model_.arity[static_cast<std::size_t>(u)]) +
                  static_cast<std::size_t>(states_[static_cast<std::size_t>(u) * kLanes + l]);
        sums[(first_ + l) * cells_ + at + index] += 1;
      }
    }
  }

  const Sampler& sampler_;
  const std::vector<const double*>& tables_;
  const Request& request_;
  std::size_t first_, count_;
  std::vector<std::int32_t> states_;  // [variable][lane]
  std::vector<double> product_;       // [state][lane]
  std::size_t base_[kLanes];
  std::vector<std::int64_t> single_;  // where the sums of a variable begin, or -1
  std::vector<std::pair<const infer::Variables*, std::size_t>> joint_;
  std::size_t cells_;
};

Sampler::Sampler(infer::Model model) : terms_(model.n_variables()), model_(std::move(model)) {
  for (const std::int64_t r : model_.arity)
    widest_ = std::max(widest_, static_cast<std::size_t>(r));
  for (std::size_t f = 0; f < model_.n_factors(); ++f) {
    const infer::Variables& scope = model_.scopes[f];
    std::vector<std::size_t> stride(scope.size(), 1);
    for (std::size_t j = scope.size(); j-- > 1;)
      stride[j - 1] = stride[j] * static_cast<std::size_t>(model_.arity[static_cast<std::size_t>(scope[j])]);
    for (std::size_t j = 0; j < scope.size(); ++j) {
      Term term{f, stride[j], {}};
      for (std::size_t i = 0; i < scope.size(); ++i)
        if (i != j) term.others.push_back({scope[i], stride[i]});
      terms_[static_cast<std::size_t>(scope[j])].push_back(std::move(term));
    }
  }
}

std::size_t Sampler::cells(const Request& request) const {
  double total = 0;
  for (const infer::Variables& scope : request.queries) total += model_.cells(scope);
  return static_cast<std::size_t>(total);
}

void Sampler::run(const std::vector<const double*>& tables, const Request& request,
                  std::size_t chains, std::int32_t* states, double* sums,
                  Monitor& monitor) const {
  const std::size_t groups = (chains + kLanes - 1) / kLanes, width = cells(request);
  parallel_for(groups, request.threads, [&](std::size_t g) {
    const std::size_t first = g * kLanes;
    Group(*this, tables, request, first, std::min(kLanes, chains - first), width)
        .run(states, sums, monitor);
  });
}

}  // namespace credo::gibbs
