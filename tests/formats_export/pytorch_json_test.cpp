#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/steps/breakdown.h"
#include "profiler/formats/format.h"
#include "profiler/model/trace_builder.h"
#include "tests/formats_export/exported.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
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

/// Every slice as text that does not depend on the zero of the file's clock.
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

TEST(PytorchJson, LaunchConfigurationsReadBack)
{
    const auto trace = traceFromText(R"(
device 0 "NVIDIA H100" GPU-1 sm=90 sms=132
stream 0 7
  kernel a 0 1 grid=8,2,1 block=128,1,1 registers=40 shared=17408 dynamic=16384 local=8
  kernel b 2 1 grid=8,2,1 block=128,1,1 registers=40 shared=0
  kernel c 4 1 registers=16
  kernel d 6 1
)");
    const Json json = Json::parse([&] {
        const Folder folder;
        EXPECT_TRUE(formats::saveTrace(*trace, folder / "a.json"));
        std::ifstream in(folder / "a.json");
        return std::string(std::istreambuf_iterator<char>(in), {});
    }());
    EXPECT_EQ(json["deviceProperties"][0]["numSms"], 132);
    for (const Json& event : json["traceEvents"])
        if (event["name"] == "a") {
            EXPECT_EQ(event["args"]["grid"], Json::array({8, 2, 1}));
            EXPECT_EQ(event["args"]["block"], Json::array({128, 1, 1}));
            EXPECT_EQ(event["args"]["registers per thread"], 40);
            EXPECT_EQ(event["args"]["shared memory"], 17408);
        }
    const auto back = thereAndBack(*trace);
    ASSERT_EQ(back->devices().size(), 1U);
    EXPECT_EQ(back->devices()[0].multiprocessors, 132);
    const auto kernels = trace->ofKind(ActivityKind::Kernel), others = back->ofKind(ActivityKind::Kernel);
    ASSERT_EQ(others.size(), kernels.size());
    for (std::size_t i = 0; i < kernels.size(); ++i)
        EXPECT_EQ(back->launch(others[i].args.launch), trace->launch(kernels[i].args.launch)) << i;
    const auto again = thereAndBack(*back); // its details also contain these keys
    EXPECT_EQ(again->launch(again->ofKind(ActivityKind::Kernel)[0].args.launch), trace->launch(kernels[0].args.launch));
}

TEST(PytorchJson, LimitsOfMultiprocessorsReadBack)
{
    TraceBuilder builder;
    Device device;
    device.name = "GPU";
    device.multiprocessors = 132;
    device.limits = {2048, 32, 65536, 233472};
    builder.addDevice(device);
    const auto back = thereAndBack(*builder.finish());
    ASSERT_EQ(back->devices().size(), 1U);
    EXPECT_EQ(back->devices()[0].multiprocessors, 132);
    EXPECT_EQ(back->devices()[0].limits, device.limits);
}

TEST(PytorchJson, RowsKeepTheirOrder)
{
    const auto back = thereAndBack(*traceFromText("thread a pid=1 tid=1 process=p sort=3 process_sort=-7\n op x 0 5\n"
                                                  "thread b pid=2 tid=2 process=q\n op x 0 5\n"
                                                  "stream 0 7 sort=-2 process_sort=2147483647\n kernel k 0 5\n"
                                                  "stream 0 7 pid=2 name=\"stream 7\" sort=5 process_sort=2147483647\n"
                                                  " kernel l 0 5\n"
                                                  "counter load pid=1 process_sort=-7\n sample 1 2"));
    std::map<std::string, std::pair<int, int>> wishes;
    for (const Track& track : back->tracks())
        wishes[track.name] = {track.processSortIndex, track.sortIndex};
    EXPECT_EQ(wishes["a"], std::pair(-7, 3));
    EXPECT_EQ(wishes["b"], std::pair(0, 0));
    EXPECT_EQ(wishes["stream 7"], std::pair(2147483647, -2));
    EXPECT_EQ(wishes["load"].first, -7);
}

TEST(PytorchJson, GivesTheSameSteps)
{
    using namespace analysis;
    const auto trace = traceFromText(kTraining);
    const auto back = thereAndBack(*trace);
    const auto steps = findSteps(*trace), stepsBack = findSteps(*back);
    ASSERT_EQ(stepsBack.size(), steps.size());
    const Breakdown a = breakdown(*trace, scanActivity(*trace), steps),
                    b = breakdown(*back, scanActivity(*back), stepsBack);
    for (const TimeClass part : {TimeClass::Kernel, TimeClass::Memcpy, TimeClass::Memset, TimeClass::Runtime})
        EXPECT_DOUBLE_EQ(a.share(part), b.share(part)) << timeClassName(part);
    const auto copies = scanActivity(*back).transfers;
    ASSERT_EQ(copies.size(), 1U);
    EXPECT_EQ(copies[0].src, MemoryKind::Pageable);
    EXPECT_EQ(back->devices()[0].name, "NVIDIA H100");
    EXPECT_EQ(back->metadata().at("versions.torch"), "2.11.0");
    EXPECT_EQ(back->metadata().at("versions.cuda_runtime"), "13.0");
    EXPECT_EQ(back->metadata().at("rank"), "1");
}

// What other programs require of such a file: TensorBoard's plug-in and HTA look for these names and categories.
TEST(PytorchJson, LooksLikePytorchsOwnFiles)
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

TEST(PytorchJson, StreamsWithEqualNumbersStayApart)
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
    const auto back = formats::openTrace(folder / "a.json");
    ASSERT_TRUE(back);
    EXPECT_EQ((*back)->tracks().size(), 2U);
    const Json json = Json::parse(bytesOf(folder / "a.json"));
    std::set<std::pair<int, int>> rows;
    for (const Json& event : json["traceEvents"])
        if (event["ph"] == "X")
            rows.emplace(event["pid"], event["tid"]);
    EXPECT_EQ(rows.size(), 2U);
}

