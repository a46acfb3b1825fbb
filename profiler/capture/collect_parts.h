#pragma once

#include "profiler/model/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// One trace from the files that the processes of a program have written.
namespace profiler::capture {

/// The file written by one process: `<trace>.<pid>`, or `<trace>.<pid>.2` if a program replaced itself by exec.
struct TracePart {
    std::filesystem::path path;
    std::int64_t pid = 0;
};

/// The parts of a trace in its folder, sorted by pid and number. Other files are ignored.
std::vector<TracePart> findParts(const std::filesystem::path& trace);

/// The metadata of the process that wrote a part; empty if the part cannot be read.
std::map<std::string, std::string> metadataOf(const TracePart& part);

struct CollectOptions {
    std::filesystem::path trace;  ///< output file; an existing one is replaced
    std::int64_t mainProcess = 0; ///< its metadata wins if several processes set the same key
    std::vector<std::pair<std::string, std::string>> metadata; ///< additional entries: "record.command"…
    std::vector<Message> notes;                                ///< added to the notes about the parts
};

struct Collected {
    std::uint64_t events = 0; ///< complete slices, without counters
    std::uint64_t dropped = 0;
    std::size_t processes = 0;
    std::vector<Message> notes; ///< what is missing, one sentence each
};

/// Merges the parts of several processes into one trace. Their frames are concatenated, with ids of names and tracks
/// remapped; all parts use the same clock. If a part has no end (its process was killed or called _exit), the contents
/// of its ring file are added. Then the trace is sealed, which takes the memory of the trace. The parts are not
/// deleted. Fails if the trace cannot be written (no folder, disk full). A part that cannot be read becomes a note.
Result<Collected> collectParts(const std::vector<TracePart>& parts, const CollectOptions& options);

/// Deletes parts and their ring files.
void removeParts(const std::vector<TracePart>& parts);

} // namespace profiler::capture
