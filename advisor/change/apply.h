#pragma once

#include "advisor/change/program_patch.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <vector>

/// Writes a patch into the user's files, and takes it back. The originals are kept in a folder of the user's state
/// ($XDG_STATE_HOME/stepscope/patches), so that the user's own folders get no files that are not theirs.
namespace advisor::change {

/// Where originals are kept by default.
profiler::Result<std::filesystem::path> defaultOriginals();

/// Writes the new contents, each file atomically; all files or none.
///
/// Refused where a file is no longer the recorded one, or has an original that is kept already: its patch has to be
/// taken back first. Symbolic links stay; permissions stay.
/// @return the files that were written
profiler::Result<std::vector<std::filesystem::path>> applyPatch(const std::vector<PatchedFile>& files,
                                                                const std::filesystem::path& originals);

/// Writes the kept originals of these files back. Refused where a file has changed since the patch was applied.
/// @return the files that were written; an error where none of them has an original
profiler::Result<std::vector<std::filesystem::path>> revertPatch(const std::vector<std::filesystem::path>& files,
                                                                 const std::filesystem::path& originals);

/// The files of a recorded program.
std::vector<std::filesystem::path> programFiles(const profiler::Trace& trace);

} // namespace advisor::change
