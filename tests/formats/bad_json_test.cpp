#include "profiler/formats/pytorch/json_text.h"
#include "tests/formats/json_text.h"
#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Damaged, foreign or hostile input: messages say what is wrong and where, and everything readable is shown.
namespace {

using namespace profiler;
using namespace json_test;
using profiler::test::hasId;
using profiler::test::hasIdAndPart;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kEvent = R"({"ph":"X","ts":1.5,"dur":2,"pid":1,"tid":1,"name":"a"})";

Message problem(std::string_view bytes)
{
    const auto trace = tryOpen(bytes);
    return trace ? Message{} : trace.error().what;
}

/// No event can be read, because of the loss with this id.
testing::Matcher<const Message&> noEvent(const std::string& reason)
{
    return hasId("json.no_event", {{"reason", reason}});
}
testing::Matcher<const Message&> noArray(const std::string& reason)
{
    return hasId("json.no_array", {{"reason", reason}});
}

TEST(BadJson, FilesThatAreNotTracesReportWhy)
{
    EXPECT_THAT(problem(""), hasId("file.empty"));
    EXPECT_THAT(problem(std::string("\0\1\2\3\377", 5)), hasId("open.unknown_format"));
    EXPECT_THAT(problem("hello"), hasId("open.unknown_format"));
    using namespace std::string_literals;
    EXPECT_THAT(problem("PK\3\4\24\0\0\0"s), hasId("open.container", {{"kind", "a ZIP archive"}}));
    EXPECT_THAT(problem("\xFD"
                        "7zXZ\0\0\4"s),
                hasId("open.container", {{"kind", "compressed with xz"}}));
    EXPECT_THAT(problem("\xFF\xFE{\0"s), hasId("open.container", {{"kind", "text in UTF-16"}}));
    EXPECT_THAT(tryOpen("hello").error().hint,
                AllOf(HasSubstr("PyTorch"), testing::Not(HasSubstr(".csv")), HasSubstr("Perfetto")));
    EXPECT_THAT(problem(R"({"a": 1})"), noArray(""));
    EXPECT_THAT(problem(R"({"a": 1, )"),
                AllOf(noArray("json.ends_early"), hasIdAndPart("json.no_array", "why", "byte 9")));
    EXPECT_THAT(problem(R"({"a": tru})"),
                AllOf(noArray("json.grammar"), hasIdAndPart("json.no_array", "why", "byte 9")));
    EXPECT_THAT(problem(R"({"traceEvents": 7})"), noArray(""));
}

TEST(BadJson, EventsAfterADamagedHeaderAreRead)
{
    struct Case {
        std::string_view header, id;
        int byte = 0;
    };
    for (const Case& c : {
             Case{R"({"schemaVersion":1,"deviceProperties":[{"id":0 "name":"x"}],)", "json.grammar_ahead", 47},
             Case{R"({"schemaVersion":1,"deviceProperties":[{"id":0,name":"x"}],)", "json.grammar_ahead", 47},
             Case{R"({"a":1}, "b":2,)", "json.rest_ahead", 7},
             Case{R"({"distributedInfo":{"rank":2,)", "json.not_closed"},
             Case{R"({"deviceProperties":[{"id":0},)", "json.grammar_ahead", 44},
             Case{R"({"a": "an \"traceEvents\": [{} in a text", "b": tru,)", "json.grammar_ahead", 51},
             Case{R"({"key: )", "json.grammar_ahead", 8},
             Case{R"({"a" 1, "o":{"traceEvents":7, "traceEvents" :[1]},)", "json.grammar_ahead", 5},
             Case{R"({"a" 1, "o":{"traceEvents":[]},)", "json.grammar_ahead", 5},
         }) {
        const std::string text =
            std::string(c.header) + "\"traceEvents\" : [\n" + std::string(kEvent) + "], \"tail\":1}";
        for (const std::string& file : {text, gzip(text)}) {
            const auto trace = open(file);
            EXPECT_EQ(trace->sliceCount(), 1U) << text;
            EXPECT_EQ(trace->metadata().count("pytorch.tail"), 1U) << text;
            EXPECT_FALSE(trace->captureStats().cut) << text;
            const std::string id(c.id);
            EXPECT_THAT(trace->captureStats().notes,
                        ElementsAre(c.byte > 0 ? hasId(id, {{"byte", c.byte}}) : hasId(id)))
                << text;
        }
    }
}

