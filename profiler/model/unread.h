#pragma once

#include <cstdint>
#include <string>

namespace profiler {

/// What could not be read when somebody asked for it, of a trace that lies in a file: the disk went away, or another
/// program cut the file.
struct Unread {
    std::uint64_t slices = 0, samples = 0;
    std::string why; ///< of one of them, for people; empty where all could be read
};

} // namespace profiler
