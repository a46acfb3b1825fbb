#pragma once

#include "advisor/runner/workspace.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace advisor::runner {

/// Applies a unified diff, in the format of `diff -u` and `git diff`, without changing a file.
///
/// Each file of the diff is looked up in `folder` and, inside a Git repository, in the parent folders up to the root of
/// the repository, both with and without the first component of its path ("a/", "b/"). A hunk applies where all of its
/// context lines and removed lines match, at its line number or at the nearest such place.
/// @return the contents of the files after the diff; an error if a file is missing, a hunk does not apply, or the diff
/// does anything other than changing and adding text
profiler::Result<std::vector<ReplacedFile>> applyDiff(std::string_view diff, const std::filesystem::path& folder);

/// The same diff with file names relative to `folder`, if all of its files are inside: `patch -p1` and `git apply`
/// accept it in that folder. Otherwise the unchanged diff, with absolute names.
/// @param diff with names as written by the patcher: absolute paths after "a/" and "b/"
std::string diffInFolder(std::string_view diff, const std::filesystem::path& folder);

} // namespace advisor::runner
