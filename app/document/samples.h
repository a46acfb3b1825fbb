#pragma once

#include "profiler/model/result.h"

#include <QString>
#include <filesystem>
#include <vector>

namespace app {

/// A sample trace that comes with the app, recorded by its own trainer.
struct Sample {
    QString id; ///< the file's stem
    QString title;
    QString what; ///< description, one sentence
};

std::vector<Sample> allSamples();
/// The sample as a file in the user's application data; copied there on first use.
profiler::Result<std::filesystem::path> sampleFile(const Sample& sample);
/// True for a file created by sampleFile().
bool isSampleFile(const std::filesystem::path& file);

} // namespace app