TEST(PytorchJson, NamesWithAnyBytesGiveValidJson)
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

/// Slices of a kind, by the name of their row.
std::map<std::string, TrackKind> rowsOf(const Trace& trace, ActivityKind kind)
{
    std::map<std::string, TrackKind> rows;
    for (const Slice& slice : trace.ofKind(kind))
        rows.emplace(trace.track(slice.id.track).name, trace.track(slice.id.track).kind);
    return rows;
}

TEST(PytorchJson, ArrowsBetweenThreadsReadBack)
{
    TraceBuilder builder;
    std::vector<TrackId> tracks;
    for (const std::int64_t tid : {1, 2}) {
        Track track;
        track.pid = 1;
        track.tid = tid;
        tracks.push_back(builder.addTrack(std::move(track)));
        Slice slice;
        slice.name = builder.intern(tid == 1 ? "wakes" : "woken");
        slice.begin = traceTime(1000 * tid);
        slice.duration = Nanoseconds{500};
        builder.add(tracks.back(), slice);
    }
    builder.addFlow(FlowKind::Async, {tracks[0], traceTime(1100)}, {tracks[1], traceTime(2100)});
    const auto back = thereAndBack(*builder.finish());
    ASSERT_EQ(back->explicitFlows().size(), 1U);
    EXPECT_EQ(back->explicitFlows()[0].kind, FlowKind::Async);
    EXPECT_EQ(back->name(back->slice(back->explicitFlows()[0].to)), "woken");
}

TEST(PytorchJson, MetadataSurvivesTwoRounds)
{
    const auto trace = traceFromText("meta config {\"loader.workers\": 2}\nmeta host.cores 8\nmain\n op a 0 1");
    const auto back = thereAndBack(*thereAndBack(*trace));
    EXPECT_EQ(back->metadata().at("config"), "{\"loader.workers\": 2}");
    EXPECT_EQ(back->metadata().at("host.cores"), "8");
    EXPECT_FALSE(back->metadata().contains("pytorch.stepscope.config"));
}

TEST(PytorchJson, BatchesKeepTheirNumbers)
{
    const auto back = thereAndBack(
        *traceFromText("main\n step 3 0 100\n phase \"data wait\" 0 20 value=7\nworker 0\n stage decode 0 10 value=8"));
    EXPECT_EQ(back->ofKind(ActivityKind::Phase).at(0).args.value, 7);
    EXPECT_EQ(back->ofKind(ActivityKind::LoaderStage).at(0).args.value, 8);
}

TEST(PytorchJson, HostRowsKeepTheirKinds)
{
    const auto back = thereAndBack(*traceFromText(R"(
        main pid=100 tid=7
          op a 0 5
          sync "Stream Synchronize" 10 20
        worker 0 pid=100 tid=102
          stage decode 0 350
        domain NCCL pid=100
          nvtx allreduce 0 5
        annotations 0 7
          sync "Stream Synchronize" 10 20
    )"));
    EXPECT_THAT(rowsOf(*back, ActivityKind::LoaderStage),
                testing::ElementsAre(std::pair("loader worker 0", TrackKind::LoaderWorker)));
    EXPECT_THAT(rowsOf(*back, ActivityKind::CpuOp),
                testing::ElementsAre(std::pair("main thread", TrackKind::MainThread)));
    EXPECT_THAT(rowsOf(*back, ActivityKind::Nvtx), testing::ElementsAre(std::pair("NCCL", TrackKind::NvtxDomain)));
    EXPECT_THAT(rowsOf(*back, ActivityKind::Sync),
                testing::ElementsAre(std::pair("main thread", TrackKind::MainThread),
                                     std::pair("stream 7 waits", TrackKind::Annotation)));
}

TEST(PytorchJson, DevicesAndCountersKeepTheirProperties)
{
    TraceBuilder builder;
    builder.addDevice({DeviceId{1}, "NVIDIA H100", "GPU-7", 9, 0, 85'000'000'000});
    Track track;
    track.kind = TrackKind::Counter;
    track.name = "loss";
    track.unit = "nats";
    const TrackId counter = builder.addTrack(std::move(track));
    builder.addSample(counter, {traceTime(0), 2.5});
    builder.addSample(counter, {traceTime(1000), std::numeric_limits<double>::quiet_NaN()});
    builder.addSample(counter, {traceTime(2000), 1.5});
    const auto back = thereAndBack(*builder.finish());
    ASSERT_EQ(back->devices().size(), 1U);
    EXPECT_EQ(back->devices()[0].uuid, "GPU-7");
    EXPECT_EQ(back->devices()[0].computeMajor, 9);
    EXPECT_EQ(back->devices()[0].memoryBytes, 85'000'000'000);
    ASSERT_EQ(back->tracks().size(), 1U);
    EXPECT_EQ(back->tracks()[0].unit, "nats");
    const auto samples = back->counter(back->tracks()[0].id);
    ASSERT_EQ(samples.size(), 2U) << "values that are not numbers are left out";
    EXPECT_EQ(samples[1].value, 1.5);
}

TEST(PytorchJson, AGraphLaunchHasAnArrowToEachKernel)
{
    const auto trace = traceFromText(R"(
        main
          call cudaGraphLaunch 0 5 corr=7
        stream 0 7
          kernel a 10 5 corr=7
          kernel b 20 5 corr=7
          kernel c 30 5 corr=7
    )");
    EXPECT_EQ(arrowsOf(*trace).size(), 3U);
    EXPECT_EQ(arrowsOf(*thereAndBack(*trace)), arrowsOf(*trace));
}

} // namespace
} // namespace formats_export_test
