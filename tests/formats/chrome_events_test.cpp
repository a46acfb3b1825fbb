#include "tests/formats/json_text.h"
#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

// Chrome's trace format: every phase, arrays, layouts of other writers, and parts scanned by several threads.
namespace {

using namespace profiler;
using namespace json_test;
using profiler::test::hasId;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(ChromeEvents, ABareArrayOpens)
{
    const auto trace = open(R"([{"name":"a","ph":"X","ts":1,"dur":2,"pid":1,"tid":2,"cat":"blink"}])");
    EXPECT_EQ(trace->name(only(*trace)), "a");
    EXPECT_EQ(only(*trace).kind, ActivityKind::Other);
    EXPECT_THAT(trace->captureStats().notes, IsEmpty());
}

TEST(ChromeEvents, AnUnclosedArrayOpensWithANote)
{
    for (const std::string_view text : {R"([{"name":"a","ph":"X","ts":1,"dur":2,"pid":1,"tid":2},)",
                                        R"([{"name":"a","ph":"X","ts":1,"dur":2,"pid":1,"tid":2})"}) {
        const auto trace = open(text);
        EXPECT_EQ(trace->sliceCount(), 1U);
        EXPECT_TRUE(trace->captureStats().cut);
        EXPECT_THAT(trace->captureStats().notes, ElementsAre(hasId("json.array_open")));
    }
}

TEST(ChromeEvents, KeysInAnyOrderAndNesting)
{
    const auto trace = open(R"({"otherData":{"a":[1,{"b":"}]"}]},"traceEvents":[
{"args":{"data":{"list":[{"name":"not an event"},{"ph":"X"}],"correlation":9},"correlation":5},"cat":"kernel","dur":2.5,"name":"k","ph":"X","pid":0,"tid":7,"ts":1}
],"after":[null,true,-1.5e-3]})");
    EXPECT_EQ(only(*trace).correlation.value, 5U);
    EXPECT_EQ(only(*trace).duration.count(), 2500);
    EXPECT_EQ(trace->metadata().at("pytorch.after"), "[null,true,-1.5e-3]");
}

TEST(ChromeEvents, StartsAndEndsBecomeRanges)
{
    const auto trace = open(object(R"(
{"ph":"E","ts":30,"pid":1,"tid":2},
{"ph":"B","ts":10,"pid":1,"tid":2,"name":"outer"},
{"ph":"B","ts":12,"pid":1,"tid":2,"name":"inner"},
{"ph":"E","ts":20,"pid":1,"tid":2},
{"ph":"B","ts":40,"pid":1,"tid":2,"name":"open"},
{"ph":"E","ts":1,"pid":1,"tid":3,"name":"no begin"},
{"ph":"X","ts":90,"dur":10,"pid":1,"tid":4,"name":"last"})"));
    const auto rows = slices(*trace, "thread 2");
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(trace->name(rows[0]), "outer");
    EXPECT_EQ(rows[0].duration.count(), 20000);
    EXPECT_EQ(trace->name(rows[1]), "inner");
    EXPECT_EQ(rows[1].duration.count(), 8000);
    EXPECT_EQ(rows[1].depth, 1);
    EXPECT_TRUE(rows[2].is(slice_flag::kOpen));
    EXPECT_EQ(toNs(rows[2].end()), 100000);
    EXPECT_THAT(trace->captureStats().notes, ElementsAre(hasId("json.loss.end_without_begin", {{"count", 1}}),
                                                         hasId("json.loss.begin_without_end")));
    EXPECT_EQ(trace->captureStats().unmatched, 2U);
}

TEST(ChromeEvents, AnEndNeedNotRepeatTheFieldsOfItsStart)
{
    const auto trace = open(object(R"(
{"ph":"B","cat":"kernel","ts":10,"pid":0,"tid":7,"name":"k","args":{"device":0,"stream":7}},
{"ph":"E","ts":14,"pid":0,"tid":7})"));
    EXPECT_EQ(only(*trace).kind, ActivityKind::Kernel);
    EXPECT_EQ(only(*trace).duration.count(), 4000);
    EXPECT_EQ(trace->captureStats().unmatched, 0U);
}

TEST(ChromeEvents, ScopesDistinguishIds)
{
    const auto trace = open(object(R"(
{"ph":"b","cat":"c","id":1,"scope":"A","ts":1,"pid":1,"tid":2,"name":"r"},
{"ph":"b","cat":"c","id":1,"scope":"B","ts":2,"pid":1,"tid":2,"name":"r"},
{"ph":"e","cat":"c","id":1,"scope":"A","ts":4,"pid":1,"tid":2,"name":"r"},
{"ph":"e","cat":"c","id":1,"scope":"B","ts":10,"pid":1,"tid":2,"name":"r"})"));
    const auto rows = slices(*trace, "c");
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].duration.count(), 3000);
    EXPECT_EQ(rows[1].duration.count(), 8000);
}

TEST(ChromeEvents, AnInstantIsNotDeviceWork)
{
    const auto trace = open(object(R"({"ph":"i","cat":"kernel","ts":1,"pid":0,"tid":7,"name":"mark"})"));
    EXPECT_EQ(only(*trace).kind, ActivityKind::Other);
}

TEST(ChromeEvents, OfSeveralCategoriesTheKnownOneCounts)
{
    for (const std::string_view category : {"Kernel,foo", "foo,kernel", "foo,bar,Kernel"}) {
        const auto trace = open(
            object(R"({"ph":"X","ts":1,"dur":2,"pid":0,"tid":7,"name":"k","cat":")" + std::string(category) + "\"}"));
        EXPECT_EQ(only(*trace).kind, ActivityKind::Kernel) << category;
    }
}

