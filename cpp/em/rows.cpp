#include "em/rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace credo::em {
namespace {

constexpr std::size_t kMostOffsets = std::size_t{1} << 28;

std::uint64_t mixed(std::uint64_t h, std::uint64_t x) {
  h = (h ^ x) * 0x9E3779B97F4A7C15u;
  return h ^ (h >> 29);
}

}  // namespace

// One row: its cells, and which are missing.
struct Rows::Row {
  std::vector<std::int32_t> codes;  // -1: missing
  std::vector<double> reals;
  std::vector<char> missing;
};

Rows::Rows(std::shared_ptr<const Network> network, std::uint64_t most, std::uint64_t most_mixed)
    : counted(network->cells), moments(network->moment_numbers), network_(std::move(network)),
      most_(most), most_mixed_(most_mixed), table_(1 << 12) {}

void Rows::add(const std::vector<Column>& columns, std::size_t n_rows, const double* weights) {
  const Network& net = *network_;
  const std::size_t n = net.size();
  Row row{std::vector<std::int32_t>(n), std::vector<double>(n), std::vector<char>(n)};
  std::vector<std::int32_t> holes, component, todo;
  std::vector<std::uint32_t> found;
  std::vector<char> reached(n);
  for (std::size_t r = 0; r < n_rows; ++r) {
    const double weight = weights == nullptr ? 1 : weights[r];
    if (weight == 0) continue;
    total += weight;
    holes.clear();
    for (std::size_t v = 0; v < n; ++v) {
      const Column& column = columns[v];
      bool gap;
      if (net.arity[v] > 0) {
        row.codes[v] = -1;
        if (column.codes.codes != nullptr) {
          const std::uint32_t code = column.codes.at(r);
          if (code < column.codes.arity) row.codes[v] = static_cast<std::int32_t>(code);
        }
        gap = row.codes[v] < 0;
      } else {
        row.reals[v] = column.reals == nullptr ? std::nan("") : column.reals[r];
        gap = std::isnan(row.reals[v]);
      }
      row.missing[v] = gap;
      if (gap) holes.push_back(static_cast<std::int32_t>(v));
    }
    found.clear();
    bool large = false;
    for (const std::int32_t hole : holes) {
      if (reached[hole]) continue;
      component.assign(1, hole);
      reached[hole] = 1;
      for (std::size_t i = 0; i < component.size(); ++i)
        for (const std::int32_t f : net.families_of[component[i]])
          for (const std::int32_t u : net.families[f].scope)
            if (row.missing[u] && !reached[u]) {
              reached[u] = 1;
              component.push_back(u);
            }
      std::sort(component.begin(), component.end());
      const std::uint32_t shape = shape_of(component);
      found.push_back(shape);
      large |= shapes_[shape].large;
    }
    for (const std::int32_t hole : holes) reached[hole] = 0;
    if (large) {
      left.insert(left.end(), row.codes.begin(), row.codes.end());
      left_weights.push_back(weight);
      continue;
    }
    for (const std::uint32_t shape : found) keep(shape, row, weight);
    count(row, weight);
  }
}

std::uint32_t Rows::shape_of(std::span<const std::int32_t> missing) {
  std::uint64_t hash = missing.size();
  for (const std::int32_t v : missing) hash = mixed(hash, static_cast<std::uint64_t>(v));
  const auto [first, last] = shape_at_.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    const Shape& shape = shapes_[at->second];
    if (shape.n_variables == missing.size() &&
        std::equal(missing.begin(), missing.end(), lists_.begin() + shape.first_variable))
      return at->second;
  }
  const std::uint32_t made = new_shape(missing);
  shape_at_.emplace(hash, made);
  return made;
}

