#include "tests/formats/json_text.h"
#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Items that consist of several events: ranges with a start and an end, arrows, counters of a process.
namespace {

using namespace profiler;
using namespace json_test;
using profiler::test::hasId;
using testing::ElementsAre;
using testing::IsEmpty;

/// "name begin+duration depth" of every slice of a row, in µs.
std::vector<std::string> rows(const Trace& trace, std::string_view track)
{
    std::vector<std::string> texts;
    for (const Slice& slice : slices(trace, track))
        texts.push_back(std::string(trace.name(slice)) + " " + std::to_string(toNs(slice.begin) / 1000) + "+" +
                        std::to_string(slice.duration.count() / 1000) + " " + std::to_string(slice.depth));
    return texts;
}

std::vector<std::string> arrows(const Trace& trace)
{
    std::vector<std::string> texts;
    for (const Flow& flow : trace.explicitFlows())
        texts.push_back(std::string(trace.name(trace.slice(flow.from))) + " > " +
                        std::string(trace.name(trace.slice(flow.to))));
    return texts;
}

TEST(ChromeJoins, OfRangesWithEqualTimesTheFirstIsTheOuter)
{
    const auto trace = open(object(R"(
{"ph":"B","name":"a","ts":0,"pid":1,"tid":1},{"ph":"B","name":"b","ts":0,"pid":1,"tid":1},
{"ph":"E","ts":5,"pid":1,"tid":1},{"ph":"E","ts":5,"pid":1,"tid":1})"));
    EXPECT_THAT(rows(*trace, "thread 1"), ElementsAre("a 0+5 0", "b 0+5 1"));
    EXPECT_THAT(trace->captureStats().notes, IsEmpty());
}

TEST(ChromeJoins, OfRangesWithEqualTimesTheFirstIsTheOuterInAnyPart)
{
    // The inner range ends in an earlier part of the file than the outer one.
    std::string between;
    for (int i = 0; i < 4000; ++i)
        between += R"({"ph":"i","name":")" + std::string(400, '.') + R"(","ts":1,"pid":2,"tid":2},)";
    const auto trace = open(object(R"(
{"ph":"B","name":"a","ts":0,"pid":1,"tid":1},{"ph":"B","name":"b","ts":0,"pid":1,"tid":1},
{"ph":"E","ts":5,"pid":1,"tid":1},)" +
                                   between + R"({"ph":"E","ts":5,"pid":1,"tid":1})"));
    EXPECT_THAT(rows(*trace, "thread 1"), ElementsAre("a 0+5 0", "b 0+5 1"));
}

TEST(ChromeJoins, AnEndClosesTheRangeOfItsName)
{
    const auto trace = open(object(R"(
{"ph":"B","name":"a","ts":0,"pid":1,"tid":1},{"ph":"B","name":"b","ts":5,"pid":1,"tid":1},
{"ph":"E","name":"a","ts":5,"pid":1,"tid":1},{"ph":"E","name":"b","ts":9,"pid":1,"tid":1})"));
    EXPECT_THAT(rows(*trace, "thread 1"), ElementsAre("a 0+5 0", "b 5+4 0"));
    EXPECT_THAT(trace->captureStats().notes, ElementsAre(hasId("json.loss.ends_crossed", {{"count", 1}})));
}

TEST(ChromeJoins, ArgumentsOfEndsAreNoted)
{
    const auto trace = open(object(R"(
{"ph":"B","name":"a","ts":0,"pid":1,"tid":1,"args":{"x":1}},{"ph":"E","ts":7,"pid":1,"tid":1,"args":{ }},
{"ph":"B","name":"b","ts":8,"pid":1,"tid":1},{"ph":"E","ts":9,"pid":1,"tid":1,"args":{"result":3}})"));
    EXPECT_THAT(trace->captureStats().notes, ElementsAre(hasId("json.loss.end_args", {{"count", 1}})));
    EXPECT_EQ(trace->captureStats().dropped, 0U);
}

TEST(ChromeJoins, AnEndOfAnotherNameIsNoted)
{
    const auto trace = open(object(R"(
{"ph":"B","name":"a","ts":0,"pid":1,"tid":1},{"ph":"E","name":"other","ts":7,"pid":1,"tid":1})"));
    EXPECT_THAT(rows(*trace, "thread 1"), ElementsAre("a 0+7 0"));
    EXPECT_THAT(trace->captureStats().notes, ElementsAre(hasId("json.loss.end_of_other", {{"count", 1}})));
}

TEST(ChromeJoins, IdsOver64BitsAreDistinguished)
{
    const auto trace = open(object(R"(
{"ph":"X","ts":0,"dur":10,"pid":1,"tid":1,"name":"a"},{"ph":"X","ts":20,"dur":10,"pid":1,"tid":2,"name":"b"},
{"ph":"X","ts":40,"dur":10,"pid":1,"tid":3,"name":"c"},{"ph":"X","ts":60,"dur":10,"pid":1,"tid":18446744073709551615,"name":"d"},
{"ph":"s","ts":1,"pid":1,"tid":1,"cat":"x","id":9223372036854775809},
{"ph":"s","ts":22,"pid":1,"tid":2,"cat":"x","id":9223372036854775810},
{"ph":"f","bp":"e","ts":41,"pid":1,"tid":3,"cat":"x","id":9223372036854775809},
{"ph":"f","bp":"e","ts":61,"pid":1,"tid":18446744073709551615,"cat":"x","id":9223372036854775810})"));
    EXPECT_THAT(arrows(*trace), ElementsAre("a > c", "b > d"));
    EXPECT_THAT(rows(*trace, "18446744073709551615"), ElementsAre("d 60+10 0"));
    EXPECT_THAT(trace->captureStats().notes, IsEmpty());
}

TEST(ChromeJoins, AFlowsEndBindsToTheNextSliceUnlessItSaysOtherwise)
{
    constexpr std::string_view kSlices = R"(
{"ph":"X","ts":0,"dur":10,"pid":1,"tid":1,"name":"a"},{"ph":"X","ts":20,"dur":10,"pid":1,"tid":2,"name":"b"},
{"ph":"X","ts":40,"dur":10,"pid":1,"tid":2,"name":"c"},{"ph":"s","ts":1,"pid":1,"tid":1,"cat":"x","id":7},)";
    const auto opened = [&](std::string_view end) {
        return open(
            object(std::string(kSlices) + R"({"ph":"f","pid":1,"tid":2,"cat":"x","id":7,)" + std::string(end) + "}"));
    };
    EXPECT_THAT(arrows(*opened(R"("ts":15)")), ElementsAre("a > b"));
    EXPECT_THAT(arrows(*opened(R"("ts":20)")), ElementsAre("a > b"));
    EXPECT_THAT(arrows(*opened(R"("ts":25)")), ElementsAre("a > c"));
    EXPECT_THAT(arrows(*opened(R"("ts":25,"bp":"e")")), ElementsAre("a > b"));
    const auto none = opened(R"("ts":45)");
    EXPECT_THAT(arrows(*none), IsEmpty());
    EXPECT_THAT(none->captureStats().notes, ElementsAre(hasId("trace.unbound_arrows", {{"count", 1}})));
    EXPECT_EQ(none->captureStats().unmatched, 1U);
}

TEST(ChromeJoins, AFlowToARowWithoutSlicesIsNoted)
{
    const auto trace = open(object(R"(
{"ph":"X","ts":0,"dur":10,"pid":1,"tid":1,"name":"a"},{"ph":"s","ts":1,"pid":1,"tid":1,"cat":"x","id":7},
{"ph":"f","ts":15,"pid":1,"tid":9,"cat":"x","id":7})"));
    EXPECT_THAT(trace->captureStats().notes, ElementsAre(hasId("json.loss.flow_without_row", {{"count", 1}})));
}

TEST(ChromeJoins, CountersBelongToProcessesThatHaveNames)
{
    const auto trace = open(object(R"(
{"ph":"X","ts":0,"dur":10,"pid":"worker A","tid":1,"name":"a","cat":"cpu_op"},
{"ph":"M","name":"process_name","pid":7,"args":{"name":"seven"}},
{"ph":"C","ts":1,"pid":"worker A","name":"mem","args":{"used":1}},
{"ph":"C","ts":1,"pid":"worker B","name":"one","args":{"v":3}},
{"ph":"C","ts":1,"pid":7,"name":"two","args":{"v":3}})"));
    const Track* mem = track(*trace, "mem");
    ASSERT_TRUE(mem);
    EXPECT_EQ(mem->pid, trace->track(only(*trace).id.track).pid);
    EXPECT_EQ(mem->processName, "worker A");
    EXPECT_EQ(track(*trace, "one")->pid, 0);
    EXPECT_EQ(track(*trace, "one")->processName, "worker B");
    EXPECT_EQ(track(*trace, "two")->pid, 7);
    EXPECT_EQ(track(*trace, "two")->processName, "seven");
}

TEST(ChromeJoins, CounterValuesThatAreNotNumbersAreNoted)
{
    const auto trace = open(object(R"({"ph":"C","ts":1,"pid":7,"name":"one","args":{"v":"12","w":4}})"));
    EXPECT_EQ(trace->counter(track(*trace, "one: w")->id).at(0).value, 4);
    EXPECT_THAT(trace->captureStats().notes, ElementsAre(hasId("json.loss.no_number", {{"count", 1}})));
}

TEST(ChromeJoins, WorkWithIdsOver32BitsHasItsLaunch)
{
    const auto work = [](std::int64_t call, std::int64_t kernel) {
        return object(
            R"({"ph":"X","cat":"cuda_runtime","ts":0,"dur":1,"pid":1,"tid":1,"name":"cudaLaunchKernel","args":{"correlation":)" +
            std::to_string(call) +
            R"(}},{"ph":"X","cat":"kernel","ts":2,"dur":1,"pid":0,"tid":7,"name":"k","args":{"correlation":)" +
            std::to_string(kernel) + "}}");
    };
    constexpr std::int64_t kProcess = std::int64_t{1} << 32;
    EXPECT_EQ(open(work(kProcess + 5, kProcess + 5))->captureStats().unmatched, 0U);
    EXPECT_EQ(open(work(kProcess + 5, 2 * kProcess + 5))->captureStats().unmatched, 1U);
}

} // namespace
