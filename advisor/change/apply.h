#pragma once

#include "advisor/change/program_patch.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <vector>

/// Writes a patch to the user's files, and reverts it. The originals are kept in the user's state folder
/// ($XDG_STATE_HOME/stepscope/patches), so that no extra files are created in the user's own folders.
namespace advisor::change {

/// The default folder for the originals.
profiler::Result<std::filesystem::path> defaultOriginals();

/// A file to which a patch is applied.
struct AppliedFile {
    std::filesystem::path path;
    std::string original, now;         ///< bytes: before the newest recording's patch, and now
    std::vector<WantedChange> changes; ///< changes of that patch, in the order in which they were applied
};
/// The files that still contain what was last applied to them; files that were edited since are excluded.
std::vector<AppliedFile> appliedFiles(const std::vector<std::filesystem::path>& files,
                                      const std::filesystem::path& originals);

/// True if the files of the patch already contain this change.
bool isApplied(const ProgramPatch& patch, const WantedChange& change);

/// Writes the new contents, each file atomically; all files or none. Patches of one recording are applied on top of
/// each other; the saved originals remain those of the recording.
///
/// Fails if a file is neither the recorded one nor the one with `patch.applied`. Symbolic links and permissions are
/// preserved.
/// @return the files that were written
profiler::Result<std::vector<std::filesystem::path>> applyPatch(const ProgramPatch& patch,
                                                                const std::filesystem::path& originals);

/// Reverts one applied change and keeps the others. Fails if a file has changed since.
/// @param key of the change
/// @return the files that were written; an error if the change is not applied to the program of this trace
profiler::Result<std::vector<std::filesystem::path>> takeBack(const profiler::Trace& trace, const std::string& key,
                                                              PatcherOptions options = {});

/// Restores the saved originals of these files from before the first patch. Fails if a file has changed since the patch
/// was applied.
/// @return the files that were written; an error if none of them has an original
profiler::Result<std::vector<std::filesystem::path>> revertPatch(const std::vector<std::filesystem::path>& files,
                                                                 const std::filesystem::path& originals);

/// The files of a recorded program.
std::vector<std::filesystem::path> programFiles(const profiler::Trace& trace);

} // namespace advisor::change
