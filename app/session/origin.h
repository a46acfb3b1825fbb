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

/// What a result was measured with, or a trace recorded from: a configuration or a program.
struct Origin {
    QString id;   ///< equal for results that may be compared; empty: not known
    QString name; ///< for people: "convnet · Batch size = 64", "python train.py"

    friend bool operator==(const Origin& a, const Origin& b) { return a.id == b.id; }
};

/// Of a configuration, without the settings that say only what is recorded and how long the training goes on: every
/// measurement sets those itself.
Origin originOf(const config::TrainingConfig& configuration);
/// Of a trace: its configuration; else the command that was recorded with its folder and the content of its source
/// files; else the file.
Origin originOf(const profiler::Trace& trace, const std::filesystem::path& file);

/// This computer, as a measurement finds it; its device is known only once a program ran.
advisor::Machine thisMachine();
/// False when `trace` names another processor than `machine`, or only other devices. What either of them does not name
/// decides nothing: results of earlier versions name no machine.
bool isMachineOf(const advisor::Machine& machine, const profiler::Trace& trace);
/// For people: "AMD EPYC 9654, NVIDIA H100"; empty where it is not known.
QString machineText(const advisor::Machine& machine);

/// Settings that make a difference between the two trainings: difference() without those that originOf() leaves out.
std::vector<config::Difference> differenceOfOrigin(const config::TrainingConfig& a, const config::TrainingConfig& b);

/// Whether a result that was measured with `baseline` is one of the training `shown`: both are the same but for changes
/// that were measured, each of them before or after the change.
/// @param changes  the measured changes: those that were kept, and those of the result itself
bool belongsTo(const config::TrainingConfig& shown, const config::TrainingConfig& baseline,
               std::span<const advisor::Toggle> changes);

} // namespace app