TEST(BadJson, EventsFarAfterASyntaxErrorAreFound)
{
    // The key spans the boundary between two reads, at each of its bytes.
    for (const std::size_t shift : {0, 3, 7, 13, 200, 300}) {
        const std::string text = "{\"a\" 1,\"b\":\"" + std::string((512U << 10) - 30 - shift, 'x') +
                                 "\",\"traceEvents\":[" + std::string(kEvent) + "]}";
        const auto trace = open(text);
        EXPECT_EQ(trace->sliceCount(), 1U) << shift;
    }
    EXPECT_THAT(problem("{\"a\" 1,\"b\":\"" + std::string(2U << 20, 'x') + "\"}"), noArray("json.grammar"));
}

TEST(BadJson, ATruncatedFileShowsItsContent)
{
    const std::string whole = object(std::string(kEvent) + "," + std::string(kEvent) + "," + std::string(kEvent));
    const std::size_t second = whole.find("},{") + 2;
    for (std::size_t size = second + 1; size < whole.size(); ++size) {
        const auto trace = open(whole.substr(0, size));
        EXPECT_GE(trace->sliceCount(), 1U) << size;
        EXPECT_THAT(trace->captureStats().notes, testing::Not(IsEmpty())) << size;
    }
    const auto trace = open(whole.substr(0, second + 10));
    EXPECT_EQ(trace->sliceCount(), 1U);
    EXPECT_TRUE(trace->captureStats().cut);
    EXPECT_THAT(trace->captureStats().notes, ElementsAre(hasId("json.cut", {{"byte", second}})));
}

TEST(BadJson, AMalformedEventIsSkippedAndCounted)
{
    for (const std::string_view broken :
         {R"({"ph":"X","ts":1,"dur":2,"pid":1 "tid":1})", R"({"ph":"X","ts":1,,"name":"b"})", R"({"ph":"X","ts":01x})",
          R"({"ph":"X","args":{"a":[1,2}}})", R"({"ph":"X","name":"never closed})", R"(17 8)", R"([1)"}) {
        const std::string text = object(std::string(kEvent) + "," + std::string(broken) + "," + std::string(kEvent));
        const auto trace = open(text);
        EXPECT_EQ(trace->sliceCount(), 2U) << broken;
        EXPECT_THAT(trace->captureStats().notes, Contains(hasId("json.loss.malformed", {{"count", 1}}))) << broken;
        EXPECT_EQ(trace->captureStats().dropped, 1U) << broken;
    }
}

TEST(BadJson, NonObjectsAreSkippedAndReported)
{
    for (const std::string_view other : {"null", "17", R"("text")", "[1]", "[]", "true"}) {
        const std::string event(kEvent), odd(other);
        for (const std::string& events : {event + ", " + odd + "," + event, odd + "," + event + "," + event,
                                          event + "," + event + ", " + odd + " "}) {
            const auto trace = open(object(events));
            EXPECT_EQ(trace->sliceCount(), 2U) << events;
            const std::size_t place = object(events).find(odd, 36);
            EXPECT_THAT(trace->captureStats().notes,
                        ElementsAre(hasId("json.loss.no_object", {{"count", 1}, {"byte", place}})))
                << events;
            EXPECT_FALSE(trace->captureStats().cut) << events;
        }
        EXPECT_THAT(problem(object(other)), noEvent("json.loss.no_object"));
    }
}

TEST(BadJson, ReportsThePlaceIfEveryEventIsMalformed)
{
    EXPECT_THAT(problem(object(R"({"ph":"X","ts":01x})")),
                AllOf(noEvent("json.loss.malformed"), hasIdAndPart("json.no_event", "why", "byte 37")));
}

constexpr std::string_view kAfter = R"(],"distributedInfo":{"rank":2,"world_size":4},"tail":1})";

TEST(BadJson, TheContentOfAMalformedEventIsNotAnEvent)
{
    for (const std::string_view broken :
         {R"({"ph":"X","name":"b","args":{"n":,"frames":[{"name":"f","line":1}, {"name":"g","line":2}]}})",
          R"({"ph":"X","ts":+5,"name":"b","args":{"l":[{"a":1}, {"name":"ghost","ph":"X","ts":7,"dur":1}]}})",
          R"({"ph":"X","name":"say "hi" to","args":{"l":[{"a":"}"}, {"name":"ghost","ph":"X","ts":7,"dur":1}]}})"}) {
        const std::string events = std::string(kEvent) + "," + std::string(broken) + "," + std::string(kEvent);
        const auto trace = open("{\"traceEvents\":[" + events + std::string(kAfter));
        EXPECT_EQ(trace->sliceCount(), 2U) << broken;
        EXPECT_EQ(trace->metadata().at("rank"), "2") << broken;
        EXPECT_EQ(trace->captureStats().dropped, 1U) << broken;
        EXPECT_FALSE(trace->captureStats().cut) << broken;
    }
}

