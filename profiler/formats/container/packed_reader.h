#pragma once

#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>

namespace profiler::packed {

struct UnpackOptions {
    std::function<void(double)> progress; ///< receives the share read, [0, 1], on the caller's thread; may be empty
    std::stop_token stop;
    unsigned threads = 0;           ///< threads that decode; 0: one per core
    std::uint64_t memoryBudget = 0; ///< bytes; larger traces keep their blocks in the file. 0: half of the memory
    /// Called once with the whole trace before blocks are decoded; blocks are then read on demand. May be empty.
    std::function<void(std::shared_ptr<const Trace>)> preview;
};

/// True if the file is in our packed format, of any version.
bool isPacked(std::span<const std::byte> head);

/// Opens a file written by writePacked. Damaged blocks are skipped and reported with their byte offsets in
/// captureStats(). Fails if the header or the Meta section is missing, or if a newer version wrote the file.
Result<std::shared_ptr<const Trace>> readPacked(const std::filesystem::path& path, const UnpackOptions& options = {});

} // namespace profiler::packed
