#include "trainer/memory/checkpointing.h"
#include "trainer/workloads/parts/network.h"
#include "trainer/workloads/parts/norm.h"
#include "trainer/workloads/workload.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

namespace trainer::workloads {

namespace {

namespace nn = torch::nn;

constexpr std::array<Scale, 4> kSizes = {{{8, 2}, {16, 3}, {64, 4}, {256, 4}}};

// Convolution, norm, ReLU, and pooling after all stages except the last.
class Stage final : public nn::Module {
public:
    Stage(std::int64_t in, std::int64_t out, bool pool, const ModelOptions& options)
        : m_convolution(
              register_module("conv", nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1).bias(hasBias(options))))),
          m_norm(register_module("norm", makeNorm(options.norm, out, 4))),
          m_after(register_module("after", std::make_shared<CheapPart>())), m_pool(pool)
    {
    }
    at::Tensor forward(const at::Tensor& images)
    {
        return m_after->run(*m_norm, m_convolution->forward(images), [this](at::TensorList inputs) {
            const at::Tensor x = at::relu(m_norm->forward(inputs[0]));
            return m_pool && x.size(-1) > 1 ? at::max_pool2d(x, 2) : x;
        });
    }

private:
    nn::Conv2d m_convolution;
    std::shared_ptr<Norm> m_norm;
    std::shared_ptr<CheapPart> m_after; // follows the convolution
    bool m_pool;
};

// Stages, then one linear layer on the channel means.
class ConvNet final : public Network {
public:
    explicit ConvNet(const ModelOptions& options)
    {
        const auto [width, depth] = scaleOf(options, kSizes);
        std::int64_t in = options.data.inputs[0].shape[0];
        for (std::int64_t stage = 0; stage < depth; ++stage) {
            const std::int64_t out = width << std::min(stage, kMostDoublings);
            addBlock("stage" + std::to_string(stage), std::make_shared<Stage>(in, out, stage + 1 < depth, options));
            in = out;
        }
        m_head = register_module("head", nn::Linear(in, options.data.classes));
    }

    Pass forward(const BatchTensors& batch) override
    {
        const at::Tensor x = runBlocks(batch.inputs[0]);
        return {m_head->forward(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1)), batch.target};
    }
    [[nodiscard]] Objective objective() const override { return Objective::Classes; }

private:
    static constexpr std::int64_t kMostDoublings = 5;
    nn::Linear m_head{nullptr};
};

} // namespace

Workload convnet()
{
    return {"Small convnet",
            "Convolutions with batch norm, each with twice the channels of the previous one, then a linear layer. "
            "small trains in seconds on a CPU.",
            {data::DataKind::Images},
            [](const ModelOptions& options) -> std::shared_ptr<Network> { return std::make_shared<ConvNet>(options); }};
}

} // namespace trainer::workloads
