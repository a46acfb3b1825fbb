#pragma once

#include "advisor/advice.h"
#include "trainer/config/training_config.h"

#include <QString>
#include <filesystem>
#include <span>
#include <vector>

namespace profiler {
class Trace;
}

namespace app {

/// What a result was measured with, or a trace recorded from: a configuration or a program.
struct Origin {
    QString id;   ///< equal for results that may be compared; empty: not known
    QString name; ///< for people: "convnet · Batch size = 64", "python train.py"

    friend bool operator==(const Origin& a, const Origin& b) { return a.id == b.id; }
};

/// Of a configuration, without the settings that say only what is recorded and how long the training goes on: every
/// measurement sets those itself.
Origin originOf(const config::TrainingConfig& configuration);
/// Of a trace: its configuration, and the machine that trained it; else the command that was recorded with its folder,
/// its machine and the content of its source files; else the file.
Origin originOf(const profiler::Trace& trace, const std::filesystem::path& file);

/// Settings that make a difference between the two trainings: difference() without those that originOf() leaves out.
std::vector<config::Difference> differenceOfOrigin(const config::TrainingConfig& a, const config::TrainingConfig& b);

/// Whether a result that was measured with `baseline` is one of the training `shown`: both are the same but for changes
/// that were measured, each of them before or after the change.
/// @param changes  the measured changes: those that were kept, and those of the result itself
bool belongsTo(const config::TrainingConfig& shown, const config::TrainingConfig& baseline,
               std::span<const advisor::Toggle> changes);

} // namespace app
