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

/// Told while a data set is opened: what is being done, how much of it is done, of how much (0: not known). Called on
/// the thread that opens the data set, a few times a second.
using OpenProgress = std::function<void(std::string_view what, std::int64_t done, std::int64_t total)>;

/// A kind of data set. A file trainer/datasets/<stem>.cpp defines `DatasetKind <stem>()`; the stem is the value of the
/// knob dataset.kind. All of them: trainer::datasets::all(), declared in "trainer_data_datasets_registry.h".
struct DatasetKind {
    std::string_view title; ///< "Folder of images"
    std::string_view doc;   ///< what it is and which files it wants, one or two sentences, for users
    /// Finds (or first makes) the data and checks them. The error says which file or folder is wrong and how to mend
    /// it; Error::Code::Cancelled after a stop.
    /// @param progress  may be empty
    profiler::Result<std::shared_ptr<const Dataset>> (*open)(const config::TrainingConfig& config,
                                                             const OpenProgress& progress,
                                                             std::stop_token stop) = nullptr;
};

} // namespace trainer::data
