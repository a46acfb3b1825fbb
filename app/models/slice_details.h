#pragma once

#include "profiler/model/trace.h"

#include <QString>
#include <optional>
#include <vector>

namespace app {

/// One thing known of a slice, in words; a link leads to another slice.
struct SliceDetail {
    QString label; ///< "Duration"
    QString value; ///< "41.2 ms"
    std::optional<profiler::SliceId> link;
    friend bool operator==(const SliceDetail&, const SliceDetail&) = default;
};

/// Kind, duration, place and arguments that apply: what fits a hover card.
std::vector<SliceDetail> sliceFacts(const profiler::Trace& trace, const profiler::Slice& slice);
/// Slices that belong to it: the one around it, its launch or device work, its forward or backward.
std::vector<SliceDetail> sliceLinks(const profiler::Trace& trace, const profiler::Slice& slice);
/// Its name as a title; a step's with its number.
QString sliceTitle(const profiler::Trace& trace, const profiler::Slice& slice);
/// Name, kind, duration and track in one sentence, for screen readers.
QString sliceSentence(const profiler::Trace& trace, const profiler::Slice& slice);
/// The id is one of this trace's: evidence may outlive the trace it was found in.
bool holds(const profiler::Trace& trace, profiler::SliceId id);
/// A name of the trace as text.
QString traceText(std::string_view text);

} // namespace app
