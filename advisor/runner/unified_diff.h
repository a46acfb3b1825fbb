#pragma once

#include "advisor/runner/workspace.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace advisor::runner {

/// Applies a unified diff, as `diff -u` and `git diff` write it, without changing a file.
///
/// A file of the diff is looked for in `folder` and, where that is inside a Git repository, in the folders above it up
/// to the repository's root; with and without the first part of its path ("a/", "b/"). A hunk applies where all its
/// lines of context and its removed lines are, at its line number or else at the nearest such place.
/// @return the files as the diff makes them; an error where a file is missing, a hunk does not apply, or the diff does
///         something else than to change and add text
profiler::Result<std::vector<ReplacedFile>> applyDiff(std::string_view diff, const std::filesystem::path& folder);

/// The same diff with names that begin in `folder`, where all its files are in there: `patch -p1` and `git apply` take
/// it in that folder. Otherwise the diff as it is, whose names begin in the root.
/// @param diff  with names as the patcher writes them: absolute paths behind "a/" and "b/"
std::string diffInFolder(std::string_view diff, const std::filesystem::path& folder);

} // namespace advisor::runner
