#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace at {
class Tensor;
}
namespace torch::optim {
class Optimizer;
}

namespace trainer {

struct OptimizerOptions {
    double learningRate = 0.05, momentum = 0.9, weightDecay = 0;
};

/// A way to change weights by gradients. A file trainer/optimizers/<id>.cpp defines `OptimizerKind <id>()`.
struct OptimizerKind {
    std::string_view title, doc; ///< for users
    std::unique_ptr<torch::optim::Optimizer> (*make)(const std::vector<at::Tensor>& parameters,
                                                     const OptimizerOptions&) = nullptr;
};

} // namespace trainer
