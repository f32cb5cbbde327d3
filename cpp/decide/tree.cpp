#include "decide/tree.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace credo::decide {
namespace {

constexpr int kUnnamed = -2;
constexpr std::size_t kInner = 512;  // cells of the inner part of a table of places, about

bool has(const Variables& scope, std::int32_t v) {
  return std::find(scope.begin(), scope.end(), v) != scope.end();
}

// Where the cells of `whole` lie in a table over `part`, all of whose variables `whole` has.
Places places(const std::vector<std::int64_t>& arity, const Variables& whole,
              const Variables& part) {
  std::size_t inner = whole.size(), n = 1;
  while (inner > 0 && n < kInner) n *= static_cast<std::size_t>(arity[whole[--inner]]);
  const auto fill = [&](std::size_t first, std::size_t last) {
    std::vector<std::uint32_t> out = {0};
    for (std::size_t i = first; i < last; ++i) {  // the slower axes come first
      std::uint32_t stride = 0;
      for (std::size_t j = part.size(), below = 1; j-- > 0;) {
        if (part[j] == whole[i]) stride = static_cast<std::uint32_t>(below);
        below *= static_cast<std::size_t>(arity[part[j]]);
      }
      std::vector<std::uint32_t> more;
      more.reserve(out.size() * static_cast<std::size_t>(arity[whole[i]]));
      for (const std::uint32_t at : out)
        for (std::int64_t x = 0; x < arity[whole[i]]; ++x)
          more.push_back(at + static_cast<std::uint32_t>(x) * stride);
      out = std::move(more);
    }
    return out;
  };
  return {fill(0, inner), fill(inner, whole.size())};
}

}  // namespace

Tree::Tree(Request request, double widest) : request_(std::move(request)) {
  check();
  const Variables order = eliminate();
  std::vector<std::size_t> bucket_of(request_.arity.size(), kNone);
  for (std::size_t i = 0; i < order.size(); ++i) bucket_of[order[i]] = i;
  prepared_ = width_ <= widest;
  if (!prepared_) return;
  find_rules(bucket_of);
  prepare(order, bucket_of);
}

std::size_t Tree::cells(const Variables& scope) const {
  std::size_t out = 1;
  for (const std::int32_t v : scope) out *= static_cast<std::size_t>(request_.arity[v]);
  return out;
}

void Tree::check() const {
  const auto require = [](bool holds, const char* otherwise) {
    if (!holds) throw std::invalid_argument(otherwise);
  };
  std::vector<int> said(request_.arity.size(), 0);  // 1: goes or is kept
  const auto known = [&](const Variables& scope) {
    for (std::size_t i = 0; i < scope.size(); ++i) {
      require(scope[i] >= 0 && static_cast<std::size_t>(scope[i]) < said.size(),
              "A scope names a variable there is not.");
      require(!has({scope.begin(), scope.begin() + static_cast<std::ptrdiff_t>(i)}, scope[i]),
              "A scope has a variable twice.");
    }
  };
  for (const std::int64_t arity : request_.arity) require(arity >= 1, "Every arity must be at least 1.");
  known(request_.keep);
  for (const std::int32_t v : request_.keep) said[v] = 1;
  std::size_t chosen = 0;
  for (const Block& block : request_.blocks) {
    known(block.variables);
    require(!block.best || block.variables.size() == 1, "One decision is chosen at a time.");
    chosen += block.best;
    for (const std::int32_t v : block.variables) {
      require(said[v] == 0, "A variable goes once, and is not kept.");
      said[v] = 1;
    }
  }
  require(chosen == (request_.full ? request_.families.size() : 0),
          "With full memory, and only then, a decision is chosen in a block of its own.");
  require(request_.worth.size() == request_.scopes.size(), "Every factor has a kind.");
  const auto held = [&](const Variables& scope) {
    known(scope);
    for (const std::int32_t v : scope)
      require(said[v] == 1, "A variable of a factor neither goes nor is kept.");
  };
  for (const Variables& scope : request_.scopes) held(scope);
  for (const Variables& family : request_.families) {
    require(!family.empty(), "A family has its decision.");
    if (request_.full) known(family);
    else held(family);
  }
}

