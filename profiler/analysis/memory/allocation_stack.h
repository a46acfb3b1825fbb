#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profiler::analysis {

/// A line of the traced program.
struct SourceLine {
    std::string file; ///< as recorded, usually absolute; empty: unknown
    std::int64_t line = 0;
    std::string function; ///< may be empty
    [[nodiscard]] bool empty() const { return file.empty(); }
    friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

/// The part of a training step that a call stack belongs to.
enum class AllocationOrigin : std::uint8_t {
    Unknown,      ///< no frame of PyTorch tells
    Construction, ///< a module is built, moved to a device, or loaded
    Forward,      ///< a module is called
    Backward,     ///< autograd's engine runs
    Optimizer,
};

/// What the call stack of an allocator's event says.
struct AllocationStack {
    AllocationOrigin origin = AllocationOrigin::Unknown;
    SourceLine place;      ///< innermost line of the user's program; of PyTorch's Python code if there is none
    std::string innermost; ///< "file:line" of the innermost Python frame; empty if there is none
    bool hasFrames = false;
};

/// Reads a call stack as the importer of memory snapshots writes it: one "file:line function" per line, the innermost
/// first. The innermost frame that names a part of a step decides; see the implementation for the names, which are
/// those of PyTorch 1.12 to 2.9.
AllocationStack readAllocationStack(std::string_view text);

} // namespace profiler::analysis
