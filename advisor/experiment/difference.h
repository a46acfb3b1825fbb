#pragma once

#include "profiler/analysis/breakdown.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace advisor {

/// Two traces against each other. Ratios are a / b: above 1, b is faster.
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

    std::vector<std::string> whyNot;                               ///< comparable where empty
    std::vector<std::string> notes;                                ///< what may make them incomparable, and may not
    std::optional<Figures> meanStepUs, medianStepUs, steadyStepUs; ///< both have steps (steady ones)
    std::optional<std::pair<double, double>> ci95; ///< of the ratio of mean steps; both have two steps or more
    /// What the verdict is of: steady steps where both traces have two or more, since what warms up says nothing of the
    /// rest; else all of them.
    struct Judged {
        bool steady = false;
        Figures stepUs;
        std::optional<std::pair<double, double>> ci95;
    };
    std::optional<Judged> judged;          ///< both have steps
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

/// The interval is Student's t (Welch's degrees of freedom) on the logarithm of the ratio of means, by the delta
/// method. Steps of one run follow each other, so it is rather too narrow than too wide: a difference of a few percent
/// between two single runs is shown by an experiment, not by this. Faster and slower must clear what an experiment asks
/// for (kWorth).
Difference difference(const profiler::Trace& a, const profiler::Trace& b,
                      const std::vector<profiler::analysis::Step>& stepsA,
                      const std::vector<profiler::analysis::Step>& stepsB);

} // namespace advisor