std::uint32_t Rows::new_shape(std::span<const std::int32_t> missing) {
  const Network& net = *network_;
  Shape shape{};
  shape.first_variable = static_cast<std::uint32_t>(lists_.size());
  shape.n_variables = static_cast<std::uint32_t>(missing.size());
  lists_.insert(lists_.end(), missing.begin(), missing.end());
  std::vector<std::int32_t> families, summed, holes, reals;
  for (const std::int32_t v : missing) {
    families.insert(families.end(), net.families_of[v].begin(), net.families_of[v].end());
    if (net.arity[v] == 0) holes.push_back(v);
    else if (!net.families[v].leaf) summed.push_back(v);
  }
  std::sort(families.begin(), families.end());
  families.erase(std::unique(families.begin(), families.end()), families.end());
  const auto is_missing = [&](std::int32_t v) {
    return std::binary_search(missing.begin(), missing.end(), v);
  };
  std::vector<Part> parts[3];
  bool has_lines = false;
  for (const std::int32_t f : families) {
    const Family& family = net.families[f];
    const Part::Kind kind = !family.discrete                      ? Part::kLine
                            : family.leaf && is_missing(f) ? Part::kLeaf
                                                                  : Part::kTable;
    has_lines |= kind == Part::kLine;
    parts[kind].push_back({f, 0, kind});
    for (const std::int32_t v : family.line)
      if (!is_missing(v) && std::find(reals.begin(), reals.end(), v) == reals.end())
        reals.push_back(v);
  }
  std::uint64_t states = 1;
  // What is pooled has a limit too: with ever new shapes, their offsets would fill the memory.
  std::uint64_t most = has_lines ? most_mixed_ : most_;
  const std::uint64_t room = offsets_.size() < kMostOffsets ? kMostOffsets - offsets_.size() : 0;
  most = std::min<std::uint64_t>(most, room / families.size());
  for (const std::int32_t v : summed) {
    states *= static_cast<std::uint64_t>(net.arity[v]);
    if (states > most) break;
  }
  if (states > most) {
    shape.large = true;
    if (net.line_numbers > 0 && too_large.empty()) too_large.assign(summed.begin(), summed.end());
    shapes_.push_back(shape);
    return static_cast<std::uint32_t>(shapes_.size() - 1);
  }
  most_states = std::max<std::size_t>(most_states, states);
  shape.states = static_cast<std::uint32_t>(states);
  shape.first_part = static_cast<std::uint32_t>(parts_.size());
  shape.n_tables = static_cast<std::uint32_t>(parts[Part::kTable].size());
  shape.n_leaves = static_cast<std::uint32_t>(parts[Part::kLeaf].size());
  shape.first_real = static_cast<std::uint32_t>(lists_.size());
  shape.n_missing = static_cast<std::uint32_t>(holes.size());
  shape.n_reals = static_cast<std::uint32_t>(reals.size());
  lists_.insert(lists_.end(), holes.begin(), holes.end());
  lists_.insert(lists_.end(), reals.begin(), reals.end());
  for (const std::vector<Part>& some : parts)
    for (Part part : some) {
      const Family& family = net.families[part.family];
      part.offsets = static_cast<std::uint32_t>(offsets_.size());
      // A leaf shares the weight of its parents' configuration: its own axis does not count.
      const std::uint32_t unit =
          part.kind == Part::kLeaf ? static_cast<std::uint32_t>(net.arity[part.family]) : 1;
      for (std::uint32_t s = 0; s < shape.states; ++s) {
        std::uint32_t rest = s, at = 0;
        for (std::size_t i = summed.size(); i-- > 0;) {
          const auto arity = static_cast<std::uint32_t>(net.arity[summed[i]]);
          const std::uint32_t code = rest % arity;
          rest /= arity;
          for (std::size_t j = 0; j < family.states.size(); ++j)
            if (family.states[j] == summed[i]) at += code * (family.strides[j] / unit);
        }
        offsets_.push_back(at);
      }
      parts_.push_back(part);
    }
  shape.n_parts = static_cast<std::uint32_t>(parts_.size()) - shape.first_part;
  shapes_.push_back(shape);
  return static_cast<std::uint32_t>(shapes_.size() - 1);
}

void Rows::keep(std::uint32_t index, const Row& row, double weight) {
  const Network& net = *network_;
  const Shape& shape = shapes_[index];
  scratch_.clear();
  for (const Part& part : parts(shape)) {
    const Family& family = net.families[part.family];
    const std::uint32_t unit =
        part.kind == Part::kLeaf ? static_cast<std::uint32_t>(net.arity[part.family]) : 1;
    std::uint64_t at = part.kind == Part::kTable  ? family.at
                       : part.kind == Part::kLeaf ? family.parents_at
                                                  : 0;
    for (std::size_t j = 0; j < family.states.size(); ++j)
      if (row.codes[family.states[j]] >= 0)
        at += static_cast<std::uint64_t>(row.codes[family.states[j]]) * (family.strides[j] / unit);
    scratch_.push_back(static_cast<std::uint32_t>(at));
  }
  cells_.clear();
  const std::span<const std::int32_t> reals = real_variables(shape);
  for (std::size_t i = shape.n_missing; i < reals.size(); ++i)
    cells_.push_back(row.reals[reals[i]]);
  put(index, scratch_, cells_, weight);
}

