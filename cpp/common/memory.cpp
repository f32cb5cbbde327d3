#include "common/memory.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace credo {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kLeast = std::size_t{1} << 20;  // of a kept block: less stays in the cache,
constexpr std::size_t kMost = std::size_t{1} << 26;   // and the C library keeps it
constexpr std::size_t kLimit = std::size_t{1} << 27;  // of all of them
constexpr std::size_t kPlaces = 8;

// Lies just before the memory that was taken.
struct Head {
  void* block;  // what is freed
  std::size_t bytes;
};

Head& head_of(void* memory) { return static_cast<Head*>(memory)[-1]; }

// Plain values: memory may be given back while the process ends.
void* kept[kPlaces];  // the oldest first; the first `n_kept` are there
std::size_t n_kept = 0, kept_bytes = 0;
std::mutex guard;

void* leave(std::size_t place) {
  void* const memory = kept[place];
  --n_kept;
  for (std::size_t i = place; i < n_kept; ++i) kept[i] = kept[i + 1];
  kept_bytes -= head_of(memory).bytes;
  return memory;
}

// Kept memory of at least `bytes`, and at most twice as many, or null: the newest of the smallest.
// Where another thread is at it (or was, when this process was forked from its own) there is none.
void* kept_memory(std::size_t bytes) {
  if (bytes < kLeast || bytes > kMost) return nullptr;
  const std::unique_lock lock(guard, std::try_to_lock);
  if (!lock) return nullptr;
  std::size_t best = kPlaces;
  for (std::size_t i = 0; i < n_kept; ++i) {
    const std::size_t size = head_of(kept[i]).bytes;
    if (size >= bytes && size <= 2 * bytes &&
        (best == kPlaces || size <= head_of(kept[best]).bytes))
      best = i;
  }
  return best == kPlaces ? nullptr : leave(best);
}

bool keep(void* memory) {
  const std::size_t bytes = head_of(memory).bytes;
  if (bytes < kLeast || bytes > kMost) return false;
  const std::unique_lock lock(guard, std::try_to_lock);
  if (!lock) return false;
  while (n_kept == kPlaces || kept_bytes + bytes > kLimit) std::free(head_of(leave(0)).block);
  kept[n_kept++] = memory;
  kept_bytes += bytes;
  return true;
}

// Asks for huge pages in the part of the memory that can have them.
void advise_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
  constexpr std::uintptr_t kPage = 4096;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (address + kPage - 1) / kPage * kPage;
  madvise(reinterpret_cast<void*>(first), bytes - (first - address), MADV_HUGEPAGE);
#endif
}

}  // namespace

void* take_memory(std::size_t bytes, Filled filled) {
  const bool zeros = filled == Filled::kZeros;
  if (void* memory = kept_memory(bytes)) {
    if (zeros) std::memset(memory, 0, bytes);
    return memory;
  }
  const bool huge = bytes >= kHugePage;
  const std::size_t alignment = huge && !zeros ? kHugePage : kLine;
  const std::size_t room = sizeof(Head) + alignment;
  if (bytes > std::numeric_limits<std::size_t>::max() - room) throw std::bad_alloc();
  void* block = zeros ? std::calloc(bytes + room, 1) : std::malloc(bytes + room);
  if (block == nullptr) throw std::bad_alloc();
  const auto first = reinterpret_cast<std::uintptr_t>(block) + sizeof(Head);
  void* memory = reinterpret_cast<void*>((first + alignment - 1) / alignment * alignment);
  head_of(memory) = {block, bytes};
  if (huge) advise_huge_pages(memory, bytes);
  return memory;
}

void give_memory(void* memory) noexcept {
  if (memory != nullptr && !keep(memory)) std::free(head_of(memory).block);
}

}  // namespace credo
