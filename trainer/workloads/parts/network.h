#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"
#include "trainer/data/dataset.h"
#include "trainer/memory/checkpointing.h"
#include "trainer/memory/device_batch.h"
#include "trainer/workloads/workload.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A model that can be trained: its parts, the objective that its loss and metric come from, and how the configured
/// model is made.
namespace trainer {

/// The result of a forward pass: predictions and their targets, which a model may create itself (masked tokens).
struct Pass {
    at::Tensor predictions, targets;
    /// Detached from the graph.
    [[nodiscard]] Pass detached() const { return {predictions.detach(), targets.detach()}; }
};

/// The training objective of a model: its loss, and its metric for users.
enum class Objective {
    Classes, ///< samples × classes, one target class each. Cross-entropy; accuracy
    Tokens, ///< samples × positions × vocabulary, one target id each, without kIgnored ones. Cross-entropy; perplexity
    Segments, ///< samples × classes × positions, one target class per position. Cross-entropy and soft Dice; Dice
    Numbers,  ///< any shape, with numeric targets of the same shape. Mean squared error; its square root
    Given,    ///< the model returns its loss: predictions is a scalar. The metric is the loss again
};
/// Marks targets that are not predicted.
inline constexpr std::int64_t kIgnored = -100;

/// Mean over all predictions, in float for any type of predictions: sums over classes need the precision.
at::Tensor lossOf(Objective objective, const Pass& pass);

/// Sums over a batch; the metric is computed from the sums of many batches.
struct Measured {
    at::Tensor sum;    ///< scalar, on the device
    at::Tensor weight; ///< the same; undefined if `count` is the weight, which needs no read from the device
    double count = 0;
};
/// Detached from the graph.
Measured measure(Objective objective, const Pass& pass, const at::Tensor& loss);
/// Computes the metric from the sums of many batches.
double metricValue(Objective objective, double sum, double weight);
/// "accuracy", "perplexity", "dice", "rmse", "loss".
std::string_view metricName(Objective objective);

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

/// Saves a network's buffers (batch norms' statistics) and restores them after passes that must not change them.
/// Single-threaded.
class BuffersBefore {
public:
    explicit BuffersBefore(const Network& network) : m_buffers(network.buffers())
    {
        for (const at::Tensor& buffer : m_buffers)
            m_before.push_back(buffer.clone());
    }
    void restore()
    {
        const at::NoGradGuard noGradients;
        for (std::size_t i = 0; i < m_buffers.size(); ++i)
            m_buffers[i].copy_(m_before[i]);
    }

private:
    std::vector<at::Tensor> m_buffers, m_before;
};

/// The configured model options for data of this kind.
ModelOptions modelOptions(const config::TrainingConfig& config, const data::SampleSpec& spec);

/// Checks whether the configured model supports this data, without creating the model: the error names both.
/// @param dataset  its title, for the message
profiler::Result<void> fits(const config::TrainingConfig& config, const data::SampleSpec& spec,
                            std::string_view dataset);

/// The configured model with initial weights from LibTorch's default generator. Asserts fits(). Rethrows exceptions of
/// LibTorch.
std::shared_ptr<Network> makeNetwork(const config::TrainingConfig& config, const data::SampleSpec& spec);

} // namespace trainer
