#pragma once

#include "profiler/formats/container/trace_file.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

namespace profiler::container {

/// How to read a trace file. Readers of live files use one thread and ignore the memory budget.
struct ReadOptions {
    std::function<void(double)> progress; ///< receives the share read, [0, 1], on the caller's thread; may be empty
    std::stop_token stop;
    unsigned threads = 0;           ///< threads that decode; 0: one per core
    std::uint64_t memoryBudget = 0; ///< bytes; larger traces keep their blocks in the file. 0: half of the memory
    /// Receives, on the caller's thread, the whole trace of a sealed file before its blocks are decoded, which are then
    /// read on demand; or what was read of a long live file so far, which is not marked live. May be empty.
    std::function<void(std::shared_ptr<const Trace>)> preview;
    std::chrono::milliseconds previewAfter{250}; ///< live files: time until the first call; then four times as long
};

/// Reads a sealed trace file. Damaged blocks are skipped and reported with their byte offsets in captureStats(). Fails
/// if the Meta block is missing. Use readTrace() of tailing_reader.h for files of both states.
Result<std::shared_ptr<const Trace>> readBlocks(InputFile file, const TraceHeader& header, const ReadOptions& options);

} // namespace profiler::container
