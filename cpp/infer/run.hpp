// Runs a plan on rows of evidence: a forward pass for P(evidence), a backward pass for posteriors.
//
// Scaled linear space: when the largest value of a message leaves 2^±128 it is scaled by a power of
// two, which is exact, and the exponents are added up per row. A row in which a product could have
// fallen below the range of a double (so that a state might be lost that matters later) is run
// again with numbers of unlimited exponent: see wide.hpp.
#pragma once

#include <mutex>
#include <span>

#include "common/monitor.hpp"
#include "infer/kernels.hpp"
#include "infer/plan.hpp"
#include "infer/program.hpp"

namespace credo::infer {

struct TableView {
  const double* data;
  bool draws;  // a table per row
};

struct SoftView {
  const double* data;
  bool per_row;
};

struct Inputs {
  std::vector<TableView> tables;         // IN, per factor
  const std::int32_t* evidence = nullptr;  // IN [rows][observed, then maybe]; -1 in maybe: missing
  std::vector<SoftView> soft;            // IN, per variable of `soft`
  std::size_t rows = 1;
};

struct Outputs {
  double* log_evidence;     // OUT [rows]; -inf where the evidence is impossible
  double* marginals;        // OUT [rows][marginal_states]; zeros there
  double* families;         // OUT [rows][cells of all factors], zeroed by the caller; or null
};

// Throws std::invalid_argument unless codes [lanes] of evidence column `column` are states (or -1,
// where allowed).
void check_codes(const Plan& plan, std::size_t column, const std::int32_t* codes,
                 std::size_t lanes);

using credo::Cancelled;
using credo::Monitor;

struct RunOptions {
  std::string path = "auto";
  int threads = 1;
  std::size_t lanes = 0;  // rows of a block; 0: by the size of the tables
  bool wide = false;      // every row with unlimited exponents
};

// A plan with the program of its last run, which most often serves again.
class Runner {
 public:
  explicit Runner(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}
  const Plan& plan() const { return *plan_; }

  // Throws std::invalid_argument for evidence that is not a state, Cancelled, std::bad_alloc.
  void run(const Inputs& inputs, const RunOptions& options, Monitor& monitor, const Outputs& out);
  // The most probable assignment: OUT assignment [rows][variables], log_p [rows]; -1 and -inf where
  // the evidence is impossible. Among equals, the smallest code.
  void explain(const Inputs& inputs, const RunOptions& options, Monitor& monitor,
               std::int32_t* assignment, double* log_p);

 private:
  std::shared_ptr<const Program> program_for(const Inputs& inputs, const RunOptions& options);

  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<const Program> program_;
  std::mutex lock_;
};

}  // namespace credo::infer
