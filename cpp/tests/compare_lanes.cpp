// Every kernel of two tables of lanes on the same random data: the answers must be the same.
#include "compare_lanes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

namespace {

std::mt19937_64 random_bits(2024);

void require(bool holds, const char* what) {
  if (holds) return;
  std::printf("FAILED: %s differs between the avx512 and the plain lanes\n", what);
  std::exit(1);
}

std::vector<std::uint64_t> random_words(std::size_t n) {
  std::vector<std::uint64_t> words(n);
  for (auto& word : words) word = random_bits();
  return words;
}

void compare_masks(const credo::LaneKernels& a, const credo::LaneKernels& b) {
  for (const std::size_t words : {8, 16, 64, 256, 520}) {
    for (std::size_t prefixes = 0; prefixes < 4; ++prefixes) {
      for (std::size_t states = 0; states < 8; ++states) {
        const auto masks = random_words((prefixes + 1) * words);
        const auto bits = random_words((states + 1) * (words + 8));
        const credo::MaskRows prefix{masks.data(), words, prefixes};
        const credo::MaskRows state{bits.data(), words + 8, states};
        const std::size_t row = states + 1;
        std::vector<std::int64_t> x(prefixes * row + 1, 7), y = x;
        a.count_cells(prefix, state, words, x.data(), row);
        b.count_cells(prefix, state, words, y.data(), row);
        require(x == y, "count_cells");
        std::vector<std::uint64_t> u(prefixes * row * words + 1, 7), v = u;
        a.intersect(prefix, state, words, u.data(), row);
        b.intersect(prefix, state, words, v.data(), row);
        require(u == v, "intersect");
      }
    }
  }
}

template <class Code>
void compare_codes(const credo::LaneKernels& a, const credo::LaneKernels& b) {
  for (const std::size_t n : {0, 1, 63, 64, 65, 511, 512, 513, 3000}) {
    for (const std::uint32_t arity : {1, 2, 3, 4, 31, 33, 255}) {
      std::vector<Code> codes(n + 1);
      for (auto& code : codes) code = static_cast<Code>(random_bits() % (arity + 1));
      const credo::CodeView column{codes.data(), sizeof(Code), arity, true};
      const std::size_t stride = (n / 512 + 1) * 8;
      std::vector<std::uint64_t> x(arity * stride), y = x;
      a.state_bits(column, n, x.data(), stride);
      b.state_bits(column, n, y.data(), stride);
      require(x == y, "state_bits");

      std::vector<std::uint32_t> parent(n + 1), u(n + 1), v(n + 1);
      for (auto& index : parent) index = static_cast<std::uint32_t>(random_bits() % 6);
      for (const bool gaps : {false, true}) {
        a.extend_index(parent.data(), column, 0, n, 5 * arity, gaps, u.data());
        b.extend_index(parent.data(), column, 0, n, 5 * arity, gaps, v.data());
        require(u == v, "extend_index");
        const std::vector<std::uint16_t> short_parent(parent.begin(), parent.end());
        std::vector<std::uint16_t> w(n + 1), z(n + 1);
        a.extend_short(short_parent.data(), column, 0, n, 5 * arity, gaps, w.data());
        b.extend_short(short_parent.data(), column, 0, n, 5 * arity, gaps, z.data());
        require(w == z && std::equal(w.begin(), w.begin() + n, u.begin()), "extend_short");
      }
      auto keys = random_words(n + 1), same = keys;
      a.extend_key(keys.data(), column, 0, n, arity + 1);
      b.extend_key(same.data(), column, 0, n, arity + 1);
      require(keys == same, "extend_key");
      std::vector<std::uint8_t> bytes(n + 1, 1), equal = bytes;
      for (const bool first_digit : {false, true}) {
        a.extend_byte(bytes.data(), column, 0, n, 7, first_digit);
        b.extend_byte(equal.data(), column, 0, n, 7, first_digit);
        require(bytes == equal, "extend_byte");
      }
      std::uint8_t lut[credo::kFewCodes];
      for (auto& code : lut) code = static_cast<std::uint8_t>(random_bits());
      std::vector<std::int32_t> at(n + 1);
      for (auto& position : at) position = static_cast<std::int32_t>(random_bits() % 20);
      const auto most = a.recode(at.data(), n, lut, bytes.data());
      require(most == b.recode(at.data(), n, lut, equal.data()) && bytes == equal, "recode");
      const std::vector<std::uint8_t> short_at(at.begin(), at.end());
      require(most == a.recode_bytes(short_at.data(), n, lut, bytes.data()), "recode_bytes");
      require(most == b.recode_bytes(short_at.data(), n, lut, equal.data()), "recode_bytes");
      require(bytes == equal, "recode_bytes");
    }
  }
}

// [buckets][parts * kRecordPart], of rows that come in two blocks.
std::vector<std::uint32_t> counts_of(const credo::LaneKernels& kernels,
                                     const std::vector<credo::Record>& records,
                                     const std::vector<std::uint32_t>& bucket,
                                     std::size_t n_buckets, std::size_t parts) {
  std::vector<std::uint32_t> counts(n_buckets * parts * credo::kRecordPart);
  const std::size_t cut = bucket.size() / 20;
  for (const auto& [begin, end] : {std::pair(std::size_t{0}, cut), std::pair(cut, bucket.size())}) {
    std::vector<std::uint16_t> rows;
    std::vector<std::uint32_t> ends;
    for (std::size_t b = 0; b < n_buckets; ++b) {
      for (std::size_t i = begin; i < end; ++i)
        if (bucket[i] == b) rows.push_back(static_cast<std::uint16_t>(i - begin));
      ends.push_back(static_cast<std::uint32_t>(rows.size()));
    }
    kernels.add_runs(records.data() + begin, rows.data(), ends.data(), n_buckets, parts,
                     counts.data());
  }
  return counts;
}

template <class Code>
void compare_records(const credo::LaneKernels& a, const credo::LaneKernels& b) {
  for (const std::size_t n : {0, 1, 31, 32, 33, 511, 513, 3000, 68000}) {
    std::vector<Code> codes[3];
    std::vector<credo::RecordPlace> places;
    for (auto& column : codes) {
      const auto states = static_cast<std::uint32_t>(3 + 2 * places.size());
      for (std::size_t i = 0; i <= n; ++i) column.push_back(random_bits() % (states + 1));
      places.push_back({{column.data(), sizeof(Code), states, true},
                        static_cast<std::uint32_t>(60 * places.size()),
                        states});
    }
    std::vector<credo::Record> x(n + 1, {{7, 7}}), y = x;
    a.fill_records(places.data(), places.size(), 0, n, x.data());
    b.fill_records(places.data(), places.size(), 0, n, y.data());
    const auto same = [](const credo::Record& r, const credo::Record& s) {
      return r.words[0] == s.words[0] && r.words[1] == s.words[1];
    };
    require(std::equal(x.begin(), x.end(), y.begin(), same), "fill_records");
    for (const std::size_t n_buckets : {1, 2, 7}) {
      const std::size_t parts = n_buckets == 2 ? 3 : credo::kRecordBits / credo::kRecordPart;
      const std::size_t bits = parts * credo::kRecordPart;
      std::vector<std::uint32_t> bucket(n);
      for (auto& index : bucket) index = static_cast<std::uint32_t>(random_bits() % n_buckets);
      for (auto& record : x)  // some bits always, some never
        record = {{(random_bits() & random_bits()) << 8, random_bits() | random_bits() | 255}};
      const auto counts = counts_of(a, x, bucket, n_buckets, parts);
      require(counts == counts_of(b, x, bucket, n_buckets, parts), "add_runs");
      std::vector<std::uint32_t> one_by_one(counts.size());
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t bit = 0; bit < bits; ++bit)
          one_by_one[bucket[i] * bits + bit] += x[i].words[bit / 64] >> (bit % 64) & 1;
      require(counts == one_by_one, "add_runs");
    }
  }
}

