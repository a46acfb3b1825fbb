#pragma once

#include "advisor/change/program_patch.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Writes a patch to the user's files, reverts it, and finds their text as it was recorded. The originals are kept in
/// the user's state folder ($XDG_STATE_HOME/stepscope/patches), so that no extra files are created in the user's own
/// folders.
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
profiler::Result<std::vector<std::filesystem::path>> revertChange(const profiler::Trace& trace, const std::string& key,
                                                                  PatcherOptions options = {});

/// Restores the saved originals of these files from before the first patch. Fails if a file has changed since the patch
/// was applied.
/// @return the files that were written; an error if none of them has an original
profiler::Result<std::vector<std::filesystem::path>> revertPatch(const std::vector<std::filesystem::path>& files,
                                                                 const std::filesystem::path& originals);

/// The files of a recorded program.
std::vector<std::filesystem::path> programFiles(const profiler::Trace& trace);

// The user's files as they were when their program was recorded. Line numbers of a trace refer to that text.

/// The bytes of a file if they are the recorded ones, or its kept original if a patch is applied to it.
/// @param sha256     of the recorded file, in hexadecimal
/// @param originals  folder with the originals of applied patches; see apply.h
/// @return no value if the file is missing, not a regular file, larger than 16 MiB, or has changed since
std::optional<std::string> recordedText(const std::filesystem::path& file, std::string_view sha256,
                                        const std::filesystem::path& originals);

/// Its lines without line ends and without a byte order mark.
std::vector<std::string> linesOfText(std::string_view text);

/// The SHA-256 digest of some bytes, in lower-case hexadecimal.
std::string sha256(std::string_view bytes);

} // namespace advisor::change
