// Influence diagrams: a tree of buckets is made of scopes, and runs on tables or draws of them.
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/module.hpp"
#include "decide/run.hpp"
#include "decide/tree.hpp"

namespace credo::bindings {
namespace {

class BucketTree {
 public:
  BucketTree(Arities arities, Scopes scopes, std::vector<bool> worth,
             const std::vector<std::tuple<decide::Variables, bool>>& blocks, decide::Variables keep,
             Scopes families, bool full, double widest)
      : tree_(request(std::move(arities), std::move(scopes), std::move(worth), blocks,
                      std::move(keep), std::move(families), full),
              widest) {}

  // IN tables of the factors, and policies to begin with [decisions] or none: each one table or one
  // for each draw. Pairs over what is kept; with `rules` the policies, with `detail` the probability
  // of each situation and the utility of each choice in it too: [draws][cells].
  std::tuple<Array<double>, Array<double>, Array<double>, Array<double>, Array<double>> run(
      Monitor& monitor, const std::vector<Table>& tables, std::size_t draws,
      const std::vector<Table>& start, std::vector<std::size_t> order, bool rules,
      bool detail) const {
    require(tree_.prepared(), "The tree is too wide to run.");
    decide::Inputs inputs;
    inputs.draws = draws;
    const std::vector<decide::Rule>& wanted = tree_.rules();
    require(tables.size() == tree_.request().scopes.size(), "There must be a table for each factor.");
    require(start.empty() || start.size() == wanted.size(),
            "There must be a policy for each decision, or none.");
    inputs.tables.reserve(tables.size());
    for (std::size_t f = 0; f < tables.size(); ++f)
      inputs.tables.push_back(read(tables[f], tree_.cells(tree_.request().scopes[f]), draws));
    for (std::size_t r = 0; r < start.size(); ++r)
      inputs.start.push_back(read(start[r], wanted[r].cells, draws));
    for (const std::size_t r : order) require(r < wanted.size(), "There is no such decision.");
    inputs.order = std::move(order);
    const std::size_t kept = tree_.buckets().back().cells, cells = tree_.rule_cells();
    Array<double> p({draws, kept}), u({draws, kept}), found({rules ? draws : 0, cells});
    Array<double> situations({detail ? draws : 0, tree_.situations()});
    Array<double> utilities({detail ? draws : 0, cells});
    decide::run(tree_, inputs,
                {p.data(), u.data(), rules ? found.data() : nullptr,
                 detail ? situations.data() : nullptr, detail ? utilities.data() : nullptr},
                monitor);
    return {std::move(p), std::move(u), std::move(found), std::move(situations),
            std::move(utilities)};
  }

  double width() const { return tree_.width(); }
  std::size_t variables() const { return tree_.most_variables(); }
  Scopes families() const {
    Scopes out;
    for (const decide::Rule& rule : tree_.rules()) out.push_back(rule.family);
    return out;
  }

 private:
  static decide::Request request(Arities&& arities, Scopes&& scopes, std::vector<bool>&& worth,
                                 const std::vector<std::tuple<decide::Variables, bool>>& blocks,
                                 decide::Variables&& keep, Scopes&& families, bool full) {
    decide::Request out{std::move(arities), std::move(scopes), std::move(worth), {},
                        std::move(keep), std::move(families), full};
    for (const auto& [variables, best] : blocks) out.blocks.push_back({variables, best});
    return out;
  }

  static decide::Input read(const Table& table, std::size_t cells, std::size_t draws) {
    require(table.size() == cells || table.size() == cells * draws,
            "A table must have " + std::to_string(cells) + " cells, or that many for each draw, got " +
                std::to_string(table.size()) + " instead.");
    return {table.data(), table.size() != cells};
  }

  decide::Tree tree_;
};

}  // namespace

void bind_decisions(nb::module_& m) {
  nb::class_<BucketTree>(m, "BucketTree")
      .def(nb::init<Arities, Scopes, std::vector<bool>,
                    const std::vector<std::tuple<decide::Variables, bool>>&, decide::Variables,
                    Scopes, bool, double>(),
           "arities"_a, "scopes"_a, "worth"_a, "blocks"_a, "keep"_a, "families"_a, "full"_a,
           "widest"_a)
      .def("run", bound(&BucketTree::run), "tables"_a, "draws"_a, "start"_a, "order"_a, "rules"_a,
           "detail"_a)
      .def_prop_ro("width", &BucketTree::width)
      .def_prop_ro("variables", &BucketTree::variables)
      .def_prop_ro("families", &BucketTree::families);
}

}  // namespace credo::bindings
