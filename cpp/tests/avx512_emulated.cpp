// Runs the AVX-512 lanes on any CPU: SIMDe gives the intrinsics, and every kernel must agree with
// the plain lanes on random data. Built and run by run_emulated.sh.
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#define CREDO_EMULATED_AVX512
#include "../lane_avx512.cpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
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
      a.add_products(left.data(), right.data(), d, rows, x.data());
      b.add_products(left.data(), right.data(), d, rows, y.data());
      for (std::size_t i = 0; i < d; ++i)
        for (std::size_t j = 0; j <= i; ++j)
          require(std::abs(x[i * d + j] - y[i * d + j]) < 1e-11, "add_products");
    }
  }
}

}  // namespace

int main() {
  const credo::LaneKernels& wide = credo::avx512_kernels();
  const credo::LaneKernels& plain = credo::plain_kernels();
  compare_masks(wide, plain);
  compare_codes<std::uint8_t>(wide, plain);
  compare_codes<std::uint16_t>(wide, plain);
  compare_codes<std::uint32_t>(wide, plain);
  compare_products(wide, plain);
  std::puts("The avx512 lanes agree with the plain lanes.");
}
