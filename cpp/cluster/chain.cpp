#include "cluster/chain.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "cluster/links.hpp"
#include "common/memory.hpp"

namespace credo::chain {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// The points column by column; for means the first row is put at 0, for their digits. A place beyond the last, or whose cluster is gone, is infinitely far.
class Columns {
 public:
  Columns(const double* points, std::size_t n, std::size_t d, bool for_means)
      : d_(d), stride_(padded(n)), width_(stride_), cells_(d * stride_), point_(d) {
    for (std::size_t j = 0; j < d; ++j) {
      const double zero = for_means ? points[j] : 0.0;
      for (std::size_t i = 0; i < n; ++i) cells_[j * stride_ + i] = points[i * d + j] - zero;
      std::fill(&cells_[j * stride_] + n, &cells_[j * stride_] + stride_, j ? 0.0 : kInfinite);
    }
  }

  const double* cells() const { return cells_.data(); }
  std::size_t d() const { return d_; }
  std::size_t stride() const { return stride_; }
  std::size_t width() const { return width_; }

  const double* point(std::size_t i) {
    for (std::size_t j = 0; j < d_; ++j) point_[j] = cells_[j * stride_ + i];
    return point_.data();
  }
  double& at(std::size_t i, std::size_t j) { return cells_[j * stride_ + i]; }

  void keep(const std::vector<std::uint32_t>& kept) {
    width_ = padded(kept.size());
    for (std::size_t j = 0; j < d_; ++j) {
      double* column = &cells_[j * stride_];
      for (std::size_t i = 0; i < kept.size(); ++i) column[i] = column[kept[i]];
      std::fill(column + kept.size(), column + width_, j ? 0.0 : kInfinite);
    }
  }

 private:
  std::size_t d_, stride_, width_;
  BigArray<double> cells_;
  std::vector<double> point_;
};

// How far clusters are apart: a row of distances for each that was asked for.
//
// A row is brought up to date when it is needed: clusters that merged since it was are read from
// their own rows. So memory is written in the order it lies in, and what merged before a row is made
// costs it no distance.
class Distances {
 public:
  Distances(Columns& columns, bool average, const Loops& loops)
      : columns_(columns),
        average_(average),
        loops_(loops),
        rows_(columns.width(), nullptr),
        seen_(columns.width(), 0),
        changed_(columns.width(), 0) {}

  const double* row(std::size_t x) {
    if (!rows_[x]) {
      rows_[x] = fresh();
      loops_.distances(columns_.cells(), columns_.stride(), columns_.d(), columns_.width(),
                       columns_.point(x), rows_[x]);
      rows_[x][x] = kInfinite;
    } else if (seen_[x] == now_) {
      return rows_[x];
    }
    double* row = rows_[x];
    const auto since = [&](const std::vector<Event>& events) {
      return std::upper_bound(events.begin(), events.end(), seen_[x],
                              [](std::size_t time, const Event& e) { return time < e.time; });
    };
    for (auto e = since(gone_); e != gone_.end(); ++e) row[e->place] = kInfinite;
    for (auto e = since(merged_); e != merged_.end(); ++e) {
      if (merged_.end() - e > kAhead && rows_[e[kAhead].place])
        __builtin_prefetch(rows_[e[kAhead].place] + x);
      if (changed_[e->place] == e->time && e->place != x) row[e->place] = rows_[e->place][x];
    }
    seen_[x] = now_;
    return row;
  }

  // The cluster at x is gone, and the one at y holds its rows too.
  void merge(std::size_t x, std::size_t y, double size_x, double size_y) {
    row(x), row(y);
    const double both = size_x + size_y;
    if (average_)
      loops_.mean(rows_[x], size_x / both, rows_[y], size_y / both, columns_.width());
    else
      loops_.greater(rows_[x], rows_[y], columns_.width());
    ++now_;
    seen_[y] = changed_[y] = now_;
    changed_[x] = now_;
    free_.push_back(rows_[x]);
    rows_[x] = nullptr;
    gone_.push_back({now_, x});
    merged_.push_back({now_, y});
  }

  void keep(const std::vector<std::uint32_t>& kept) {  // before the columns do
    std::vector<std::uint32_t> place(columns_.width());
    const std::size_t width = padded(kept.size());
    std::size_t left = 0;
    for (const Event& e : merged_)
      if (changed_[e.place] == e.time && rows_[e.place]) merged_[left++] = e;
    merged_.resize(left);
    for (std::size_t i = 0; i < kept.size(); ++i) place[kept[i]] = static_cast<std::uint32_t>(i);
    for (Event& e : merged_) e.place = place[e.place];
    gone_.clear();
    for (std::size_t i = 0; i < kept.size(); ++i) {
      double* row = rows_[i] = rows_[kept[i]];
      seen_[i] = seen_[kept[i]];
      changed_[i] = changed_[kept[i]];
      if (!row) continue;
      for (std::size_t k = 0; k < kept.size(); ++k) row[k] = row[kept[k]];
      std::fill(row + kept.size(), row + width, kInfinite);
    }
  }

 private:
  struct Event {
    std::size_t time, place;
  };
  static constexpr std::ptrdiff_t kAhead = 8;  // clusters

