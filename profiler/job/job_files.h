#pragma once

#include "profiler/model/result.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace profiler::job {

/// The description of a recorded job in the folder of its traces. It is for people and programs; the traces themselves
/// say which ranks they are.
inline constexpr const char* kManifest = "job.json";

/// The trace files of a job, found but not read.
struct JobFiles {
    std::vector<std::filesystem::path> files; ///< sorted by name, with numbers in their order: rank2 before rank10
    std::string format;                       ///< of all of them: file stem of the format, "pytorch_json"
    std::size_t others = 0;                   ///< files with a trace's extension that are not traces; they are left out
    std::vector<Message> notes;               ///< unreadable folders and files, files that were named twice
};

/// Finds the trace files in folders, files and patterns ("traces/rank*.json"). In a folder, files count that have the
/// extension and the content of a trace; folders inside are searched, but symbolic links to folders are not followed,
/// except for the given ones. Fails if there is no trace, or if the traces have different formats.
Result<JobFiles> findJobFiles(std::span<const std::filesystem::path> inputs);

/// True if the inputs may be several ranks: several paths, a folder or a pattern.
bool mayBeJob(std::span<const std::filesystem::path> inputs);

/// The only trace of several inputs, which is opened like a file. std::nullopt if there are several traces, and for one
/// recorded rank of a job (kManifest).
std::optional<std::filesystem::path> onlyTraceOf(const JobFiles& found);
/// The same for inputs that may be a job; std::nullopt for others, and if no traces are found.
std::optional<std::filesystem::path> onlyTraceIn(std::span<const std::filesystem::path> inputs);

} // namespace profiler::job