TEST(ChromeEvents, RangesOfDifferentThreadsStayApart)
{
    const auto trace = open(object(R"(
{"ph":"B","ts":0,"pid":100,"tid":132,"name":"a"},
{"ph":"B","ts":10,"pid":101,"tid":101,"name":"b"},
{"ph":"E","ts":100,"pid":100,"tid":132},
{"ph":"E","ts":1000,"pid":101,"tid":101})"));
    EXPECT_EQ(slices(*trace, "thread 132").at(0).duration.count(), 100000);
    EXPECT_EQ(slices(*trace, "thread 101").at(0).duration.count(), 990000);
}

TEST(ChromeEvents, AsynchronousRangesAreJoinedById)
{
    const auto trace = open(object(R"(
{"ph":"b","cat":"net","id":"0xa","ts":10,"pid":1,"tid":2,"name":"get"},
{"ph":"b","cat":"net","id":"0xb","ts":11,"pid":1,"tid":3,"name":"put"},
{"ph":"n","cat":"net","id":"0xa","ts":12,"pid":1,"tid":2,"name":"byte"},
{"ph":"e","cat":"net","id":"0xa","ts":20,"pid":1,"tid":9,"name":"get"},
{"ph":"e","cat":"net","id":"0xb","ts":15,"pid":1,"tid":9,"name":"put"})"));
    const auto rows = slices(*trace, "net");
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].duration.count(), 10000);
    EXPECT_EQ(rows[1].duration.count(), 4000);
}

