#pragma once

#include "profiler/model/message.h"

#include <cstdint>
#include <vector>

namespace profiler {

/// What was lost between the run and the trace; shown, never silent.
struct CaptureStats {
    std::uint64_t dropped = 0;   ///< events that the capture had no room for
    std::uint64_t unmatched = 0; ///< ends without begin, device work without its launch
    bool cut = false;            ///< the writer did not finish: the process was killed or the disk filled
    bool live = false;           ///< the writer is still at work: a snapshot
    std::vector<Message> notes;  ///< one sentence each: what, where
};

} // namespace profiler
