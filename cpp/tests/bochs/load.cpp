// Puts a static program (an ELF file, all there is on the disk) where it wants to be, and makes its
// first stack: its name, no environment, and what the C library asks of a kernel at the start.
#include <elf.h>

#include "disk.hpp"
#include "machine.hpp"

namespace {

constexpr std::uint32_t kSectors = 8 * 16 * 63;  // of the disk: 8 cylinders, 4 MB
constexpr char kName[16] = "check";              // 16 bytes: they also pass for random ones

// Copies the parts of the file to their places. Returns where the program's own headers are then.
std::uint64_t place(const Elf64_Ehdr& header) {
  const auto* parts = reinterpret_cast<const Elf64_Phdr*>(machine::kFile + header.e_phoff);
  std::uint64_t headers_at = 0;
  for (int i = 0; i < header.e_phnum; ++i) {
    const Elf64_Phdr& part = parts[i];
    if (part.p_type != PT_LOAD) continue;
    if (part.p_offset == 0) headers_at = part.p_vaddr + header.e_phoff;
    machine::copy(part.p_vaddr, machine::kFile + part.p_offset, part.p_filesz);
    machine::heap_begin = machine::page_end(part.p_vaddr + part.p_memsz);
    machine::clear(part.p_vaddr + part.p_filesz, machine::heap_begin);
  }
  return headers_at;
}

}  // namespace

struct Start {
  const std::uint64_t* stack;
  std::uint64_t entry;
};

extern "C" Start load_program() {
  for (std::uint32_t i = 0; i < kSectors; ++i) machine::read_sector(i, machine::kFile + 512 * i);
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(machine::kFile);
  const std::uint64_t headers_at = place(header);
  machine::heap_end = machine::heap_begin;
  machine::mapped_end = machine::kMapped;

  auto* stack = reinterpret_cast<std::uint64_t*>(machine::kStackTop);
  const auto name = reinterpret_cast<std::uint64_t>(kName);
  const auto push = [&stack](std::uint64_t first, std::uint64_t second) {
    *--stack = second;
    *--stack = first;
  };
  push(AT_NULL, 0);
  push(AT_RANDOM, name);
  push(AT_ENTRY, header.e_entry);
  push(AT_PAGESZ, 4096);
  push(AT_PHENT, header.e_phentsize);
  push(AT_PHNUM, header.e_phnum);
  push(AT_PHDR, headers_at);
  push(0, 0);     // the end of the arguments, the end of the environment
  push(1, name);  // one argument
  return {stack, header.e_entry};
}
