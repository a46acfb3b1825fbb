#pragma once

#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>

namespace profiler::packed {

struct PackOptions {
    std::function<void(double)> progress; ///< share written, [0, 1]; on the caller's thread; may be empty
    std::stop_token stop;
    unsigned threads = 0; ///< that compress; 0: one a core
    /// What the copy's metadata has besides the trace's, or in its stead; an empty text takes an entry away.
    std::map<std::string, std::string> metadata;
};

/// Writes a whole trace in our own format (section.h), about 10 bytes a slice, and what the details of its slices take:
/// they are read from the file that the trace came from, and are in the copy. Where that file cannot be read any more
/// the copy says how many slices have none. Written beside `path` and renamed when it is whole: a failure leaves what
/// was there.
Result<void> writePacked(const Trace& trace, const std::filesystem::path& path, const PackOptions& options = {});

} // namespace profiler::packed
