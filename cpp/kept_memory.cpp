#include "kept_memory.hpp"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>

#include "big_array.hpp"

namespace credo {
namespace {

constexpr std::size_t kHead = 64;  // before the memory of an array: how much there is
constexpr std::size_t kLeast = std::size_t{1} << 17, kMost = std::size_t{1} << 25;  // of a kept block
constexpr std::size_t kLimit = std::size_t{1} << 26;                                // of all of them
constexpr std::size_t kPlaces = 6;

struct Kept {
  void* block;
  std::size_t bytes;  // without the head
};

// Plain values: memory may be given back while the process ends.
Kept kept[kPlaces];  // the oldest first; the first `n_kept` are there
std::size_t n_kept = 0, kept_bytes = 0;
std::mutex guard;

Kept leave(std::size_t place) {
  const Kept found = kept[place];
  --n_kept;
  for (std::size_t i = place; i < n_kept; ++i) kept[i] = kept[i + 1];
  kept_bytes -= found.bytes;
  return found;
}

// A kept block of at least `bytes`, and at most twice as many, or null. Where another thread is at it
// (or was, when this process was forked from its own) there is none.
void* kept_block(std::size_t bytes) {
  const std::unique_lock lock(guard, std::try_to_lock);
  if (!lock) return nullptr;
  std::size_t best = kPlaces;
  for (std::size_t i = 0; i < n_kept; ++i)
    if (kept[i].bytes >= bytes && kept[i].bytes <= 2 * bytes &&
        (best == kPlaces || kept[i].bytes < kept[best].bytes))
      best = i;
  return best == kPlaces ? nullptr : leave(best).block;
}

bool keep(void* block, std::size_t bytes) {
  if (bytes < kLeast || bytes > kMost) return false;
  const std::unique_lock lock(guard, std::try_to_lock);
  if (!lock) return false;
  while (n_kept == kPlaces || kept_bytes + bytes > kLimit) std::free(leave(0).block);
  kept[n_kept++] = {block, bytes};
  kept_bytes += bytes;
  return true;
}

}  // namespace

void* take_memory(std::size_t bytes, bool zeros) {
  if (bytes > std::numeric_limits<std::size_t>::max() - kHead) throw std::bad_alloc();
  void* block = bytes >= kLeast && bytes <= kMost ? kept_block(bytes) : nullptr;
  if (block != nullptr) {
    void* memory = static_cast<char*>(block) + kHead;
    if (zeros) std::memset(memory, 0, bytes);
    return memory;
  }
  block = zeros ? std::calloc(bytes + kHead, 1) : std::malloc(bytes + kHead);
  if (block == nullptr) throw std::bad_alloc();
  advise_huge_pages(block, bytes + kHead);
  std::memcpy(block, &bytes, sizeof bytes);
  return static_cast<char*>(block) + kHead;
}

void give_memory(void* memory) noexcept {
  if (memory == nullptr) return;
  void* block = static_cast<char*>(memory) - kHead;
  std::size_t bytes;
  std::memcpy(&bytes, block, sizeof bytes);
  if (!keep(block, bytes)) std::free(block);
}

}  // namespace credo
