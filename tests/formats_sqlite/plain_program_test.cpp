#include "advisor/rule.h"
#include "profiler/formats/format.h"
#include "tests/formats_sqlite/nsys_file.h"

#include <gtest/gtest.h>
#include <string>

namespace formats_sqlite_test {
namespace {

using advisor::Advice;
using advisor::State;

/// One round of a program: what it copies, from and to which kind of memory (0: pageable, 1: pinned), and what it
/// computes.
struct Round {
    int memory = 0;
    int copyUs = 300, kernelUs = 100; ///< for each of two copies, and for the kernel between them
    long long bytes = 3'000'000;
};

/// A CUDA program without NVTX: ten rounds of a copy to the device, a kernel, and a copy back.
void writePlainProgram(const std::filesystem::path& path, const Round& round)
{
    NsysFile file(path);
    file.makeTables();
    const auto text = [&](const std::string& value) { return std::to_string(file.string(value)); };
    const auto number = [](long long value) { return std::to_string(value); };
    const std::string kernel = text("saxpy"), copy = text("cudaMemcpy_v3020"), launch = text("cudaLaunchKernel_v7000"),
                      pid = number(globalId(100)), main = number(globalId(100, 100)), memory = number(round.memory),
                      bytes = number(round.bytes);
    file.run("INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'NVIDIA H100', 'GPU-aa');"
             "INSERT INTO PROCESSES VALUES (" +
             pid + ", 0, 'saxpy');");
    long long now = 1'000'000; // ns
    for (int i = 0; i < 10; ++i) {
        const long long up = now + 1'000, work = up + round.copyUs * 1'000LL + 1'000,
                        down = work + round.kernelUs * 1'000LL + 1'000, end = down + round.copyUs * 1'000LL;
        const auto call = [&](long long begin, long long until, int id, const std::string& name) {
            file.run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + number(begin) + ", " + number(until) +
                     ", 0, " + main + ", " + number(3 * i + id) + ", " + name + ", 0);");
        };
        call(now, work - 1'000, 1, copy);
        call(work - 900, work - 500, 2, launch);
        call(work - 400, end, 3, copy);
        file.run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (" + number(up) + ", " +
                 number(up + round.copyUs * 1'000LL) + ", 0, 1, 7, " + number(3 * i + 1) + ", " + pid + ", " + bytes +
                 ", 1, " + memory + ", 2), (" + number(down) + ", " + number(end) + ", 0, 1, 7, " + number(3 * i + 3) +
                 ", " + pid + ", " + bytes + ", 2, 2, " + memory +
                 ");"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" +
                 number(work) + ", " + number(work + round.kernelUs * 1'000LL) + ", 0, 1, 0, 7, " + number(3 * i + 2) +
                 ", " + pid + ", " + kernel + ", " + kernel + ", NULL, 4, 2, 1, 32);");
        now = end + 1'000;
    }
}

class PlainProgram : public testing::Test {
protected:
    Advice adviceOn(const Round& round, std::string_view rule)
    {
        const TemporaryFile file;
        writePlainProgram(file.path(), round);
        const auto trace = profiler::formats::openTrace(file.path());
        EXPECT_TRUE(trace) << trace.error().message();
        for (const advisor::RuleAdvice& row : advisor::advise(**trace, nullptr))
            if (row.id == rule)
                return row.advice;
        ADD_FAILURE() << "no rule " << rule;
        return {};
    }
    static double parameter(const Advice& advice, std::string_view name)
    {
        if (const profiler::MessageParameter* found = advice.reason.find(name))
            return found->value.index() == 0 ? static_cast<double>(std::get<std::int64_t>(found->value))
                                             : std::get<double>(found->value);
        ADD_FAILURE() << "no parameter " << name << " in " << advice.reason.id;
        return 0;
    }
};

TEST_F(PlainProgram, IsTransferBoundIfCopiesDominate)
{
    const Advice advice = adviceOn({.memory = 0}, "transfer.non_blocking");
    ASSERT_EQ(advice.state, State::Fires) << advice.reason.text;
    EXPECT_EQ(advice.reason.id, "transfer.bound");
    // Per round: two copies of 300 µs, a kernel of 100, and about 4 µs between them.
    EXPECT_NEAR(parameter(advice, "share"), 600.0 / 704, 0.01);
    EXPECT_EQ(parameter(advice, "to_device"), 30'000'000);
    EXPECT_EQ(parameter(advice, "to_host"), 30'000'000);
    EXPECT_EQ(parameter(advice, "pageable"), 1);
    EXPECT_FALSE(advice.saving);
    EXPECT_FALSE(advice.evidence.empty());
}

TEST_F(PlainProgram, IsNotTransferBoundIfKernelsDominate)
{
    EXPECT_NE(adviceOn({.memory = 0, .copyUs = 20, .kernelUs = 200}, "transfer.non_blocking").reason.id,
              "transfer.bound");
    EXPECT_EQ(adviceOn({.memory = 0, .copyUs = 60, .kernelUs = 200}, "transfer.non_blocking").reason.id,
              "transfer.bound");
}

TEST_F(PlainProgram, GetsAFindingForPageableCopiesInBothDirections)
{
    const Advice advice = adviceOn({.memory = 0, .copyUs = 20, .kernelUs = 200}, "loader.pin_memory");
    ASSERT_EQ(advice.state, State::Fires) << advice.reason.text;
    EXPECT_EQ(advice.reason.id, "loader.pin_memory.plain");
    EXPECT_EQ(parameter(advice, "count"), 20) << "the first copy is not an upload of weights";
    EXPECT_NEAR(parameter(advice, "gb_per_s"), 150, 1);
}

TEST_F(PlainProgram, GetsNoFindingForPinnedOrSmallCopies)
{
    EXPECT_EQ(adviceOn({.memory = 1}, "loader.pin_memory").state, State::Silent);
    EXPECT_EQ(adviceOn({.memory = 0, .bytes = 1'000}, "loader.pin_memory").state, State::Silent);
}

} // namespace
} // namespace formats_sqlite_test
