#include "sample/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "common/memory.hpp"
#include "common/parallel.hpp"
#include "common/random.hpp"

namespace credo::sample {
namespace {

void require(bool holds, const std::string& otherwise) {
  if (!holds) throw std::invalid_argument(otherwise);
}

// C_k = P(state <= k), k < r - 1, from a row of a table that adds up to about one. Exactly 0 before
// the first state that is possible, exactly 1 from the last on: what has probability zero is never
// drawn. A row of zeros, which nothing can reach, is all on the first state.
class Cumulative {
 public:
  Cumulative(const double* row, std::uint32_t arity) : row_(row) {
    for (std::uint32_t k = 0; k < arity; ++k) {
      total_ += row[k];
      if (row[k] > 0) last_ = k;
    }
  }
  double total() const { return total_; }
  // To be called for k = 0, 1, 2 ... in turn.
  double next(std::uint32_t k) {
    sum_ += row_[k];
    return k >= last_ ? 1.0 : std::min(1.0, sum_ / total_);
  }

 private:
  const double* row_;
  double total_ = 0, sum_ = 0;
  std::uint32_t last_ = 0;
};

std::int16_t limit_of(double c) {
  return static_cast<std::int16_t>(std::min(std::floor(c * 65536.0), 65535.0) - 32768.0);
}

// The state of a row whose 16 bits meet a limit: 48 more make a number of 64.
std::uint32_t decide(const double* row, std::uint32_t arity, std::int16_t u, std::uint64_t seed,
                     std::uint64_t number, std::uint32_t variable) {
  const random::Words words = random::bits(seed, number, variable, random::kRefine);
  const std::uint64_t bits = (static_cast<std::uint64_t>(u + 32768) << 48) |
                             (static_cast<std::uint64_t>(words[0] & 0xFFFF) << 32) | words[1];
  Cumulative cumulative(row, arity);
  for (std::uint32_t k = 0; k + 1 < arity; ++k) {
    const double c = cumulative.next(k);
    if (c >= 1 || bits < static_cast<std::uint64_t>(std::ceil(std::ldexp(c, 64)))) return k;
  }
  return arity - 1;
}

struct Node {
  Choice choice;
  std::int32_t variable = 0;
  const double* table = nullptr;
  std::int32_t fixed = -1;
  std::vector<double> log_weights;  // [cells], or empty
};

void make_planes(Choice& choice) {
  const std::size_t limits = choice.arity - 1, chunks = choice.chunks();
  choice.strides.assign(16 * choice.parents.size(), 0);
  for (std::size_t j = 0; j < choice.parents.size(); ++j)
    for (std::size_t code = 0; code < 16; ++code)
      choice.strides[16 * j + code] = static_cast<std::uint8_t>(code * choice.parents[j].stride);
  choice.planes.assign(limits * chunks * 32, 0);
  for (std::size_t k = 0; k < limits; ++k)
    for (std::size_t c = 0; c < choice.configurations; ++c) {
      const auto limit = static_cast<std::uint16_t>(choice.limits[c * choice.stride + k]);
      std::uint8_t* plane = choice.planes.data() + (k * chunks + c / 16) * 32 + c % 16;
      plane[0] = static_cast<std::uint8_t>(limit);
      plane[16] = static_cast<std::uint8_t>(limit >> 8);
    }
}

void make_limits(Choice& choice, const double* table, const std::string& name) {
  const std::uint32_t r = choice.arity;
  choice.stride = limit_stride(r);
  choice.limits.assign(std::size_t{choice.configurations} * choice.stride,
                       std::numeric_limits<std::int16_t>::max());
  std::int16_t* limits = choice.limits.data();
  for (std::size_t c = 0; c < choice.configurations; ++c, table += r, limits += choice.stride) {
    Cumulative cumulative(table, r);
    require(*std::min_element(table, table + r) >= 0 && std::isfinite(cumulative.total()),
            name + " must hold finite numbers, none below zero.");
    require(cumulative.total() == 0 || std::abs(cumulative.total() - 1) < 1e-6,
            name + " must have rows that add up to 1 over the child, got " +
                std::to_string(cumulative.total()) + " in row " + std::to_string(c) + ".");
    for (std::uint32_t k = 0; k + 1 < r; ++k) limits[k] = limit_of(cumulative.next(k));
  }
}

std::vector<double> log_ratios(const double* weights, const double* table, std::size_t cells,
                               const std::string& name) {
  std::vector<double> logs(cells);
  for (std::size_t i = 0; i < cells; ++i) {
    require(weights[i] >= 0 && std::isfinite(weights[i]),
            name + " must hold finite numbers, none below zero.");
    const bool zero = weights[i] == 0 || (table != nullptr && table[i] == 0);
    logs[i] = zero ? -std::numeric_limits<double>::infinity()
                   : std::log(weights[i]) - (table != nullptr ? std::log(table[i]) : 0.0);
  }
  return logs;
}

// The codes of one block of rows, column by column.
class Block {
 public:
  Block(const Sampler& sampler, std::size_t rows) : rows_(rows) {
    std::size_t bytes = 0;
    for (std::size_t v = 0; v < sampler.n_variables(); ++v) bytes += rows << sampler.wide(v);
    memory_ = BigArray<std::uint8_t>(bytes);
    std::uint8_t* at = memory_.data();
    for (std::size_t v = 0; v < sampler.n_variables(); ++v) {
      columns_.push_back({at, sampler.wide(v)});
      at += rows << sampler.wide(v);
    }
  }