Variables Tree::eliminate() {
  const std::size_t n = request_.arity.size();
  std::vector<std::vector<bool>> near(n, std::vector<bool>());
  const auto meet = [&](const Variables& scope) {
    for (const std::int32_t v : scope) {
      if (near[v].empty()) near[v].resize(n);
      for (const std::int32_t u : scope) near[v][u] = true;
    }
  };
  for (const Variables& scope : request_.scopes) meet(scope);
  if (!request_.full)
    for (const Variables& family : request_.families) meet(family);
  const auto size = [&](std::int32_t v) {
    double out = 1;
    for (std::size_t u = 0; u < n; ++u)
      if (near[v][u]) out *= static_cast<double>(request_.arity[u]);
    return out;
  };
  Variables order;
  std::vector<double> sizes(n);
  for (const Block& block : request_.blocks) {
    Variables left;
    for (const std::int32_t v : block.variables) {
      if (near[v].empty() && !block.best) continue;  // no factor knows it
      if (near[v].empty()) meet({v});
      left.push_back(v);
      sizes[v] = size(v);
    }
    std::sort(left.begin(), left.end());
    while (!left.empty()) {  // the variable that makes the smallest bucket goes next
      const auto next = std::min_element(left.begin(), left.end(), [&](auto a, auto b) {
        return sizes[a] < sizes[b];
      });
      const std::int32_t v = *next;
      left.erase(next);
      order.push_back(v);
      Bucket bucket;
      for (std::size_t u = 0; u < n; ++u)
        if (near[v][u] && u != static_cast<std::size_t>(v))
          bucket.scope.push_back(static_cast<std::int32_t>(u));
      meet(bucket.scope);
      for (const std::int32_t u : bucket.scope) near[u][v] = false;
      for (const std::int32_t u : bucket.scope)
        if (has(left, u)) sizes[u] = size(u);
      bucket.scope.push_back(v);
      bucket.arity = static_cast<std::size_t>(request_.arity[v]);
      if (block.best) bucket.decision = kUnnamed;  // which one is said by find_rules
      if (sizes[v] > width_) width_ = sizes[v], most_variables_ = bucket.scope.size();
      buckets_.push_back(std::move(bucket));
    }
  }
  Bucket root;
  root.scope = request_.keep;
  double kept = 1;
  for (const std::int32_t v : root.scope) kept *= static_cast<double>(request_.arity[v]);
  if (kept > width_) width_ = kept, most_variables_ = root.scope.size();
  buckets_.push_back(std::move(root));
  return order;
}

void Tree::find_rules(const std::vector<std::size_t>& bucket_of) {
  for (const Variables& wish : request_.families) {
    const std::int32_t own = wish.back();
    Rule rule;
    if (request_.full) {
      rule.home = bucket_of[own];
      if (rule.home == kNone || buckets_[rule.home].decision != kUnnamed)
        throw std::invalid_argument("A family is that of a decision that is chosen, once.");
      const Variables& scope = buckets_[rule.home].scope;
      for (const std::int32_t v : wish)
        if (v != own && has(scope, v)) rule.family.push_back(v);
      for (const std::int32_t v : scope)
        if (!has(wish, v)) rule.family.push_back(v);
      rule.family.push_back(own);
      buckets_[rule.home].decision = static_cast<int>(rules_.size());
    } else {
      rule.family = wish;
      rule.home = root();
      for (const std::int32_t v : wish) rule.home = std::min(rule.home, bucket_of[v]);
    }
    rule.options = static_cast<std::size_t>(request_.arity[own]);
    rule.cells = cells(rule.family);
    rule.first = rule_cells_;
    rule_cells_ += rule.cells;
    situations_ += rule.cells / rule.options;
    rules_.push_back(std::move(rule));
  }
}

void Tree::prepare(const Variables& order, const std::vector<std::size_t>& bucket_of) {
  const auto home = [&](const Variables& scope) {
    std::size_t out = root();
    for (const std::int32_t v : scope) out = std::min(out, bucket_of[v]);
    return out;
  };
  const auto add = [&](std::size_t b, Source source, std::size_t which, const Variables& scope) {
    buckets_[b].parts.push_back({source, which, places(request_.arity, buckets_[b].scope, scope)});
  };
  for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i].cells = cells(buckets_[i].scope);
  // Probabilities first: a utility then meets the product of all of them.
  for (const bool worth : {false, true})
    for (std::size_t f = 0; f < request_.scopes.size(); ++f)
      if (request_.worth[f] == worth) add(home(request_.scopes[f]), Source::kFactor, f, request_.scopes[f]);
  for (std::size_t r = 0; r < rules_.size(); ++r)
    add(rules_[r].home, Source::kRule, r, rules_[r].family);
  for (std::size_t i = 0; i < order.size(); ++i) {
    Bucket& bucket = buckets_[i];
    const Variables above(bucket.scope.begin(), bucket.scope.end() - 1);
    bucket.parent = home(above);
    add(bucket.parent, Source::kBelow, i, above);
    add(i, Source::kAbove, i, above);
  }
  buckets_[root()].parent = root();
}

}  // namespace credo::decide
