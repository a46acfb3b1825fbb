#pragma once

#include "trainer/memory/batch_memory.h"

#include <cstdint>
#include <string>

namespace trainer {

class Network;

/// How far gradients by autograd are from gradients by differences.
struct GradientCheck {
    std::int64_t elements = 0; ///< weights that were looked at
    double worst = 0;          ///< largest difference, relative to the larger of both, or absolute below 1e-3
    std::string where;         ///< parameter of the worst
    [[nodiscard]] bool agrees() const { return worst < 1e-4; }
};

/// Compares numerical with analytical gradients of the loss, in double, in evaluation mode, on a few elements of the
/// model's parameters and two samples of the batch. LibTorch has no gradcheck of its own. The model is as it was
/// afterwards; its gradients are gone.
/// @param second  gradients of gradients: of g·v for a random direction v
/// Throws c10::Error where an operator of the model cannot do that in double.
GradientCheck checkGradients(Network& network, const BatchTensors& batch, bool second);

} // namespace trainer
