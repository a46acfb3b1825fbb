#pragma once

#include "advisor/advice.h"
#include "advisor/experiment/experiment.h"
#include "trainer/config/training_config.h"

#include <QString>
#include <filesystem>
#include <span>
#include <vector>

namespace profiler {
class Trace;
}

namespace app {

/// The origin of a result or trace: a configuration or a program.
struct Origin {
    QString id;   ///< equal for comparable results; empty: unknown
    QString name; ///< display name: "convnet · Batch size = 64", "python train.py"

    friend bool operator==(const Origin& a, const Origin& b) { return a.id == b.id; }
};

/// Origin of a configuration, without the settings for recording and run length, because every measurement sets those
/// itself.
Origin originOf(const config::TrainingConfig& configuration);
/// Origin of a trace: its configuration; otherwise the recorded command with its folder and the content of its source
/// files; otherwise the file.
Origin originOf(const profiler::Trace& trace, const std::filesystem::path& file);

/// This computer as recorded in a measurement; its device is known only after a program has run.
advisor::Machine thisMachine();
/// False if `trace` names a different CPU than `machine`, or only different devices. Missing information is ignored:
/// results of earlier versions name no machine.
bool isMachineOf(const advisor::Machine& machine, const profiler::Trace& trace);
/// Display name: "AMD EPYC 9654, NVIDIA H100"; empty if unknown.
QString machineText(const advisor::Machine& machine);

/// Settings that differ between two trainings: difference() without those that originOf() leaves out.
std::vector<config::Difference> differenceOfOrigin(const config::TrainingConfig& a, const config::TrainingConfig& b);

/// Whether a result measured with `baseline` belongs to the training `shown`: both are equal except for measured
/// changes, each applied or not.
/// @param changes  the measured changes: the kept ones and those of the result
bool belongsTo(const config::TrainingConfig& shown, const config::TrainingConfig& baseline,
               std::span<const advisor::Toggle> changes);

} // namespace app
