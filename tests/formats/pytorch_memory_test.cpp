#include "profiler/analysis/memory/memory_over_time.h"
#include "profiler/formats/format.h"
#include "profiler/os/files.h"
#include "tests/formats/json_text.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// What held the memory at the peak, from the memory events of PyTorch's profiler.
namespace {

using namespace profiler;
using namespace json_test;
using analysis::DeviceMemory;
using analysis::LiveBlocks;
using testing::IsEmpty;

std::string memoryEvent(int time, const std::string& address, int bytes, int total)
{
    return R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7, "tid": 7, "ts": )" +
           std::to_string(time) + R"(, "args": {"Total Reserved": 4000, "Total Allocated": )" + std::to_string(total) +
           R"(, "Bytes": )" + std::to_string(bytes) + (address.empty() ? "" : R"(, "Addr": )" + address) +
           R"(, "Device Id": 0, "Device Type": 1, "Ev Idx": 1}})";
}

std::string call(const char* category, const std::string& name, int begin, int duration)
{
    return std::string(R"({"ph": "X", "cat": ")") + category + R"(", "name": ")" + name +
           R"(", "pid": 7, "tid": 7, "ts": )" + std::to_string(begin) + R"(, "dur": )" + std::to_string(duration) + "}";
}

/// 1,000 bytes from before the recording; 400 of a linear layer and 300 of relu at the peak; 100 later.
std::string file(bool addresses = true)
{
    const auto at = [&](const char* address) { return addresses ? std::string(address) : std::string(); };
    std::string events;
    for (const std::string& event :
         {call("user_annotation", "ProfilerStep#3", 100, 900), call("cpu_op", "aten::linear", 210, 180),
          call("cpu_op", "aten::empty", 220, 10), memoryEvent(225, at("18446744073709551615"), 400, 1400),
          call("cpu_op", "aten::relu", 420, 60), memoryEvent(430, at("200"), 300, 1700),
          memoryEvent(500, at("200"), -300, 1400), memoryEvent(510, at("999"), -1000, 400),
          memoryEvent(600, at("200"), 100, 500), call("python_function", "/me/train.py(10): main", 100, 900),
          call("python_function", "torch/nn/modules/linear.py(114): forward", 200, 200),
          call("python_function", "<built-in function linear>", 205, 190)})
        events += (events.empty() ? "" : ",\n") + event;
    return R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}";
}

DeviceMemory gpuOf(const Trace& trace)
{
    for (DeviceMemory& memory : analysis::memoryOverTime(trace))
        if (memory.place == "GPU 0")
            return std::move(memory);
    ADD_FAILURE() << "the trace has no memory of GPU 0";
    return {};
}

void expectHolders(const Trace& trace)
{
    const DeviceMemory memory = gpuOf(trace);
    EXPECT_TRUE(memory.hasEvents);
    EXPECT_TRUE(memory.hasStacks);
    ASSERT_TRUE(memory.peak());
    EXPECT_EQ(memory.peak()->bytes, 1700);
    const std::vector<LiveBlocks>& holders = memory.peak()->holders;
    ASSERT_EQ(holders.size(), 3U);
    EXPECT_TRUE(holders[0].unrecorded);
    EXPECT_EQ(holders[0].bytes, 1000);
    EXPECT_FALSE(holders[0].allocation);
    EXPECT_EQ(holders[1].bytes, 400);
    EXPECT_EQ(holders[1].blocks, 1);
    EXPECT_EQ(holders[1].op, "aten::linear") << "the operator that does more than allocate";
    EXPECT_EQ(holders[1].place, (analysis::SourceLine{"/me/train.py", 10, "main"})) << "the user's function";
    EXPECT_EQ(holders[1].step, 3);
    ASSERT_TRUE(holders[1].allocation);
    EXPECT_EQ(trace.name(trace.slice(*holders[1].allocation)), "aten::linear");
    EXPECT_EQ(holders[2].bytes, 300);
    EXPECT_EQ(holders[2].op, "aten::relu");
    EXPECT_EQ(memory.peak()->sample.allocated(), 1700);
}

TEST(PytorchMemory, BlocksAtThePeakAreHeldByWhatRanAtTheirAllocation)
{
    expectHolders(*open(file()));
}

TEST(PytorchMemory, HoldersSurviveTheConversion)
{
    const test_support::TemporaryFolder folder;
    for (const char* name : {"copy.sspack", "copy.json"}) {
        ASSERT_TRUE(formats::saveTrace(*open(file()), folder / name, {})) << name;
        const auto copy = formats::openTrace(folder / name);
        ASSERT_TRUE(copy) << name;
        expectHolders(**copy);
    }
}

TEST(PytorchMemory, ABlockOutsideOfTheRecordingIsNotCounted)
{
    const test_support::TemporaryFolder folder;
    ASSERT_TRUE(formats::saveTrace(*open(file()), folder / "copy.json", {}));
    std::string text = os::readFile(folder / "copy.json", 1 << 20).value_or("");
    for (const std::string time : {"9223372036854775807", "-9223372036854775808", "9000000"}) {
        std::string changed = text;
        const std::size_t at = changed.find("205000\\u0009");
        ASSERT_NE(at, std::string::npos);
        changed.replace(at, 6, time);
        const DeviceMemory memory = gpuOf(*open(changed));
        ASSERT_TRUE(memory.peak());
        ASSERT_EQ(memory.peak()->holders.size(), 2U) << time;
        EXPECT_TRUE(memory.peak()->holders[0].unrecorded);
        EXPECT_EQ(memory.peak()->holders[0].bytes, 1300);
    }
}

TEST(PytorchMemory, EventsWithoutAddressesAreTotalsOnly)
{
    const DeviceMemory memory = gpuOf(*open(file(false)));
    EXPECT_FALSE(memory.hasEvents);
    ASSERT_TRUE(memory.peak());
    EXPECT_EQ(memory.peak()->bytes, 1700);
    EXPECT_THAT(memory.peak()->holders, IsEmpty());
}

} // namespace
