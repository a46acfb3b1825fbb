#pragma once

#include "trainer/memory/checkpointing.h"
#include "trainer/workloads/workload.h"

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

namespace trainer {

/// Options shared by the layers of a transformer.
struct TransformerOptions {
    std::int64_t width = 0;
    bool causal = false; ///< a position only attends to itself and to earlier ones
    bool mathAttention = true, fusePointwise = false;
};

/// Scaled dot-product attention (Vaswani et al., 2017), as matmul, softmax, matmul or as one operator.
/// @param query, key, value  samples × heads × positions × features
at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, bool causal,
                     bool writtenOut);

/// Attention and two linear layers, each after a layer norm and with a residual connection (pre-norm, as in GPT-2).
class TransformerLayer final : public torch::nn::Module {
public:
    explicit TransformerLayer(const TransformerOptions& options);
    /// @param x  samples × positions × width
    at::Tensor forward(const at::Tensor& x);

private:
    [[nodiscard]] at::Tensor attend(const at::Tensor& x);
    [[nodiscard]] at::Tensor feed(const at::Tensor& x);
    [[nodiscard]] std::shared_ptr<CheapPart> addCheap(std::string name);

    TransformerOptions m_options;
    std::int64_t m_heads;
    torch::nn::LayerNorm m_attentionNorm, m_feedNorm;
    torch::nn::Linear m_queryKeyValue, m_projection, m_wide, m_narrow;
    std::shared_ptr<CheapPart> m_beforeAttention, m_scores, m_beforeFeed, m_activation;
};

/// Initial weights as in GPT-2 and BERT: normal with standard deviation 0.02, biases 0, for linear layers and
/// embeddings.
void initialiseTransformer(torch::nn::Module& model);

} // namespace trainer
