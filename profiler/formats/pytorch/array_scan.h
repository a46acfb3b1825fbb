#pragma once

#include "profiler/formats/format.h"
#include "profiler/formats/pytorch/chunk_scan.h"

#include <functional>

namespace profiler::formats::json {

/// How an array of events ended.
struct ArrayEnd {
    ScannedPart::End how = ScannedPart::End::TextEnd;
    std::uint64_t offset = 0;              ///< ArrayEnd: after the closing bracket
    std::optional<std::uint64_t> cutAt;    ///< the event that the end of the text cuts off
    std::optional<std::uint64_t> brokenAt; ///< the event with a syntax error after which no other event was found
};

/// Scans an array of events with several threads. Each thread takes parts of the text and guesses where the first event
/// of a part starts. A part counts only if the scan of the previous part ended exactly there, so a wrong guess only
/// costs time.
/// @param begin   the position after the array's opening bracket
/// @param commit  receives the content of each part, in text order, on the calling thread
ArrayEnd scanArray(ByteSource& source, SharedBuild& shared, std::uint64_t begin, const PassOptions& passOptions,
                   const ReadOptions& options, const std::function<void(ScanResult&&)>& commit);

} // namespace profiler::formats::json
