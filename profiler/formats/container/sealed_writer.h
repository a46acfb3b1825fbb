#pragma once

#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>

namespace profiler::container {

struct WriteOptions {
    std::function<void(double)> progress; ///< receives the share written, [0, 1], on the caller's thread; may be empty
    std::stop_token stop;
    unsigned threads = 0; ///< threads that compress; 0: one per core
    /// Metadata of the copy in addition to the trace's. An entry overrides the trace's entry of the same key; an empty
    /// text removes it.
    std::map<std::string, std::string> metadata;
};

/// Writes a whole trace as a sealed file (block_file.h), with about 10 bytes per slice plus the details of the slices.
/// These are read from the original file and become a part of the copy. If the file can no longer be read, the copy
/// records how many slices lack details. Written under a temporary name and renamed when it is complete; if the write
/// fails, an existing file stays unchanged.
Result<void> writeTrace(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options = {});

/// Seals a live file whose recording has ended or was killed: replaces it with a sealed file of the same content, and
/// deletes its ring file. If that fails, the live file stays as it is. Unavailable if the file is still being written.
Result<void> sealTrace(const std::filesystem::path& path, const WriteOptions& options = {});
/// The same for a caller that has read the whole file already.
/// @param trace  the content of the file
Result<void> sealTrace(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options = {});

} // namespace profiler::container
