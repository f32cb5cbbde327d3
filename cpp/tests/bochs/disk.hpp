// Reads the first disk by its ports (ATA, programmed input): the program is on it as one file.
#pragma once

#include "ports.hpp"

namespace machine {

inline constexpr std::uint16_t kDisk = 0x1f0;
inline constexpr std::uint16_t kDiskStatus = kDisk + 7;

inline void read_sector(std::uint32_t sector, std::uint64_t to) {
  wait(kDiskStatus, 0x80, 0);  // not busy
  out(kDisk + 2, 1);
  out(kDisk + 3, static_cast<std::uint8_t>(sector));
  out(kDisk + 4, static_cast<std::uint8_t>(sector >> 8));
  out(kDisk + 5, static_cast<std::uint8_t>(sector >> 16));
  out(kDisk + 6, 0xe0);        // the first disk, sectors by their number
  out(kDisk + 7, 0x20);        // read
  wait(kDiskStatus, 0x88, 8);  // not busy, data are there
  std::uint64_t words = 256;
  asm volatile("rep insw" : "+D"(to), "+c"(words) : "d"(kDisk) : "memory");
}

}  // namespace machine
