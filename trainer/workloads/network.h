#pragma once

#include "trainer/memory/batch_memory.h"
#include "trainer/memory/recompute.h"
#include "trainer/workloads/parts/objective.h"

#include <string>
#include <torch/nn/module.h>
#include <utility>
#include <vector>

namespace trainer {

/// A part of a forward pass with its own parameters.
struct Block {
    std::string name; ///< name of its submodule
    BlockFunction run;
};

/// A model that can be trained.
class Network : public torch::nn::Module {
public:
    /// Predictions for a batch on the model's device.
    virtual Pass forward(const BatchTensors& batch) = 0;
    [[nodiscard]] virtual Objective objective() const = 0;

    /// The parts that forward() consists of, in order; the work between them is small. Wrapping `run` changes how
    /// forward() runs that part (recomputation in the backward pass). Empty for models that cannot be split.
    [[nodiscard]] std::vector<Block>& blocks() { return m_blocks; }

protected:
    /// Adds a submodule as the next block; its forward() takes one tensor or a list.
    template <class Module>
    std::shared_ptr<Module> addBlock(std::string name, std::shared_ptr<Module> module)
    {
        register_module(name, module);
        m_blocks.push_back({std::move(name), [part = module.get()](at::TensorList inputs) {
                                if constexpr (requires { part->forward(inputs); })
                                    return part->forward(inputs);
                                else
                                    return part->forward(inputs[0]);
                            }});
        return module;
    }
    [[nodiscard]] at::Tensor runBlocks(at::Tensor x) const
    {
        for (const Block& block : m_blocks)
            x = block.run(x);
        return x;
    }

private:
    std::vector<Block> m_blocks;
};

} // namespace trainer
