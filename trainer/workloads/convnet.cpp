#include "trainer/workloads/network.h"
#include "trainer/workloads/workload.h"

#include <ATen/ATen.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

namespace trainer::workloads {

namespace {

namespace nn = torch::nn;

class Stage final : public nn::Module {
public:
    // No bias: the batch norm right after would take it away again.
    Stage(std::int64_t in, std::int64_t out, bool pool)
        : m_convolution(register_module("conv", nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1).bias(false)))),
          m_norm(register_module("norm", nn::BatchNorm2d(out))), m_pool(pool)
    {
    }
    at::Tensor forward(const at::Tensor& images)
    {
        const at::Tensor x = at::relu(m_norm->forward(m_convolution->forward(images)));
        return m_pool ? at::max_pool2d(x, 2) : x;
    }

private:
    nn::Conv2d m_convolution;
    nn::BatchNorm2d m_norm;
    bool m_pool;
};

// Three blocks of convolution, batch norm, ReLU and pooling, then one linear layer over the means of the channels.
class ConvNet final : public Network {
public:
    explicit ConvNet(const ModelOptions& options) : m_head(options.width * 4, options.data.classes)
    {
        std::int64_t in = options.data.inputs[0].shape[0];
        for (std::int64_t stage = 0; stage < kStages; ++stage) {
            const std::int64_t out = options.width << stage;
            addBlock("stage" + std::to_string(stage), std::make_shared<Stage>(in, out, stage + 1 < kStages));
            in = out;
        }
        register_module("head", m_head);
    }

    Pass forward(const BatchTensors& batch) override
    {
        const at::Tensor x = runBlocks(batch.inputs[0]);
        return {m_head->forward(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1)), batch.target};
    }
    [[nodiscard]] Objective objective() const override { return Objective::Classes; }

private:
    static constexpr std::int64_t kStages = 3;
    nn::Linear m_head;
};

} // namespace

Workload convnet()
{
    return {"Small convnet",
            "Three convolutions with batch norm, then a linear layer. Trains in seconds on a processor.",
            {data::DataKind::Images},
            [](const ModelOptions& options) -> std::shared_ptr<Network> { return std::make_shared<ConvNet>(options); }};
}

} // namespace trainer::workloads
