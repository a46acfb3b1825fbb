#pragma once

#include "advisor/advice.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <QString>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

namespace app {

/// One property of a slice as text; it may link to another slice or to a source line.
struct SliceDetail {
    QString label; ///< "Duration"
    QString value; ///< "41.2 ms"
    std::optional<profiler::SliceId> link = {};
    std::optional<advisor::SourcePlace> source = {};
    friend bool operator==(const SliceDetail&, const SliceDetail&) = default;
};

/// The trace has slices or counters.
bool holdsAnything(const profiler::Trace& trace);
/// Kind, duration, position and the arguments that apply: the content of a tooltip.
std::vector<SliceDetail> sliceFacts(const profiler::Trace& trace, const profiler::Slice& slice);
/// Other typed arguments: shapes, types, device, stream, process.
std::vector<SliceDetail> sliceArguments(const profiler::Trace& trace, const profiler::Slice& slice);
/// How a kernel was launched, and its occupancy, as far as the trace has them; empty for other slices.
std::vector<SliceDetail> sliceLaunch(const profiler::Trace& trace, const profiler::Slice& slice);
/// A link to the step in which the slice starts; none for step slices and outside steps.
std::optional<SliceDetail> sliceStep(const profiler::Slice& slice, const std::vector<profiler::analysis::Step>& steps);
/// Self time of the slice. O(n) in the nested slices; do not call on the GUI thread for long slices.
profiler::Nanoseconds selfTime(const profiler::Trace& trace, const profiler::Slice& slice,
                               const std::stop_token& stop = {});
/// Related slices: the parent, the launch or the launched work, the forward or backward pass.
std::vector<SliceDetail> sliceLinks(const profiler::Trace& trace, const profiler::Slice& slice);
/// The slices around a slice, the innermost first and at most 40: its call stack. That of device work begins with the
/// call that launched it. Empty if there are fewer than two, because sliceLinks() contains one.
std::vector<SliceDetail> sliceStack(const profiler::Trace& trace, const profiler::Slice& slice);
/// The Python function (PyTorch's with_stack=True) that a slice is or that called it; for device work, the one that
/// launched it. The innermost one outside PyTorch if the slice is none. The line is where the function starts; the file
/// is as recorded. None if the trace has no such functions.
std::optional<advisor::SourcePlace> pythonFunctionOf(const profiler::Trace& trace, const profiler::Slice& slice);
/// The Python function with this recorded name, "train.py(12): step"; none for other names.
std::optional<advisor::SourcePlace> pythonFunctionNamed(std::string_view name);
/// A link to its line in the recorded program.
SliceDetail sourceLink(const advisor::SourcePlace& place);
/// Its name as a title; the title of a step contains its number.
QString sliceTitle(const profiler::Trace& trace, const profiler::Slice& slice);
/// Name, kind, duration and track in one sentence, for screen readers.
QString sliceSentence(const profiler::Trace& trace, const profiler::Slice& slice);
/// True if the id is valid in this trace: evidence may outlive its trace.
bool holds(const profiler::Trace& trace, profiler::SliceId id);

} // namespace app
