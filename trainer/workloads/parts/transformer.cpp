#include "trainer/workloads/parts/transformer.h"

#include "trainer/memory/checkpointing.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/jit.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/embedding.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainer {

namespace {

namespace nn = torch::nn;

constexpr double kRootHalf = 0.70710678118654752440;

// Compiled for the shapes of its first calls.
at::Tensor compiled(const at::Tensor& x)
{
    static const std::shared_ptr<torch::jit::CompilationUnit> unit = torch::jit::compile(R"(
def gelu(x):
    return x * 0.5 * (1.0 + torch.erf(x * 0.70710678118654752440))
)");
    return unit->run_method("gelu", x).toTensor();
}

/// x · (1 + erf(x / √2)) / 2 (Hendrycks and Gimpel, 2016).
/// @param fused  as one kernel: compiled just in time on a GPU; LibTorch's GELU operator in recomputed parts and on the
///               CPU, where LibTorch's compiler cannot fuse. Otherwise written out as five kernels.
at::Tensor gelu(const at::Tensor& x, bool fused)
{
    if (!fused)
        return x * 0.5 * (at::erf(x * kRootHalf) + 1.0);
    // Compiled code saves its tensors in another order in its first calls, so it cannot be recomputed.
    return x.is_cpu() || SavedTensors::areHooked() ? at::gelu(x) : compiled(x);
}

constexpr double kDeviation = 0.02;
constexpr std::int64_t kFeedFactor = 4;

// 64 features per head, as in published models; narrow models use fewer features per head to have several heads.
std::int64_t headsOf(std::int64_t width)
{
    std::int64_t heads = std::max<std::int64_t>(1, width / (width >= 256 ? 64 : 32));
    while (width % heads != 0)
        --heads;
    return heads;
}

} // namespace

at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, bool causal,
                     bool writtenOut)
{
    if (!writtenOut)
        return at::scaled_dot_product_attention(query, key, value, {}, 0.0, causal);
    const double scale = 1.0 / std::sqrt(static_cast<double>(query.size(-1)));
    at::Tensor scores = at::matmul(query, key.transpose(-2, -1)) * scale;
    if (causal) {
        const std::int64_t positions = query.size(-2);
        const at::Tensor later = at::ones({positions, positions}, query.options().dtype(at::kBool)).triu(1);
        scores = scores.masked_fill(later, -std::numeric_limits<double>::infinity());
    }
    return at::matmul(at::softmax(scores, -1), value);
}

TransformerLayer::TransformerLayer(const TransformerOptions& options)
    : m_options(options), m_heads(headsOf(options.width)),
      m_attentionNorm(register_module("attention_norm", nn::LayerNorm(nn::LayerNormOptions({options.width})))),
      m_feedNorm(register_module("feed_norm", nn::LayerNorm(nn::LayerNormOptions({options.width})))),
      m_queryKeyValue(register_module("query_key_value", nn::Linear(options.width, 3 * options.width))),
      m_projection(register_module("projection", nn::Linear(options.width, options.width))),
      m_wide(register_module("wide", nn::Linear(options.width, kFeedFactor * options.width))),
      m_narrow(register_module("narrow", nn::Linear(kFeedFactor * options.width, options.width))),
      m_beforeAttention(addCheap("before_attention")), m_scores(addCheap("scores")),
      m_beforeFeed(addCheap("before_feed")), m_activation(addCheap("activation"))
{
}

std::shared_ptr<CheapPart> TransformerLayer::addCheap(std::string name)
{
    return register_module(std::move(name), std::make_shared<CheapPart>());
}

at::Tensor TransformerLayer::attend(const at::Tensor& x)
{
    const std::int64_t samples = x.size(0), positions = x.size(1);
    const at::Tensor all = m_beforeAttention->run(*m_attentionNorm, x, [this](at::TensorList inputs) {
        return m_queryKeyValue->forward(m_attentionNorm->forward(inputs[0]));
    });
    // One projection for all three, split into samples × heads × positions × features each.
    const auto parts = all.view({samples, positions, 3, m_heads, -1}).permute({2, 0, 3, 1, 4}).unbind(0);
    const at::Tensor mixed = m_scores->run(*this, parts, [this](at::TensorList inputs) {
        return attention(inputs[0], inputs[1], inputs[2], m_options.causal, m_options.mathAttention);
    });
    return m_projection->forward(mixed.transpose(1, 2).reshape({samples, positions, m_options.width}));
}

at::Tensor TransformerLayer::feed(const at::Tensor& x)
{
    const at::Tensor wide = m_beforeFeed->run(
        *m_feedNorm, x, [this](at::TensorList inputs) { return m_wide->forward(m_feedNorm->forward(inputs[0])); });
    return m_activation->run(*m_narrow, wide, [this](at::TensorList inputs) {
        return m_narrow->forward(gelu(inputs[0], m_options.fusePointwise));
    });
}

at::Tensor TransformerLayer::forward(const at::Tensor& x)
{
    const at::Tensor y = x + attend(x);
    return y + feed(y);
}

void initialiseTransformer(nn::Module& model)
{
    const at::NoGradGuard noGradients;
    for (const auto& module : model.modules(false)) { // excludes the model itself, which may be under construction
        if (auto* linear = module->as<nn::Linear>()) {
            nn::init::normal_(linear->weight, 0, kDeviation);
            if (linear->bias.defined())
                nn::init::zeros_(linear->bias);
        } else if (auto* embedding = module->as<nn::Embedding>()) {
            nn::init::normal_(embedding->weight, 0, kDeviation);
        }
    }
}

} // namespace trainer
