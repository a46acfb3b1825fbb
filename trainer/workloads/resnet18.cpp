#include "trainer/workloads/network.h"
#include "trainer/workloads/workload.h"

#include <ATen/ATen.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

// He et al., Deep Residual Learning for Image Recognition, 2015: table 1 for the layers, section 4.2 for small images.
namespace trainer::workloads {

namespace {

namespace nn = torch::nn;

// From this size on, the stem reduces the image four times; smaller ones would have nothing left to reduce.
constexpr std::int64_t kLargeImage = 64;

nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t stride)
{
    nn::Conv2d layer(nn::Conv2dOptions(in, out, size).stride(stride).padding(size / 2).bias(false));
    nn::init::kaiming_normal_(layer->weight, 0, torch::kFanOut, torch::kReLU);
    return layer;
}

class Residual final : public nn::Module {
public:
    Residual(std::int64_t in, std::int64_t out, std::int64_t stride)
        : m_first(register_module("conv1", convolution(in, out, 3, stride))),
          m_firstNorm(register_module("norm1", nn::BatchNorm2d(out))),
          m_second(register_module("conv2", convolution(out, out, 3, 1))),
          m_secondNorm(register_module("norm2", nn::BatchNorm2d(out)))
    {
        if (stride == 1 && in == out)
            return;
        m_shortcut = register_module("shortcut", convolution(in, out, 1, stride));
        m_shortcutNorm = register_module("shortcut_norm", nn::BatchNorm2d(out));
    }

    at::Tensor forward(const at::Tensor& x)
    {
        const at::Tensor y = at::relu(m_firstNorm->forward(m_first->forward(x)));
        const at::Tensor kept = m_shortcut ? m_shortcutNorm->forward(m_shortcut->forward(x)) : x;
        return at::relu(m_secondNorm->forward(m_second->forward(y)) + kept);
    }

private:
    nn::Conv2d m_first;
    nn::BatchNorm2d m_firstNorm;
    nn::Conv2d m_second;
    nn::BatchNorm2d m_secondNorm;
    nn::Conv2d m_shortcut{nullptr};
    nn::BatchNorm2d m_shortcutNorm{nullptr};
};

class ResNet18 final : public Network {
public:
    explicit ResNet18(const ModelOptions& options)
        : m_large(options.data.inputs[0].shape[1] >= kLargeImage),
          m_stem(register_module("stem", m_large ? convolution(options.data.inputs[0].shape[0], 64, 7, 2)
                                                 : convolution(options.data.inputs[0].shape[0], 64, 3, 1))),
          m_stemNorm(register_module("stem_norm", nn::BatchNorm2d(64))),
          m_head(register_module("head", nn::Linear(512, options.data.classes)))
    {
        std::int64_t in = 64;
        for (std::int64_t stage = 0; stage < 4; ++stage)
            for (std::int64_t block = 0; block < 2; ++block) {
                const std::int64_t out = std::int64_t{64} << stage;
                addBlock("block" + std::to_string(stage) + "_" + std::to_string(block),
                         std::make_shared<Residual>(in, out, stage > 0 && block == 0 ? 2 : 1));
                in = out;
            }
    }

    Pass forward(const BatchTensors& batch) override
    {
        at::Tensor x = at::relu(m_stemNorm->forward(m_stem->forward(batch.inputs[0])));
        if (m_large)
            x = at::max_pool2d(x, 3, 2, 1);
        return {m_head->forward(at::adaptive_avg_pool2d(runBlocks(x), {1, 1}).flatten(1)), batch.target};
    }
    [[nodiscard]] Objective objective() const override { return Objective::Classes; }

private:
    bool m_large;
    nn::Conv2d m_stem;
    nn::BatchNorm2d m_stemNorm;
    nn::Linear m_head;
};

} // namespace

Workload resnet18()
{
    return {
        "ResNet-18",
        "The residual network of He et al.; images under 64 px get the stem for small images.",
        {data::DataKind::Images},
        [](const ModelOptions& options) -> std::shared_ptr<Network> { return std::make_shared<ResNet18>(options); }};
}

} // namespace trainer::workloads
