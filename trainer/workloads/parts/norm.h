#pragma once

#include "trainer/workloads/workload.h"

#include <ATen/core/Tensor.h>
#include <memory>
#include <torch/nn/module.h>

namespace trainer {

/// A normalisation over channels, or none.
class Norm : public torch::nn::Module {
public:
    virtual at::Tensor forward(const at::Tensor& x) = 0;
};

/// @param dimensions  of the input, including samples and channels: 2 for features, 4 for images
std::shared_ptr<Norm> makeNorm(NormKind kind, std::int64_t channels, int dimensions);
/// Whether a layer directly before such a norm has a bias: always if the norm does not cancel it.
bool hasBias(const ModelOptions& options);

} // namespace trainer
