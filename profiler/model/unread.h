#pragma once

#include <cstdint>
#include <string>

namespace profiler {

/// Parts of a trace in a file that could not be read on demand: for example, the disk was removed or another program
/// truncated the file.
struct Unread {
    std::uint64_t slices = 0, samples = 0;
    std::string why; ///< the reason for one of them, for people; empty if everything could be read
};

} // namespace profiler
