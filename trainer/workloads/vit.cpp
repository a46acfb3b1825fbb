#include "trainer/workloads/parts/network.h"
#include "trainer/workloads/parts/transformer.h"
#include "trainer/workloads/workload.h"

#include <ATen/ATen.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/conv.h>

// Dosovitskiy et al., An Image is Worth 16x16 Words, 2020; with the mean over positions instead of a class token, which
// section D.3 finds equivalent.
namespace trainer::workloads {

namespace {

namespace nn = torch::nn;

constexpr std::array<Scale, 4> kSizes = {{{64, 2}, {192, 12}, {384, 12}, {768, 12}}};
// Small images use small patches: 16 px would give only a few of them.
constexpr std::int64_t kSmallImage = 96, kSmallPatch = 4, kPatch = 16;

class Vit final : public Network {
public:
    explicit Vit(const ModelOptions& options)
    {
        const auto [width, depth] = scaleOf(options, kSizes);
        const auto& image = options.data.inputs[0].shape;
        const std::int64_t patch = image[1] < kSmallImage ? kSmallPatch : kPatch;
        m_patches = register_module("patches", nn::Conv2d(nn::Conv2dOptions(image[0], width, patch).stride(patch)));
        m_positions = register_parameter("positions", at::empty({1, (image[1] / patch) * (image[2] / patch), width}));
        const TransformerOptions layer{
            .width = width, .mathAttention = options.mathAttention, .fusePointwise = options.fusePointwise};
        for (std::int64_t i = 0; i < depth; ++i)
            addBlock("layer" + std::to_string(i), std::make_shared<TransformerLayer>(layer));
        m_norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({width})));
        m_head = register_module("head", nn::Linear(width, options.data.classes));
        initialiseTransformer(*this);
        nn::init::normal_(m_positions, 0, 0.02);
    }

    Pass forward(const BatchTensors& batch) override
    {
        const at::Tensor patches = m_patches->forward(batch.inputs[0]).flatten(2).transpose(1, 2);
        const at::Tensor x = m_norm->forward(runBlocks(patches + m_positions));
        return {m_head->forward(x.mean(1)), batch.target};
    }
    [[nodiscard]] Objective objective() const override { return Objective::Classes; }

private:
    nn::Conv2d m_patches{nullptr};
    at::Tensor m_positions;
    nn::LayerNorm m_norm{nullptr};
    nn::Linear m_head{nullptr};
};

} // namespace

Workload vit()
{
    return {"Vision transformer",
            "A transformer on image patches. small, base and large are ViT-Ti, ViT-S and ViT-B.",
            {data::DataKind::Images},
            [](const ModelOptions& options) -> std::shared_ptr<Network> { return std::make_shared<Vit>(options); }};
}

} // namespace trainer::workloads