void compare_slices(const credo::LaneKernels& a, const credo::LaneKernels& b) {
  std::normal_distribution<double> normal;
  for (const std::size_t rows : {8, 256}) {
    std::vector<double> x(rows), slice_x(rows), slice_y(rows);
    for (auto& value : x) value = normal(random_bits);
    std::vector<double> y = x;
    for (const double shift : {0x1.8p31, 0x1.8p8, 0x1.8p-15}) {
      const double left = a.take_slice(x.data(), rows, shift, slice_x.data());
      require(left == b.take_slice(y.data(), rows, shift, slice_y.data()), "take_slice");
      require(x == y && slice_x == slice_y, "take_slice");
    }
  }
}

void compare_products(const credo::LaneKernels& a, const credo::LaneKernels& b) {
  std::normal_distribution<double> normal;
  for (const std::size_t d : {4, 8, 68, 132}) {
    for (const std::size_t rows : {8, 256}) {
      std::vector<double> left(d * rows), right(d * rows), x(d * d), y(d * d);
      for (auto& value : left) value = normal(random_bits);
      for (auto& value : right) value = normal(random_bits);
      for (const bool lower : {true, false}) {
        std::vector<std::size_t> ends(d);
        for (std::size_t i = 0; i < d; ++i) ends[i] = lower ? i + 1 : d;
        for (const std::size_t some : {d, d - 1, d - 2}) {
          a.add_products(left.data(), some, right.data(), d, rows, ends.data(), x.data());
          b.add_products(left.data(), some, right.data(), d, rows, ends.data(), y.data());
        }
        for (std::size_t i = 0; i < d; ++i)
          for (std::size_t j = 0; j < ends[i]; ++j)
            require(std::abs(x[i * d + j] - y[i * d + j]) < 1e-11, "add_products");
      }
    }
  }
}

}  // namespace

void compare_lanes(const credo::LaneKernels& wide, const credo::LaneKernels& plain) {
  compare_masks(wide, plain);
  compare_codes<std::uint8_t>(wide, plain);
  compare_codes<std::uint16_t>(wide, plain);
  compare_codes<std::uint32_t>(wide, plain);
  compare_records<std::uint8_t>(wide, plain);
  compare_records<std::uint16_t>(wide, plain);
  compare_products(wide, plain);
  compare_slices(wide, plain);
}
