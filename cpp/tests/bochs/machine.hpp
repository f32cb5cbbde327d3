// The memory of the emulated machine (512 MB): what is where, by address.
#pragma once

#include <cstdint>

namespace machine {

// From 4 MB: the program, and its heap above it. The first MB: the starter (rom.ld).
inline constexpr std::uint64_t kFile = 0x4000000;        // the ELF file, as it is on the disk
inline constexpr std::uint64_t kMapped = 0x8000000;      // what the program maps, from here up
inline constexpr std::uint64_t kMappedEnd = 0x1f000000;  // the last 16 MB are its stack
inline constexpr std::uint64_t kStackTop = 0x20000000;

inline std::uint64_t heap_begin;
inline std::uint64_t heap_end;
inline std::uint64_t mapped_end;

inline std::uint64_t page_end(std::uint64_t address) { return (address + 4095) / 4096 * 4096; }

inline void copy(std::uint64_t to, std::uint64_t from, std::uint64_t n) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

inline void clear(std::uint64_t begin, std::uint64_t end) {
  std::uint64_t n = end - begin;
  asm volatile("rep stosb" : "+D"(begin), "+c"(n) : "a"(0) : "memory");
}

}  // namespace machine
