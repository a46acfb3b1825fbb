#pragma once

#include "profiler/io/wire/records.h"
#include "profiler/model/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace profiler::wire {

/// Appends checksummed frames to a trace file. It holds the lock on the file from before the file has its name until
/// close(), by which readers see that the writer is alive. One thread at a time.
class FrameWriter {
public:
    /// Makes the file anew. Fails when the folder is missing, not writable, or the disk is full; an existing file of
    /// that name is replaced only once the new one could be made.
    /// @param replace  false: fails where a file of that name exists, also one that was made at the same time
    static Result<std::unique_ptr<FrameWriter>> create(const std::filesystem::path& path, std::uint64_t runId,
                                                       bool replace = true);
    ~FrameWriter();

    /// Writes one frame at once (no user-space buffering). A short or failed write (disk full) is undone by truncating
    /// to the last whole frame, so that what was there stays readable. Fails too when the file was deleted.
    Result<void> write(FrameType type, std::span<const std::byte> payload);
    [[nodiscard]] std::uint64_t bytesWritten() const;
    /// Opens the file anew, and locks it, where the program has closed it; cheap where it has not.
    void keepOpen();
    /// Nothing more will be written: readers no longer take the writer for alive. In a child by fork: gives up the
    /// file, which the parent goes on writing.
    void close();

private:
    FrameWriter();
    struct State;
    std::unique_ptr<State> m;
};

} // namespace profiler::wire
