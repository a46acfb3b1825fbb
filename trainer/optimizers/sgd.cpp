#include "trainer/optimizers/optimizer.h"

#include <torch/optim/sgd.h>

namespace trainer::optimizers {

OptimizerKind sgd()
{
    return {"SGD", "Stochastic gradient descent with momentum; weight decay as L2.",
            [](const std::vector<at::Tensor>& parameters,
               const OptimizerOptions& options) -> std::unique_ptr<torch::optim::Optimizer> {
                return std::make_unique<torch::optim::SGD>(parameters, torch::optim::SGDOptions(options.learningRate)
                                                                           .momentum(options.momentum)
                                                                           .weight_decay(options.weightDecay));
            }};
}

} // namespace trainer::optimizers
