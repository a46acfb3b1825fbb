#pragma once

#include "trainer/memory/device_batch.h"

#include <cstdint>
#include <string>

namespace trainer {

class Network;

/// Deviation of autograd's gradients from finite differences.
struct GradientCheck {
    std::int64_t elements = 0; ///< number of weights checked
    double worst = 0;          ///< largest difference, relative to the larger value, or absolute below 1e-3
    std::string where;         ///< parameter with the largest difference
    [[nodiscard]] bool agrees() const { return worst < 1e-4; }
};

/// Compares numerical with analytical gradients of the loss, in double precision and evaluation mode, for a few
/// elements of the model's parameters and two samples of the batch. LibTorch has no gradcheck. The model is unchanged
/// afterwards, but its gradients are cleared.
/// @param second  checks gradients of gradients: of g·v for a random direction v
/// Throws c10::Error if an operator of the model does not support this in double precision.
GradientCheck checkGradients(Network& network, const BatchTensors& batch, bool second);

} // namespace trainer