TEST(ChromeEvents, CountersAndInstants)
{
    const auto trace = open(object(R"(
{"ph":"C","ts":2,"pid":1,"name":"heap","args":{"used":7,"free":3.5}},
{"ph":"C","ts":1,"pid":1,"name":"heap","args":{"used":5}},
{"ph":"C","ts":1,"pid":1,"name":"load","id":"cpu0","args":{"value":0.25}},
{"ph":"i","ts":3,"pid":1,"tid":1,"name":"tick","s":"t"},
{"ph":"I","ts":4,"pid":1,"tid":1,"name":"tock"})"));
    ASSERT_TRUE(track(*trace, "heap: used"));
    EXPECT_EQ(trace->counter(track(*trace, "heap: used")->id)[0].value, 7);
    EXPECT_EQ(trace->counter(track(*trace, "heap")->id)[0].value, 5);
    EXPECT_EQ(trace->counter(track(*trace, "load[cpu0]")->id)[0].value, 0.25);
    const auto instants = slices(*trace, "thread 1");
    ASSERT_EQ(instants.size(), 2U);
    EXPECT_EQ(instants[0].duration.count(), 0);
}

TEST(ChromeEvents, FlowsBecomeArrows)
{
    const auto trace = open(object(R"(
{"ph":"X","ts":0,"dur":10,"pid":1,"tid":1,"name":"send"},{"ph":"X","ts":20,"dur":10,"pid":1,"tid":2,"name":"receive"},
{"ph":"s","ts":5,"pid":1,"tid":1,"name":"message","cat":"ipc","id":4},{"ph":"f","ts":25,"pid":1,"tid":2,"name":"message","cat":"ipc","id":4,"bp":"e"},
{"ph":"s","ts":6,"pid":1,"tid":1,"name":"lost","cat":"ipc","id":5})"));
    const auto flows = trace->flowsOf(slices(*trace, "thread 1")[0].id);
    ASSERT_EQ(flows.size(), 1U);
    EXPECT_EQ(flows[0].kind, FlowKind::Async);
    EXPECT_EQ(trace->name(trace->slice(flows[0].to)), "receive");
    EXPECT_THAT(trace->captureStats().notes, ElementsAre(hasId("json.loss.flow_without_end", {{"count", 1}})));
}

TEST(ChromeEvents, OverlapsAreCountedInMemoryAndOnDisk)
{
    const std::string text = object(
        R"({"ph":"X","ts":5,"dur":10,"pid":1,"tid":1,"name":"overlaps"},{"ph":"X","ts":0,"dur":10,"pid":1,"tid":1,"name":"a"},
{"ph":"X","ts":2,"dur":8,"pid":1,"tid":1,"name":"inside"},{"ph":"X","ts":3,"dur":1,"pid":1,"tid":1,"name":"late"})");
    const auto note = ElementsAre(hasId("json.loss.overlapping", {{"count", 1}, {"byte", 37}}));
    EXPECT_THAT(open(text)->captureStats().notes, note);
    const TextFile file(text);
    formats::ReadOptions little;
    little.memoryBudget = 1;
    const auto spilled = formats::openTrace(file.path(), little);
    ASSERT_TRUE(spilled);
    EXPECT_THAT((*spilled)->captureStats().notes, note);
}

TEST(ChromeEvents, TextsAreUnescaped)
{
    const auto trace =
        open(object(R"({"ph":"X","ts":0,"dur":1,"pid":"a\u0041","tid":"t\\1","name":"\ud83d\ude00 \"q\" é\n\/"})"));
    EXPECT_EQ(trace->name(only(*trace)), "\xF0\x9F\x98\x80 \"q\" \xC3\xA9\n/");
    ASSERT_TRUE(track(*trace, "t\\1"));
    EXPECT_EQ(track(*trace, "t\\1")->processName, "aA");
    EXPECT_THAT(trace->captureStats().notes, IsEmpty());
}

/// A file of several megabytes in several layouts, with texts that look like the boundaries of events.
std::string mixed(unsigned seed)
{
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return random() % n; };
    std::string text = "{\"a\": {\"b\": [1, 2]}, \"traceEvents\": [\n";
    for (int i = 0; i < 9000; ++i) {
        const std::string id = std::to_string(i), ts = std::to_string(1000 + 3 * i);
        text += i == 0 ? "" : below(2) == 0 ? ",\n  " : ", ";
        switch (below(6)) {
        case 0:
            text += "{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"op" + std::to_string(below(50)) +
                    "\", \"pid\": 1, \"tid\": 1,\n    \"ts\": " + ts +
                    ".125, \"dur\": 2.5,\n    \"args\": {\n      \"External id\": " + id + ", \"Input Dims\": [[" + id +
                    ", 2], []]\n    }\n  }";
            break;
        case 1:
            text += R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)" + ts +
                    R"(,"dur":1,"args":{"correlation":)" + id + "}}";
            break;
        case 2:
            // Texts and lists that contain what looks like the end of one event and the start of another.
            text +=
                R"({"ph":"X","name":"trap )" + std::string(below(300), 'z') + R"(}, {\"ph\": ","ts":)" + ts +
                R"(,"dur":0,"pid":1,"tid":2,"args":{"t":"}, {","list":[{"name":"a"}, {"name":"b"}, {"ph":"X","ts":1}]}})";
            break;
        case 3:
            text += R"({"args":{},"ph":"i","ts":)" + ts + R"(,"name":"tick","pid":1,"tid":3,"s":"t"})";
            break;
        case 4:
            text += R"({ "ph" : "C" , "ts" : )" + ts + R"( , "name" : "c" , "pid" : 1 , "args" : { "v" : )" +
                    std::to_string(below(100)) + " } }";
            break;
        default:
            text += "{\n        \"ph\": \"X\",\n        \"cat\": \"user_annotation\",\n        \"name\": \"" +
                    std::string(below(2000), 'n') +
                    "\",\n        \"pid\": 1,\n        \"tid\": 4,\n        \"ts\": " + ts +
                    ",\n        \"dur\": 1\n    }";
        }
    }
    return text + "\n], \"tail\": 1}";
}

