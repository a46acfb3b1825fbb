#pragma once

#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace profiler::analysis {

/// The difference between one step of a trace (a) and one step of another, or of the same, trace (b).
struct StepDifference {
    /// A phase, an operator, or a kernel, copy or memset by name.
    struct Row {
        ActivityKind kind{}; ///< Phase, CpuOp, Kernel, GpuMemcpy, GpuMemset
        std::string name;    ///< of a phase: a name in profiler::phase; "other": step time not covered by any phase
        std::int64_t countA = 0, countB = 0;       ///< occurrences in the step; of a phase: 1 if it takes time, else 0
        Nanoseconds a{}, b{};                      ///< phases: exclusive; operators: self time; device work: durations
        std::optional<SliceId> longestA, longestB; ///< empty: does not occur, or is the rest of the step

        [[nodiscard]] Nanoseconds change() const { return b - a; }
        [[nodiscard]] bool isNew() const { return countA == 0; }
        [[nodiscard]] bool isGone() const { return countB == 0; }
    };
    Step stepA, stepB;
    std::vector<Row> rows; ///< largest change first
};

/// Compares the phases, the operators of the process and its device work in two steps. Device work belongs to the step
/// that launched it (see stepOfSlice()). The cost is proportional to the number of slices in both steps.
/// Steps of traces without operators or devices have only the other rows.
StepDifference stepDifference(const Trace& a, const Step& stepA, const Trace& b, const Step& stepB);

} // namespace profiler::analysis
