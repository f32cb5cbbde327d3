#include "infer_arena.hpp"

#include <mutex>
#include <vector>

namespace credo::infer {
namespace {

constexpr std::size_t kKeptArrays = 4;
constexpr std::size_t kKeptDoubles = std::size_t{1} << 24;  // 128 MB in all

// The lock is never waited for: in a forked child it may be held for ever.
struct Kept {
  std::mutex lock;
  std::vector<BigArray<double>> arrays;
  std::size_t doubles = 0;
};

// Never destroyed: an arena may outlive the statics of this file.
Kept& kept() {
  static Kept* const the_kept = new Kept;
  return *the_kept;
}

}  // namespace

Arena::Arena(std::size_t size) {
  if (size <= kKeptDoubles) {
    Kept& pool = kept();
    const std::unique_lock guard(pool.lock, std::try_to_lock);
    auto best = pool.arrays.end();
    for (auto array = pool.arrays.begin(); guard && array != pool.arrays.end(); ++array)
      if (array->size() >= size && (best == pool.arrays.end() || array->size() < best->size()))
        best = array;
    if (guard && best != pool.arrays.end()) {
      pool.doubles -= best->size();
      array_ = std::move(*best);
      pool.arrays.erase(best);
      return;
    }
  }
  array_ = BigArray<double>(size);
}

Arena::~Arena() {
  if (array_.size() == 0 || array_.size() > kKeptDoubles) return;
  Kept& pool = kept();
  const std::unique_lock guard(pool.lock, std::try_to_lock);
  if (!guard) return;
  // The newest stays; the oldest goes.
  while (!pool.arrays.empty() && (pool.arrays.size() >= kKeptArrays ||
                                  pool.doubles + array_.size() > kKeptDoubles)) {
    pool.doubles -= pool.arrays.front().size();
    pool.arrays.erase(pool.arrays.begin());
  }
  pool.doubles += array_.size();
  pool.arrays.push_back(std::move(array_));
}

}  // namespace credo::infer
