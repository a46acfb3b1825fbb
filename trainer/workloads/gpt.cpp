#include "trainer/workloads/parts/network.h"
#include "trainer/workloads/parts/transformer.h"
#include "trainer/workloads/workload.h"

#include <ATen/ATen.h>
#include <torch/nn/modules/embedding.h>

// Radford et al., Language Models are Unsupervised Multitask Learners (GPT-2), 2019.
namespace trainer::workloads {

namespace {

namespace nn = torch::nn;

constexpr std::array<Scale, 4> kSizes = {{{64, 2}, {256, 4}, {768, 12}, {1600, 48}}};

class Gpt final : public Network {
public:
    explicit Gpt(const ModelOptions& options)
    {
        const auto [width, depth] = scaleOf(options, kSizes);
        const std::int64_t positions = options.data.inputs[0].shape[0];
        m_tokens = register_module("tokens", nn::Embedding(options.data.classes, width));
        m_positions = register_module("positions", nn::Embedding(positions, width));
        const TransformerOptions layer{.width = width,
                                       .causal = true,
                                       .mathAttention = options.mathAttention,
                                       .fusePointwise = options.fusePointwise};
        for (std::int64_t i = 0; i < depth; ++i)
            addBlock("layer" + std::to_string(i), std::make_shared<TransformerLayer>(layer));
        m_norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({width})));
        initialiseTransformer(*this);
    }

    Pass forward(const BatchTensors& batch) override
    {
        const at::Tensor& ids = batch.inputs[0];
        const at::Tensor places = at::arange(ids.size(1), ids.options());
        const at::Tensor x = runBlocks(m_tokens->forward(ids) + m_positions->forward(places));
        // The output layer shares the embedding's weights.
        return {at::linear(m_norm->forward(x), m_tokens->weight), batch.target};
    }
    [[nodiscard]] Objective objective() const override { return Objective::Tokens; }

private:
    nn::Embedding m_tokens{nullptr}, m_positions{nullptr};
    nn::LayerNorm m_norm{nullptr};
};

} // namespace

Workload gpt()
{
    return {"GPT",
            "A GPT-2 language model that predicts the next token of a text. base and large have the sizes of GPT-2 and "
            "GPT-2 XL.",
            {data::DataKind::Tokens},
            [](const ModelOptions& options) -> std::shared_ptr<Network> { return std::make_shared<Gpt>(options); }};
}

} // namespace trainer::workloads
