#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <memory>
#include <torch/nn/module.h>
#include <torch/version.h>
#include <vector>

/// A model of your own for stepscope-train: build a shared library that includes this header and no other of
/// Stepscope's, against the LibTorch and with the compiler that stepscope-train was built with, and end one source file
/// with STEPSCOPE_PLUGIN(title, make). resources/examples/plugin is a worked example.
namespace stepscope {

/// Of this header. A library with another one is refused.
inline constexpr std::uint32_t kPluginVersion = 1;

/// What the model will be given.
struct PluginData {
    std::vector<std::vector<std::int64_t>> inputs; ///< shape of each input of one sample, without the batch
    std::vector<std::int64_t> target;              ///< shape of one sample's target; empty: a number
    std::int64_t classes = 0;                      ///< targets are below it; 0: numbers are predicted
};

/// A model. The trainer calls to(), train(), eval(), parameters() and forward() on one thread.
class PluginModel : public torch::nn::Module {
public:
    /// @param inputs  on the model's device, the first dimension counts the samples. Where the configuration says
    ///                model.loss=given, the target is the last of them
    /// @return scores (model.loss=cross_entropy: samples × classes), numbers (mse: like the target), or the loss
    /// (given)
    virtual at::Tensor forward(const std::vector<at::Tensor>& inputs) = 0;
};

/// What a library says of itself. The first two members keep their places in every version.
struct Plugin {
    std::uint32_t version;
    const char* torchVersion;
    const char* title;
    std::shared_ptr<PluginModel> (*make)(const PluginData& data); ///< may throw
};

} // namespace stepscope

/// Exports `make`, a `std::shared_ptr<stepscope::PluginModel> (*)(const stepscope::PluginData&)`.
#define STEPSCOPE_PLUGIN(title, make)                                                                                  \
    extern "C" __attribute__((visibility("default"))) const stepscope::Plugin* stepscope_plugin()                      \
    {                                                                                                                  \
        static const stepscope::Plugin plugin = {stepscope::kPluginVersion, TORCH_VERSION, title, make};               \
        return &plugin;                                                                                                \
    }
