#pragma once

#include "profiler/model/result.h"
#include "trainer/data/dataset.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trainer {

class Network;

/// Named scales: tiny takes milliseconds per step on two cores, large fills a GPU.
enum class ModelSize { Tiny, Small, Base, Large };
/// The layer after convolutions and hidden layers.
enum class NormKind { Batch, Group, None };

/// The data that a model must fit, and its options.
struct ModelOptions {
    data::SampleSpec data;
    ModelSize size = ModelSize::Small;
    std::int64_t width = 0; ///< channels or features of the first layer; 0: by size
    std::int64_t depth = 0; ///< layers or stages; 0: by size
    NormKind norm = NormKind::Batch;
    bool layerBias = true;      ///< adds a bias to layers even if the following norm cancels it
    bool mathAttention = true;  ///< attention as separate operators instead of one
    bool fusePointwise = false; ///< fuses neighbouring pointwise operators into one
    std::string path;           ///< of the user's model
    std::string trustedSha256;  ///< trusted SHA-256 of that file
    std::string loss;           ///< of the user's model: "cross_entropy", "mse", "given"
    std::string inputShapes;    ///< expected by the user's model, "3,32,32"; empty: not specified
};

/// A model to train. A file trainer/workloads/<id>.cpp defines `Workload <id>()`.
struct Workload {
    std::string_view title, doc;       ///< for users
    std::vector<data::DataKind> takes; ///< accepted kinds of the first input
    /// Creates the model with initial weights from LibTorch's default generator.
    std::shared_ptr<Network> (*make)(const ModelOptions&) = nullptr;
    /// Further checks before make(); null: none.
    profiler::Result<void> (*check)(const ModelOptions&) = nullptr;
};

/// Width and depth of a model.
struct Scale {
    std::int64_t width, depth;
};

/// The requested scale: the named size, with the options' own width and depth if given.
/// @param sizes  tiny, small, base, large
inline Scale scaleOf(const ModelOptions& options, const std::array<Scale, 4>& sizes)
{
    Scale scale = sizes[static_cast<std::size_t>(options.size)];
    if (options.width > 0)
        scale.width = options.width;
    if (options.depth > 0)
        scale.depth = options.depth;
    return scale;
}

} // namespace trainer
