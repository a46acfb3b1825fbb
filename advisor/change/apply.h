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

/// A file to which a patch is applied.
struct AppliedFile {
    std::filesystem::path path;
    std::string original, now;         ///< bytes: before the newest recording's patch, and as the file is
    std::vector<WantedChange> changes; ///< of that patch, in the order in which they were applied
};
/// Those of the files that hold what was applied to them last: a file that was edited since is not one of them.
std::vector<AppliedFile> appliedFiles(const std::vector<std::filesystem::path>& files,
                                      const std::filesystem::path& originals);

/// Whether the files of the patch hold this change already.
bool isApplied(const ProgramPatch& patch, const WantedChange& change);

/// Writes the new contents, each file atomically; all files or none. Patches of one recording come on top of each
/// other; the originals that are kept stay those of the recording.
///
/// Refused where a file is neither the recorded one nor the one that holds `patch.applied`. Symbolic links stay;
/// permissions stay.
/// @return the files that were written
profiler::Result<std::vector<std::filesystem::path>> applyPatch(const ProgramPatch& patch,
                                                                const std::filesystem::path& originals);

/// Takes one applied change back; the others stay. Refused where a file has changed since.
/// @param key  of the change
/// @return the files that were written; an error where the change is not applied to the program of this trace
profiler::Result<std::vector<std::filesystem::path>> takeBack(const profiler::Trace& trace, const std::string& key,
                                                              PatcherOptions options = {});

/// Writes the kept originals of these files back, as they were before the first patch. Refused where a file has changed
/// since the patch was applied.
/// @return the files that were written; an error where none of them has an original
profiler::Result<std::vector<std::filesystem::path>> revertPatch(const std::vector<std::filesystem::path>& files,
                                                                 const std::filesystem::path& originals);

/// The files of a recorded program.
std::vector<std::filesystem::path> programFiles(const profiler::Trace& trace);

} // namespace advisor::change
