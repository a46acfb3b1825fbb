#include "profiler/formats/format.h"
#include "profiler/model/trace_builder.h"
#include "tests/formats_export/exported.h"
#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <limits>

// Reading and writing a JSON file preserves its content.
namespace formats_export_test {
namespace {

using namespace profiler;
using profiler::test::hasId;
using testing::ElementsAre;
using Json = nlohmann::ordered_json;

std::shared_ptr<const Trace> openedText(const std::filesystem::path& path, std::string_view text)
{
    std::ofstream(path, std::ios::binary) << text;
    const auto trace = formats::openTrace(path);
    EXPECT_TRUE(trace) << trace.error().message();
    return trace ? *trace : TraceBuilder().finish();
}

/// Reads and writes a trace with these events and outer values, and returns the written file.
Json rewritten(std::string_view events, std::string_view outer = "")
{
    const Folder folder;
    const auto trace =
        openedText(folder / "a.json", "{" + std::string(outer) + "\"traceEvents\":[" + std::string(events) + "]}");
    EXPECT_TRUE(formats::saveTrace(*trace, folder / "b.json"));
    return Json::parse(bytesOf(folder / "b.json"));
}

Json event(const Json& file, std::string_view name)
{
    for (const Json& event : file["traceEvents"])
        if (event["ph"] == "X" && event.value("name", "") == name)
            return event;
    ADD_FAILURE() << "no event " << name;
    return {};
}

TEST(JsonCopy, KeepsArgumentsWithoutAColumn)
{
    const Json file = rewritten(R"(
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":10,"dur":5,"args":{"device":0,"stream":7,"correlation":9,
 "External id":3,"grid":[4,1,1],"block":[128,1,1],"registers per thread":32,"est. achieved occupancy %":12.5,"name":"x","on":true}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5,"args":{"External id":3,"Sequence number":4,
 "Fwd thread id":3,"Call stack":"a.py(1): f;b.py(2): g","Concrete Inputs":["", "1.5", ""],"nested":{"a":[1,"b"]}}})");
    const Json kernel = event(file, "gemm")["args"];
    EXPECT_EQ(kernel["grid"].dump(), "[4,1,1]");
    EXPECT_EQ(kernel["block"].dump(), "[128,1,1]");
    EXPECT_EQ(kernel["registers per thread"], 32);
    EXPECT_EQ(kernel["est. achieved occupancy %"], 12.5);
    EXPECT_EQ(kernel["name"], "x");
    EXPECT_EQ(kernel["on"], true);
    EXPECT_EQ(kernel["correlation"], 9);
    EXPECT_EQ(kernel.size(), 10U);
    const Json op = event(file, "aten::mm")["args"];
    EXPECT_EQ(op["Call stack"], "a.py(1): f;b.py(2): g");
    EXPECT_EQ(op["Fwd thread id"], 3);
    EXPECT_EQ(op["Concrete Inputs"].dump(), R"(["","1.5",""])");
    EXPECT_EQ(op["nested"].dump(), R"({"a":[1,"b"]})");
    EXPECT_EQ(op.size(), 6U);
}

TEST(JsonCopy, KeepsColoursAndThreadClocks)
{
    const Json file = rewritten(
        R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":5,"tts":17.5,"tdur":3,"cname":"good","args":{"x":1}})");
    const Json a = event(file, "a");
    EXPECT_EQ(a["cname"], "good");
    EXPECT_EQ(a["tts"], 17.5);
    EXPECT_EQ(a["tdur"], 3);
    EXPECT_EQ(a["args"].dump(), R"({"x":1})");
}

TEST(JsonCopy, KeepsUnknownCategories)
{
    const Json file = rewritten(R"(
{"ph":"X","cat":"python_function","name":"forward","pid":1,"tid":1,"ts":1,"dur":5,"args":{"Python id":12,"Python parent id":null}},
{"ph":"X","cat":"mine","name":"other","pid":1,"tid":1,"ts":11,"dur":5},
{"ph":"X","name":"none","pid":1,"tid":1,"ts":21,"dur":5})");
    EXPECT_EQ(event(file, "forward")["cat"], "python_function");
    EXPECT_EQ(event(file, "forward")["args"].dump(), R"({"Python id":12,"Python parent id":null})");
    EXPECT_EQ(event(file, "other")["cat"], "mine");
    EXPECT_FALSE(event(file, "none").contains("cat"));
}

TEST(JsonCopy, KeepsValuesOutsideTheEvents)
{
    const Json file = rewritten(R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":5})",
                                R"("record_shapes":1,"with_stack":true,"trace_id":"ab","cuda_runtime_version":12040,
"deviceProperties":[{"id":0,"name":"A100","numSms":108}],"distributedInfo":{"backend":"nccl","rank":2,"world_size":4},)");
    EXPECT_EQ(file["record_shapes"], 1);
    EXPECT_EQ(file["with_stack"], true);
    EXPECT_EQ(file["trace_id"], "ab");
    EXPECT_EQ(file["deviceProperties"][0]["numSms"], 108);
    EXPECT_EQ(file["distributedInfo"]["backend"], "nccl");
    EXPECT_EQ(file["cuda_runtime_version"], "12.4");
}

TEST(JsonCopy, KeepsEmptyEntriesOfTypes)
{
    std::string text = R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":5,
"args":{"Input type":["float","",""],"Input Dims":[[2],[],[]]}}]})";
    for (int round = 0; round < 3; ++round) {
        const Folder folder;
        ASSERT_TRUE(formats::saveTrace(*openedText(folder / "a.json", text), folder / "b.json"));
        text = bytesOf(folder / "b.json");
        EXPECT_EQ(event(Json::parse(text), "a")["args"]["Input type"].dump(), R"(["float","",""])") << round;
    }
}