TEST(ChromeEvents, ThreadsAndGuessesDoNotChangeTheTrace)
{
    for (unsigned seed = 1; seed <= 3; ++seed) {
        const std::string text = mixed(seed);
        const auto alone = open(text, 1);
        EXPECT_EQ(alone->metadata().at("source.events"), "9000");
        EXPECT_EQ(alone->metadata().at("pytorch.tail"), "1");
        EXPECT_THAT(alone->captureStats().notes, IsEmpty());
        const std::string expected = dump(*alone);
        EXPECT_EQ(dump(*open(text, 4)), expected);
        EXPECT_EQ(dump(*open(gzip(text), 2)), expected);
        EXPECT_EQ(dump(*open(zstd(text), 2)), expected);
        const TextFile file(text);
        formats::ReadOptions little;
        little.memoryBudget = 100'000; // less than the 430,000 that it needs
        const auto spilled = formats::openTrace(file.path(), little);
        ASSERT_TRUE(spilled);
        EXPECT_EQ(dump(**spilled), expected);
    }
}

TEST(ChromeEvents, LocalAndGlobalIdsJoinEvents)
{
    const auto trace = open(object(R"(
{"ph":"b","cat":"net","id2":{"local":"0xa"},"ts":10,"pid":1,"tid":2,"name":"first"},
{"ph":"b","cat":"net","id2":{"local":"0xb"},"ts":11,"pid":1,"tid":2,"name":"second"},
{"ph":"e","cat":"net","id2":{"local":"0xa"},"ts":30,"pid":1,"tid":2,"name":"first"},
{"ph":"e","cat":"net","id2":{"local":"0xb"},"ts":20,"pid":1,"tid":2,"name":"second"},
{"ph":"X","ts":0,"dur":10,"pid":1,"tid":1,"name":"send"},{"ph":"X","ts":20,"dur":10,"pid":1,"tid":3,"name":"receive"},
{"ph":"X","ts":0,"dur":10,"pid":2,"tid":1,"name":"send too"},{"ph":"X","ts":20,"dur":10,"pid":2,"tid":3,"name":"receive too"},
{"ph":"s","ts":5,"pid":1,"tid":1,"name":"m","cat":"ipc","id2":{ "local" : "0x1" }},
{"ph":"s","ts":6,"pid":2,"tid":1,"name":"m","cat":"ipc","id2":{"local":"0x1"}},
{"ph":"f","ts":25,"pid":1,"tid":3,"name":"m","cat":"ipc","bp":"e","id2":{"local":"0x1"}},
{"ph":"f","ts":26,"pid":2,"tid":3,"name":"m","cat":"ipc","bp":"e","id2":{"local":"0x1"}})"));
    const auto rows = slices(*trace, "net");
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].duration.count(), 20000);
    EXPECT_EQ(rows[1].duration.count(), 9000);
    const auto flows = trace->explicitFlows();
    ASSERT_EQ(flows.size(), 2U);
    for (const Flow& flow : flows)
        EXPECT_EQ(trace->track(flow.from.track).pid, trace->track(flow.to.track).pid);
    EXPECT_THAT(trace->captureStats().notes, IsEmpty());
}

TEST(ChromeEvents, SlicesCanBePointsOfAFlow)
{
    const auto trace = open(object(R"(
{"ph":"X","ts":0,"dur":10,"pid":1,"tid":1,"name":"ask","bind_id":"0x7","flow_out":true},
{"ph":"X","ts":20,"dur":10,"pid":1,"tid":2,"name":"pass on","bind_id":"0x7","flow_in":true,"flow_out":true},
{"ph":"X","ts":40,"dur":10,"pid":1,"tid":3,"name":"answer","bind_id":"0x7","flow_in":true,"flow_out":false})"));
    std::vector<std::string> arrows;
    for (const Flow& flow : trace->explicitFlows())
        arrows.push_back(std::string(trace->name(trace->slice(flow.from))) + " > " +
                         std::string(trace->name(trace->slice(flow.to))));
    EXPECT_THAT(arrows, testing::UnorderedElementsAre("ask > pass on", "pass on > answer"));
}

} // namespace