  void draw(const std::vector<Node>& nodes, const Inputs& inputs, const Kernels& kernels,
            std::uint64_t start, bool weighted) {
    if (weighted) std::fill_n(log_weights_, rows_, 0.0);
    for (const Node& node : nodes) {
      const Codes& column = columns_[static_cast<std::size_t>(node.variable)];
      if (node.fixed >= 0 || node.choice.arity == 1)
        clamp(column, static_cast<std::uint32_t>(std::max(node.fixed, 0)));
      else
        choose(node, column, inputs.seed, kernels, start);
      if (!node.log_weights.empty()) weigh(node, column, kernels);
    }
  }

  // OUT rows begin..end of the block.
  void copy(std::size_t begin, std::size_t end, std::size_t to, const Outputs& out) const {
    for (std::size_t v = 0; v < columns_.size(); ++v) {
      const bool wide = columns_[v].wide;
      std::memcpy(static_cast<std::uint8_t*>(out.columns[v]) + (to << wide),
                  static_cast<const std::uint8_t*>(columns_[v].data) + (begin << wide),
                  (end - begin) << wide);
    }
    if (out.log_weights != nullptr)
      std::copy(log_weights_ + begin, log_weights_ + end, out.log_weights + to);
  }

 private:
  void clamp(const Codes& column, std::uint32_t code) const {
    if (column.wide)
      std::fill_n(static_cast<std::uint16_t*>(column.data), rows_,
                  static_cast<std::uint16_t>(code));
    else
      std::memset(column.data, static_cast<int>(code), rows_);
  }

  std::uint32_t code(const Codes& column, std::size_t row) const {
    return column.wide ? static_cast<const std::uint16_t*>(column.data)[row]
                       : static_cast<const std::uint8_t*>(column.data)[row];
  }

  void choose(const Node& node, const Codes& column, std::uint64_t seed, const Kernels& kernels,
              std::uint64_t start) {
    const auto stream = static_cast<std::uint32_t>(node.variable);
    kernels.fill(seed, stream, start / random::kGroup, rows_ / random::kGroup, u_);
    const std::size_t n =
        kernels.choose(node.choice, columns_.data(), u_, rows_, column, undecided_);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t row = undecided_[i];
      std::size_t configuration = 0;
      for (const Parent& parent : node.choice.parents)
        configuration += std::size_t{parent.stride} *
                         code(columns_[static_cast<std::size_t>(parent.variable)], row);
      const std::uint32_t state =
          decide(node.table + configuration * node.choice.arity, node.choice.arity, u_[row], seed,
                 start + row, stream);
      if (column.wide)
        static_cast<std::uint16_t*>(column.data)[row] = static_cast<std::uint16_t>(state);
      else
        static_cast<std::uint8_t*>(column.data)[row] = static_cast<std::uint8_t>(state);
    }
  }

  void weigh(const Node& node, const Codes& column, const Kernels& kernels) {
    kernels.configurations(node.choice, columns_.data(), rows_, configuration_);
    const double* logs = node.log_weights.data();
    const std::size_t r = node.choice.arity;
    if (column.wide)
      for (std::size_t row = 0; row < rows_; ++row)
        log_weights_[row] +=
            logs[configuration_[row] * r + static_cast<const std::uint16_t*>(column.data)[row]];
    else
      for (std::size_t row = 0; row < rows_; ++row)
        log_weights_[row] +=
            logs[configuration_[row] * r + static_cast<const std::uint8_t*>(column.data)[row]];
  }

  std::size_t rows_;
  BigArray<std::uint8_t> memory_;
  std::vector<Codes> columns_;
  std::int16_t u_[kMaxBlock];
  std::uint16_t undecided_[kMaxBlock];
  std::uint32_t configuration_[kMaxBlock];
  double log_weights_[kMaxBlock];
};

}  // namespace

