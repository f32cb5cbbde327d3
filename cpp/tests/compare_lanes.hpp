// The check that wide lanes give the answers of the plain ones.
#pragma once

#include "common/lane_kernels.hpp"

// Runs every kernel of both on random data. The first that differs ends the program with its name
// and status 1.
void compare_lanes(const credo::LaneKernels& wide, const credo::LaneKernels& plain);
