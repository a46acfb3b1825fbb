#include "trainer/workloads/parts/residual.h"

#include "trainer/memory/checkpointing.h"
#include "trainer/workloads/parts/network.h"
#include "trainer/workloads/parts/norm.h"
#include "trainer/workloads/workload.h"

#include <ATen/ATen.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

namespace trainer {

namespace {

namespace nn = torch::nn;

// small has the published width. Depth 0: as published.
constexpr std::array<Scale, 4> kSizes = {{{8, 0}, {64, 0}, {128, 0}, {256, 0}}};
// From this size on, the stem reduces the image by a factor of four; smaller images would become too small.
constexpr std::int64_t kLargeImage = 64;
constexpr std::int64_t kBottleneckFactor = 4;

/// A convolution directly followed by a norm.
class ConvNorm final : public nn::Module {
public:
    ConvNorm(std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t stride, const ModelOptions& options)
        : m_convolution(register_module(
              "conv",
              nn::Conv2d(nn::Conv2dOptions(in, out, size).stride(stride).padding(size / 2).bias(hasBias(options))))),
          m_norm(register_module("norm", makeNorm(options.norm, out, 4)))
    {
        nn::init::kaiming_normal_(m_convolution->weight, 0, torch::kFanOut, torch::kReLU);
    }
    at::Tensor forward(const at::Tensor& x) { return normed(convolved(x)); }
    at::Tensor convolved(const at::Tensor& x) { return m_convolution->forward(x); }
    at::Tensor normed(const at::Tensor& x) { return m_norm->forward(x); }

private:
    nn::Conv2d m_convolution;
    std::shared_ptr<Norm> m_norm;
};

class Residual final : public nn::Module {
public:
    Residual(std::int64_t in, std::int64_t out, std::int64_t stride, bool bottleneck, const ModelOptions& options)
    {
        const auto add = [&](std::int64_t from, std::int64_t to, std::int64_t size, std::int64_t by) {
            m_layers.push_back(register_module("layer" + std::to_string(m_layers.size()),
                                               std::make_shared<ConvNorm>(from, to, size, by, options)));
        };
        if (bottleneck) {
            const std::int64_t thin = out / kBottleneckFactor;
            add(in, thin, 1, 1);
            add(thin, thin, 3, stride);
            add(thin, out, 1, 1);
        } else {
            add(in, out, 3, stride);
            add(out, out, 3, 1);
        }
        for (std::size_t i = 1; i < m_layers.size(); ++i)
            m_between.push_back(register_module("between" + std::to_string(i), std::make_shared<CheapPart>()));
        if (stride != 1 || in != out)
            m_shortcut = register_module("shortcut", std::make_shared<ConvNorm>(in, out, 1, stride, options));
    }

    at::Tensor forward(const at::Tensor& x)
    {
        at::Tensor y = m_layers[0]->convolved(x);
        for (std::size_t i = 1; i < m_layers.size(); ++i)
            y = m_between[i - 1]->run(*m_layers[i - 1], y, [this, i](at::TensorList inputs) {
                return m_layers[i]->convolved(at::relu(m_layers[i - 1]->normed(inputs[0])));
            });
        return at::relu(m_layers.back()->normed(y) + (m_shortcut ? m_shortcut->forward(x) : x));
    }

private:
    std::vector<std::shared_ptr<ConvNorm>> m_layers;
    std::vector<std::shared_ptr<CheapPart>> m_between; // norm and activation between two layers
    std::shared_ptr<ConvNorm> m_shortcut;
};

class ResidualNetwork final : public Network {
public:
    ResidualNetwork(const ModelOptions& options, const StageDepths& depths, bool bottleneck)
        : m_large(options.data.inputs[0].shape[1] >= kLargeImage)
    {
        const auto [width, depth] = scaleOf(options, kSizes);
        const std::int64_t channels = options.data.inputs[0].shape[0];
        m_stem = register_module(
            "stem", std::make_shared<ConvNorm>(channels, width, m_large ? 7 : 3, m_large ? 2 : 1, options));
        std::int64_t in = width;
        for (std::size_t stage = 0; stage < depths.size(); ++stage)
            for (std::int64_t block = 0; block < (depth > 0 ? depth : depths[stage]); ++block) {
                const std::int64_t out = (width << stage) * (bottleneck ? kBottleneckFactor : 1);
                addBlock("block" + std::to_string(stage) + "_" + std::to_string(block),
                         std::make_shared<Residual>(in, out, stage > 0 && block == 0 ? 2 : 1, bottleneck, options));
                in = out;
            }
        m_head = register_module("head", nn::Linear(in, options.data.classes));
    }

    Pass forward(const BatchTensors& batch) override
    {
        at::Tensor x = at::relu(m_stem->forward(batch.inputs[0]));
        if (m_large)
            x = at::max_pool2d(x, 3, 2, 1);
        return {m_head->forward(at::adaptive_avg_pool2d(runBlocks(x), {1, 1}).flatten(1)), batch.target};
    }
    [[nodiscard]] Objective objective() const override { return Objective::Classes; }

private:
    bool m_large;
    std::shared_ptr<ConvNorm> m_stem;
    nn::Linear m_head{nullptr};
};

} // namespace

std::shared_ptr<Network> makeResidualNetwork(const ModelOptions& options, const StageDepths& depths, bool bottleneck)
{
    return std::make_shared<ResidualNetwork>(options, depths, bottleneck);
}

} // namespace trainer
