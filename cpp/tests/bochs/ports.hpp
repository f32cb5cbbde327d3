// The CPU's input and output ports.
#pragma once

#include <cstdint>

namespace machine {

inline void out(std::uint16_t port, std::uint8_t byte) {
  asm volatile("outb %0, %1" : : "a"(byte), "Nd"(port));
}

inline std::uint8_t in(std::uint16_t port) {
  std::uint8_t byte;
  asm volatile("inb %1, %0" : "=a"(byte) : "Nd"(port));
  return byte;
}

// Waits until the port shows `wanted` in the bits of `mask`.
inline void wait(std::uint16_t port, std::uint8_t mask, std::uint8_t wanted) {
  while ((in(port) & mask) != wanted) {
  }
}

}  // namespace machine
