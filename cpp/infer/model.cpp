#include "infer/model.hpp"

#include <numeric>
#include <stdexcept>

namespace credo::infer {
namespace {

void require(bool holds, const std::string& otherwise) {
  if (!holds) throw std::invalid_argument(otherwise);
}

void check_variables(const Model& model, const Variables& variables, const std::string& name,
                     std::vector<bool>* seen) {
  for (const std::int32_t v : variables) {
    require(v >= 0 && static_cast<std::size_t>(v) < model.n_variables(),
            "The '" + name + "' parameter names variable " + std::to_string(v) + " of " +
                std::to_string(model.n_variables()) + ".");
    if (seen == nullptr) continue;
    require(!(*seen)[v], "Variable " + std::to_string(v) +
                             " must occur once in 'observed', 'maybe' and 'soft' together.");
    (*seen)[v] = true;
  }
}

// Sets of variables that hang together through the factors.
class Components {
 public:
  explicit Components(std::size_t n) : above_(n) { std::iota(above_.begin(), above_.end(), 0); }
  std::int32_t of(std::int32_t v) {
    while (above_[v] != v) v = above_[v] = above_[above_[v]];
    return v;
  }
  void join(std::int32_t a, std::int32_t b) { above_[of(a)] = of(b); }

 private:
  Variables above_;
};

}  // namespace

Model::Model(std::vector<std::int64_t> arities, std::vector<Variables> factor_scopes)
    : arity(std::move(arities)), scopes(std::move(factor_scopes)) {
  for (const std::int64_t r : arity)
    require(r >= 1 && r <= 0x7FFFFFFF, "Every arity must be in 1..2^31 - 1.");
  std::vector<std::int32_t> last_in(n_variables(), -1);
  for (std::size_t f = 0; f < n_factors(); ++f) {
    check_variables(*this, scopes[f], "scopes", nullptr);
    for (const std::int32_t v : scopes[f]) {
      require(last_in[v] != static_cast<std::int32_t>(f),
              "The scope of factor " + std::to_string(f) + " repeats variable " +
                  std::to_string(v) + ".");
      last_in[v] = static_cast<std::int32_t>(f);
    }
  }
}

double Model::cells(const Variables& scope) const {
  double product = 1;
  for (const std::int32_t v : scope) product *= static_cast<double>(arity[v]);
  return product;
}

void check(const Model& model, const Request& request) {
  std::vector<bool> seen(model.n_variables());
  check_variables(model, request.observed, "observed", &seen);
  check_variables(model, request.maybe, "maybe", &seen);
  check_variables(model, request.soft, "soft", &seen);
  check_variables(model, request.targets, "targets", nullptr);
  if (!request.directed) return;
  std::vector<bool> child(model.n_variables());
  for (const Variables& scope : model.scopes) {
    require(!scope.empty() && !child[scope.back()],
            "A directed model has one factor per variable, the child last in its scope.");
    child[scope.back()] = true;
  }
  require(model.n_factors() == model.n_variables(),
          "A directed model has one factor per variable, the child last in its scope.");
}

Relevant relevant(const Model& model, const Request& request) {
  const std::size_t n = model.n_variables();
  Relevant keep{std::vector<bool>(n, true), std::vector<bool>(model.n_factors(), true), {}};
  std::vector<bool> observed(n), wanted(n);
  for (const std::int32_t v : request.observed) observed[v] = true;
  for (const std::int32_t v : request.targets) wanted[v] = true;
  const bool everything = request.all_targets || request.families || request.mode == Mode::kMax;

  if (!everything && request.directed) {  // barren nodes
    std::vector<std::int32_t> factor_of(n), stack;
    for (std::size_t f = 0; f < model.n_factors(); ++f)
      factor_of[model.scopes[f].back()] = static_cast<std::int32_t>(f);
    std::vector<bool> reached(n);
    const auto reach = [&](const Variables& variables) {
      for (const std::int32_t v : variables)
        if (!reached[v]) {
          reached[v] = true;
          stack.push_back(v);
        }
    };
    for (const Variables* from :
         {&request.observed, &request.maybe, &request.soft, &request.targets})
      reach(*from);
    while (!stack.empty()) {
      const std::int32_t v = stack.back();
      stack.pop_back();
      reach(model.scopes[factor_of[v]]);
    }
    keep.variable = reached;
    for (std::size_t f = 0; f < model.n_factors(); ++f)
      keep.factor[f] = reached[model.scopes[f].back()];
  }

  if (!everything && !request.evidence) {  // parts separated from every target
    Components parts(n);
    std::vector<bool> asked(n);
    for (std::size_t f = 0; f < model.n_factors(); ++f) {
      if (!keep.factor[f]) continue;
      std::int32_t first = -1;
      for (const std::int32_t v : model.scopes[f]) {
        if (observed[v]) continue;
        if (first >= 0) parts.join(first, v);
        first = v;
      }
    }
    for (std::size_t v = 0; v < n; ++v)
      if (wanted[v] && !observed[v]) asked[parts.of(static_cast<std::int32_t>(v))] = true;
    for (std::size_t v = 0; v < n; ++v)
      if (!observed[v] && !asked[parts.of(static_cast<std::int32_t>(v))]) keep.variable[v] = false;
    for (std::size_t f = 0; f < model.n_factors(); ++f) {
      bool open = false;
      for (const std::int32_t v : model.scopes[f]) open |= !observed[v] && keep.variable[v];
      keep.factor[f] = keep.factor[f] && open;
    }
  }

  for (std::size_t v = 0; v < n; ++v) {
    if (observed[v]) keep.variable[v] = false;
    else if (!keep.variable[v]) keep.pruned.push_back(static_cast<std::int32_t>(v));
  }
  return keep;
}

}  // namespace credo::infer