TEST(JsonCopy, CopiesKeepTheNameThatContainsTheirKind)
{
    const Json file = rewritten(
        R"({"ph":"X","cat":"gpu_memcpy","name":"hipMemcpyHtoD","pid":0,"tid":7,"ts":1,"dur":5,"args":{"device":0,"stream":7}})");
    EXPECT_EQ(event(file, "hipMemcpyHtoD")["cat"], "gpu_memcpy");
}

TEST(JsonCopy, ReportsTheLossesOfItsOriginal)
{
    const Folder folder;
    constexpr std::string_view kCut =
        R"({"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":5},{"ph":"X",)";
    const auto trace = openedText(folder / "a.json", kCut);
    ASSERT_TRUE(formats::saveTrace(*trace, folder / "b.json"));
    const auto copy = formats::openTrace(folder / "b.json");
    ASSERT_TRUE(copy);
    EXPECT_TRUE((*copy)->captureStats().cut);
    EXPECT_EQ((*copy)->captureStats().dropped, 1U);
    EXPECT_THAT((*copy)->captureStats().notes, ElementsAre(hasId("json.copied_note", {{"note_id", "json.cut"}})));
    ASSERT_TRUE(formats::saveTrace(**copy, folder / "c.json"));
    const auto again = formats::openTrace(folder / "c.json");
    ASSERT_TRUE(again);
    EXPECT_EQ((*again)->captureStats().notes, (*copy)->captureStats().notes);
    EXPECT_EQ((*again)->captureStats().dropped, 1U);
}

TEST(JsonCopy, ReportsDefectsThatItStillHasOnlyOnce)
{
    const Folder folder;
    // Two processes launch work, a kernel has no launch, a slice ends after its parent, and one event is malformed.
    auto trace = openedText(folder / "0.json", R"({"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":2,"tid":2,"ts":1,"dur":5,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":5,"args":{"device":0,"stream":7,"correlation":9}},
{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":11,"dur":5},
{"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":14,"dur":5},
{"ph":"X","cat":"cpu_op","name":"c","pid":1,"tid":1,"ts":x,"dur":5}]})");
    const std::vector<std::string> once{"json.loss.malformed", "json.loss.no_launch", "json.loss.overlapping",
                                        "json.several_processes"};
    for (int round = 0; round < 4; ++round) {
        std::vector<std::string> ids;
        for (const auto& note : trace->captureStats().notes) {
            const MessageParameter* const original = note.find("note_id");
            ids.push_back(original ? original->text : note.id);
        }
        EXPECT_THAT(ids, testing::UnorderedElementsAreArray(once)) << "copy " << round;
        EXPECT_EQ(trace->captureStats().dropped, 1U);
        const auto path = folder / (std::to_string(round + 1) + ".json");
        ASSERT_TRUE(formats::saveTrace(*trace, path));
        trace = *formats::openTrace(path);
    }
}

TEST(JsonCopy, ReportsWhatItLacks)
{
    const Folder folder;
    const auto trace = openedText(
        folder / "a.json", R"({"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":5,"args":{"x":1}}]})");
    std::ofstream(folder / "a.json", std::ios::trunc) << "another file";
    ASSERT_TRUE(formats::saveTrace(*trace, folder / "b.json"));
    const Json file = Json::parse(bytesOf(folder / "b.json"));
    EXPECT_EQ(event(file, "a")["dur"], 5);
    EXPECT_EQ(file["stepscopeCapture"]["note_ids"], Json::array({"json.unread_details"}));

    TraceBuilder builder;
    Track counter;
    counter.kind = TrackKind::Counter;
    builder.addSample(builder.addTrack(counter), {traceTime(1), std::numeric_limits<double>::quiet_NaN()});
    ASSERT_TRUE(formats::saveTrace(*builder.finish(), folder / "c.json"));
    EXPECT_EQ(Json::parse(bytesOf(folder / "c.json"))["stepscopeCapture"]["note_ids"],
              Json::array({"json.not_finite"}));
}

TEST(JsonCopy, ManySlicesKeepTheirOwnArguments)
{
    std::string events;
    for (int i = 0; i < 10000; ++i)
        events += (i == 0 ? "" : ",") + std::string(R"({"ph":"X","name":"n)") + std::to_string(i) +
                  R"(","pid":1,"tid":1,"ts":)" + std::to_string(i * 7919 % 10007) + R"(,"dur":1,"args":{"x":)" +
                  std::to_string(i) + "}}";
    std::size_t right = 0;
    const Json file = rewritten(events);
    for (const Json& event : file["traceEvents"])
        right += event["ph"] == "X" && event["name"] == "n" + event["args"]["x"].dump();
    EXPECT_EQ(right, 10000U);
}

TEST(JsonCopy, ProcessesWithoutANumberStayApart)
{
    const Json file = rewritten(R"({"ph":"X","name":"a","pid":"worker A","tid":1,"ts":1,"dur":5},
{"ph":"X","name":"b","pid":"worker B","tid":1,"ts":1,"dur":5})");
    EXPECT_NE(event(file, "a")["pid"], event(file, "b")["pid"]);
}

TEST(JsonCopy, ACounterMayStartBeforeTheFirstSlice)
{
    constexpr std::string_view kText = R"({"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":5},
{"ph":"C","ts":-100,"pid":1,"name":"m","args":{"v":1}}]})";
    const Folder folder;
    const auto trace = openedText(folder / "a.json", kText);
    ASSERT_TRUE(formats::saveTrace(*trace, folder / "b.json"));
    EXPECT_EQ(Json::parse(bytesOf(folder / "b.json"))["baseTimeNanoseconds"], -100000);
}

} // namespace
} // namespace formats_export_test
