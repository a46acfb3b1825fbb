#include "trainer/workloads/parts/norm.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/normalization.h>

namespace trainer {

namespace {

namespace nn = torch::nn;

// Wu and He, Group Normalization, 2018: 32 groups; fewer for layers with few channels.
constexpr std::int64_t kGroups = 32;

template <class Layer>
class Wrapped final : public Norm {
public:
    explicit Wrapped(Layer layer) : m_layer(register_module("norm", std::move(layer))) {}
    at::Tensor forward(const at::Tensor& x) override { return m_layer->forward(x); }

private:
    Layer m_layer;
};

/// Batch statistics of a single value are undefined: such a batch (the last of an epoch may have one sample) is
/// normalised with the running statistics; LibTorch's own layer throws.
template <class Layer>
class BatchWrapped final : public Norm {
public:
    explicit BatchWrapped(Layer layer) : m_layer(register_module("norm", std::move(layer))) {}
    at::Tensor forward(const at::Tensor& x) override
    {
        if (!is_training() || x.numel() > x.size(1))
            return m_layer->forward(x);
        return at::batch_norm(x, m_layer->weight, m_layer->bias, m_layer->running_mean, m_layer->running_var, false, 0,
                              m_layer->options.eps(), false);
    }

private:
    Layer m_layer;
};

class NoNorm final : public Norm {
public:
    at::Tensor forward(const at::Tensor& x) override { return x; }
};

std::int64_t groupsOf(std::int64_t channels)
{
    std::int64_t groups = std::min(kGroups, channels);
    while (channels % groups != 0)
        --groups;
    return groups;
}

} // namespace

std::shared_ptr<Norm> makeNorm(NormKind kind, std::int64_t channels, int dimensions)
{
    if (kind == NormKind::None)
        return std::make_shared<NoNorm>();
    if (kind == NormKind::Group)
        return std::make_shared<Wrapped<nn::GroupNorm>>(nn::GroupNorm(groupsOf(channels), channels));
    if (dimensions == 2)
        return std::make_shared<BatchWrapped<nn::BatchNorm1d>>(nn::BatchNorm1d(channels));
    return std::make_shared<BatchWrapped<nn::BatchNorm2d>>(nn::BatchNorm2d(channels));
}

bool hasBias(const ModelOptions& options)
{
    return options.layerBias || options.norm == NormKind::None;
}

} // namespace trainer
