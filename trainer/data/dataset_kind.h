#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"
#include "trainer/data/dataset.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>

namespace trainer::data {

/// Called while a dataset is opened, with the current activity, the amount done and the total (0: unknown). Called on
/// the thread that opens the dataset, a few times per second.
using OpenProgress = std::function<void(std::string_view what, std::int64_t done, std::int64_t total)>;

/// A kind of dataset. A file trainer/datasets/<stem>.cpp defines `DatasetKind <stem>()`; the stem is the value of the
/// knob dataset.kind. All of them: trainer::datasets::all(), declared in "trainer_data_datasets_registry.h".
struct DatasetKind {
    std::string_view title; ///< "Folder of images"
    std::string_view doc;   ///< description and expected files, one or two sentences, for users
    /// Finds (or first generates) the data and checks them. The error names the faulty file or folder and how to fix
    /// it; Error::Code::Cancelled after a stop.
    /// @param progress  may be empty
    profiler::Result<std::shared_ptr<const Dataset>> (*open)(const config::TrainingConfig& config,
                                                             const OpenProgress& progress,
                                                             std::stop_token stop) = nullptr;
};

} // namespace trainer::data
