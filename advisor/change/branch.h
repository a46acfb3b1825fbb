#pragma once

#include "advisor/change/program_patch.h"
#include "profiler/model/result.h"

#include <string>
#include <vector>

namespace advisor::change {

struct BranchCommit {
    std::string branch, commit; ///< the hash of the commit
    std::string repository;     ///< the root of the work tree
};

/// Commits a patch on a new branch that starts at HEAD, without changing the work tree, the index or HEAD.
///
/// Fails if the files are not in one Git repository, if a file's recorded text differs from the one in HEAD (it is not
/// committed yet), or if the branch exists. The repository's hooks do not run.
/// @param message of the commit: subject, empty line, body
profiler::Result<BranchCommit> commitOnBranch(const std::vector<PatchedFile>& files, const std::string& branch,
                                              const std::string& message);

} // namespace advisor::change
