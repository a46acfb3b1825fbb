#pragma once

#include "profiler/model/message.h"

#include <cstdint>
#include <vector>

namespace profiler {

/// What was lost between the run and the trace. Always shown to the user.
struct CaptureStats {
    std::uint64_t dropped = 0;   ///< events that did not fit into the capture buffers
    std::uint64_t unmatched = 0; ///< ends without a start, device work without its launch
    bool cut = false;            ///< the writer did not finish: the process was killed or the disk was full
    bool live = false;           ///< the writer is still running: this is a snapshot
    std::vector<Message> notes;  ///< one sentence each: what happened and where
};

} // namespace profiler
