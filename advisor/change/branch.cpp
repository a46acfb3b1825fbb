#include "advisor/change/branch.h"

#include "advisor/runner/child_process.h"
#include "profiler/os/process.h"

#include <fmt/format.h>

namespace advisor::change {

namespace fs = std::filesystem;
using profiler::Error;
using profiler::Result;

namespace {

/// Runs git in one repository with a separate index.
class Git {
public:
    Git(fs::path program, fs::path folder) : m_program(std::move(program)), m_folder(std::move(folder)) {}
    ~Git()
    {
        std::error_code ignored;
        if (!m_index.empty()) {
            fs::remove(m_index, ignored);
            fs::remove(m_index.string() + ".lock", ignored);
        }
    }
    Git(const Git&) = delete;
    Git& operator=(const Git&) = delete;

    void useIndex(fs::path index) { m_index = std::move(index); }

    /// The output of a command without the final line break.
    /// @param input contents of the file that is passed with `option`; no option: none
    Result<std::string> run(std::vector<std::string> arguments, const std::string& option = {},
                            const std::string& input = {}) const
    {
        // Uses env to set the index for git alone. No program that the repository's configuration names is run.
        std::vector<std::string> words = {
            "-u", "GIT_DIR", "-u", "GIT_WORK_TREE", "-u", "GIT_INDEX_FILE", "GIT_OPTIONAL_LOCKS=0"};
        if (!m_index.empty())
            words.push_back("GIT_INDEX_FILE=" + m_index.string());
        for (const std::string& word :
             {m_program.string(), std::string("-C"), m_folder.string(), std::string("-c"),
              std::string("core.hooksPath=/dev/null"), std::string("-c"), std::string("core.fsmonitor=false")})
            words.push_back(word);
        const std::string name = arguments.front();
        words.insert(words.end(), arguments.begin(), arguments.end());
        auto output = runTool({.program = "/usr/bin/env",
                               .arguments = std::move(words),
                               .file = input,
                               .fileOption = option,
                               .extraOption = {},
                               .joinErrors = false});
        if (!output)
            return tl::unexpected(output.error());
        if (output->status != 0)
            return profiler::fail<"patch.git_failed", "git {command} failed">(
                Error::Code::Unavailable, m_folder.string(), fmt::format("run git {} in that folder to see why", name),
                {{"command", name}});
        while (output->text.ends_with('\n'))
            output->text.pop_back();
        return std::move(output->text);
    }

private:
    fs::path m_program, m_folder, m_index;
};

template <profiler::detail::Literal Id, profiler::detail::Literal Text>
tl::unexpected<Error> refuse(const fs::path& where, std::string hint)
{
    return profiler::fail<Id, Text>(Error::Code::Invalid, where.string(), std::move(hint));
}

Result<fs::path> repositoryOf(const fs::path& program, const std::vector<PatchedFile>& files)
{
    fs::path root;
    for (const PatchedFile& file : files) {
        std::error_code failed;
        const Git git(program, fs::canonical(file.path, failed).parent_path());
        const auto top = failed ? Result<std::string>(std::string()) : git.run({"rev-parse", "--show-toplevel"});
        if (!top || top->empty())
            return refuse<"patch.no_repository", "The file is not in a Git repository">(
                file.path, "use --apply, or run git init and commit the program");
        if (!root.empty() && root != *top)
            return refuse<"patch.two_repositories", "The patched files are in different repositories">(file.path,
                                                                                                       "use --apply");
        root = *top;
    }
    return root;
}

/// Adds the patched file to git's index. Its recorded text must match the one in HEAD.
Result<void> stage(const Git& git, const fs::path& root, const PatchedFile& file)
{
    std::error_code failed;
    const std::string path = fs::canonical(file.path, failed).lexically_relative(root).string();
    const auto entry = git.run({"ls-tree", "--full-tree", "HEAD", "--", path});
    if (!entry)
        return tl::unexpected(entry.error());
    // "100644 blob 0123…\tpath"
    const auto blobAt = entry->find(" blob ");
    const auto end = entry->find('\t');
    if (blobAt == entry->npos || end == entry->npos)
        return refuse<"patch.not_committed", "The file is not committed">(file.path, "commit it first, or use --apply");
    const std::string mode = entry->substr(0, blobAt), committed = entry->substr(blobAt + 6, end - blobAt - 6);
    const auto recorded = git.run({"hash-object", "--path=" + path}, "--", file.before);
    if (!recorded)
        return tl::unexpected(recorded.error());
    if (*recorded != committed)
        return refuse<"patch.uncommitted_changes", "The file has uncommitted changes">(
            file.path, "commit them first, or use --apply");
    const auto blob = git.run({"hash-object", "-w", "--path=" + path}, "--", file.after);
    if (!blob)
        return tl::unexpected(blob.error());
    const auto added = git.run({"update-index", "--cacheinfo", fmt::format("{},{},{}", mode, *blob, path)});
    return added ? Result<void>() : tl::unexpected(added.error());
}

} // namespace

Result<BranchCommit> commitOnBranch(const std::vector<PatchedFile>& files, const std::string& branch,
                                    const std::string& message)
{
    const auto program = findTool("git");
    if (!program)
        return tl::unexpected(program.error());
    const auto root = repositoryOf(*program, files);
    if (!root)
        return tl::unexpected(root.error());
    Git git(*program, *root);
    const std::string reference = "refs/heads/" + branch;
    if (!git.run({"check-ref-format", reference}))
        return refuse<"patch.branch_name", "This is not a valid branch name">(branch, "choose another name");
    if (git.run({"rev-parse", "--verify", "--quiet", reference}))
        return refuse<"patch.branch_exists", "The branch already exists">(branch, "choose another name, or delete it");
    const auto head = git.run({"rev-parse", "--verify", "HEAD"});
    if (!head)
        return refuse<"patch.no_commit", "The repository has no commits">(*root, "commit the program first");
    if (!git.run({"var", "GIT_COMMITTER_IDENT"}) || !git.run({"var", "GIT_AUTHOR_IDENT"}))
        return refuse<"patch.no_identity", "Git has no name and e-mail address for the commit">(
            *root, "set them with git config user.name NAME and git config user.email ADDRESS");
    const auto index = git.run({"rev-parse", "--absolute-git-dir"});
    if (!index)
        return tl::unexpected(index.error());
    git.useIndex(fs::path(*index) / fmt::format("stepscope-index-{}", profiler::os::processId()));
    if (const auto read = git.run({"read-tree", *head}); !read)
        return tl::unexpected(read.error());
    for (const PatchedFile& file : files)
        if (const auto staged = stage(git, *root, file); !staged)
            return tl::unexpected(staged.error());
    const auto tree = git.run({"write-tree"});
    const auto commit = tree ? git.run({"commit-tree", *tree, "-p", *head}, "-F", message) : tree;
    if (!commit)
        return tl::unexpected(commit.error());
    // Zeros: the branch must not exist.
    const auto set = git.run({"update-ref", reference, *commit, std::string(commit->size(), '0')});
    if (!set)
        return tl::unexpected(set.error());
    return BranchCommit{branch, *commit, root->string()};
}

} // namespace advisor::change
