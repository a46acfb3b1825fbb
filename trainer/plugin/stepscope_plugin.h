#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <memory>
#include <torch/nn/module.h>
#include <torch/version.h>
#include <vector>

/// Your own model for stepscope-train. Build a shared library that includes this header and no other header of
/// Stepscope, with the compiler and the LibTorch that stepscope-train was built with, and end one source file with
/// STEPSCOPE_PLUGIN(title, make). resources/examples/plugin is a complete example.
namespace stepscope {

/// Version of this header. Libraries with another version are rejected.
inline constexpr std::uint32_t kPluginVersion = 1;

/// Describes the model's data.
struct PluginData {
    std::vector<std::vector<std::int64_t>> inputs; ///< shape of each input of one sample, without the batch
    std::vector<std::int64_t> target;              ///< shape of one sample's target; empty: a number
    std::int64_t classes = 0;                      ///< targets are smaller than this; 0: the targets are numbers
};

/// A model. The trainer calls to(), train(), eval(), parameters() and forward() on one thread.
class PluginModel : public torch::nn::Module {
public:
    /// @param inputs  on the model's device; the first dimension is the batch. With model.loss=given,
    ///                the last one is the target
    /// @return scores (model.loss=cross_entropy: samples × classes), numbers (mse: like the target), or the loss
    /// (given)
    virtual at::Tensor forward(const std::vector<at::Tensor>& inputs) = 0;
};

/// Describes a library. The first two members keep their positions in every version.
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
