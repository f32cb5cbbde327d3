// The few system calls of Linux that a static program with one thread makes: memory, text to the
// serial port, the end. The C library does without all others.
#include <asm/prctl.h>
#include <asm/unistd.h>
#include <errno.h>

#include "machine.hpp"
#include "ports.hpp"

namespace {

constexpr std::uint16_t kSerial = 0x3f8;
constexpr std::uint16_t kPowerOff = 0x8900;  // Bochs ends when "Shutdown" is written here

void write(const char* text, std::uint64_t n) {
  machine::out(kSerial + 3, 3);  // bytes of eight bits
  for (; n > 0; --n, ++text) {
    machine::wait(kSerial + 5, 0x20, 0x20);  // there is room for one
    machine::out(kSerial, static_cast<std::uint8_t>(*text));
  }
}

// Tells the status, and ends the machine.
void power_off(std::uint64_t status) {
  write(status == 0 ? "status 0\n" : "status 1\n", 9);
  machine::wait(kSerial + 5, 0x40, 0x40);  // all is sent
  for (const char* byte = "Shutdown"; *byte != 0; ++byte)
    machine::out(kPowerOff, static_cast<std::uint8_t>(*byte));
}

// The heap ends at `wanted` from now on, if there is room for it; returns where it ends.
std::uint64_t move_heap_end(std::uint64_t wanted) {
  if (wanted < machine::heap_begin || wanted > machine::kFile) return machine::heap_end;
  if (wanted > machine::heap_end) machine::clear(machine::heap_end, wanted);
  return machine::heap_end = wanted;
}

// New pages each time; what is given back is not used again.
std::int64_t map(std::uint64_t bytes) {
  const std::uint64_t begin = machine::mapped_end;
  if (bytes > machine::kMappedEnd - begin) return -ENOMEM;
  machine::mapped_end = machine::page_end(begin + bytes);
  machine::clear(begin, machine::mapped_end);
  return static_cast<std::int64_t>(begin);
}

void set_thread_pointer(std::uint64_t address) {
  asm volatile("wrmsr" : : "c"(0xc0000100), "a"(address), "d"(address >> 32));
}

}  // namespace

extern "C" std::int64_t system_call(std::uint64_t number, std::uint64_t a, std::uint64_t b,
                                    std::uint64_t c) {
  switch (number) {
    case __NR_write:
      write(reinterpret_cast<const char*>(b), c);
      return static_cast<std::int64_t>(c);
    case __NR_brk:
      return static_cast<std::int64_t>(move_heap_end(a));
    case __NR_mmap:
      return map(b);
    case __NR_munmap:
    case __NR_mprotect:
      return 0;
    case __NR_arch_prctl:
      if (a != ARCH_SET_FS) return -EINVAL;
      set_thread_pointer(b);
      return 0;
    case __NR_set_tid_address:
      return 1;
    case __NR_exit_group:
      power_off(a);
      return 0;
    case __NR_tgkill:  // abort
      power_off(1);
      return 0;
    default:
      return -ENOSYS;
  }
}
