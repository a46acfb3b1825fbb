#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace trainer {

class Network;

/// What a model must fit.
struct ModelOptions {
    std::int64_t channels = 3;   ///< of the images
    std::int64_t imageSize = 32; ///< edge of the images, px
    std::int64_t classes = 10;
    std::int64_t width = 16; ///< channels of the first layer, where the model lets them be chosen
};

/// A model to train. A file trainer/workloads/<id>.cpp defines `Workload <id>()`.
struct Workload {
    std::string_view title, doc; ///< for users
    /// With first weights from LibTorch's default generator.
    std::shared_ptr<Network> (*make)(const ModelOptions&) = nullptr;
};

} // namespace trainer