TEST(BadJson, DataAfterAMalformedLastEventIsRead)
{
    for (const std::string& broken : {std::string(R"({"ph":"X","ts":5.,"dur":1,"name":"b"})")}) {
        const auto trace = open("{\"traceEvents\":[" + std::string(kEvent) + "," + broken + std::string(kAfter));
        EXPECT_EQ(trace->sliceCount(), 1U) << broken;
        EXPECT_EQ(trace->metadata().at("rank"), "2") << broken;
        EXPECT_FALSE(trace->captureStats().cut) << broken;
        EXPECT_THAT(trace->captureStats().notes, ElementsAre(hasId("json.loss.malformed"))) << broken;
    }
}

TEST(BadJson, AMissingBraceAffectsOnlyOneEvent)
{
    for (const std::string_view broken :
         {R"({"ph":"X","ts":1,"args":{"a":1})", R"({"ph":"X","ts":1,"name":"odd})", R"({{"ph":"X","ts":1})"}) {
        std::string events(kEvent);
        for (int i = 0; i < 100; ++i)
            events += (i == 50 ? "," + std::string(broken) : "") + "," + std::string(kEvent);
        const auto trace = open(object(events));
        EXPECT_EQ(trace->sliceCount(), 101U) << broken;
        EXPECT_EQ(trace->captureStats().dropped, 1U) << broken;
    }
}

