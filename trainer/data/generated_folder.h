#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"
#include "trainer/data/dataset_kind.h"

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

namespace trainer::data {

/// Where generated sets lie when no folder is chosen, as the XDG base directory specification has it: relative paths do
/// not count.
profiler::Result<std::filesystem::path> cacheFolder();

/// Fills a new folder with the files of a set.
using SetWriter = std::function<profiler::Result<void>(const std::filesystem::path& folder)>;

/// Makes cacheFolder()/`key` unless it is there, and returns it. It grows beside its place and is renamed at the end,
/// so that it is whole or not there; a second process that wants the same set waits for the first. What an interrupted
/// one left is thrown away.
profiler::Result<std::filesystem::path> makeOnce(const std::string& key, const SetWriter& write,
                                                 const OpenProgress& progress, std::stop_token stop);

/// dataset.path, or a set that is generated for want of one.
/// @param key  names what is generated, and all that it depends on
profiler::Result<std::filesystem::path> givenOrGenerated(const config::TrainingConfig& config, const std::string& key,
                                                         const SetWriter& write, const OpenProgress& progress,
                                                         std::stop_token stop);

/// The error of work that was stopped.
profiler::Error cancelled(const std::filesystem::path& where);

} // namespace trainer::data
