// Influence diagrams: a tree of buckets, one for each variable in the order of its elimination.
//
// A bucket holds the pairs (probability p, utility times probability u) whose first variable to go
// is its own; its scope is that variable and what is met with it. With full memory the order is
// strong (what is seen last goes first; Jensen, Jensen and Dittmer 1994) and a decision's bucket is
// its policy's scope. With limited memory the order is free, and the family of each decision lies in
// one bucket (Lauritzen and Nilsson 2001). The root has what is kept. All of this is found from the
// scopes alone, once; run.hpp fills it with numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace credo::decide {

inline constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

using Variables = std::vector<std::int32_t>;

// Chance variables to sum out in any order, or one decision to choose.
struct Block {
  Variables variables;
  bool best;
};

struct Request {
  std::vector<std::int64_t> arity;
  std::vector<Variables> scopes;  // of the factors; tables in C order
  std::vector<bool> worth;        // is the factor a utility, or else a probability?
  std::vector<Block> blocks;      // in the order in which they go
  Variables keep;
  // What each decision sees and then itself. With full memory a wish for the order of the axes:
  // the scope of a policy is found, not given.
  std::vector<Variables> families;
  bool full;
};

// Where the cells of one table lie in another, cell by cell: outer[i / n] + inner[i % n].
struct Places {
  std::vector<std::uint32_t> outer, inner;
};

enum class Source : std::uint8_t { kFactor, kRule, kBelow, kAbove };

struct Part {
  Source source;
  std::size_t which;  // the factor, the decision, the bucket below, this bucket
  Places at;
};

struct Bucket {
  Variables scope;           // the bucket's own variable last
  std::size_t cells = 1;
  std::size_t arity = 1;     // of its own variable
  std::size_t parent = 0;
  int decision = -1;         // the one that is chosen here
  std::vector<Part> parts;
  std::size_t cells_above() const { return cells / arity; }  // of the message to the parent
};

struct Rule {
  Variables family;
  std::size_t home;  // its bucket
  std::size_t cells, options;
  std::size_t first;  // its first cell among those of all rules
};

class Tree {
 public:
  // Throws std::invalid_argument for a request that contradicts itself. What is wider than `widest`
  // is measured and not prepared.
  Tree(Request request, double widest);

  const Request& request() const { return request_; }
  const std::vector<Bucket>& buckets() const { return buckets_; }  // the root last
  const std::vector<Rule>& rules() const { return rules_; }
  std::size_t root() const { return buckets_.size() - 1; }
  std::size_t rule_cells() const { return rule_cells_; }  // of all policies together
  std::size_t situations() const { return situations_; }  // of all decisions together
  double width() const { return width_; }  // cells of the largest bucket
  std::size_t most_variables() const { return most_variables_; }
  bool prepared() const { return prepared_; }
  std::size_t cells(const Variables& scope) const;

 private:
  void check() const;
  Variables eliminate();  // makes the buckets; the order in which the variables go
  void find_rules(const std::vector<std::size_t>& bucket_of);
  void prepare(const Variables& order, const std::vector<std::size_t>& bucket_of);

  Request request_;
  std::vector<Bucket> buckets_;
  std::vector<Rule> rules_;
  std::size_t rule_cells_ = 0, situations_ = 0, most_variables_ = 0;
  double width_ = 1;
  bool prepared_ = false;
};

}  // namespace credo::decide