TEST(BadJson, ReportsIfNoEventFollowsAMalformedOne)
{
    const auto trace = open(object(std::string(kEvent) + R"(,{"ph":"X","name":"odd)"));
    EXPECT_TRUE(trace->captureStats().cut);
    EXPECT_THAT(trace->captureStats().notes, testing::Not(IsEmpty()));
}

TEST(BadJson, LongOuterValuesAreSkippedWithANote)
{
    const auto megabytes = [](std::size_t count) { return "\"" + std::string(count << 20, 'x') + "\""; };
    for (const std::size_t size : {2, 70}) {
        const auto trace = open("{\"long\":" + megabytes(size) + ",\"traceEvents\":[" + std::string(kEvent) +
                                "],\"also\":[{\"a\":" + megabytes(size) + "}],\"tail\":1}");
        EXPECT_EQ(trace->sliceCount(), 1U) << size;
        EXPECT_EQ(trace->metadata().at("pytorch.tail"), "1") << size;
        EXPECT_THAT(trace->captureStats().notes, ElementsAre(hasId("json.long_value", {{"key", "long"}, {"byte", 8}}),
                                                             hasId("json.long_value", {{"key", "also"}})))
            << size;
    }
}

TEST(BadJson, InvalidValuesAreCountedWithTheirPlace)
{
    struct Case {
        std::string_view event, loss;
        std::size_t slices;
    };
    for (const Case& c : {
             Case{R"({"ph":"X","dur":2,"pid":1,"tid":1,"name":"a"})", "no_time", 0},
             Case{R"({"ph":"X","ts":NaN,"dur":2,"name":"a"})", "no_time", 0},
             Case{R"({"ph":"X","ts":"soon","dur":2,"name":"a"})", "no_time", 0},
             Case{R"({"ph":"X","ts":1e300,"dur":2,"name":"a"})", "huge_time", 0},
             Case{R"({"ph":"X","ts":99999999999999999999,"dur":2,"name":"a"})", "huge_time", 0},
             Case{R"({"ph":"X","ts":9999999999999999,"dur":2,"name":"a"})", "huge_time", 0},
             Case{R"({"ph":"X","ts":1,"dur":1e400,"name":"a"})", "huge_duration", 1},
             Case{R"({"ph":"X","ts":1,"dur":-5,"name":"a"})", "negative_duration", 1},
             Case{R"({"ph":"X","ts":1,"name":"a"})", "no_duration", 1},
             Case{R"({"ph":"X","ts":1,"dur":1,"args":{"x":NaN,"y":-Infinity}})", "not_a_number", 1},
             Case{R"j({"ph":"X","ts":1,"dur":1,"args":{"memory bandwidth (GB/s)": inf}})j", "not_a_number", 1},
             Case{R"({"ph":"X","ts":1,"dur":1,"args":{"x":-inf}})", "not_a_number", 1},
             Case{R"({"ph":"X","ts":1,"dur":1,"args":{"x":-nan,"y":nan}})", "not_a_number", 1},
             Case{R"({"ph":"X","ts":1,"dur":1,"args":{"correlation":1.5}})", "bad_number", 1},
             Case{R"({"ph":"X","ts":1,"dur":1,"args":{"correlation":123456789012345678901}})", "bad_number", 1},
             Case{R"({"ph":"?","ts":1})", "other_phase", 0},
             Case{R"({"ts":1,"dur":1})", "other_phase", 0},
             Case{"{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"a\tb\"}", "control_text", 1},
             Case{R"({"ph":"X","ts":1,"dur":1,"name":"C:\windows"})", "bad_escape", 1},
             Case{"{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"\xff\xfe\"}", "bad_utf8", 1},
             Case{R"({"ph":"C","ts":1,"name":"c","args":7})", "bad_args", 0},
         }) {
        const auto trace = open(object(c.event));
        EXPECT_EQ(trace->sliceCount(), c.slices) << c.event;
        EXPECT_THAT(trace->captureStats().notes,
                    Contains(hasId("json.loss." + std::string(c.loss), {{"count", 1}, {"byte", 37}})))
            << c.event;
    }
}

TEST(BadJson, LargeNumbersOfLossesAreCounted)
{
    std::string events;
    for (int i = 0; i < 1'234; ++i)
        events += R"({"ph":"X","dur":1},)";
    const auto trace = open(object(events + R"({"ph":"X","ts":1,"dur":1})"));
    EXPECT_EQ(trace->captureStats().dropped, 1'234U);
    EXPECT_THAT(trace->captureStats().notes, Contains(hasId("json.loss.no_time", {{"count", 1'234}, {"byte", 37}})));
}

TEST(BadJson, TimesAreExact)
{
    using formats::json::nanoseconds;
    EXPECT_EQ(nanoseconds("1712195495406752.797"), 1712195495406752797);
    EXPECT_EQ(nanoseconds("0.0004"), 0);
    EXPECT_EQ(nanoseconds("0.0006"), 1);
    EXPECT_EQ(nanoseconds("-1.5"), -1500);
    EXPECT_EQ(nanoseconds("1.5e3"), 1500000);
    EXPECT_EQ(nanoseconds("15E-1"), 1500);
    EXPECT_EQ(nanoseconds("1e99"), std::nullopt);
    EXPECT_EQ(nanoseconds("x"), std::nullopt);
    EXPECT_EQ(nanoseconds("1."), std::nullopt);
    for (const auto& [text, ns] : {std::pair{"1712195495406752.797", 1712195495406752797},
                                   {"12345678.9", 12345678900},
                                   {"1.23456", 1235},
                                   {"\"17.25\"", 17250},
                                   {"1e3", 1000000},
                                   {"-2.001", -2001},
                                   {"0", 0}}) {
        const auto trace = open(object(R"({"ph":"X","name":"a","dur":1,"ts":)" + std::string(text) + "}"));
        EXPECT_EQ(toNs(only(*trace).begin), ns) << text;
    }
}

TEST(BadJson, DataAfterTheEndIsNoted)
{
    const auto trace = open(object(kEvent) + " garbage");
    EXPECT_EQ(trace->sliceCount(), 1U);
    EXPECT_THAT(trace->captureStats().notes, ElementsAre(hasId("json.rest")));
    EXPECT_THAT(open("\xEF\xBB\xBF \n" + object(kEvent))->captureStats().notes, IsEmpty());
}

TEST(BadJson, DataAfterCompressedTextIsNoted)
{
    const std::string whole = gzip(object(kEvent));
    EXPECT_THAT(open(whole + std::string(1000, '\0'))->captureStats().notes, IsEmpty());
    for (const std::size_t padding : {0, 512}) {
        const auto trace = open(whole + std::string(padding, '\0') + "garbage");
        EXPECT_EQ(trace->sliceCount(), 1U);
        EXPECT_FALSE(trace->captureStats().cut);
        EXPECT_THAT(trace->captureStats().notes,
                    ElementsAre(hasId("json.trailing", {{"byte", whole.size() + padding}})));
    }
}

TEST(BadJson, DeepNestingIsReadUpToTheLimit)
{
    const auto nested = [](std::size_t levels) {
        return R"({"ph":"X","ts":1,"dur":3,"name":"deep","args":{"x":)" + std::string(levels, '[') + "0" +
               std::string(levels, ']') + R"(,"correlation":4},"pid":1,"tid":1})";
    };
    for (const std::size_t levels : {500, 512, 513, 1000, 5000, 100'000}) {
        const auto trace = open(object(nested(levels)));
        EXPECT_EQ(trace->name(only(*trace)), "deep") << levels;
        EXPECT_THAT(trace->captureStats().notes, IsEmpty()) << levels;
    }
    const std::string tooDeep = nested(1'000'001);
    EXPECT_THAT(problem(object(tooDeep)), noEvent("json.loss.too_deep"));
    const auto trace = open("{\"traceEvents\":[" + std::string(kEvent) + "," + tooDeep + std::string(kAfter));
    EXPECT_EQ(trace->sliceCount(), 1U);
    EXPECT_THAT(trace->captureStats().notes, Contains(hasId("json.loss.too_deep", {{"count", 1}})));
}

TEST(BadJson, UnclosedNestingIsRejected)
{
    const std::string deep = R"({"ph":"X","ts":1,"args":{"x":)" + std::string(200000, '[');
    const auto trace = open(object(std::string(kEvent) + "," + deep + "," + std::string(kEvent)));
    EXPECT_EQ(trace->sliceCount(), 2U);
    EXPECT_THAT(trace->captureStats().notes, Contains(hasId("json.loss.malformed")));
    EXPECT_THAT(problem(std::string(1 << 20, '[')), hasId("open.unknown_format"));
    EXPECT_THAT(problem("{\"a\":" + std::string(1 << 20, '[')), noArray("json.too_deep"));
}

TEST(BadJson, AnEventOfAHundredMegabytesIsSkipped)
{
    const std::string huge = R"({"ph":"X","ts":1,"name":")" + std::string(100 << 20, 'x') + "\"}";
    const auto trace = open(object(std::string(kEvent) + "," + huge + "," + std::string(kEvent)));
    EXPECT_EQ(trace->sliceCount(), 2U);
    EXPECT_THAT(trace->captureStats().notes, ElementsAre(hasId("json.loss.too_long")));
}

TEST(BadJson, DamagedCompressionShowsThePartBeforeTheDamage)
{
    std::string events;
    for (int i = 0; i < 60000; ++i)
        events += (i == 0 ? "" : ",\n") + std::string(R"({"ph":"X","ts":)") + std::to_string(i * 7919 % 100003) +
                  R"(,"dur":1,"pid":1,"tid":1,"name":"n)" + std::to_string(i * 31 % 977) + "\"}";
    const std::string whole = gzip(object(events));
    EXPECT_EQ(open(whole)->sliceCount(), 60000U);

    std::string checksum = whole;
    checksum[whole.size() - 6] = static_cast<char>(checksum[whole.size() - 6] ^ 1);
    const auto wrong = open(checksum);
    EXPECT_EQ(wrong->sliceCount(), 60000U);
    EXPECT_THAT(wrong->captureStats().notes, Contains(hasIdAndPart("json.inflated_in_part", "why", "checksum")));

    const auto cut = open(whole.substr(0, whole.size() / 2));
    EXPECT_GT(cut->sliceCount(), 20000U);
    EXPECT_LT(cut->sliceCount(), 40000U);
    EXPECT_TRUE(cut->captureStats().cut);
    EXPECT_THAT(cut->captureStats().notes,
                Contains(hasIdAndPart("json.inflated_in_part", "why", "byte " + std::to_string(whole.size() / 2))));

    std::string damaged = zstd(object(events));
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
    const auto partly = tryOpen(damaged);
    if (partly)
        EXPECT_THAT((*partly)->captureStats().notes, Contains(hasIdAndPart("json.inflated_in_part", "why", "zstd")));
    else
        EXPECT_THAT(partly.error().what, noEvent("file.compression"));
}

TEST(BadJson, AStopRequestEndsTheRead)
{
    std::string events(kEvent);
    for (int i = 0; i < 50000; ++i)
        events += "," + std::string(kEvent);
    const TextFile file(object(events));
    std::stop_source stop;
    formats::ReadOptions options;
    options.stop = stop.get_token();
    options.progress = [&](double) { stop.request_stop(); };
    const auto trace = formats::openTrace(file.path(), options);
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().code, Error::Code::Cancelled);
}

TEST(BadJson, ProgressGrowsToOne)
{
    std::string events(kEvent);
    for (int i = 0; i < 50000; ++i)
        events += "," + std::string(kEvent);
    const TextFile file(object(events));
    formats::ReadOptions options;
    std::vector<double> shares;
    options.progress = [&](double share) { shares.push_back(share); };
    ASSERT_TRUE(formats::openTrace(file.path(), options));
    EXPECT_GE(shares.size(), 2U);
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    EXPECT_EQ(shares.back(), 1);
}

TEST(BadJson, AMissingFileAndAFolderGiveDifferentErrors)
{
    EXPECT_EQ(formats::openTrace("/nowhere/trace.json").error().code, Error::Code::NotFound);
    EXPECT_THAT(formats::openTrace("/").error().what, hasId("file.folder"));
}

} // namespace
