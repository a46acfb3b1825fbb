#pragma once

#include "advisor/source_place.h"
#include "profiler/analysis/steps.h"
#include "profiler/model/trace.h"

#include <QString>
#include <optional>
#include <stop_token>
#include <vector>

namespace app {

/// One thing known of a slice, in words; it may lead to another slice, or to a line of the recorded program.
struct SliceDetail {
    QString label; ///< "Duration"
    QString value; ///< "41.2 ms"
    std::optional<profiler::SliceId> link = {};
    std::optional<advisor::SourcePlace> source = {};
    friend bool operator==(const SliceDetail&, const SliceDetail&) = default;
};

/// The trace has slices or counters.
bool holdsAnything(const profiler::Trace& trace);
/// Kind, duration, place and arguments that apply: what fits a hover card.
std::vector<SliceDetail> sliceFacts(const profiler::Trace& trace, const profiler::Slice& slice);
/// Typed arguments besides: shapes, types, device, stream, process.
std::vector<SliceDetail> sliceArguments(const profiler::Trace& trace, const profiler::Slice& slice);
/// The step in which it begins, as a link; none for a step itself and outside of steps.
std::optional<SliceDetail> sliceStep(const profiler::Slice& slice, const std::vector<profiler::analysis::Step>& steps);
/// Its duration without what lies directly inside it. O(n) in what lies inside: off the GUI thread for long slices.
profiler::Nanoseconds ownTime(const profiler::Trace& trace, const profiler::Slice& slice,
                              const std::stop_token& stop = {});
/// Slices that belong to it: the one around it, its launch or device work, its forward or backward.
std::vector<SliceDetail> sliceLinks(const profiler::Trace& trace, const profiler::Slice& slice);
/// Its line in the recorded program, as a link.
SliceDetail sourceLink(const advisor::SourcePlace& place);
/// Its name as a title; a step's with its number.
QString sliceTitle(const profiler::Trace& trace, const profiler::Slice& slice);
/// Name, kind, duration and track in one sentence, for screen readers.
QString sliceSentence(const profiler::Trace& trace, const profiler::Slice& slice);
/// The id is one of this trace's: evidence may outlive the trace it was found in.
bool holds(const profiler::Trace& trace, profiler::SliceId id);
/// A name of the trace as text.
QString traceText(std::string_view text);

} // namespace app