Sampler::Sampler(std::vector<std::int64_t> arities, std::vector<Variables> scopes)
    : arities_(std::move(arities)), scopes_(arities_.size()), at_(arities_.size()) {
  const std::size_t n = arities_.size();
  for (const std::int64_t r : arities_)
    require(r >= 1 && r <= 65536, "Every arity must be in 1..65536.");
  require(scopes.size() == n, "There must be one scope per variable, the child last in it.");
  std::vector<std::size_t> waits(n);
  std::vector<Variables> children(n);
  for (std::size_t s = 0; s < n; ++s) {
    double cells = 1;
    for (const std::int32_t v : scopes[s]) {
      require(v >= 0 && static_cast<std::size_t>(v) < n,
              "Scope " + std::to_string(s) + " names variable " + std::to_string(v) + " of " +
                  std::to_string(n) + ".");
      require(std::count(scopes[s].begin(), scopes[s].end(), v) == 1,
              "Scope " + std::to_string(s) + " repeats variable " + std::to_string(v) + ".");
      cells *= static_cast<double>(arities_[static_cast<std::size_t>(v)]);
    }
    require(cells < 0x7FFFFFFF, "Table " + std::to_string(s) + " would have 2^31 cells or more.");
    require(!scopes[s].empty() && scopes_[static_cast<std::size_t>(scopes[s].back())].empty(),
            "There must be one scope per variable, the child last in it.");
    cells_.push_back(static_cast<std::size_t>(cells));
    const auto child = static_cast<std::size_t>(scopes[s].back());
    at_[child] = s;
    waits[child] = scopes[s].size() - 1;
    for (std::size_t j = 0; j + 1 < scopes[s].size(); ++j)
      children[static_cast<std::size_t>(scopes[s][j])].push_back(scopes[s].back());
    scopes_[child] = std::move(scopes[s]);
  }
  for (std::size_t v = 0; v < n; ++v)
    if (waits[v] == 0) order_.push_back(static_cast<std::int32_t>(v));
  for (std::size_t i = 0; i < order_.size(); ++i)
    for (const std::int32_t child : children[static_cast<std::size_t>(order_[i])])
      if (--waits[static_cast<std::size_t>(child)] == 0) order_.push_back(child);
  require(order_.size() == n,
          "The scopes must have no cycle: no variable may be its own ancestor.");
}

void Sampler::run(const Inputs& inputs, const std::string& path, int threads, Monitor& monitor,
                  const Outputs& out) const {
  const Kernels& kernels = sample_kernels_for(path);
  std::vector<Node> nodes(order_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const auto v = static_cast<std::size_t>(order_[i]);
    const Variables& scope = scopes_[v];
    Node& node = nodes[i];
    node.variable = order_[i];
    node.table = inputs.tables[at_[v]];
    node.fixed = inputs.fixed != nullptr ? inputs.fixed[v] : -1;
    node.choice.arity = static_cast<std::uint32_t>(arities_[v]);
    std::uint32_t stride = 1, largest = 1;
    for (std::size_t j = scope.size() - 1; j-- > 0;) {
      const auto r = static_cast<std::uint32_t>(arities_[static_cast<std::size_t>(scope[j])]);
      node.choice.parents.push_back({scope[j], stride});
      stride *= r;
      largest = std::max(largest, r);
    }
    node.choice.configurations = stride;
    if (node.fixed < 0) {
      make_limits(node.choice, node.table, "Table " + std::to_string(at_[v]));
      if (node.choice.arity > 1 && can_shuffle(node.choice.arity, stride, largest))
        make_planes(node.choice);
    }
    if (!inputs.weights.empty() && inputs.weights[at_[v]] != nullptr)
      node.log_weights =
          log_ratios(inputs.weights[at_[v]], node.fixed < 0 ? node.table : nullptr, cells_[at_[v]],
                     "Weights " + std::to_string(at_[v]));
  }
  // Blocks begin at multiples of their size, whatever the first row; a block should fit in L2.
  const std::size_t block = n_variables() <= 256 ? kMaxBlock : kMaxBlock / 4;
  const std::uint64_t first_block = inputs.first / block;
  const std::size_t n_blocks =
      static_cast<std::size_t>((inputs.first + inputs.rows + block - 1) / block - first_block);
  constexpr std::size_t kPerTask = 16;
  parallel_for((n_blocks + kPerTask - 1) / kPerTask, threads, [&](std::size_t task) {
    const auto codes = std::make_unique<Block>(*this, block);
    for (std::size_t b = task * kPerTask; b < std::min(n_blocks, (task + 1) * kPerTask); ++b) {
      monitor.poll();
      const std::uint64_t start = (first_block + b) * block;
      codes->draw(nodes, inputs, kernels, start, out.log_weights != nullptr);
      const std::uint64_t from = std::max(start, inputs.first);
      const std::uint64_t to = std::min(start + block, inputs.first + inputs.rows);
      codes->copy(static_cast<std::size_t>(from - start), static_cast<std::size_t>(to - start),
                  static_cast<std::size_t>(from - inputs.first), out);
    }
  });
}

}  // namespace credo::sample
