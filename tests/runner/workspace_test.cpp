#include "advisor/runner/workspace.h"

#include "profiler/os/process_tree.h"
#include "tests/runner/traces_of_processes.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

namespace runner_test {

using advisor::runner::checkPrivateViews;
using advisor::runner::Isolation;
using advisor::runner::ReplacedFile;
using advisor::runner::Workspace;
using testing::IsEmpty;
using testing::SizeIs;
namespace fs = std::filesystem;

namespace {

/// Runs a shell script in a workspace and returns its exit status.
int run(const Workspace& workspace, const std::string& script)
{
    profiler::os::StartFailure failure;
    auto tree = profiler::os::ProcessTree::start({.words = {"sh", "-ec", script},
                                                  .environment = {"PATH=/usr/bin:/bin"},
                                                  .folder = workspace.folder(),
                                                  .view = workspace.view()},
                                                 failure);
    if (!tree)
        return -failure.number;
    pollfd watched{tree->descriptor(), POLLIN, 0};
    ::poll(&watched, 1, 20000);
    const auto status = tree->status();
    return status ? WEXITSTATUS(*status) : -1;
}

TEST(Workspace, APrivateViewCoversOtherFoldersToo)
{
    const Folder folder;
    if (!checkPrivateViews())
        GTEST_SKIP() << checkPrivateViews().error().message();
    // A folder of the test, inside one that every user can write to.
    const std::string elsewhere = "/tmp/stepscope-test-" + folder.path().parent_path().filename().string();
    folder.write("pkg/train.py", "old\n");
    fs::permissions(folder / "pkg/train.py", fs::perms(0750));
    const auto before = folder.files();
    {
        const auto workspace = Workspace::make(folder.path(), Isolation::Overlay,
                                               {{folder / "pkg/train.py", "new\n"}, {folder / "added/x.py", "x"}});
        ASSERT_TRUE(workspace) << workspace.error().message();
        EXPECT_EQ(workspace->folder(), folder.path());
        EXPECT_EQ(run(*workspace, "test $(cat pkg/train.py) = new; test -x pkg/train.py; test $(cat added/x.py) = x;"
                                  "echo a > out; echo b > " +
                                      elsewhere),
                  0);
    }
    EXPECT_EQ(folder.files(), before);
    EXPECT_FALSE(fs::exists(elsewhere));
    EXPECT_THAT(folder.scratch(), IsEmpty());
}

TEST(Workspace, AMountThatOverlayfsRefusesBecomesReadOnly)
{
    const Folder folder;
    fs::create_directory(folder / "proc");
    // As in a folder that contains another system. The mount exists only in this process's namespace.
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("proc", (folder / "proc").c_str(), "proc", 0, nullptr) != 0)
        GTEST_SKIP() << "only root may mount";
    const auto workspace = Workspace::make(folder.path(), Isolation::Overlay, {});
    ASSERT_TRUE(workspace) << workspace.error().message();
    EXPECT_EQ(run(*workspace, "test -e proc/version; echo a > out"), 0);
    EXPECT_FALSE(fs::exists(folder / "out"));
    EXPECT_NE(run(*workspace, "echo 0 > proc/self/oom_score_adj"), 0);
    const auto inside = Workspace::make(folder / "proc", Isolation::Overlay, {});
    EXPECT_FALSE(inside && run(*inside, "true") == 0) << "a program cannot run where all that it writes would fail";
}

TEST(Workspace, FoldersWithoutPermissionsAreRemoved)
{
    const Folder folder;
    if (!checkPrivateViews())
        GTEST_SKIP() << checkPrivateViews().error().message();
    {
        const auto workspace = Workspace::make(folder.path(), Isolation::Overlay, {});
        ASSERT_TRUE(workspace);
        EXPECT_THAT(folder.scratch(), SizeIs(1));
        EXPECT_EQ(run(*workspace, "mkdir -p closed/below; touch closed/below/file; chmod 0 closed/below closed"), 0);
    }
    EXPECT_THAT(folder.scratch(), IsEmpty());
}

TEST(Workspace, ACopyIsWrittenInsteadOfTheFolder)
{
    const Folder folder;
    folder.write("train.py", "old\n");
    folder.write("data/x", "x");
    const auto before = folder.files();
    fs::path copy;
    {
        const auto workspace = Workspace::make(folder.path(), Isolation::Copy, {{folder / "train.py", "new\n"}});
        ASSERT_TRUE(workspace) << workspace.error().message();
        EXPECT_EQ(workspace->view(), nullptr);
        copy = workspace->folder();
        EXPECT_EQ(run(*workspace, "test $(cat train.py) = new; test $(cat data/x) = x; echo a > out"), 0);
        EXPECT_EQ(workspace->inside((folder / "data/x").string()), (copy / "data/x").string());
        EXPECT_EQ(workspace->inside("/usr/bin/python3"), "/usr/bin/python3");
        EXPECT_EQ(workspace->inside("data/x"), "data/x");
    }
    EXPECT_EQ(folder.files(), before);
    EXPECT_FALSE(fs::exists(copy));
    EXPECT_FALSE(Workspace::make(folder.path(), Isolation::Copy, {{"/etc/other.py", ""}})) << "it is not in any copy";
}

TEST(Workspace, InPlaceNoFileIsReplaced)
{
    const Folder folder;
    folder.write("train.py", "old\n");
    EXPECT_TRUE(Workspace::make(folder.path(), Isolation::InPlace, {}));
    const auto refused = Workspace::make(folder.path(), Isolation::InPlace, {{folder / "train.py", "new\n"}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, profiler::Error::Code::Unsupported);
    EXPECT_EQ(readText(folder / "train.py"), "old\n");
}

} // namespace
} // namespace runner_test
