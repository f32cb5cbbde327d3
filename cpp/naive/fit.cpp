// Rows are walked in tiles that stay in the cache: each column is encoded down the tile, then the
// tile is counted along its rows, so that neighbouring increments fall in different tables.
// Chunks of rows are cut at places that depend on the number of rows only and added in order.
#include "naive/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <type_traits>

#include "common/parallel.hpp"
#include "naive/loops.hpp"

namespace credo::naive {
namespace {

constexpr std::size_t kChunks = 8;
constexpr std::size_t kLeastChunk = std::size_t{1} << 14;

std::size_t chunk_rows(std::size_t n) {
  const std::size_t even = (n + kChunks - 1) / kChunks;
  return std::max(kLeastChunk, (even + kTileRows - 1) / kTileRows * kTileRows);
}

template <class Visit>  // visit(chunk, first, n) for each tile of each chunk
void walk(std::size_t n_rows, std::size_t row_bytes, int threads, Visit&& visit) {
  const std::size_t size = chunk_rows(n_rows), tile = tile_rows(row_bytes);
  parallel_for((n_rows + size - 1) / size, threads, [&](std::size_t chunk) {
    const std::size_t end = std::min((chunk + 1) * size, n_rows);
    for (std::size_t first = chunk * size; first < end; first += tile)
      visit(chunk, first, std::min(tile, end - first));
  });
}

constexpr double kLoss = 1e3;  // squares about a centre may be this much larger than about the mean
constexpr std::size_t kSample = 32;
constexpr std::size_t kFew = 256;  // rows of which a block of columns stays in the cache

// Row r of the columns as doubles: where it lies, or as `held` [columns].
const double* row_at(const std::vector<Cells>& columns, std::size_t r, bool as_they_lie,
                     std::size_t stride, double* held) {
  if (as_they_lie) return reinterpret_cast<const double*>(columns[0].data) + r * stride;
  encode_values(columns, r, 1, held, nullptr);
  return held;
}

// OUT centre [groups][columns]: the mean of some rows spread over the table; of a class that has no
// such row, or whose cells are missing there, that of all classes.
void sample_centres(const std::vector<Cells>& columns, const ClassRows& rows, double* centre) {
  const std::size_t d = columns.size(), step = (rows.n_rows + kSample - 1) / kSample;
  std::vector<double> n((rows.groups + 1) * d), sum(n.size()), held(d), from(d, std::nan(""));
  std::size_t stride = d;
  const bool as_they_lie = are_rows(columns, stride);
  for (std::size_t r = 0; r < rows.n_rows; r += step) {
    const std::size_t g = rows.group[r];
    if (g >= rows.groups) continue;
    const double* value = row_at(columns, r, as_they_lie, stride, held.data());
    double* own_n = n.data() + g * d;
    double* own_sum = sum.data() + g * d;
    for (std::size_t j = 0; j < d; ++j) {
      from[j] = from[j] == from[j] ? from[j] : value[j];
      const double away = value[j] - from[j];  // about the first value, so that digits are kept
      own_n[j] += away == away ? 1.0 : 0.0;
      own_sum[j] += away == away ? away : 0.0;
    }
  }
  double *all_n = n.data() + rows.groups * d, *all_sum = sum.data() + rows.groups * d;
  for (std::size_t g = 0; g < rows.groups; ++g)
    for (std::size_t j = 0; j < d; ++j) {
      all_n[j] += n[g * d + j];
      all_sum[j] += sum[g * d + j];
    }
  for (std::size_t g = 0; g < rows.groups; ++g)
    for (std::size_t j = 0; j < d; ++j) {
      const std::size_t at = g * d + j;
      const double total = n[at] > 0 ? sum[at] : all_sum[j], some = n[at] > 0 ? n[at] : all_n[j];
      const double start = from[j] == from[j] ? from[j] : 0.0;
      const double middle = start + total / (some > 0 ? some : 1.0);
      centre[at] = middle - middle == 0 ? middle : start;
    }
}

std::size_t n_chunks(std::size_t n_rows) {
  const std::size_t size = chunk_rows(n_rows);
  return (n_rows + size - 1) / size;
}

// Columns whose sums stay in the cache, however wide the table.
std::size_t block_columns(std::size_t groups) {
  return std::clamp<std::size_t>(8192 / groups, 128, 512);
}

template <class Column>
std::vector<Column> block_of(const std::vector<Column>& columns, std::size_t first,
                             std::size_t size) {
  const std::size_t end = std::min(first + size, columns.size());
  return {columns.begin() + static_cast<std::ptrdiff_t>(first),
          columns.begin() + static_cast<std::ptrdiff_t>(end)};
}

template <class Cell>
void counts_of_block(const std::vector<CodeColumn>& columns, const ClassRows& rows,
                     const Cell* weights, int threads, Cell* table) {
  const std::size_t d = columns.size();
  std::vector<std::size_t> offset(d), width(d);
  std::size_t size = 0;
  for (std::size_t j = 0; j < d; ++j) {
    offset[j] = size;
    width[j] = std::size_t{columns[j].missing} + 2;
    size += rows.groups * width[j];
  }
  std::vector<std::vector<Cell>> parts(n_chunks(rows.n_rows));  // the first is the table itself
  std::vector<std::unique_ptr<std::uint16_t[]>> scratch(parts.size());
  std::vector<std::vector<std::uint64_t>> strange(parts.size());
  const CodeTiles tiles(columns);
  // Numbers above 0 or not, four at a time: which of them are is counted, sixteen cells for each
  // class and four columns. Sums of decimals keep the order of the rows.
  const bool fours = std::is_same_v<Cell, std::int64_t> && d < 16384 && tiles.four_above();
  std::vector<std::uint16_t> cell(fours ? d * 4 : 0);
  std::iota(cell.begin(), cell.end(), std::uint16_t{0});
  std::vector<std::vector<Cell>> signs(parts.size());
  std::vector<std::size_t> place(rows.groups * d);  // of each class and column in the table
  for (std::size_t g = 0; g < rows.groups; ++g)
    for (std::size_t j = 0; j < d; ++j) place[g * d + j] = offset[j] + g * width[j];
  walk(rows.n_rows, 2 * d, threads, [&](std::size_t chunk, std::size_t first, std::size_t n) {
    if (strange[chunk].empty()) {
      strange[chunk].resize(d);
      if (chunk > 0) parts[chunk].resize(size);
      scratch[chunk] = std::make_unique_for_overwrite<std::uint16_t[]>(kTileRows * d);
    }
    if (fours && signs[chunk].empty()) signs[chunk].resize(rows.groups * d * 4);
    if (fours && tiles.add_above(first, n, cell.data(), scratch[chunk].get())) {
      const std::uint16_t* at = scratch[chunk].get();
      for (std::size_t r = 0; r < n; ++r, at += d / 4) {
        const std::size_t g = rows.group[first + r];
        if (g >= rows.groups) continue;
        const Cell w = weights == nullptr ? Cell{1} : weights[first + r];
        Cell* counts = signs[chunk].data() + g * d * 4;
        for (std::size_t q = 0; q < d / 4; ++q) counts[at[q]] += w;
      }
      return;
    }
    Cell* counts = chunk == 0 ? table : parts[chunk].data();
    tiles.encode(first, n, scratch[chunk].get(), strange[chunk].data());
    const std::size_t row_step = tiles.row_step(), column_step = tiles.column_step();
    for (std::size_t r = 0; r < n; ++r) {
      const std::size_t g = rows.group[first + r];
      if (g >= rows.groups) continue;
      const Cell w = weights == nullptr ? Cell{1} : weights[first + r];
      const std::size_t* at = place.data() + g * d;
      const std::uint16_t* code = scratch[chunk].get() + r * row_step;
      for (std::size_t j = 0; j < d; ++j, code += column_step) counts[at[j] + *code] += w;
    }
  });
  for (const std::vector<Cell>& part : parts)
    for (std::size_t i = 0; i < part.size(); ++i) table[i] += part[i];
  for (const std::vector<Cell>& part : signs)
    for (std::size_t i = 0; i < part.size(); ++i)
      for (std::size_t m = 0; m < 4 && part[i] != 0; ++m) {
        const std::size_t g = i / (d * 4), j = i % (d * 4) / 16 * 4 + m;
        table[place[g * d + j] + (i % 16 >> m & 1)] += part[i];
      }
}

// Sums [groups][columns] as the moments [columns][groups] that they are.
void turn(std::size_t d, std::size_t groups, const double* in, double* out) {
  constexpr std::size_t kTurn = 8;  // cells of a cache line
  for (std::size_t low = 0; low < d; low += kTurn)
    for (std::size_t g = 0; g < groups; ++g)
      for (std::size_t j = low; j < std::min(low + kTurn, d); ++j)
        out[j * groups + g] = in[g * d + j];
}

// A few rows without gaps: the means first, then the squares about them. Returns whether
// that is so; nothing is said otherwise.
bool moments_of_few(const std::vector<Cells>& columns, const ClassRows& rows,
                    const double* weights, const ClassMoments& out) {
  if (rows.n_rows > kFew) return false;
  const std::size_t d = columns.size(), size = rows.groups * d;
  const Loops& loops = loops_for_this_cpu();
  std::size_t stride = d;
  std::vector<double> held;
  const double* values;
  if (are_rows(columns, stride)) {
    values = reinterpret_cast<const double*>(columns[0].data);
  } else {
    held.resize(rows.n_rows * d);
    encode_values(columns, 0, rows.n_rows, held.data(), nullptr);
    values = held.data();
  }
  std::vector<std::vector<std::uint32_t>> members(rows.groups);
  std::vector<double> mean(size), scatter(size), weight(rows.groups);
  for (std::uint32_t r = 0; r < rows.n_rows; ++r)
    if (rows.group[r] < rows.groups) {
      members[rows.group[r]].push_back(r);
      weight[rows.group[r]] += weights == nullptr ? 1.0 : weights[r];
    }
  for (std::size_t g = 0; g < rows.groups; ++g)
    loops.few_moments(values, stride, members[g].data(), weights, members[g].size(), d,
                      mean.data() + g * d, scatter.data() + g * d);
  int odd = 0;
  for (const double centre : mean) odd |= centre - centre != 0;
  if (odd != 0) return false;  // NaN: a gap, or a sum that is not finite
  for (std::size_t j = 0; j < d; ++j)
    std::copy(weight.begin(), weight.end(), out.n + j * rows.groups);
  turn(d, rows.groups, mean.data(), out.mean);
  turn(d, rows.groups, scatter.data(), out.scatter);
  return true;
}

void moments_of_block(const std::vector<Cells>& columns, const ClassRows& rows,
                      const double* weights, int threads, const ClassMoments& out) {
  if (moments_of_few(columns, rows, weights, out)) return;
  const std::size_t d = columns.size(), size = rows.groups * d;
  const Loops& loops = loops_for_this_cpu();
  std::vector<double> centre(size), n(size), first_sum(size), second_sum(size);  // [groups][columns]
  std::size_t stride = d;
  const bool as_they_lie = are_rows(columns, stride);
  const auto pass = [&] {
    std::vector<std::vector<double>> parts(n_chunks(rows.n_rows)), scratch(parts.size());
    walk(rows.n_rows, 8 * d, threads, [&](std::size_t chunk, std::size_t first, std::size_t m) {
      if (chunk > 0 && parts[chunk].empty()) parts[chunk].resize(3 * size);
      if (!as_they_lie && scratch[chunk].empty())
        scratch[chunk].resize(std::min(tile_rows(8 * d), rows.n_rows) * d);
      double* sums = parts[chunk].data();
      const double* values = scratch[chunk].data();
      if (as_they_lie) values = reinterpret_cast<const double*>(columns[0].data) + first * stride;
      else encode_values(columns, first, m, scratch[chunk].data(), nullptr);
      loops.add_moments(values, stride, rows.group + first,
                        weights == nullptr ? nullptr : weights + first, centre.data(), m, d,
                        rows.groups, chunk == 0 ? n.data() : sums,
                        chunk == 0 ? first_sum.data() : sums + size,
                        chunk == 0 ? second_sum.data() : sums + 2 * size);
    });
    for (const std::vector<double>& part : parts)
      for (std::size_t i = 0; i < size && !part.empty(); ++i) {
        n[i] += part[i];
        first_sum[i] += part[size + i];
        second_sum[i] += part[2 * size + i];
      }
  };
  sample_centres(columns, rows, centre.data());
  pass();
  int again = 0;  // loops without a branch: they run four cells at a time
  for (std::size_t i = 0; i < size; ++i) {
    const double r = first_sum[i] / (n[i] > 0 ? n[i] : 1.0);
    again |= (r != 0) & !(first_sum[i] * r <= kLoss * (second_sum[i] - first_sum[i] * r));
  }
  if (again != 0) {
    for (std::size_t i = 0; i < size; ++i) {
      centre[i] += first_sum[i] / (n[i] > 0 ? n[i] : 1.0);
      n[i] = first_sum[i] = second_sum[i] = 0;
    }
    pass();
  }
  for (std::size_t i = 0; i < size; ++i) {
    const double r = first_sum[i] / (n[i] > 0 ? n[i] : 1.0);
    const double rest = second_sum[i] - first_sum[i] * r;
    first_sum[i] = n[i] > 0 ? centre[i] + r : 0.0;
    second_sum[i] = rest < 0 ? 0.0 : rest;
  }
  turn(d, rows.groups, n.data(), out.n);
  turn(d, rows.groups, first_sum.data(), out.mean);
  turn(d, rows.groups, second_sum.data(), out.scatter);
}

}  // namespace

std::vector<CellRange> cell_ranges(const std::vector<Cells>& columns, std::size_t n_rows) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  struct Reals {
    double low = kInfinity, high = -kInfinity;
  };
  std::vector<CellRange> ranges(columns.size());
  std::vector<Reals> reals(columns.size());
  for (CellRange& range : ranges) {
    range.low = std::numeric_limits<std::int64_t>::max();
    range.high = std::numeric_limits<std::int64_t>::min();
  }
  for (std::size_t first = 0; first < n_rows; first += kTileRows)
    for (std::size_t j = 0; j < columns.size(); ++j)
      with_type(columns[j].type, [&]<class T>(T) {
        const std::size_t n = std::min(kTileRows, n_rows - first);
        const std::ptrdiff_t stride = columns[j].stride;
        const unsigned char* p = columns[j].data + static_cast<std::ptrdiff_t>(first) * stride;
        CellRange& range = ranges[j];
        if constexpr (std::is_floating_point_v<T>) {
          double low = reals[j].low, high = reals[j].high;
          bool whole = range.whole, missing = range.missing;
          for (std::size_t r = 0; r < n; ++r, p += stride) {
            const double x = static_cast<double>(*reinterpret_cast<const T*>(p));
            low = x < low ? x : low;
            high = x > high ? x : high;
            if (x != x) missing = true;
            else if (whole && x != std::trunc(x)) whole = false;
          }
          reals[j] = {low, high};
          range.whole = whole;
          range.missing = missing;
        } else {
          T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::lowest();
          for (std::size_t r = 0; r < n; ++r, p += stride) {
            const T x = *reinterpret_cast<const T*>(p);
            low = x < low ? x : low;
            high = x > high ? x : high;
          }
          if constexpr (std::is_same_v<T, std::uint64_t>)
            if (high > static_cast<T>(std::numeric_limits<std::int64_t>::max())) {
              range.whole = false;
              return;
            }
          range.low = std::min(range.low, static_cast<std::int64_t>(low));
          range.high = std::max(range.high, static_cast<std::int64_t>(high));
        }
      });
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const auto [low, high] = reals[j];
    if (low <= high) {
      ranges[j].infinite = std::isinf(low) || std::isinf(high);
      if (!(low > -9e15 && high < 9e15)) ranges[j].whole = false;
      if (ranges[j].whole) {
        ranges[j].low = static_cast<std::int64_t>(low);
        ranges[j].high = static_cast<std::int64_t>(high);
      }
    }
    if (ranges[j].low > ranges[j].high) {
      ranges[j].low = 0;
      ranges[j].high = -1;
    }
  }
  return ranges;
}

