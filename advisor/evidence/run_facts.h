#pragma once

#include "advisor/rule.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/steps/warm_up.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Questions about a run that several rules ask.
namespace advisor {

/// True if the trace contains operators or phases of training.
bool containsTraining(const profiler::Trace& trace);
/// True if the run used no CUDA device: none was requested, none is recorded and none did anything, and an imported
/// trace without device work contains no GPU operators and no GPU memory. Without a configuration, the trace must
/// contain training.
bool ranOnCpu(const RuleContext& c);
/// True if a device ran kernels, copies or memsets.
bool hasDeviceWork(const profiler::Trace& trace);
/// Number of threads that a step's compute keeps busy: on a GPU, the launching thread; on the CPU, the operators'
/// threads ("host.threads", else from the configuration, else one per core).
int computeThreads(const RuleContext& c);
/// A value of the trace's metadata; empty if it is not recorded.
std::string_view metadata(const profiler::Trace& trace, std::string_view key);

/// The run's value of a knob in the format of config::toText; no value for an imported trace or for a knob that the
/// trainer does not have.
std::optional<std::string> setting(const RuleContext& c, std::string_view key);

/// The steps whose operators a rule uses, as counted by OpCosts: steady steps if any of them has operators, else all
/// complete steps that have some. Sorted; empty if operators were not recorded or there are no steps.
std::vector<profiler::TimeRange> stepsWithOps(const RuleContext& c);
/// Times in which a thread runs validation.
profiler::analysis::Intervals validations(const profiler::Trace& trace);

/// Indices of the first steps of epochs, according to validations, worker starts and batch numbers; the first step is
/// one of them. Empty without steps.
std::vector<std::size_t> firstOfEpochs(const RuleContext& c);

/// True if training loads data without workers, as far as the trace shows. Our own recordings show the workers of a
/// loader if they show data loading at all (a C++ program may load in its own threads); other profilers do not show
/// worker processes.
bool hadNoWorkers(const RuleContext& c);

/// Based on the name of an operator or a kernel (kernel_class.h).
bool isConvolution(std::string_view name);
/// Convolutions and matrix products; for operators.
bool isMatrixProduct(std::string_view name);

/// Share of the steps' work with a matching name: of kernel time in the analysis window if kernels are recorded, else
/// of operators' self time.
struct WorkShare {
    bool recorded = false;
    double share = 0;                       ///< [0, 1]
    std::vector<profiler::SliceId> longest; ///< matching slices, longest first, at most ten
};
WorkShare workShare(const RuleContext& c, bool (*fits)(std::string_view name));

/// Warm-up inside the recorded window, excluded from the steady state.
struct RecordedWarmUp {
    profiler::TimeRange recorded; ///< from the first to the last step; without steps, from the first to the last device
                                  ///< work
    std::size_t steps = 0;        ///< number of warm-up steps at the start
    double excessUs = 0;          ///< extra time of these steps compared with as many steady ones; 0: no steady steps
    double oneTimeUs = 0;         ///< host work that a process does once, within `recorded`
    std::vector<profiler::analysis::OneTimePart> parts; ///< the parts of that work, longest first

    /// Share of one-time work in the recorded time.
    [[nodiscard]] double share() const;
    /// "loading kernels' code 310 ms, allocating memory 12.0 ms".
    [[nodiscard]] std::string causesText() const;
    /// Its longest calls, most relevant first.
    [[nodiscard]] std::vector<profiler::SliceId> longest() const;
};
RecordedWarmUp recordedWarmUp(const RuleContext& c);

} // namespace advisor
