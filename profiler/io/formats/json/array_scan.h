#pragma once

#include "profiler/io/formats/format.h"
#include "profiler/io/formats/json/chunk_scan.h"

#include <functional>

namespace profiler::formats::json {

/// How an array of events ended.
struct ArrayEnd {
    ScannedPart::End how = ScannedPart::End::TextEnd;
    std::uint64_t offset = 0;              ///< ArrayEnd: behind the bracket
    std::optional<std::uint64_t> cutAt;    ///< the event that the text ends in
    std::optional<std::uint64_t> brokenAt; ///< the event that breaks the grammar, behind which none was found
};

/// Scans an array of events by several threads. Each takes parts of the text and guesses where the first event of a
/// part begins; a part counts only if the scan of the part before ended at that very place, so that a wrong guess costs
/// time and nothing else.
/// @param begin   behind the array's bracket
/// @param commit  given what each part holds, in the order of the text, on the calling thread
ArrayEnd scanArray(ByteSource& source, SharedBuild& shared, std::uint64_t begin, const Manner& manner,
                   const ReadOptions& options, const std::function<void(Harvest&&)>& commit);

} // namespace profiler::formats::json
