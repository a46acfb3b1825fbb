#pragma once

#include "trainer/memory/recompute.h"

#include <torch/nn/module.h>

namespace trainer {

/// A place in a block whose operators are quick and keep much: norms, activations, softmax, upsampling. It ends with
/// the layer that reads them, which is not run again: only its input is. Who sets `runs` changes how it runs.
class CheapPart final : public torch::nn::Module {
public:
    using Run = std::function<at::Tensor(torch::nn::Module&, at::TensorList, const BlockFunction&)>;

    /// @param owner  holds the batch norms of `part`
    /// @param part  as for recomputed()
    at::Tensor run(torch::nn::Module& owner, at::TensorList inputs, const BlockFunction& part) const
    {
        return runs ? runs(owner, inputs, part) : part(inputs);
    }

    Run runs;
};

} // namespace trainer
