#include "profiler/analysis/breakdown.h"
#include "profiler/analysis/transfers.h"
#include "profiler/io/formats/format.h"
#include "profiler/model/trace_builder.h"
#include "tests/formats_export/exported.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace formats_export_test {
namespace {

using namespace profiler;
using test_support::traceFromText;
using Json = nlohmann::ordered_json;

std::shared_ptr<const Trace> thereAndBack(const Trace& trace, std::string_view name = "a.json")
{
    const Folder folder;
    const auto saved = formats::saveTrace(trace, folder / name);
    EXPECT_TRUE(saved) << saved.error().message();
    const auto read = formats::openTrace(folder / name);
    EXPECT_TRUE(read) << read.error().message();
    return read ? *read : traceFromText("");
}

/// Every slice as text that does not depend on where the file's clock begins.
std::multiset<std::string> slicesOf(const Trace& trace)
{
    std::multiset<std::string> slices;
    for (const Track& track : trace.tracks())
        for (const Slice& slice : trace.sorted(track.id)) {
            const SliceArgs& args = slice.args;
            std::string text(slice.kind == ActivityKind::Step        ? "ProfilerStep#" + std::to_string(args.value)
                             : slice.kind == ActivityKind::GpuMemcpy ? "copy"
                                                                     : std::string(trace.name(slice)));
            for (const std::int64_t number :
                 {(slice.begin - trace.range().begin).count(), slice.duration.count(), std::int64_t{slice.depth},
                  static_cast<std::int64_t>(slice.correlation.value), slice.sequence, args.bytes,
                  std::int64_t{slice.externalId}, std::int64_t{slice.is(slice_flag::kBackward)}})
                text += " " + std::to_string(number);
            for (const std::string_view word : {copyKindName(args.copy), memoryKindName(args.src),
                                                memoryKindName(args.dst), trace.string(args.shapes)})
                text += " " + std::string(word);
            slices.insert(std::move(text));
        }
    return slices;
}

std::multiset<std::string> arrowsOf(const Trace& trace)
{
    std::multiset<std::string> arrows;
    for (const Track& track : trace.tracks())
        for (const Slice& slice : trace.sorted(track.id))
            for (const Flow& flow : trace.flowsOf(slice.id))
                if (flow.from == slice.id)
                    arrows.insert(std::string(trace.name(slice)) + " " +
                                  std::to_string((trace.slice(flow.to).begin - trace.range().begin).count()));
    return arrows;
}

TEST(PytorchJson, ReadsBackWithEverySlice)
{
    const auto trace = traceFromText(kTraining);
    const auto back = thereAndBack(*trace);
    EXPECT_EQ(slicesOf(*back), slicesOf(*trace));
    EXPECT_EQ(arrowsOf(*back), arrowsOf(*trace));
    EXPECT_EQ(arrowsOf(*back).size(), 12U);
}

TEST(PytorchJson, CompressedItIsTheSame)
{
    EXPECT_EQ(inflated(exported(kTraining, "a.json.gz")), exported(kTraining, "a.json"));
    EXPECT_EQ(thereAndBack(*traceFromText(kTraining), "a.json.gz")->sliceCount(),
              traceFromText(kTraining)->sliceCount());
}

TEST(PytorchJson, CountersReadBack)
{
    const auto back = thereAndBack(*traceFromText(kTraining));
    std::map<std::string, std::vector<double>> counters;
    for (const Track& track : back->tracks())
        if (track.kind == TrackKind::Counter)
            for (const CounterSample& sample : back->counter(track.id))
                counters[track.name].push_back(sample.value);
    ASSERT_EQ(counters.size(), 2U);
    EXPECT_THAT(counters.begin()->second, testing::ElementsAre(2.5, 1.25));
}

TEST(PytorchJson, SaysTheSameOfTheSteps)
{
    using namespace analysis;
    const auto trace = traceFromText(kTraining);
    const auto back = thereAndBack(*trace);
    const auto steps = findSteps(*trace), stepsBack = findSteps(*back);
    ASSERT_EQ(stepsBack.size(), steps.size());
    const Breakdown a = breakdown(*trace, steps), b = breakdown(*back, stepsBack);
    for (const TimeClass part : {TimeClass::Kernel, TimeClass::Memcpy, TimeClass::Memset, TimeClass::Runtime})
        EXPECT_DOUBLE_EQ(a.share(part), b.share(part)) << timeClassName(part);
    const auto copies = transfers(*back);
    ASSERT_EQ(copies.size(), 1U);
    EXPECT_EQ(copies[0].src, MemoryKind::Pageable);
    EXPECT_EQ(back->devices()[0].name, "NVIDIA H100");
    EXPECT_EQ(back->metadata().at("versions.torch"), "2.11.0");
    EXPECT_EQ(back->metadata().at("versions.cuda_runtime"), "13.0");
    EXPECT_EQ(back->metadata().at("rank"), "1");
}

// What other programs ask of such a file: TensorBoard's plug-in and HTA look for these names and categories.
TEST(PytorchJson, LooksAsPytorchsOwn)
{
    const Json json = Json::parse(exported(kTraining, "a.json"));
    EXPECT_EQ(json["schemaVersion"], 1);
    EXPECT_EQ(json["deviceProperties"][0]["name"], "NVIDIA H100");
    std::map<std::string, int> events;
    for (const Json& event : json["traceEvents"]) {
        ++events[event["ph"].get<std::string>() + " " + event.value("cat", "")];
        if (event["ph"] != "X")
            continue;
        EXPECT_TRUE(event["ts"].is_number());
        EXPECT_GE(event["dur"].get<double>(), 0);
        EXPECT_TRUE(event["pid"].is_number_integer());
        EXPECT_TRUE(event["tid"].is_number_integer());
    }
    EXPECT_EQ(events["X user_annotation"], 4);
    EXPECT_EQ(events["X cpu_op"], 12);
    EXPECT_EQ(events["X cuda_runtime"], 12);
    EXPECT_EQ(events["X kernel"], 6);
    EXPECT_EQ(events["X gpu_memcpy"], 4);
    EXPECT_EQ(events["s ac2g"], 8);
    EXPECT_EQ(events["f ac2g"], 8);
    EXPECT_EQ(events["s fwdbwd"], 4);
    EXPECT_EQ(events["C "], 3);
    const auto gemm = std::find_if(json["traceEvents"].begin(), json["traceEvents"].end(),
                                   [](const Json& event) { return event.value("name", "") == "gemm"; });
    EXPECT_EQ((*gemm)["args"]["stream"], 7);
    EXPECT_EQ((*gemm)["args"]["device"], 0);
    EXPECT_EQ((*gemm)["dur"], 40.123);
    const auto linear = std::find_if(json["traceEvents"].begin(), json["traceEvents"].end(),
                                     [](const Json& event) { return event.value("name", "") == "aten::linear"; });
    EXPECT_EQ((*linear)["args"]["Input Dims"].dump(), "[[2,3],[]]");
    EXPECT_EQ((*linear)["args"]["Input type"].dump(), R"(["float","Scalar"])");
}

TEST(PytorchJson, StreamsOfOneNumberStayApart)
{
    TraceBuilder builder;
    for (const std::int64_t pid : {1, 2}) {
        Track track;
        track.kind = TrackKind::Stream;
        track.pid = pid;
        track.stream = StreamId{7};
        Slice slice;
        slice.kind = ActivityKind::Kernel;
        slice.name = builder.intern("gemm");
        builder.add(builder.addTrack(std::move(track)), slice);
    }
    const Folder folder;
    ASSERT_TRUE(formats::saveTrace(*builder.finish(), folder / "a.json"));
    const Json json = Json::parse(bytesOf(folder / "a.json"));
    std::set<std::pair<int, int>> rows;
    for (const Json& event : json["traceEvents"])
        if (event["ph"] == "X")
            rows.emplace(event["pid"], event["tid"]);
    EXPECT_EQ(rows.size(), 2U);
}

TEST(PytorchJson, NamesOfAnyBytesGiveJson)
{
    TraceBuilder builder;
    Track main;
    main.name = "main\n\"thread\"";
    const TrackId track = builder.addTrack(main);
    for (const std::string_view name :
         {"\xff\xfe", "tab\t", "quote\" back\\", "\xe2\x82\xac", "\xed\xa0\x80", "\x01"}) {
        Slice slice;
        slice.name = builder.intern(name);
        slice.depth = TraceBuilder::kUnknownDepth;
        builder.add(track, slice);
    }
    const Folder folder;
    ASSERT_TRUE(formats::saveTrace(*builder.finish(), folder / "a.json"));
    EXPECT_TRUE(Json::accept(bytesOf(folder / "a.json")));
}

TEST(PytorchJson, TimesAreExact)
{
    const std::string json = exported("main\n op a 0.001 0.999\n op b 1000000000.5 0", "a.json");
    EXPECT_THAT(json, testing::HasSubstr("\"dur\":0.999"));
    EXPECT_THAT(json, testing::HasSubstr("\"ts\":1000000000.500,\"dur\":0"));
}

} // namespace
} // namespace formats_export_test
