#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace at {
class Tensor;
}

namespace trainer {

/// The numbers of all optimizers; each takes what it uses.
struct OptimizerOptions {
    /// How the arithmetic is done: an operator for each tensor, one for a list of tensors, or one for the whole update.
    enum class Implementation { Plain, Foreach, Fused };
    double momentum = 0.9;
    bool nesterov = false;
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    double weightDecay = 0;
    double trustCoefficient = 0.001; ///< LARS: how far a layer may move, as a share of its weights' norm
    Implementation implementation = Implementation::Plain;
};

/// Changes weights by their gradients. One thread.
class Optimizer {
public:
    using State = std::vector<std::pair<std::string, at::Tensor>>;

    virtual ~Optimizer() = default;
    /// Parameters that have no gradient are left alone.
    virtual void step(double learningRate) = 0;
    /// What a run needs to go on where this one stands, by name; the tensors are the optimizer's own.
    [[nodiscard]] virtual State state() const = 0;
    /// Takes over what state() gave. Throws c10::Error when it is another optimizer's or another model's.
    virtual void setState(const State& state) = 0;
};

/// A way to change weights by gradients. A file trainer/optimizers/<id>.cpp defines `OptimizerKind <id>()`.
struct OptimizerKind {
    std::string_view title, doc; ///< for users
    std::unique_ptr<Optimizer> (*make)(std::vector<at::Tensor> parameters, const OptimizerOptions&) = nullptr;
    bool hasFused = false; ///< Implementation::Fused exists; without it, make() throws c10::Error
};

} // namespace trainer
