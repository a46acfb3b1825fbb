#include "trainer/workloads/parts/network.h"
#include "trainer/workloads/parts/transformer.h"
#include "trainer/workloads/workload.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <torch/nn/modules/embedding.h>

// Devlin et al., BERT, 2018: section 3.1 for the masks.
namespace trainer::workloads {

namespace {

namespace nn = torch::nn;

constexpr std::array<Scale, 4> kSizes = {{{64, 2}, {256, 4}, {768, 12}, {1024, 24}}};
// Fraction of tokens to predict; of these, the fractions that are masked and replaced.
constexpr double kChosen = 0.15, kHidden = 0.8, kReplaced = 0.1;
// Offset above the smallest random number, so that the comparison always chooses at least that token.
constexpr double kLeast = 1e-7;
// Validation masks the same tokens each time.
constexpr std::uint64_t kValidationSeed = 20181011;

class Bert final : public Network {
public:
    explicit Bert(const ModelOptions& options) : m_vocabulary(options.data.classes)
    {
        const auto [width, depth] = scaleOf(options, kSizes);
        // One additional token represents a masked token.
        m_tokens = register_module("tokens", nn::Embedding(m_vocabulary + 1, width));
        m_positions = register_module("positions", nn::Embedding(options.data.inputs[0].shape[0], width));
        const TransformerOptions layer{
            .width = width, .mathAttention = options.mathAttention, .fusePointwise = options.fusePointwise};
        for (std::int64_t i = 0; i < depth; ++i)
            addBlock("layer" + std::to_string(i), std::make_shared<TransformerLayer>(layer));
        m_norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({width})));
        m_head = register_module("head", nn::Linear(width, m_vocabulary));
        initialiseTransformer(*this);
    }

    Pass forward(const BatchTensors& batch) override
    {
        const auto [ids, targets] = masked(batch.inputs[0]);
        const at::Tensor places = at::arange(ids.size(1), ids.options());
        const at::Tensor x = runBlocks(m_tokens->forward(ids) + m_positions->forward(places));
        return {m_head->forward(m_norm->forward(x)), targets};
    }
    [[nodiscard]] Objective objective() const override { return Objective::Tokens; }

private:
    struct Masked {
        at::Tensor ids, targets;
    };
    [[nodiscard]] Masked masked(const at::Tensor& ids) const
    {
        const at::NoGradGuard noGradients;
        at::Generator generator = at::globalContext().defaultGenerator(ids.device());
        if (!is_training()) {
            generator = generator.clone();
            generator.set_current_seed(kValidationSeed);
        }
        const at::TensorOptions uniform = ids.options().dtype(at::kFloat);
        const at::Tensor dice = at::rand(ids.sizes(), generator, uniform);
        // Chooses at least one token: otherwise a small batch would sometimes have nothing to predict, and no loss.
        const at::Tensor chosen = dice < dice.min().add(kLeast).clamp_min(kChosen);
        const at::Tensor fate = at::rand(ids.sizes(), generator, uniform);
        const at::Tensor others = at::randint(m_vocabulary, ids.sizes(), generator, ids.options());
        const at::Tensor hidden = chosen.logical_and(fate < kHidden);
        const at::Tensor replaced = chosen.logical_and(fate >= kHidden).logical_and(fate < kHidden + kReplaced);
        return {at::where(replaced, others, ids).masked_fill(hidden, m_vocabulary),
                ids.masked_fill(chosen.logical_not(), kIgnored)};
    }

    std::int64_t m_vocabulary;
    nn::Embedding m_tokens{nullptr}, m_positions{nullptr};
    nn::LayerNorm m_norm{nullptr};
    nn::Linear m_head{nullptr};
};

} // namespace

Workload bert()
{
    return {"BERT",
            "A BERT text encoder that predicts masked tokens. base and large have BERT's own sizes.",
            {data::DataKind::Tokens},
            [](const ModelOptions& options) -> std::shared_ptr<Network> { return std::make_shared<Bert>(options); }};
}

} // namespace trainer::workloads
