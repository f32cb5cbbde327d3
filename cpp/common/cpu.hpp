// Which instruction sets this CPU can run, and the kernels of each.
#pragma once

#include <string>
#include <vector>

#include "common/lane_kernels.hpp"

namespace credo {

// The paths this CPU can run, best first; the last is always "plain".
std::vector<std::string> available_paths();

// The kernels of a path; "auto" is the best. Throws std::invalid_argument for a path that is
// unknown or that this CPU cannot run.
const LaneKernels& kernels_for(const std::string& path);

// Hardware threads that this process may run on, at least 1.
int hardware_threads();

}  // namespace credo
