#include "profiler/os/files.h"
#include "profiler/os/libraries.h"
#include "profiler/os/machine.h"
#include "profiler/os/memory.h"
#include "profiler/os/process.h"
#include "profiler/os/shell_expansion.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

namespace profiler::os {
namespace {

using namespace std::chrono_literals;

TEST(Libraries, FindTheirFunctions)
{
    const Library library = Library::open("libm.so.6", Library::Binding::Now);
    ASSERT_TRUE(library);
    auto* const cosine = library.function<double(double)>("cos");
    ASSERT_TRUE(cosine);
    EXPECT_EQ(cosine(0), 1.0);
    EXPECT_EQ(library.function<void()>("stepscope_no_such_function"), nullptr);
    EXPECT_TRUE(Library::loaded("libm.so.6"));
    EXPECT_FALSE(folderOfLoadedLibrary("libm.so.6").empty());
}

TEST(Libraries, AMissingOneIsNamedInTheError)
{
    EXPECT_FALSE(Library::loaded("libstepscope_missing.so"));
    EXPECT_FALSE(Library::open("libstepscope_missing.so", Library::Binding::Lazy));
    EXPECT_NE(Library::lastError().find("libstepscope_missing.so"), std::string::npos);
    EXPECT_EQ(Library().function<void()>("malloc"), nullptr) << "of no library, not of all libraries";
    EXPECT_TRUE(folderOfLoadedLibrary("libstepscope_missing.so").empty());
}

TEST(Threads, HaveIdsAndNames)
{
    EXPECT_EQ(threadId(), processId()) << "the main thread";
    int id = 0;
    std::string name;
    std::thread([&] {
        id = threadId();
        nameThread("os test");
        name = readFile("/proc/self/task/" + std::to_string(id) + "/comm").value_or("");
    }).join();
    EXPECT_NE(id, processId());
    EXPECT_EQ(name, "os test\n");
}

TEST(Threads, MayRunOnTheCoresOfTheirAffinity)
{
    std::thread([] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(::sched_getcpu(), &one);
        ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
        EXPECT_EQ(allowedCores(), 1);
    }).join();
    EXPECT_EQ(allowedCores(), static_cast<int>(std::thread::hardware_concurrency()));
}

TEST(Clocks, Advance)
{
    const auto monotonic = monotonicTime(), real = realTime(), cpu = threadCpuTime();
    std::this_thread::sleep_for(20ms);
    EXPECT_GE(monotonicTime() - monotonic, 20ms);
    EXPECT_GT(realTime(), real);
    EXPECT_LT(threadCpuTime() - cpu, 20ms) << "a sleeping thread uses no CPU time";
    EXPECT_NEAR(std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
                std::chrono::duration<double>(monotonicTime()).count(), 1.0)
        << "the same clock";
}

TEST(ShellExpansion, ExpandsVariablesAndRunsNoCommand)
{
    ASSERT_EQ(setenv("STEPSCOPE_TEST_WORD", "two words", 1), 0);
    const auto words = expandShellWords("python 'a b.py' \"$STEPSCOPE_TEST_WORD\" $STEPSCOPE_TEST_WORD");
    ASSERT_TRUE(std::holds_alternative<std::vector<std::string>>(words));
    EXPECT_EQ(std::get<0>(words), (std::vector<std::string>{"python", "a b.py", "two words", "two", "words"}));
    using Failure = ShellExpansionError;
    EXPECT_EQ(std::get<Failure>(expandShellWords("echo 'open")), Failure::Syntax);
    for (const char* line : {"a | b", "a; b", "echo $(b)", "echo `b`", "a > file"})
        EXPECT_EQ(std::get<Failure>(expandShellWords(line)), Failure::SeveralCommands) << line;
}

TEST(Memory, OfTheProcessIsPartOfTheMachines)
{
    const std::uint64_t before = residentMemory();
    const std::vector<char> used(64 << 20, 1);
    EXPECT_GE(residentMemory(), before + (60 << 20));
    EXPECT_GE(peakResidentMemory(), before + (60 << 20));
    EXPECT_GT(physicalMemory(), peakResidentMemory());
    EXPECT_EQ(used.back(), 1);
}

} // namespace
} // namespace profiler::os
