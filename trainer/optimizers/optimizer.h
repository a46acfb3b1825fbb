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

/// Options of all optimizers; each uses a subset.
struct OptimizerOptions {
    /// How the update is computed: one operator per tensor, one per list of tensors, or one kernel for everything.
    enum class Implementation { ForLoop, Foreach, Fused };
    double momentum = 0.9;
    bool nesterov = false;
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    double weightDecay = 0;
    double trustCoefficient = 0.001; ///< LARS: limits how far a layer may move, as a fraction of its weights' norm
    Implementation implementation = Implementation::ForLoop;
};

/// Updates weights from their gradients. Single-threaded.
class Optimizer {
public:
    using State = std::vector<std::pair<std::string, at::Tensor>>;

    virtual ~Optimizer() = default;
    /// Parameters without a gradient are not changed.
    virtual void step(double learningRate) = 0;
    /// The state that a resumed run needs, by name; the tensors are the optimizer's own.
    [[nodiscard]] virtual State state() const = 0;
    /// Restores the result of state(). Throws c10::Error if it belongs to another optimizer or model.
    virtual void setState(const State& state) = 0;
};

/// A kind of optimizer. A file trainer/optimizers/<id>.cpp defines `OptimizerKind <id>()`.
struct OptimizerKind {
    std::string_view title, doc; ///< for users
    std::unique_ptr<Optimizer> (*make)(std::vector<at::Tensor> parameters, const OptimizerOptions&) = nullptr;
    bool hasFused = false; ///< Implementation::Fused is supported; otherwise make() throws c10::Error for it
};

} // namespace trainer
