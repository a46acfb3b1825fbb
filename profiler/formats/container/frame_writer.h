#pragma once

#include "profiler/formats/container/records.h"
#include "profiler/model/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace profiler::container {

/// Appends frames with checksums to a trace file. Holds a lock on the file from before the file has its final name
/// until close(); readers use the lock to see that the writer is alive. Used by one thread at a time.
class FrameWriter {
public:
    /// Creates the file. Fails if the folder is missing or not writable, or if the disk is full. An existing file is
    /// replaced only after the new one was created.
    /// @param replace  false: fail if the file exists, even if it was created at the same time
    static Result<std::unique_ptr<FrameWriter>> create(const std::filesystem::path& path, std::uint64_t runId,
                                                       bool replace = true);
    ~FrameWriter();

    /// Writes one frame immediately, without user-space buffering. A failed or partial write (disk full) is undone by
    /// truncating the file to the last complete frame, so that it stays readable. Also fails if the file was deleted.
    Result<void> write(FrameType type, std::span<const std::byte> payload);
    [[nodiscard]] std::uint64_t bytesWritten() const;
    /// Reopens and locks the file if the program has closed it. Cheap if it has not.
    void keepOpen();
    /// Ends writing; readers no longer see a live writer. In a forked child: releases the file, which the parent
    /// continues to write.
    void close();

private:
    FrameWriter();
    struct State;
    std::unique_ptr<State> m;
};

} // namespace profiler::container
