#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

namespace trainer {

/// An image classifier.
class Network : public torch::nn::Module {
public:
    /// @param images  samples × channels × height × width
    /// @return one score for each class: samples × classes
    virtual at::Tensor forward(const at::Tensor& images) = 0;
};

} // namespace trainer
