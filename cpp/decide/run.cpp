#include "decide/run.hpp"

#include <algorithm>
#include <cmath>

namespace credo::decide {
namespace {

constexpr double kTie = 1e-12;  // of the largest utility: options nearer than this are equal

struct Message {
  double *p = nullptr, *u = nullptr;
  bool ready = false;
  bool worth = false;  // has it utilities? Else u is not written.
};

class Run {
 public:
  Run(const Tree& tree, const Inputs& inputs, bool detail)
      : tree_(tree), inputs_(inputs), up_(tree.root()), down_(tree.root()), path_(tree.root() + 1),
        rules_(tree.rule_cells()), tables_(inputs.tables.size()) {
    const bool both = !tree.rules().empty() && (detail || !tree.request().full);
    std::size_t widest = 1, room = 0;
    for (const Bucket& bucket : tree.buckets()) widest = std::max(widest, bucket.cells);
    for (std::size_t i = 0; i < tree.root(); ++i) room += tree.buckets()[i].cells_above();
    p_.resize(widest);
    u_.resize(widest);
    room_.resize(room * (both ? 4 : 2));
    double* next = room_.data();
    for (std::vector<Message>* messages : {&up_, &down_}) {
      for (std::size_t i = 0; i < (messages == &up_ || both ? tree.root() : 0); ++i) {
        (*messages)[i].p = next;
        next += tree.buckets()[i].cells_above();
        (*messages)[i].u = next;
        next += tree.buckets()[i].cells_above();
      }
    }
    for (const Rule& rule : tree.rules()) most_ = std::max(most_, rule.cells);
    family_p_.resize(most_);
    family_u_.resize(most_);
  }

  void draw(std::size_t at, const Outputs& outputs) {
    for (Message& message : up_) message.ready = false;
    for (Message& message : down_) message.ready = false;
    for (std::size_t f = 0; f < tables_.size(); ++f)
      tables_[f] = begin(inputs_.tables[f], tree_.cells(tree_.request().scopes[f]), at);
    if (!tree_.request().full && !tree_.rules().empty()) improve(at);
    towards(tree_.root());
    combine(tree_.root(), Source::kRule, kNone, false);
    const std::size_t kept = tree_.buckets().back().cells;
    std::copy_n(p_.data(), kept, outputs.p + at * kept);
    if (worth_) std::copy_n(u_.data(), kept, outputs.u + at * kept);
    else std::fill_n(outputs.u + at * kept, kept, 0.0);
    if (outputs.rules != nullptr)
      std::copy(rules_.begin(), rules_.end(), outputs.rules + at * rules_.size());
    if (outputs.utilities == nullptr) return;
    double *situations = outputs.situations + at * tree_.situations(),
           *utilities = outputs.utilities + at * rules_.size();
    for (std::size_t r = 0; r < tree_.rules().size(); ++r) {
      describe(r, situations, utilities);
      situations += tree_.rules()[r].cells / tree_.rules()[r].options;
      utilities += tree_.rules()[r].cells;
    }
  }

 private:
  static const double* begin(const Input& input, std::size_t cells, std::size_t at) {
    return input.data + (input.drawn ? at * cells : 0);
  }

  // ---------------------------------------------------------------- pairs over a bucket

  // The product of the parts of a bucket but one, and of what comes from above where that is asked.
  void combine(std::size_t b, Source without, std::size_t which, bool above) {
    const Bucket& bucket = tree_.buckets()[b];
    empty_ = true;
    worth_ = false;
    for (const Part& part : bucket.parts) {
      if (part.source == without && part.which == which) continue;
      switch (part.source) {
        case Source::kFactor:
          if (tree_.request().worth[part.which]) multiply(part.at, nullptr, tables_[part.which]);
          else multiply(part.at, tables_[part.which], nullptr);
          break;
        case Source::kRule:
          multiply(part.at, rules_.data() + tree_.rules()[part.which].first, nullptr);
          break;
        case Source::kBelow: multiply(part.at, up_[part.which]); break;
        case Source::kAbove:
          if (above) multiply(part.at, down_[b]);
          break;
      }
    }
    if (empty_) std::fill_n(p_.data(), bucket.cells, 1.0);
  }

  void multiply(const Places& at, const Message& by) {
    multiply(at, by.p, by.worth ? by.u : nullptr);
  }