void Rows::put(std::uint32_t index, std::span<const std::uint32_t> bases,
               std::span<const double> reals, double weight) {
  const auto hashed = [](std::uint32_t shape, std::span<const std::uint32_t> at) {
    std::uint64_t h = mixed(0x51ED2701, shape);
    for (const std::uint32_t base : at) h = mixed(h, base);
    return h;
  };
  if (!shapes_[index].mixed()) {
    if (2 * problems_.size() > table_.size()) {
      // Grown: every problem is placed again, by the hash of its shape and boundary.
      std::vector<std::uint32_t> larger(table_.size() * 4);
      for (std::size_t p = 0; p < problems_.size(); ++p) {
        const Shape& shape = shapes_[problems_[p].shape];
        if (shape.mixed()) continue;
        std::size_t slot =
            hashed(problems_[p].shape, {&bases_[problems_[p].bases], shape.n_parts}) &
            (larger.size() - 1);
        while (larger[slot] != 0) slot = (slot + 1) & (larger.size() - 1);
        larger[slot] = static_cast<std::uint32_t>(p + 1);
      }
      table_ = std::move(larger);
    }
    std::size_t slot = hashed(index, bases) & (table_.size() - 1);
    for (; table_[slot] != 0; slot = (slot + 1) & (table_.size() - 1)) {
      const Problem& other = problems_[table_[slot] - 1];
      if (other.shape == index &&
          std::equal(bases.begin(), bases.end(), bases_.begin() + other.bases)) {
        weights_[table_[slot] - 1] += weight;
        return;
      }
    }
    table_[slot] = static_cast<std::uint32_t>(problems_.size() + 1);
  }
  problems_.push_back({index, bases_.size(), reals_.size()});
  weights_.push_back(weight);
  bases_.insert(bases_.end(), bases.begin(), bases.end());
  reals_.insert(reals_.end(), reals.begin(), reals.end());
}

void Rows::pack(std::vector<std::int32_t>& missing, std::vector<std::uint32_t>& sizes,
                std::vector<std::uint32_t>& shapes) const {
  for (const Shape& shape : shapes_) {
    const auto first = lists_.begin() + shape.first_variable;
    missing.insert(missing.end(), first, first + shape.n_variables);
    sizes.push_back(shape.n_variables);
  }
  for (const Problem& problem : problems_) shapes.push_back(problem.shape);
}

void Rows::absorb(const Folded& other) {
  const auto require = [](bool holds) {
    if (!holds) throw std::invalid_argument("These are no problems of rows of the same network.");
  };
  const Network& net = *network_;
  std::vector<std::uint32_t> here;
  std::size_t at = 0;
  for (const std::uint32_t size : other.sizes) {
    require(size > 0 && size <= other.missing.size() - at);
    const auto missing = other.missing.subspan(at, size);
    for (std::size_t i = 0; i < size; ++i)
      require(missing[i] >= 0 && static_cast<std::size_t>(missing[i]) < net.size() &&
              (i == 0 || missing[i - 1] < missing[i]));
    here.push_back(shape_of(missing));
    at += size;
  }
  require(other.weights.size() == other.shapes.size());
  std::size_t base = 0, real = 0;
  for (std::size_t p = 0; p < other.shapes.size(); ++p) {
    require(other.shapes[p] < here.size());
    const std::uint32_t index = here[other.shapes[p]];
    const Shape& shape = shapes_[index];
    require(!shape.large && shape.n_parts <= other.bases.size() - base &&
            shape.n_reals <= other.reals.size() - real);
    const auto bases = other.bases.subspan(base, shape.n_parts);
    for (std::size_t i = 0; i < shape.n_parts; ++i) {
      const Part& part = parts(shape)[i];
      const Family& family = net.families[part.family];
      const std::uint64_t last =
          bases[i] + std::uint64_t{*std::max_element(offsets(part), offsets(part) + shape.states)};
      if (part.kind == Part::kLeaf)
        require(bases[i] >= family.parents_at &&
                last < family.parents_at + family.cells / net.arity[part.family]);
      else if (part.kind == Part::kTable)
        require(bases[i] >= family.at && last < family.at + family.cells);
      else
        require(last < family.cells);
    }
    put(index, bases, other.reals.subspan(real, shape.n_reals), other.weights[p]);
    base += shape.n_parts;
    real += shape.n_reals;
  }
}

void Rows::count(const Row& row, double weight) {
  double z[66];
  std::vector<double> longer;
  for (const Family& family : network_->families) {
    std::uint64_t at = 0;
    bool whole = true;
    for (std::size_t j = 0; j < family.states.size() && whole; ++j) {
      const std::int32_t code = row.codes[family.states[j]];
      whole = code >= 0;
      at += static_cast<std::uint64_t>(code) * family.strides[j];
    }
    if (!whole) continue;
    if (family.discrete) {
      counted[family.at + at] += weight;
      continue;
    }
    const std::size_t side = family.side();
    double* values = z;
    if (side > 66) {
      longer.resize(side);
      values = longer.data();
    }
    values[0] = 1;
    for (std::size_t i = 0; i + 1 < side; ++i) {
      values[i + 1] = row.reals[family.line[i]];
      whole &= !std::isnan(values[i + 1]);
    }
    if (!whole) continue;
    double* to = moments.data() + family.moments_at + at * family.moments_size();
    for (std::size_t i = 0; i < side; ++i)
      for (std::size_t j = 0; j < side; ++j) to[i * side + j] += weight * values[i] * values[j];
  }
}

}  // namespace credo::em
