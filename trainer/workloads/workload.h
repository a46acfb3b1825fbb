#pragma once

#include "profiler/model/result.h"
#include "trainer/data/sample_spec.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace trainer {

class Network;

/// What a model must fit and what is wished of it.
struct ModelOptions {
    data::SampleSpec data;
    std::int64_t width = 16; ///< channels of the first layer, where the model lets them be chosen
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
