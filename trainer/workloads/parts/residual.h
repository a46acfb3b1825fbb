#pragma once

#include "trainer/workloads/workload.h"

#include <array>
#include <memory>

namespace trainer {

/// Number of blocks in each of the four stages of a residual network.
using StageDepths = std::array<std::int64_t, 4>;

/// He et al., Deep Residual Learning for Image Recognition, 2015: table 1 for the layers, section 4.2 for the stem of
/// small images.
/// @param bottleneck  blocks of three convolutions, the middle one with a quarter of the channels; otherwise of two
std::shared_ptr<Network> makeResidualNetwork(const ModelOptions& options, const StageDepths& depths, bool bottleneck);

} // namespace trainer
