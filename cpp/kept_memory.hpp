// Memory of large arrays, a little of which is kept when it is freed: the next array of about that
// size takes it over. The system clears the pages of new memory one by one, which can cost more than
// the work on an array that is filled once; and the C library gives large blocks back at once.
#pragma once

#include <cstddef>

namespace credo {

// `bytes` of memory, all zero or not initialised; never null. Throws std::bad_alloc.
void* take_memory(std::size_t bytes, bool zeros);

// Takes back what take_memory gave. Any thread may call either.
void give_memory(void* memory) noexcept;

}  // namespace credo
