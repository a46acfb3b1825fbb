#pragma once

#include "profiler/model/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace profiler::capture {

/// What one process wrote: `<trace>.<pid>`, or `<trace>.<pid>.2` where a program replaced itself by exec.
struct TracePart {
    std::filesystem::path path;
    std::int64_t pid = 0;
};

/// The parts of a trace that lie beside it, by pid and number. Files that are none of ours are left out.
std::vector<TracePart> findParts(const std::filesystem::path& trace);

struct CollectOptions {
    std::filesystem::path trace;  ///< to be made; one of that name is replaced
    std::int64_t mainProcess = 0; ///< whose metadata counts where several processes say something of one key
    std::vector<std::pair<std::string, std::string>> metadata; ///< added: "record.command"…
    std::vector<Message> notes;                                ///< added to those about the parts
};

struct Collected {
    std::uint64_t events = 0; ///< whole slices; no counters
    std::uint64_t dropped = 0;
    std::size_t processes = 0;
    std::vector<Message> notes; ///< what is missing, one sentence each
};

/// Makes one trace of many processes' parts: their frames follow each other, with names and tracks numbered anew; the
/// clock is one already. A part that has no end (its process was killed, or left by _exit) is taken with what its ring
/// file holds. Memory is that of one frame and the names. Parts are left where they are.
/// Fails where the trace cannot be written (no folder, disk full). A part that cannot be read is a note.
Result<Collected> collectParts(const std::vector<TracePart>& parts, const CollectOptions& options);

/// Deletes parts and their ring files.
void removeParts(const std::vector<TracePart>& parts);

} // namespace profiler::capture
