#include "tests/formats/json_text.h"
#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Events that count only once, and correlation ids that do not distinguish launches.
namespace {

using namespace profiler;
using namespace json_test;
using profiler::test::hasId;
using testing::ElementsAre;
using testing::IsEmpty;

std::string call(std::string_view category, int process, int time, int correlation)
{
    return R"({"ph":"X","cat":")" + std::string(category) + R"(","name":"cudaLaunchKernel","pid":)" +
           std::to_string(process) + R"(,"tid":1,"ts":)" + std::to_string(time) + R"(,"dur":2,"args":{"correlation":)" +
           std::to_string(correlation) + "}}";
}

std::string kernel(int time, int correlation)
{
    return R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)" + std::to_string(time) +
           R"(,"dur":2,"args":{"device":0,"stream":7,"correlation":)" + std::to_string(correlation) + "}}";
}

TEST(LaunchIds, CallsThatShareAnIdAreCounted)
{
    const std::string calls = call("cuda_runtime", 1, 1, 5) + "," + call("cuda_runtime", 1, 11, 5) + "," +
                              call("cuda_runtime", 1, 21, 6) + "," + call("cuda_runtime", 1, 31, 5);
    for (const std::string& far : {std::string(), "," + call("cuda_runtime", 1, 41, 2'000'000'000)}) {
        const auto trace = open(object(calls + "," + kernel(2, 5) + "," + kernel(12, 5) + far));
        EXPECT_THAT(trace->captureStats().notes,
                    ElementsAre(hasId("json.loss.shared_correlation", {{"count", 3}, {"byte", 37}})));
    }
}

TEST(LaunchIds, CallsThatMayShareAnIdAreNotCounted)
{
    // A runtime call and its driver call, the kernels of a graph, and two processes.
    EXPECT_THAT(open(object(call("cuda_runtime", 1, 1, 5) + "," + call("cuda_driver", 1, 1, 5) + "," + kernel(2, 5) +
                            "," + kernel(5, 5) + "," + kernel(8, 5)))
                    ->captureStats()
                    .notes,
                IsEmpty());
    const auto two = open(object(call("cuda_runtime", 1, 1, 5) + "," + call("cuda_runtime", 2, 1, 5)));
    EXPECT_THAT(two->captureStats().notes, ElementsAre(hasId("json.several_processes", {{"count", 2}})));
    // No id at all.
    EXPECT_THAT(open(object(call("cuda_runtime", 1, 1, 0) + "," + call("cuda_runtime", 1, 5, 0)))->captureStats().notes,
                IsEmpty());
}

TEST(LaunchIds, ARangeOfTwoEventsCountsOnce)
{
    const auto trace = open(object(R"({"ph":"B","cat":"cpu_op","name":"ProfilerStep#1","pid":1,"tid":1,"ts":1},
{"ph":"E","cat":"cpu_op","name":"ProfilerStep#1","pid":1,"tid":1,"ts":9},
{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":2,"dur":1})"));
    EXPECT_EQ(trace->metadata().at("source.marked_ops"), "1");
}

TEST(LaunchIds, AStreamThatWaitsForAnEventDoesNotBlockTheHost)
{
    const auto trace = open(object(R"({"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":7,"ts":1,
"dur":300,"args":{"stream":7,"device":0}},
{"ph":"X","cat":"cuda_sync","name":"Stream Sync","pid":0,"tid":8,"ts":1,"dur":3,"args":{"stream":8,"device":0}})"));
    const auto waiting = slices(*trace, "stream 7 waits"), host = slices(*trace, "stream 8 waits");
    ASSERT_EQ(waiting.size(), 1U);
    EXPECT_EQ(waiting[0].kind, ActivityKind::Other);
    ASSERT_EQ(host.size(), 1U);
    EXPECT_EQ(host[0].kind, ActivityKind::Sync);
}

TEST(LaunchIds, CopiesOfIntelDevicesHaveAKind)
{
    const auto copy = [](std::string_view name) {
        return only(*open(object(R"({"ph":"X","cat":"gpu_memcpy","pid":0,"tid":7,"ts":1,"dur":2,"name":")" +
                                 std::string(name) + "\"}")))
            .args.copy;
    };
    EXPECT_EQ(copy("Memcpy M2D (Memory -> Device)"), CopyKind::HtoD);
    EXPECT_EQ(copy("Memcpy D2M (Device -> Memory)"), CopyKind::DtoH);
}

} // namespace
