#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"
#include "trainer/data/sample_spec.h"
#include "trainer/workloads/workload.h"

#include <memory>
#include <string_view>

namespace trainer {

class Network;

/// The configuration's wishes for a model that is to take such data.
ModelOptions modelOptions(const config::TrainingConfig& config, const data::SampleSpec& spec);

/// Whether the configured model can be made for this data, without making it: the error names both when they do not
/// fit.
/// @param dataset  its title, for the message
profiler::Result<void> fits(const config::TrainingConfig& config, const data::SampleSpec& spec,
                            std::string_view dataset);

/// The configured model with first weights from LibTorch's default generator. Asserts fits(). Throws what LibTorch
/// throws.
std::shared_ptr<Network> makeNetwork(const config::TrainingConfig& config, const data::SampleSpec& spec);

} // namespace trainer
