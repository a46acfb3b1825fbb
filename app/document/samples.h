#pragma once

#include "profiler/model/result.h"

#include <QString>
#include <filesystem>
#include <vector>

namespace app {

/// A sample trace that comes with the app.
struct Sample {
    QString id; ///< the file's stem; of a job, the name of its folder
    QString title;
    QString what; ///< what it shows, and how it was made
    bool isJob = false;
};

std::vector<Sample> allSamples();
/// The sample as a file in the user's application data, or a job's traces as a folder; copied there on first use.
profiler::Result<std::filesystem::path> sampleFile(const Sample& sample);
/// True for a file or folder created by sampleFile().
bool isSampleFile(const std::filesystem::path& file);

} // namespace app
