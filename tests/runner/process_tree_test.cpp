#include "profiler/os/process_tree.h"

#include "tests/runner/traces_of_processes.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

// A started program leaves no processes behind.
namespace runner_test {

using profiler::os::Descriptor;
using profiler::os::PrivateView;
using profiler::os::ProcessSpec;
using profiler::os::ProcessTree;
using profiler::os::StartFailure;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

const std::string kMark = "RUNNER_TEST_MARK=" + std::to_string(::getpid());

/// A shell script in a folder, with its output.
class Script {
public:
    Script(const Folder& folder, const std::string& text)
        : m_log(::open((folder / "../log").c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)),
          m_path(folder / "../log")
    {
        spec.words = {"sh", "-c", text};
        spec.environment = {"PATH=/usr/bin:/bin", kMark};
        spec.folder = folder.path();
        spec.output = m_log.get();
    }
    std::optional<ProcessTree> start() { return ProcessTree::start(spec, failure); }
    [[nodiscard]] std::string output() const { return readText(m_path); }
    void waitForOutput(const std::string& text) const
    {
        for (int i = 0; i < 500 && output().find(text) == std::string::npos; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        EXPECT_THAT(output(), HasSubstr(text));
    }

    ProcessSpec spec;
    StartFailure failure;

private:
    Descriptor m_log;
    std::filesystem::path m_path;
};

int waitForEnd(ProcessTree& tree)
{
    pollfd watched{tree.descriptor(), POLLIN, 0};
    ::poll(&watched, 1, 20000);
    const auto status = tree.status();
    EXPECT_TRUE(status);
    return status.value_or(-1);
}

TEST(ProcessTree, SaysHowTheProgramEnded)
{
    const Folder folder;
    Script script(folder, "pwd; exit 3");
    auto tree = script.start();
    ASSERT_TRUE(tree);
    EXPECT_EQ(WEXITSTATUS(waitForEnd(*tree)), 3);
    EXPECT_EQ(script.output(), folder.path().string() + "\n");
    Script killed(folder, "kill -9 $$");
    auto other = killed.start();
    ASSERT_TRUE(other);
    EXPECT_EQ(WTERMSIG(waitForEnd(*other)), SIGKILL);
}

TEST(ProcessTree, SaysWhyAProgramCannotStart)
{
    const Folder folder;
    Script script(folder, "");
    script.spec.words = {"no-such-program"};
    EXPECT_FALSE(script.start());
    EXPECT_EQ(script.failure.stage, StartFailure::Stage::Program);
    EXPECT_EQ(script.failure.number, ENOENT);
    script.spec.words = {"true"};
    script.spec.folder = folder / "missing";
    EXPECT_FALSE(script.start());
    EXPECT_EQ(script.failure.stage, StartFailure::Stage::Folder);
    EXPECT_THAT(processesWith(kMark), IsEmpty());
}

/// The processes that are still there after ten seconds. One look may miss a process that is being forked, so a second
/// one has to agree that none is left.
std::vector<pid_t> processesLeft()
{
    std::vector<pid_t> found;
    for (int i = 0, empty = 0; i < 500 && empty < 2; ++i) {
        found = processesWith(kMark);
        empty = found.empty() ? empty + 1 : 0;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return found;
}

TEST(ProcessTree, EndsDaemonsAndWhatIgnoresSignals)
{
    const Folder folder;
    // In a separate session, with a parent that has exited, and ignoring polite signals.
    Script script(folder, "(setsid sh -c 'trap \"\" TERM INT HUP; echo daemon; sleep 500' &) ; (sleep 501 &); exit 0");
    auto tree = script.start();
    ASSERT_TRUE(tree);
    EXPECT_EQ(waitForEnd(*tree), 0);
    script.waitForOutput("daemon");
    EXPECT_GE(processesWith(kMark).size(), 2U) << "the test needs a running process";
    tree->end();
    EXPECT_THAT(processesWith(kMark), IsEmpty());
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no zombie is left";
}

TEST(ProcessTree, ADestroyedTreeIsGone)
{
    const Folder folder;
    Script script(folder, "sleep 500");
    ASSERT_TRUE(script.start());
    EXPECT_THAT(processesWith(kMark), IsEmpty());
}

TEST(ProcessTree, NothingSurvivesTheDeathOfItsOwner)
{
    const Folder folder;
    Script script(folder, "(setsid sleep 500 &); sleep 501");
    const pid_t owner = ::fork();
    if (owner == 0) {
        const auto tree = script.start();
        for (int i = 0; i < 500 && processesWith(kMark).empty(); ++i) // both sleeps are about to start
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(owner, nullptr, 0);
    EXPECT_THAT(processesLeft(), IsEmpty());
}

TEST(ProcessTree, OneTreeKeepsNoOtherAlive)
{
    const Folder folder;
    Script script(folder, {});
    script.spec.words = {"sleep", "500"};
    auto first = script.start();
    auto second = script.start(); // its keeper was forked with a copy of the first one's socket
    ASSERT_TRUE(first && second);
    first.reset();
    EXPECT_EQ(processesWith(kMark).size(), 1U);
}

TEST(ProcessTree, KillReturnsAtOnceAndEndsChildrenToo)
{
    const Folder folder;
    Script script(folder, "(setsid sh -c 'trap \"\" TERM INT HUP; echo daemon; sleep 500' &) ; sleep 501");
    auto tree = script.start();
    ASSERT_TRUE(tree);
    script.waitForOutput("daemon");
    tree->kill();
    EXPECT_EQ(WTERMSIG(waitForEnd(*tree)), SIGKILL);
    EXPECT_THAT(processesLeft(), IsEmpty()) << "while the tree still exists";
}

TEST(ProcessTree, APipeOfTheProgramClosesWithTheProgram)
{
    const Folder folder;
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    Descriptor reading(ends[0]), writing(ends[1]);
    Script script(folder, "echo to the pipe > /dev/fd/" + std::to_string(writing.get()));
    script.spec.inherited = {writing.get()};
    auto tree = script.start();
    ASSERT_TRUE(tree);
    writing.reset();
    std::string text(64, 0);
    std::size_t got = 0;
    for (ssize_t count = 0; (count = ::read(reading.get(), text.data() + got, text.size() - got)) > 0;)
        got += static_cast<std::size_t>(count);
    EXPECT_EQ(text.substr(0, got), "to the pipe\n") << "and then the end of the pipe, which no keeper keeps open";
}

TEST(ProcessTree, InputAndErrorsGoTheirOwnWays)
{
    const Folder folder;
    folder.write("input", "what is typed\n");
    const Descriptor input(::open((folder / "input").c_str(), O_RDONLY | O_CLOEXEC));
    Script script(folder, "cat; echo an error >&2");
    script.spec.input = input.get();
    script.spec.errors = -1;
    auto tree = script.start();
    ASSERT_TRUE(tree);
    EXPECT_EQ(waitForEnd(*tree), 0);
    EXPECT_EQ(script.output(), "what is typed\n");
}

// Gigabytes of a trace that the owner closes must not stay in memory because a training is running.
TEST(ProcessTree, TheKeeperHoldsNoMemoryOfItsOwner)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer's memory is included, so that the keeper frees nothing";
#endif
    constexpr std::size_t kBytes = std::size_t{256} << 20;
    const Folder folder;
    std::vector<char> large(kBytes, 1);
    Script script(folder, {});
    script.spec.words = {"sleep", "500"};
    auto tree = script.start();
    ASSERT_TRUE(tree);
    const auto residentBytes = [&] {
        std::size_t all = 0, resident = 0;
        std::ifstream("/proc/" + std::to_string(tree->keeper()) + "/statm") >> all >> resident;
        return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    };
    for (int i = 0; i < 500 && residentBytes() > kBytes / 4; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_LT(residentBytes(), kBytes / 4);
    EXPECT_EQ(large[kBytes / 2], 1) << "the owner has it unchanged";
    tree->end();
    EXPECT_THAT(processesWith(kMark), IsEmpty());
}

TEST(ProcessTree, ATerminalIsOne)
{
    const Folder folder;
    Script script(folder, "test -t 0 && test -t 1 && test -t 2 && stty size && tty");
    script.spec.terminal = true;
    auto tree = script.start();
    ASSERT_TRUE(tree);
    EXPECT_EQ(waitForEnd(*tree), 0);
    EXPECT_THAT(script.output(), HasSubstr("40 120"));
    EXPECT_THAT(script.output(), HasSubstr("/dev/pts/"));
}

constexpr unsigned kNobody = 65534;

/// Runs part of a test as an unprivileged user.
/// @return its exit status
template <class Part>
int asNobody(Part part)
{
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)
            ::_exit(100);
        // After a change of its user, a process cannot write its own maps until it executes another program.
        ::prctl(PR_SET_DUMPABLE, 1);
        ::_exit(part());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

int runInView(const Folder& folder, const std::string& text, const std::string& patched)
{
    PrivateView view({folder.path()}, folder / "../scratch");
    if (view.prepare() != 0)
        return 50;
    std::ofstream(view.layerOf(folder / "patched.txt")) << patched;
    Script script(folder, text);
    script.spec.view = &view;
    auto tree = script.start();
    if (!tree)
        return script.failure.number == EPERM ? 77 : 51;
    return WEXITSTATUS(waitForEnd(*tree));
}

constexpr const char* kWrites = "set -e; test \"$(cat patched.txt)\" = theirs; echo new > file; echo more >> log;"
                                "rm gone; mkdir below; test -w .; test \"$(cat kept)\" = kept";

void writeFiles(const Folder& folder)
{
    for (const auto& [name, text] :
         {std::pair{"patched.txt", "ours"}, {"log", "log\n"}, {"gone", "x"}, {"kept", "kept"}}) {
        folder.write(name, text);
        std::filesystem::permissions(folder / name, std::filesystem::perms(0666));
    }
}

TEST(PrivateView, FilesThatAProgramWritesAreItsOwn)
{
    const Folder folder;
    writeFiles(folder);
    const auto before = folder.files();
    const std::string mountsBefore = mounts();
    const int status = runInView(folder, kWrites, "theirs");
    if (status == 77)
        GTEST_SKIP() << "no namespaces here";
    EXPECT_EQ(status, 0);
    EXPECT_EQ(folder.files(), before);
    EXPECT_EQ(mounts(), mountsBefore);
    EXPECT_THAT(processesWith(kMark), IsEmpty());
}

TEST(PrivateView, NeedsNoRights)
{
    if (::getuid() != 0)
        GTEST_SKIP() << "the previous test covers a user without permissions";
    const Folder folder;
    writeFiles(folder);
    // Copies of other users' files cannot be created without privileges.
    for (const auto& entry : {folder.path(), folder / "patched.txt", folder / "log", folder / "gone", folder / "kept"})
        ASSERT_EQ(::chown(entry.c_str(), kNobody, kNobody), 0);
    const auto before = folder.files();
    const int status =
        asNobody([&] { return runInView(folder, std::string(kWrites) + "; test $(id -u) = 65534", "theirs"); });
    if (status == 77)
        GTEST_SKIP() << "no user namespaces here";
    EXPECT_EQ(status, 0);
    EXPECT_EQ(folder.files(), before);
}

TEST(PrivateView, FileSystemsThatAreMountedBelowArePrivateAsWell)
{
    const Folder folder;
    folder.write("mounted/file", "below");
    // In a namespace of the test, from which the view's is created.
    const pid_t child = ::fork();
    if (child == 0) {
        const auto at = (folder / "mounted").string();
        if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("tmpfs", at.c_str(), "tmpfs", 0, nullptr) != 0)
            ::_exit(77);
        folder.write("mounted/file", "above");
        const int status = runInView(folder, "test \"$(cat mounted/file)\" = above && echo new > mounted/file", "");
        ::_exit(status != 0 ? status : readText(folder / "mounted/file") == "above" ? 0 : 60);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WEXITSTATUS(status) == 77)
        GTEST_SKIP() << "only root can mount";
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

} // namespace
} // namespace runner_test
