#pragma once

#include "profiler/model/result.h"

#include <QString>
#include <filesystem>
#include <vector>

namespace app {

/// A trace that comes with the app, recorded by its own trainer.
struct Sample {
    QString id; ///< the file's stem
    QString title;
    QString what; ///< in a sentence
};

std::vector<Sample> allSamples();
/// The sample as a file in the user's application data, where it is put when it is first asked for.
profiler::Result<std::filesystem::path> sampleFile(const Sample& sample);
/// A file that sampleFile() made.
bool isSampleFile(const std::filesystem::path& file);

} // namespace app
