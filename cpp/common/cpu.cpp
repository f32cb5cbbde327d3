#include "common/cpu.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <stdexcept>
#include <thread>

namespace credo {
namespace {

struct Path {
  const char* name;
  const LaneKernels* kernels;
};

std::vector<Path> detect() {
  std::vector<Path> found;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vpopcntdq");
  if (avx512) found.push_back({"avx512", &avx512_kernels()});
  if (avx2) found.push_back({"avx2", &avx2_kernels()});
#endif
  found.push_back({"plain", &plain_kernels()});
  return found;
}

const std::vector<Path>& detected() {
  static const std::vector<Path> paths = detect();
  return paths;
}

}  // namespace

std::vector<std::string> available_paths() {
  std::vector<std::string> names;
  for (const Path& path : detected()) names.emplace_back(path.name);
  return names;
}

const LaneKernels& kernels_for(const std::string& path) {
  if (path == "auto") return *detected().front().kernels;
  std::string known;
  for (const Path& found : detected()) {
    if (path == found.name) return *found.kernels;
    known += (known.empty() ? "'" : ", '") + std::string(found.name) + "'";
  }
  throw std::invalid_argument("The 'path' parameter must be 'auto' or one this CPU can run (" +
                              known + "), got '" + path + "' instead.");
}

int hardware_threads() {
#if defined(__linux__)
  cpu_set_t own;  // a process can be kept to some of them
  if (sched_getaffinity(0, sizeof own, &own) == 0) return std::max(1, CPU_COUNT(&own));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace credo
