#pragma once

#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// Steps of two traces: which ones correspond to each other, and how two of them differ.
namespace profiler::analysis {

/// Which steps of two traces correspond to each other.
struct StepMatch {
    enum class By : std::uint8_t {
        Number,   ///< steps with the same index
        Position, ///< the first with the first, shifted by `offset`
    };
    By by = By::Number;
    std::ptrdiff_t offset = 0; ///< By::Position: position in the other trace minus the position in this one

    friend bool operator==(const StepMatch&, const StepMatch&) = default;
};

/// By number if the traces have a number in common, otherwise by position.
StepMatch matchSteps(const std::vector<Step>& steps, const std::vector<Step>& other);
/// The same match seen from the other trace.
StepMatch reversed(const StepMatch& match);
/// Position in `other` of the step that corresponds to `steps[position]`; empty: there is none.
std::optional<std::size_t> matchedStep(const StepMatch& match, const std::vector<Step>& steps, std::size_t position,
                                       const std::vector<Step>& other);

/// Position of the step that contains a time.
std::optional<std::size_t> stepContaining(const std::vector<Step>& steps, TraceTime time);

/// The step that a slice belongs to: kernels, copies and memsets belong to the step whose host work launched them, if
/// their launch is recorded; everything else belongs to the step in which it starts.
std::optional<std::size_t> stepOfSlice(const Trace& trace, const std::vector<Step>& steps, const Slice& slice);

/// Visits the kernels, copies and memsets that belong to a step (see stepOfSlice()) on the streams that `wanted`
/// accepts, stream by stream. Device work that starts more than two durations of the step after its end is not found.
/// @param name  visit only slices with this name; empty: all
void forEachDeviceWorkOf(const Trace& trace, const Step& step, const std::function<bool(const Track&)>& wanted,
                         std::optional<StringId> name, const std::function<void(const Slice&)>& visit);

/// The slice of another trace that corresponds to a slice within a step: it has the same kind and name, and is the same
/// occurrence within the matched step (the third `gemm` of the step on this device). Tracks correspond if they have the
/// same kind, and the same device or, for loader workers, the same name. The mark of a step corresponds to that of the
/// matched step. The cost is proportional to the number of slices in both steps.
/// @param slice  belongs to `step`, see stepOfSlice()
std::optional<Slice> counterpart(const Trace& trace, const Step& step, const Slice& slice, const Trace& other,
                                 const Step& otherStep);

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