  double* fresh() {
    if (free_.empty()) {
      const std::size_t stride = columns_.stride();
      const std::size_t some =
          std::clamp<std::size_t>(kHugePage / sizeof(double) / stride, 1, stride / 8);
      memory_.emplace_back(some * stride);
      for (std::size_t i = some; i-- > 0;) free_.push_back(memory_.back().data() + i * stride);
    }
    double* row = free_.back();
    free_.pop_back();
    return row;
  }

  Columns& columns_;
  bool average_;
  const Loops& loops_;
  std::vector<double*> rows_;           // of each place; null where it was not asked for
  std::vector<std::size_t> seen_;       // when each row was up to date
  std::vector<std::size_t> changed_;    // when each cluster last merged
  std::size_t now_ = 0;                 // merges so far
  std::vector<Event> gone_, merged_;    // what happened, and when, to places that are there still
  std::vector<BigArray<double>> memory_;
  std::vector<double*> free_;
};

// Ward's costs need no distances: means and sizes are enough.
class Means {
 public:
  Means(Columns& columns, const Loops& loops)
      : columns_(columns), loops_(loops), sizes_(columns.width(), 1.0), row_(columns.width()) {}

  const double* row(std::size_t x) {
    loops_.costs(columns_.cells(), columns_.stride(), columns_.d(), columns_.width(),
                 sizes_.data(), columns_.point(x), sizes_[x], row_.data());
    row_[x] = kInfinite;
    return row_.data();
  }

  void merge(std::size_t x, std::size_t y, double size_x, double size_y) {
    for (std::size_t j = 0; j < columns_.d(); ++j)
      columns_.at(y, j) =
          (size_x * columns_.at(x, j) + size_y * columns_.at(y, j)) / (size_x + size_y);
    columns_.at(x, 0) = kInfinite;
    sizes_[y] = size_x + size_y;
  }

  void keep(const std::vector<std::uint32_t>& kept) {
    for (std::size_t i = 0; i < kept.size(); ++i) sizes_[i] = sizes_[kept[i]];
  }

 private:
  Columns& columns_;
  const Loops& loops_;
  std::vector<double> sizes_;  // above 0 where nothing is left: times infinitely far
  std::vector<double> row_;
};

struct Merge {
  std::int64_t a, b;  // a row of each
  double height;
};

// `Apart` gives the row of distances from a cluster, and merges two.
template <class Apart>
std::vector<Merge> chained(Apart& apart, Columns& columns, std::size_t n, const Loops& loops,
                           Monitor& monitor) {
  std::vector<double> sizes(n, 1.0);  // 0 where the cluster is gone
  std::vector<std::int64_t> rows(n);  // the last row of the cluster at each place
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<std::uint32_t> chain;
  std::vector<Merge> out;
  out.reserve(n - 1);
  std::size_t first = 0, places = n, left = n;
  for (std::size_t turn = 0; left > 1; ++turn) {
    if (turn % 16 == 0) monitor.poll();
    if (chain.empty()) {
      while (sizes[first] == 0) ++first;
      chain.push_back(static_cast<std::uint32_t>(first));
    }
    const std::size_t tip = chain.back();
    const double* row = apart.row(tip);
    std::size_t next = loops.least(row, columns.width());
    if (row[next] == kInfinite)  // too far for a number: any
      for (next = first; sizes[next] == 0 || next == tip;) ++next;
    if (chain.size() == 1 || row[chain[chain.size() - 2]] != row[next]) {
      chain.push_back(static_cast<std::uint32_t>(next));
      continue;
    }
    next = chain[chain.size() - 2];
    const double height = row[next];
    const std::size_t x = std::min(tip, next), y = std::max(tip, next);
    apart.merge(x, y, sizes[x], sizes[y]);
    out.push_back({rows[x], rows[y], height});
    sizes[y] += sizes[x];
    sizes[x] = 0;
    chain.resize(chain.size() - 2);
    if (--left > places / 2 || places <= kStep) continue;
    std::vector<std::uint32_t> kept, place(places);
    for (std::size_t i = 0; i < places; ++i)
      if (sizes[i] != 0) {
        place[i] = static_cast<std::uint32_t>(kept.size());
        kept.push_back(static_cast<std::uint32_t>(i));
      }
    apart.keep(kept);
    columns.keep(kept);
    for (std::size_t i = 0; i < kept.size(); ++i) sizes[i] = sizes[kept[i]], rows[i] = rows[kept[i]];
    for (std::uint32_t& at : chain) at = place[at];
    places = kept.size();
    first = 0;
  }
  return out;
}

}  // namespace

void links_of_points(const double* points, std::size_t n, std::size_t d, Link link,
                     const Loops& loops, double* z, Monitor& monitor) {
  Columns columns(points, n, d, link == Link::kWard);
  std::vector<Merge> merges;
  if (link == Link::kWard) {
    Means means(columns, loops);
    merges = chained(means, columns, n, loops, monitor);
    for (Merge& merge : merges) merge.height = std::sqrt(2 * merge.height);
  } else {
    Distances distances(columns, link == Link::kAverage, loops);
    merges = chained(distances, columns, n, loops, monitor);
  }
  std::stable_sort(merges.begin(), merges.end(),
                   [](const Merge& a, const Merge& b) { return a.height < b.height; });
  std::vector<std::int64_t> edges;
  std::vector<double> heights;
  for (const Merge& merge : merges) {
    edges.insert(edges.end(), {merge.a, merge.b});
    heights.push_back(merge.height);
  }
  links_of_tree(edges.data(), heights.data(), n, Ties::kAsGiven, z);
}

}  // namespace credo::chain
