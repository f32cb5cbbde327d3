#include "scratch.hpp"

#include <new>

namespace credo {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kMost = std::size_t{1} << 22;  // that a thread keeps

struct Kept {
  BigArray<std::byte> memory;
  std::size_t used = 0;
  std::size_t wanted = 0;  // by the calls in progress, in all
};

thread_local Kept kept;

}  // namespace

Scratch::Scratch() : before_(kept.used) {
  if (before_ == 0) kept.wanted = 0;
}

// The last one out makes room for as much as was wanted.
Scratch::~Scratch() {
  kept.used = before_;
  if (before_ != 0 || more_.empty() || kept.wanted > kMost) return;
  more_.clear();
  kept.memory = {};
  try {
    kept.memory = BigArray<std::byte>(kept.wanted);
  } catch (const std::bad_alloc&) {
    // The next call asks again.
  }
}

void* Scratch::take(std::size_t bytes) {
  const std::size_t lines = (bytes + kLine - 1) / kLine * kLine;
  kept.wanted += lines;
  if (kept.memory.size() - kept.used < lines) return more_.emplace_back(lines).data();
  void* const array = kept.memory.data() + kept.used;
  kept.used += lines;
  return array;
}

}  // namespace credo
