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
    std::function<void(double)> progress; ///< share read, [0, 1]; on the caller's thread; may be empty
    std::stop_token stop;
    unsigned threads = 0;           ///< that decode; 0: one a core
    std::uint64_t memoryBudget = 0; ///< bytes; a trace that needs more keeps its blocks in the file. 0: half the memory
    /// Called once, before blocks are decoded, with the whole trace: blocks are read as somebody asks for them. May be
    /// empty.
    std::function<void(std::shared_ptr<const Trace>)> preview;
};

/// Whether a file that begins so is one of ours, of whatever version.
bool isPacked(std::span<const std::byte> head);

/// Opens a file that writePacked made. Damaged blocks are left out and named, with their byte offsets, in
/// captureStats(). Fails where there is no header or no Meta section, or a newer version wrote it.
Result<std::shared_ptr<const Trace>> readPacked(const std::filesystem::path& path, const UnpackOptions& options = {});

} // namespace profiler::packed
