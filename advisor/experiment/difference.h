#pragma once

#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/steps/breakdown.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/message.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The differences between two traces, and whether they do the same work.
namespace advisor {

/// The differences between two traces. Ratios are a / b: above 1, b is faster.
struct Difference {
    /// One quantity in both traces.
    struct Figures {
        double a = 0, b = 0;
        [[nodiscard]] double ratio() const { return b > 0 ? a / b : 0; }
    };
    struct Kernel {
        std::string name;
        std::int64_t countA = 0, countB = 0; ///< in all steps, or in the whole trace
        double aUs = 0, bUs = 0;             ///< per step, or in the whole trace if one has no steps
    };
    /// Step time in µs by operator (self time), phase or kernel class.
    struct Row {
        std::string name;
        double aUs = 0, bUs = 0;
    };
    /// Distribution of the step durations in µs.
    struct Spread {
        std::int64_t count = 0;
        double p10 = 0, p50 = 0, p90 = 0;
    };
    enum class Verdict { Faster, Slower, NotShown, NotComparable };

    std::vector<profiler::Message> whyNot; ///< reasons why the traces are not comparable; empty: they are comparable
    std::vector<profiler::Message> notes;  ///< what a reader of the verdict should know
    std::optional<Figures> meanStepUs, medianStepUs, steadyStepUs; ///< set if both traces have steps (steady ones)
    std::optional<std::pair<double, double>> ci95;       ///< of the ratio of mean steps; set if both traces have at
                                                         ///< least two steps
    std::optional<std::pair<double, double>> steadyCi95; ///< the same for steady steps
    /// The statistic that determines the verdict and the headline. It covers the steady steps if both traces have at
    /// least two of them, because warm-up is not representative of a run; otherwise all complete steps.
    struct Statistic {
        enum class Kind {
            PairedRatio, ///< geometric means of the steps in which both runs used the same batch
            MedianRatio  ///< medians
        };
        Kind kind = Kind::MedianRatio;
        bool steady = false;
        Figures stepUs;                                ///< geometric means or medians, by `kind`
        std::optional<std::pair<double, double>> ci95; ///< of stepUs.ratio()
        std::size_t stepsA = 0, stepsB = 0;            ///< number of steps covered; equal for pairs
    };
    std::optional<Statistic> statistic;    ///< set if both traces have complete steps
    Figures spanUs, kernelUs;              ///< from the first to the last device operation; sum of kernels in the whole
                                           ///< trace
    std::optional<Figures> kernelStepUs;   ///< sum of kernels per step
    bool perStep = false;                  ///< whether kernel times are per step
    std::vector<Kernel> kernels;           ///< largest change first
    std::vector<Row> ops, phases, classes; ///< largest change first; operators and classes only if both traces record
                                           ///< them
    Spread spreadA, spreadB;
    std::vector<double> stepsUsA, stepsUsB; ///< of complete steps, in order
    profiler::analysis::Breakdown breakdownA, breakdownB;
    Verdict verdict = Verdict::NotShown;
};

/// Compares two traces. Steps are paired if both are our own runs with the same batches in the same order. "Faster" and
/// "slower" require that the interval of the statistic clears the minimum effect of an experiment (kMinimumEffect).
Difference difference(const profiler::Trace& a, const profiler::Trace& b,
                      const std::vector<profiler::analysis::Step>& stepsA,
                      const std::vector<profiler::analysis::Step>& stepsB);

/// By the reasons that prevent a comparison, and by the interval of the statistic.
Difference::Verdict verdictOf(const Difference& difference);

/// Settings that both traces record in their metadata, and that differ: model, batch size, device, processor. The
/// parameter `key` of a message is the key of the setting.
std::vector<profiler::Message> differentSettings(const profiler::Trace& a, const profiler::Trace& b);
/// A reason not to compare traces that ran on different devices; empty if they are the same or unknown.
profiler::Message differentHardware(const std::multiset<std::string>& a, const std::multiset<std::string>& b);

/// "paired ratio" or "ratio of medians", as in the JSON output.
std::string_view statisticName(Difference::Statistic::Kind kind);

/// The verdict as a sentence: "This run is 25 % slower than baseline".
/// @param b, a the names of the traces; `b` starts the sentence
profiler::Message headline(const Difference& difference, std::string_view b, std::string_view a);
/// The statistic behind the headline, with its interval and the steps that it covers. Empty if there is none, or if the
/// traces are not comparable.
profiler::Message basis(const Difference& difference);

} // namespace advisor
