// The door to exact inference: a model is compiled into a plan, which runs on rows of evidence.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/arrays.hpp"
#include "common/monitor.hpp"
#include "infer/run.hpp"

namespace credo::doors {

using Evidence = View<const std::int32_t, 2>;  // [rows][observed, then maybe]

class Plan {
 public:
  explicit Plan(std::shared_ptr<const infer::Plan> plan) : runner_(std::move(plan)) {}
  const infer::Plan& operator*() const { return runner_.plan(); }
  const infer::Plan* operator->() const { return &runner_.plan(); }
  infer::Variables targets() const;
  std::vector<std::size_t> offsets() const;  // of each target in a row, and where the last ends

  // A table is [cells], or [rows][cells]; soft evidence is [1 or rows][states].
  // ln P(evidence) [rows], posteriors [rows][states], families [rows][cells] where they are wanted.
  std::tuple<Array<double>, Array<double>, std::optional<Array<double>>> run(
      Monitor& monitor, const std::vector<Table>& tables, const Evidence& evidence,
      const std::vector<Matrix>& soft, int threads, const std::string& path, int lanes);

  // Σ weight · P(family | row) [cells], Σ weight · ln P(row), whether a row is impossible.
  std::tuple<Array<double>, double, bool> expect(Monitor& monitor,
                                                 const std::vector<Table>& tables,
                                                 const Evidence& evidence, const Reals& weights,
                                                 int threads);

  // The most probable assignment [rows][variables] and its ln P [rows].
  std::tuple<Array<std::int32_t>, Array<double>> explain(
      Monitor& monitor, const std::vector<Table>& tables, const Evidence& evidence,
      const std::vector<Matrix>& soft, int threads, const std::string& path, int lanes);

 private:
  infer::Runner runner_;
};

class Model {
 public:
  Model(std::vector<std::int64_t> arities, std::vector<infer::Variables> scopes);

  std::unique_ptr<Plan> compile(infer::Variables observed, std::optional<infer::Variables> targets,
                                infer::Variables soft, const std::string& mode, bool families,
                                double budget_ms, std::uint64_t seed, bool directed,
                                infer::Variables maybe, bool evidence) const;

 private:
  std::shared_ptr<const infer::Model> model_;
};

}  // namespace credo::doors
