#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"
#include "trainer/data/dataset_kind.h"

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

namespace trainer::data {

/// Folder of generated datasets if the user chose none, as in the XDG base directory specification: relative paths are
/// ignored.
profiler::Result<std::filesystem::path> cacheFolder();

/// Writes the files of a dataset into a new folder.
using SetWriter = std::function<profiler::Result<void>(const std::filesystem::path& folder)>;

/// Creates cacheFolder()/`key` unless it exists, and returns it. The files are written to a temporary folder that is
/// renamed at the end, so that the result is complete or missing; a second process that needs the same dataset waits
/// for the first. The remains of an interrupted process are deleted.
profiler::Result<std::filesystem::path> makeOnce(const std::string& key, const SetWriter& write,
                                                 const OpenProgress& progress, std::stop_token stop);

/// dataset.path, or a generated dataset if it is empty.
/// @param key  identifies the generated data, including everything that they depend on
profiler::Result<std::filesystem::path> givenOrGenerated(const config::TrainingConfig& config, const std::string& key,
                                                         const SetWriter& write, const OpenProgress& progress,
                                                         std::stop_token stop);

/// The error of cancelled work.
profiler::Error cancelled(const std::filesystem::path& where);

} // namespace trainer::data