template <class Cell>
void class_counts(const std::vector<CodeColumn>& columns, const ClassRows& rows,
                  const Cell* weights, int threads, Cell* table) {
  const std::size_t size = block_columns(rows.groups);
  for (std::size_t first = 0; first < columns.size(); first += size) {
    const std::vector<CodeColumn> block = block_of(columns, first, size);
    counts_of_block(block, rows, weights, threads, table);
    for (const CodeColumn& column : block) table += rows.groups * (std::size_t{column.missing} + 2);
  }
}

template void class_counts<std::int64_t>(const std::vector<CodeColumn>&, const ClassRows&,
                                         const std::int64_t*, int, std::int64_t*);
template void class_counts<double>(const std::vector<CodeColumn>&, const ClassRows&, const double*,
                                   int, double*);

void class_moments(const std::vector<Cells>& columns, const ClassRows& rows, const double* weights,
                   int threads, const ClassMoments& out) {
  const std::size_t size = block_columns(rows.groups);
  for (std::size_t first = 0; first < columns.size(); first += size) {
    const std::size_t at = first * rows.groups;
    moments_of_block(block_of(columns, first, size), rows, weights, threads,
                     {out.n + at, out.mean + at, out.scatter + at});
  }
}

bool class_totals(const std::vector<Cells>& columns, const ClassRows& rows, const double* weights,
                  int threads, const CountRule& rule, double* totals) {
  const std::size_t d = columns.size(), size = rows.groups * d;
  const Loops& loops = loops_for_this_cpu();
  std::vector<std::vector<double>> parts(n_chunks(rows.n_rows)), scratch(parts.size());
  std::vector<char> wrong(parts.size());
  walk(rows.n_rows, 8 * d, threads, [&](std::size_t chunk, std::size_t first, std::size_t m) {
    if (scratch[chunk].empty()) {
      if (chunk > 0) parts[chunk].resize(size);
      scratch[chunk].resize(std::min(tile_rows(8 * d), rows.n_rows) * d);
    }
    const CountTile tile = read_counts(columns, first, m, rule, scratch[chunk].data());
    if (tile.wrong) wrong[chunk] = 1;
    loops.add_totals(tile.values, tile.stride, rows.group + first,
                     weights == nullptr ? nullptr : weights + first, m, d, rows.groups,
                     chunk == 0 ? totals : parts[chunk].data());
  });
  for (const std::vector<double>& part : parts)
    for (std::size_t i = 0; i < part.size(); ++i) totals[i] += part[i];
  return std::any_of(wrong.begin(), wrong.end(), [](char w) { return w != 0; });
}

}  // namespace credo::naive
