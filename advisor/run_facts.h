#pragma once

#include "advisor/rule.h"
#include "profiler/analysis/intervals.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What several rules ask of a run.
namespace advisor {

/// Operators or phases of a training are in it.
bool holdsATraining(const profiler::Trace& trace);
/// The run used no CUDA device: none was asked for, none is recorded and none did anything, nor do operators or memory
/// of a GPU show in an imported trace that was recorded without its work. Without a configuration
/// a trace must hold a training to say so.
bool ranOnCpu(const RuleContext& c);
/// Some device ran kernels, copies or memsets.
bool hasDeviceWork(const profiler::Trace& trace);
/// Threads that a step's computing keeps busy: on a GPU the one that launches, on the CPU the operators' threads
/// ("host.threads", else the configuration's, else one for each core).
int computeThreads(const RuleContext& c);
/// A value of the trace's metadata; empty where it is not recorded.
std::string_view metadata(const profiler::Trace& trace, std::string_view key);

/// The run's value of a knob, as config::toText has it; none for an imported trace, or a knob that the trainer lacks.
std::optional<std::string> setting(const RuleContext& c, std::string_view key);

/// Steps by whose operators a rule judges, as OpCosts counts them: steady ones where any has operators, else all whole
/// ones that have. Sorted; empty: operators were not recorded, or there are no steps.
std::vector<profiler::TimeRange> stepsWithOps(const RuleContext& c);
/// Times in which a thread validates.
profiler::analysis::Intervals validations(const profiler::Trace& trace);

/// Indices of the steps that epochs begin with, as validations, starting workers and numbers of batches tell; the first
/// step is one of them. Empty without steps.
std::vector<std::size_t> firstOfEpochs(const RuleContext& c);

/// The training loads without workers, as far as the trace shows. Our own recording shows the workers that load for
/// steps, where it shows loading at all (a program of C++ may have threads of its own for it); other profilers see
/// those in processes not at all.
bool hadNoWorkers(const RuleContext& c);

/// By the name of an operator or a kernel (kernel_class.h).
bool isConvolution(std::string_view name);
/// Of operators: convolutions and matrix products.
bool isMatrixProduct(std::string_view name);

/// Share of the steps' work whose name fits: of kernel time in the judged window where kernels are recorded, else of
/// operators' self time.
struct WorkShare {
    bool recorded = false;
    double share = 0;                       ///< [0, 1]
    std::vector<profiler::SliceId> longest; ///< of what fits, longest first, at most ten
};
WorkShare workShare(const RuleContext& c, bool (*fits)(std::string_view name));

} // namespace advisor
