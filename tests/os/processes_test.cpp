#include "profiler/os/process.h"

#include "profiler/os/connections.h"
#include "profiler/os/files.h"
#include "profiler/os/signals.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace profiler::os {
namespace {

using testing::Contains;

/// What a shell script prints to the descriptor in $OUT.
class Shell {
public:
    explicit Shell(const std::string& script) : m_pipe(makePipe().value())
    {
        spec.program = "sh";
        spec.words = {"sh", "-c", "exec 1>&" + std::to_string(m_pipe.writing.get()) + "; " + script};
        spec.inherited = {m_pipe.writing.get()};
    }
    std::string output()
    {
        const auto child = startChild(spec);
        m_pipe.writing.reset();
        std::string text;
        while (readNext(m_pipe.reading.get(), text)) {
        }
        end = child ? waitForChild(*child) : std::nullopt;
        return text;
    }
    ChildSpec spec;
    std::optional<ExitStatus> end;

private:
    Pipe m_pipe;
};

TEST(Children, GetTheirArgumentsAndReportTheirStatus)
{
    Shell shell("echo \"$0 $1\"; exit 3");
    shell.spec.words.insert(shell.spec.words.end(), {"zero", "one two"});
    EXPECT_EQ(shell.output(), "zero one two\n");
    ASSERT_TRUE(shell.end);
    EXPECT_EQ(shell.end->status, 3);
    EXPECT_EQ(shell.end->signal, 0);
    EXPECT_EQ(shell.end->shellStatus(), 3);
    EXPECT_FALSE(shell.end->isSuccess());
}

TEST(Children, ASignalThatEndedOneIsReported)
{
    Shell shell("kill -TERM $$");
    shell.output();
    ASSERT_TRUE(shell.end);
    EXPECT_EQ(shell.end->signal, SIGTERM);
    EXPECT_EQ(shell.end->shellStatus(), 128 + SIGTERM);
}

TEST(Children, AProgramThatDoesNotExistIsNotStarted)
{
    errno = 0;
    EXPECT_EQ(startChild({.program = "/no/such/program", .words = {"program"}}), std::nullopt);
    EXPECT_EQ(errno, ENOENT);
    EXPECT_EQ(startChild({.program = "/etc/passwd", .words = {"passwd"}}), std::nullopt);
    EXPECT_EQ(errno, EACCES);
    EXPECT_EQ(reapAnyChild(), std::nullopt) << "the attempts leave no files";
}

TEST(Children, MayHaveNoInputAndNoErrors)
{
    Shell shell("wc -c; echo error >&2; readlink /proc/$$/fd/2");
    shell.spec.hasInput = false;
    shell.spec.hasErrors = false;
    EXPECT_EQ(shell.output(), "0\n/dev/null\n");
}

TEST(Children, MayHaveOtherStandardStreams)
{
    auto input = makePipe().value(), output = makePipe().value(), errors = makePipe().value();
    const auto child = startChild({.program = "sh",
                                   .words = {"sh", "-c", "cat; echo error >&2"},
                                   .input = input.reading.get(),
                                   .output = output.writing.get(),
                                   .errors = errors.writing.get()});
    ASSERT_TRUE(child);
    ASSERT_EQ(writeAll(input.writing.get(), "text").error, 0);
    for (Descriptor* one : {&input.writing, &output.writing, &errors.writing})
        one->reset();
    EXPECT_TRUE(waitForChild(*child)->isSuccess());
    std::string printed, said;
    while (readNext(output.reading.get(), printed)) {
    }
    while (readNext(errors.reading.get(), said)) {
    }
    EXPECT_EQ(printed, "text");
    EXPECT_EQ(said, "error\n");
}

TEST(Children, HaveTheLimitsOfTheirMemoryAndCore)
{
    Shell shell("ulimit -d; ulimit -c");
    shell.spec.mostDataBytes = std::uint64_t{300} << 20;
    shell.spec.leavesCore = false;
    EXPECT_EQ(shell.output(), "307200\n0\n"); // in KiB
}

TEST(Children, GetTheSignalsThatWereNotBlockedBefore)
{
    const BlockedSignals blocked(std::array{SIGTERM});
    Shell inherits("kill -TERM $$; echo survived");
    EXPECT_EQ(inherits.output(), "survived\n");
    Shell receives("kill -TERM $$; echo survived");
    receives.spec.blocked = &blocked;
    EXPECT_EQ(receives.output(), "");
    EXPECT_EQ(receives.end->signal, SIGTERM);
}

TEST(Children, HaveTheDefaultEffectOfSigpipe)
{
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    Shell shell("kill -PIPE $$; echo survived");
    EXPECT_EQ(shell.output(), "");
    std::signal(SIGPIPE, before);
    EXPECT_EQ(shell.end->signal, SIGPIPE);
}

TEST(Children, EndWithTheThreadThatStartedThem)
{
    std::optional<ProcessId> child;
    std::thread([&child] {
        child = startChild({.program = "sleep", .words = {"sleep", "600"}, .endsWithThread = true});
    }).join();
    ASSERT_TRUE(child);
    const auto end = waitForChild(*child);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->signal, SIGKILL);
}

TEST(Children, ARunningOneIsNotReaped)
{
    const auto child = startChild({.program = "sleep", .words = {"sleep", "600"}});
    ASSERT_TRUE(child);
    EXPECT_EQ(reapChild(*child), std::nullopt);
    EXPECT_EQ(reapAnyChild(), std::nullopt);
    EXPECT_TRUE(sendSignal(*child, SIGKILL));
    const auto end = waitForChild(*child);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->signal, SIGKILL);
    EXPECT_EQ(waitForChild(*child), std::nullopt) << "it is gone";
    EXPECT_FALSE(sendSignal(*child, 0));
}

TEST(Process, KnowsItsIdAndEnvironment)
{
    EXPECT_EQ(processId(), ::getpid());
    ::setenv("STEPSCOPE_OS_TEST", "a=b", 1);
    EXPECT_THAT(environment(), Contains("STEPSCOPE_OS_TEST=a=b"));
    ::unsetenv("STEPSCOPE_OS_TEST");
}

std::string forkLog; // handlers have no parameters

TEST(Process, ForkCallsTheHandlers)
{
    ASSERT_EQ(callAtFork([] { forkLog += "prepare "; }, [] { forkLog += "parent"; }, [] { forkLog += "child"; }), 0);
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(forkLog == "prepare child" ? 0 : 1);
    EXPECT_EQ(forkLog, "prepare parent");
    EXPECT_TRUE(waitForChild(child)->isSuccess());
}

} // namespace
} // namespace profiler::os
