#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"
#include "trainer/data/sample_spec.h"
#include "trainer/workloads/workload.h"

#include <memory>
#include <string_view>

namespace trainer {

class Network;

/// The configured model options for data of this kind.
ModelOptions modelOptions(const config::TrainingConfig& config, const data::SampleSpec& spec);

/// Checks whether the configured model supports this data, without creating the model: the error names both.
/// @param dataset  its title, for the message
profiler::Result<void> fits(const config::TrainingConfig& config, const data::SampleSpec& spec,
                            std::string_view dataset);

/// The configured model with initial weights from LibTorch's default generator. Asserts fits(). Rethrows exceptions of
/// LibTorch.
std::shared_ptr<Network> makeNetwork(const config::TrainingConfig& config, const data::SampleSpec& spec);

} // namespace trainer
