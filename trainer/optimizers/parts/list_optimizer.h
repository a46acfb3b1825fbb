#pragma once

#include "trainer/optimizers/optimizer.h"
#include "trainer/optimizers/parts/list_math.h"

namespace trainer::optimizers {

/// What all our optimizers share: which parameters have a gradient, their slots (momentum and the like), their step
/// counts, and how all that is saved.
class ListOptimizer : public Optimizer {
public:
    /// A tensor that the optimizer keeps for each parameter, zero at first.
    struct Slot {
        std::string_view name;
        bool perLayer = false; ///< one number a parameter instead of one for each of its elements
    };

    ListOptimizer(Tensors parameters, const OptimizerOptions& options, std::vector<Slot> slots);
    void step(double learningRate) final;
    [[nodiscard]] State state() const final;
    void setState(const State& state) final;

protected:
    /// What one step works on, all of the same length.
    struct Lists {
        Tensors parameters, gradients;
        std::vector<Tensors> slots;      ///< in the order of the constructor's
        std::vector<std::int64_t> steps; ///< the number of this step for that parameter, from 1
        Tensors stepTensors;             ///< the same on the device, one less: fused kernels count themselves
    };
    virtual void update(Lists& lists, double learningRate) = 0;

    [[nodiscard]] const OptimizerOptions& options() const { return m_options; }
    [[nodiscard]] const ListMath& math() const { return m_math; }
    [[nodiscard]] bool fused() const { return m_options.implementation == OptimizerOptions::Implementation::Fused; }

private:
    Tensors m_parameters;
    OptimizerOptions m_options;
    ListMath m_math;
    std::vector<Slot> m_names;
    std::vector<Tensors> m_slots; // by slot, then by parameter
    std::vector<std::int64_t> m_steps;
    Tensors m_stepTensors; // fused only
};

/// Weight decay and layer-wise rates are not for biases and norms, which have one dimension: as the authors of LARS and
/// LAMB run them.
bool isMatrix(const at::Tensor& parameter);

} // namespace trainer::optimizers
