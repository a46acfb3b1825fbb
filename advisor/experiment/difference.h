#pragma once

#include "profiler/analysis/breakdown.h"
#include "profiler/analysis/steps.h"
#include "profiler/model/message.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace advisor {

/// What differs between two traces. Ratios are a / b: above 1, b is faster.
struct Difference {
    /// A figure of each trace.
    struct Figures {
        double a = 0, b = 0;
        [[nodiscard]] double ratio() const { return b > 0 ? a / b : 0; }
    };
    struct Kernel {
        std::string name;
        std::int64_t countA = 0, countB = 0; ///< in all steps, or the whole trace
        double aUs = 0, bUs = 0;             ///< a step's, or the whole trace's where one has no steps
    };
    /// What a step spends on something, in µs: an operator (self time), a phase, a class of kernels.
    struct Row {
        std::string name;
        double aUs = 0, bUs = 0;
    };
    /// Spread of the steps' durations, in µs.
    struct Spread {
        std::int64_t count = 0;
        double p10 = 0, p50 = 0, p90 = 0;
    };
    enum class Verdict { Faster, Slower, NotShown, NotComparable };

    std::vector<profiler::Message> whyNot; ///< reasons why the traces are not comparable; empty: they are
    std::vector<profiler::Message> notes;  ///< what a reader of the verdict should know
    std::optional<Figures> meanStepUs, medianStepUs, steadyStepUs; ///< both have steps (steady ones)
    std::optional<std::pair<double, double>> ci95;       ///< of the ratio of mean steps; both have two steps or more
    std::optional<std::pair<double, double>> steadyCi95; ///< the same of steady steps
    /// The one statistic from which the verdict and its headline follow. It covers the steady steps where both traces
    /// have two or more, since warm-up says nothing about the rest of a run; otherwise all whole steps.
    struct Statistic {
        enum class Kind {
            PairedRatio, ///< geometric means of the steps that both runs trained on the same batch
            MedianRatio  ///< medians
        };
        Kind kind = Kind::MedianRatio;
        bool steady = false;
        Figures stepUs;                                ///< geometric means or medians, by `kind`
        std::optional<std::pair<double, double>> ci95; ///< of stepUs.ratio()
        std::size_t stepsA = 0, stepsB = 0;            ///< that it covers; equal for pairs
    };
    std::optional<Statistic> statistic;    ///< both have whole steps
    Figures spanUs, kernelUs;              ///< first to last device operation; sum of kernels, in the whole trace
    std::optional<Figures> kernelStepUs;   ///< sum of kernels in a step
    bool perStep = false;                  ///< what kernels' times are
    std::vector<Kernel> kernels;           ///< largest change first
    std::vector<Row> ops, phases, classes; ///< largest change first; operators and classes only where both record them
    Spread spreadA, spreadB;
    std::vector<double> stepsUsA, stepsUsB; ///< of whole steps, in order
    profiler::analysis::Breakdown breakdownA, breakdownB;
    Verdict verdict = Verdict::NotShown;
};

/// Compares two traces. Steps pair where both runs were configured by us to train on the same batches in the same
/// order. "Faster" and "slower" ask that the interval of the statistic clears the minimum effect of an experiment
/// (kWorth).
Difference difference(const profiler::Trace& a, const profiler::Trace& b,
                      const std::vector<profiler::analysis::Step>& stepsA,
                      const std::vector<profiler::analysis::Step>& stepsB);

/// "paired ratio" or "ratio of medians", as JSON names it.
std::string_view statisticName(Difference::Statistic::Kind kind);

/// The verdict as a sentence: "This run is 25 % slower than baseline".
/// @param b, a  what the traces are called; `b` starts the sentence
profiler::Message headline(const Difference& difference, std::string_view b, std::string_view a);
/// The statistic that the headline states, with its interval and the steps that it covers. Empty without one, and where
/// the traces are not comparable.
profiler::Message basis(const Difference& difference);

} // namespace advisor
