#include "trainer/optimizers/optimizer.h"

#include <torch/optim/adamw.h>

namespace trainer::optimizers {

OptimizerKind adamw()
{
    return {"AdamW", "Adam with weight decay that is decoupled from the gradient. Momentum is not used.",
            [](const std::vector<at::Tensor>& parameters,
               const OptimizerOptions& options) -> std::unique_ptr<torch::optim::Optimizer> {
                return std::make_unique<torch::optim::AdamW>(
                    parameters, torch::optim::AdamWOptions(options.learningRate).weight_decay(options.weightDecay));
            }};
}

} // namespace trainer::optimizers
