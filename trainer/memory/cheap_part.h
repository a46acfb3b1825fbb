#pragma once

#include "trainer/memory/recompute.h"

#include <torch/nn/module.h>

namespace trainer {

/// A part of a block whose operators are fast but store much: norms, activations, softmax. It ends with the
/// layer that consumes their output; that layer does not run again, only its input is recomputed. Setting `runs`
/// changes how the part runs.
class CheapPart final : public torch::nn::Module {
public:
    using Run = std::function<at::Tensor(torch::nn::Module&, at::TensorList, const BlockFunction&)>;

    /// @param owner  contains the batch norms of `part`
    /// @param part  as for recomputed()
    at::Tensor run(torch::nn::Module& owner, at::TensorList inputs, const BlockFunction& part) const
    {
        return runs ? runs(owner, inputs, part) : part(inputs);
    }

    Run runs;
};

} // namespace trainer
