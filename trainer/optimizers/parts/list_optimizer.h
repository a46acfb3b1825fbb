#pragma once

#include "trainer/optimizers/optimizer.h"
#include "trainer/optimizers/parts/list_math.h"

namespace trainer::optimizers {

/// Common parts of our optimizers: the parameters with a gradient, their slots (such as momentum), their step counts,
/// and saving the state.
class ListOptimizer : public Optimizer {
public:
    /// A tensor that the optimizer keeps per parameter, initially zero.
    struct Slot {
        std::string_view name;
        bool perLayer = false; ///< one number per parameter instead of one per element
    };

    ListOptimizer(Tensors parameters, const OptimizerOptions& options, std::vector<Slot> slots);
    void step(double learningRate) final;
    [[nodiscard]] State state() const final;
    void setState(const State& state) final;

protected:
    /// The data of one step; all lists have the same length.
    struct Lists {
        Tensors parameters, gradients;
        std::vector<Tensors> slots;      ///< in the order of the constructor's slots
        std::vector<std::int64_t> steps; ///< number of this step for each parameter, from 1
        Tensors stepTensors;             ///< the same on the device, minus one: fused kernels count themselves
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

/// Biases and norms, which have one dimension, get no weight decay and no layer-wise rates: as in the papers on LARS
/// and LAMB.
bool isMatrix(const at::Tensor& parameter);

} // namespace trainer::optimizers
