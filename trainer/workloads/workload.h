#pragma once

#include "profiler/model/result.h"
#include "trainer/data/sample_spec.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trainer {

class Network;

/// Named scales: tiny takes milliseconds a step on two cores, large fills a GPU.
enum class ModelSize { Tiny, Small, Base, Large };
/// What follows convolutions and hidden layers.
enum class NormKind { Batch, Group, None };

/// What a model must fit and what is wished of it.
struct ModelOptions {
    data::SampleSpec data;
    ModelSize size = ModelSize::Small;
    std::int64_t width = 0; ///< channels or features of the first layer; 0: by size
    std::int64_t depth = 0; ///< layers or stages; 0: by size
    NormKind norm = NormKind::Batch;
    bool layerBias = true;      ///< bias also in layers whose norm directly after takes it away again
    bool mathAttention = true;  ///< attention written out, instead of one operator
    bool fusePointwise = false; ///< neighbouring pointwise operators as one
    std::string path;           ///< of the user's model
    std::string trustedSha256;  ///< of the file there that may be run
    std::string loss;           ///< of the user's model: "cross_entropy", "mse", "given"
    std::string inputShapes;    ///< that the user's model wants, "3,32,32"; empty: not said
};

/// A model to train. A file trainer/workloads/<id>.cpp defines `Workload <id>()`.
struct Workload {
    std::string_view title, doc;       ///< for users
    std::vector<data::DataKind> takes; ///< what the first input may be
    /// With first weights from LibTorch's default generator.
    std::shared_ptr<Network> (*make)(const ModelOptions&) = nullptr;
    /// What else must hold before make(); null: nothing.
    profiler::Result<void> (*check)(const ModelOptions&) = nullptr;
};

} // namespace trainer