  // (p, u) ⊗ (q, v); a q that is null is 1, a v that is null 0.
  void multiply(const Places& at, const double* q, const double* v) {
    const std::size_t n = at.inner.size();
    const std::uint32_t* in = at.inner.data();
    double *p = p_.data(), *u = u_.data();
    for (const std::uint32_t outer : at.outer) {
      const double *qo = q ? q + outer : nullptr, *vo = v ? v + outer : nullptr;
      if (v == nullptr) {
        if (empty_) for (std::size_t j = 0; j < n; ++j) p[j] = qo[in[j]];
        else if (!worth_) for (std::size_t j = 0; j < n; ++j) p[j] *= qo[in[j]];
        else for (std::size_t j = 0; j < n; ++j) p[j] *= qo[in[j]], u[j] *= qo[in[j]];
      } else if (q == nullptr) {
        if (empty_) for (std::size_t j = 0; j < n; ++j) p[j] = 1, u[j] = vo[in[j]];
        else if (!worth_) for (std::size_t j = 0; j < n; ++j) u[j] = p[j] * vo[in[j]];
        else for (std::size_t j = 0; j < n; ++j) u[j] += p[j] * vo[in[j]];
      } else {
        if (empty_) for (std::size_t j = 0; j < n; ++j) p[j] = qo[in[j]], u[j] = vo[in[j]];
        else if (!worth_)
          for (std::size_t j = 0; j < n; ++j) u[j] = p[j] * vo[in[j]], p[j] *= qo[in[j]];
        else
          for (std::size_t j = 0; j < n; ++j) {
            u[j] = u[j] * qo[in[j]] + p[j] * vo[in[j]];
            p[j] *= qo[in[j]];
          }
      }
      p += n;
      u += n;
    }
    empty_ = false;
    worth_ |= v != nullptr;
  }

  // Sums of a table over a bucket into a smaller one.
  static void add(const Places& at, const double* from, std::size_t cells, double* to) {
    std::fill_n(to, cells, 0.0);
    for (const std::uint32_t outer : at.outer)
      for (const std::uint32_t inner : at.inner) to[outer + inner] += *from++;
  }

  // ---------------------------------------------------------------- messages

  void up(std::size_t b) {
    const Bucket& bucket = tree_.buckets()[b];
    Message& out = up_[b];
    out.ready = true;
    if (bucket.decision >= 0) return choose(b);
    combine(b, Source::kRule, kNone, false);
    out.worth = worth_;
    const std::size_t r = bucket.arity;
    for (std::size_t i = 0; i < bucket.cells_above(); ++i) {
      double sum = 0;
      for (std::size_t x = 0; x < r; ++x) sum += p_[i * r + x];
      out.p[i] = sum;
    }
    for (std::size_t i = 0; worth_ && i < bucket.cells_above(); ++i) {
      double sum = 0;
      for (std::size_t x = 0; x < r; ++x) sum += u_[i * r + x];
      out.u[i] = sum;
    }
  }

  // The largest utility over a decision, and its policy. p is the same for each of its options.
  void choose(std::size_t b) {
    const Bucket& bucket = tree_.buckets()[b];
    const auto decision = static_cast<std::size_t>(bucket.decision);
    const Places& at = places_of(decision);
    double* rule = rules_.data() + tree_.rules()[decision].first;
    combine(b, Source::kRule, decision, false);
    Message& out = up_[b];
    out.worth = worth_;
    const std::size_t r = bucket.arity, n = at.inner.size();
    for (std::size_t i = 0, cell = 0; i < bucket.cells_above(); ++i) {
      const std::size_t best = worth_ ? first_best(&u_[i * r], r) : 0;
      out.p[i] = *std::max_element(&p_[i * r], &p_[i * r] + r);
      if (worth_) out.u[i] = *std::max_element(&u_[i * r], &u_[i * r] + r);
      for (std::size_t x = 0; x < r; ++x, ++cell)
        rule[at.outer[cell / n] + at.inner[cell % n]] = x == best ? 1.0 : 0.0;
    }
  }

  void down(std::size_t b) {
    const std::size_t parent = tree_.buckets()[b].parent;
    combine(parent, Source::kBelow, b, parent != tree_.root());
    Message& out = down_[b];
    out.ready = true;
    out.worth = worth_;
    for (const Part& part : tree_.buckets()[parent].parts) {
      if (part.source != Source::kBelow || part.which != b) continue;
      add(part.at, p_.data(), tree_.buckets()[b].cells_above(), out.p);
      if (worth_) add(part.at, u_.data(), tree_.buckets()[b].cells_above(), out.u);
    }
  }

  void mark_path(std::size_t b) {
    std::fill(path_.begin(), path_.end(), false);
    for (; !path_[b]; b = tree_.buckets()[b].parent) path_[b] = true;
  }

  // All messages that a bucket needs.
  void towards(std::size_t b) {
    mark_path(b);
    for (std::size_t i = 0; i < tree_.root(); ++i)
      if (!path_[i] && !up_[i].ready) up(i);
    for (std::size_t i = tree_.root(); i-- > 0;)
      if (path_[i] && !down_[i].ready) down(i);
  }

