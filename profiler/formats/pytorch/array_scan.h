#pragma once

#include "profiler/formats/format.h"
#include "profiler/formats/pytorch/byte_source.h"
#include "profiler/formats/pytorch/event_sink.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace profiler::formats::json {

/// How an array of events ended.
struct ArrayEnd {
    bool isClosed = false;                 ///< by its bracket; otherwise the text ends, or the scan was stopped
    std::uint64_t offset = 0;              ///< after the bracket, or the end of the text
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
