#include "score/table_source.hpp"

#include <algorithm>

#include "common/cpu.hpp"
#include "count/count.hpp"
#include "count/group_rows.hpp"

namespace credo::score {
namespace {

template <class Cell>
void sparse_of(const Columns& columns, std::span<const std::int32_t> set, const Cell* weights,
               std::vector<Cell>& cells, std::vector<std::size_t>& begin) {
  const auto groups =
      group_rows(columns, set, weights, MissingRows::kSkip, -1, kernels_for("auto"));
  cells.assign(groups->weight.begin(), groups->weight.end());
  begin.assign(1, 0);
  for (std::size_t g = 1; g < cells.size(); ++g)
    for (std::size_t v = 0; v + 1 < set.size(); ++v)
      if (columns.code(set[v], groups->first_row[g]) !=
          columns.code(set[v], groups->first_row[g - 1])) {
        begin.push_back(g);
        break;
      }
  if (!cells.empty()) begin.push_back(cells.size());
}

class ColumnsSource : public TableSource {
 public:
  ColumnsSource(const Columns& columns, std::vector<std::int32_t> variables,
                const std::int64_t* whole, const double* real)
      : columns_(columns), variables_(std::move(variables)), whole_(whole), real_(real) {}
  std::vector<std::uint32_t> arities() const override {
    std::vector<std::uint32_t> out;
    for (const std::int32_t v : variables_)
      out.push_back(columns_[static_cast<std::size_t>(v)].arity);
    return out;
  }
  double dense_cells() const override {
    return std::max(65536.0, 4.0 * static_cast<double>(columns_.n_rows()));
  }
  double chunk_cells() const override { return 1 << 22; }
  double chunk_sets() const override {  // some tenths of a second
    return std::max(64.0, 0x1p31 / static_cast<double>(columns_.n_rows() + 1));
  }
  void count(const SetList& asked, int threads, Tables& out) override {
    SetList sets = asked;
    for (std::int32_t& v : sets.variables) v = variables_[static_cast<std::size_t>(v)];
    out.offsets = table_offsets(columns_, sets);
    out.is_real = real_ != nullptr;
    const CountOptions options{"auto", "auto", threads};
    if (out.is_real) {
      out.real.assign(out.offsets.back(), 0);
      credo::count<double>(columns_, sets, real_, options, out.offsets, out.real.data());
    } else {
      out.whole.assign(out.offsets.back(), 0);
      credo::count<std::int64_t>(columns_, sets, whole_, options, out.offsets, out.whole.data());
    }
  }
  void count_sparse(std::span<const std::int32_t> asked, SparseTable& out) override {
    std::vector<std::int32_t> set(asked.begin(), asked.end());
    for (std::int32_t& v : set) v = variables_[static_cast<std::size_t>(v)];
    out.is_real = real_ != nullptr;
    if (out.is_real) sparse_of<double>(columns_, set, real_, out.real, out.begin);
    else sparse_of<std::int64_t>(columns_, set, whole_, out.whole, out.begin);
  }

 private:
  const Columns& columns_;
  std::vector<std::int32_t> variables_;
  const std::int64_t* whole_;
  const double* real_;
};

}  // namespace

std::unique_ptr<TableSource> columns_source(const Columns& columns,
                                            std::vector<std::int32_t> variables,
                                            const std::int64_t* whole, const double* real) {
  return std::make_unique<ColumnsSource>(columns, std::move(variables), whole, real);
}

}  // namespace credo::score