  // A policy of a bucket has changed: what went away from there is out of date.
  void changed(std::size_t b) {
    mark_path(b);
    for (std::size_t i = 0; i < tree_.root(); ++i) (path_[i] ? up_[i] : down_[i]).ready = false;
  }

  // ---------------------------------------------------------------- policies

  static std::size_t first_best(const double* u, std::size_t n) {
    double top = u[0], size = 0;
    for (std::size_t x = 0; x < n; ++x) {
      top = std::max(top, u[x]);
      size = std::max(size, std::abs(u[x]));
    }
    for (std::size_t x = 0; x < n; ++x)
      if (u[x] >= top - kTie * size) return x;
    return 0;
  }

  const Places& places_of(std::size_t r) const {
    for (const Part& part : tree_.buckets()[tree_.rules()[r].home].parts)
      if (part.source == Source::kRule && part.which == r) return part.at;
    return tree_.buckets()[tree_.root()].parts[0].at;  // there always is one
  }

  // The pair of each choice of a decision in each situation, all other policies as they are.
  void family(std::size_t r, double* p, double* u) {
    const Rule& rule = tree_.rules()[r];
    towards(rule.home);
    combine(rule.home, Source::kRule, r, rule.home != tree_.root());
    add(places_of(r), p_.data(), rule.cells, p);
    if (worth_) add(places_of(r), u_.data(), rule.cells, u);
    else std::fill_n(u, rule.cells, 0.0);
  }

  void describe(std::size_t r, double* situations, double* utilities) {
    const std::size_t cells = tree_.rules()[r].cells, options = tree_.rules()[r].options;
    family(r, family_p_.data(), family_u_.data());
    double total = 0;
    for (std::size_t i = 0; i < cells; ++i)
      utilities[i] = family_p_[i] > 0 ? family_u_[i] / family_p_[i] : 0.0;
    for (std::size_t i = 0; i < cells / options; ++i) {
      const double* p = family_p_.data() + i * options;
      situations[i] = *std::max_element(p, p + options);
      total += situations[i];
    }
    for (std::size_t i = 0; i < cells / options; ++i) situations[i] /= total;
  }

  // Whether the policy of a decision was made better; `always` forgets the one there was.
  bool update(std::size_t r, bool always) {
    const Rule& rule = tree_.rules()[r];
    family(r, family_p_.data(), family_u_.data());
    double* now = rules_.data() + rule.first;
    bool better = false;
    for (std::size_t i = 0; i < rule.cells; i += rule.options) {
      const double* u = family_u_.data() + i;
      double top = u[0], size = 0, own = 0;
      for (std::size_t x = 0; x < rule.options; ++x) {
        top = std::max(top, u[x]);
        size = std::max(size, std::abs(u[x]));
        own += u[x] * now[i + x];
      }
      if (!always && top <= own + kTie * size) continue;
      better = true;
      const std::size_t best = first_best(u, rule.options);
      for (std::size_t x = 0; x < rule.options; ++x) now[i + x] = x == best ? 1.0 : 0.0;
    }
    if (better) changed(rule.home);
    return better;
  }

  // Single policy updating.
  void improve(std::size_t at) {
    const bool fresh = inputs_.start.empty();
    for (std::size_t r = 0; r < tree_.rules().size(); ++r) {
      const Rule& rule = tree_.rules()[r];
      double* now = rules_.data() + rule.first;
      if (fresh) std::fill_n(now, rule.cells, 1.0 / static_cast<double>(rule.options));
      else std::copy_n(begin(inputs_.start[r], rule.cells, at), rule.cells, now);
    }
    bool first = fresh, more = true;
    while (more) {
      more = false;
      for (const std::size_t r : inputs_.order) more |= update(r, first);
      first = false;
    }
  }

  const Tree& tree_;
  const Inputs& inputs_;
  std::vector<Message> up_, down_;
  std::vector<char> path_;
  std::vector<double> rules_;
  std::vector<const double*> tables_;
  std::vector<double> p_, u_, room_, family_p_, family_u_;
  std::size_t most_ = 0;
  bool empty_ = true, worth_ = false;  // of the product so far
};

}  // namespace

void run(const Tree& tree, const Inputs& inputs, const Outputs& outputs, Monitor& monitor) {
  Run state(tree, inputs, outputs.utilities != nullptr);
  for (std::size_t at = 0; at < inputs.draws; ++at) {
    monitor.poll();
    state.draw(at, outputs);
  }
}

}  // namespace credo::decide
