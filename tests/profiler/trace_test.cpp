#include "profiler/model/trace_builder.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace profiler;
using test_support::traceFromText;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr TrackId kFirst{0};

TimeRange microseconds(std::int64_t begin, std::int64_t end)
{
    return {traceTime(begin * 1000), traceTime(end * 1000)};
}

std::vector<std::string> names(const Trace& trace, const std::vector<Slice>& slices)
{
    std::vector<std::string> found;
    for (const Slice& slice : slices)
        found.emplace_back(trace.name(slice));
    return found;
}

std::vector<std::string> visited(const Trace& trace, TimeRange window)
{
    std::vector<Slice> slices;
    trace.forEach(kFirst, window, [&](const Slice& slice) {
        slices.push_back(slice);
        return true;
    });
    return names(trace, slices);
}

TEST(Trace, AnEmptyTraceAnswersEveryQuery)
{
    const auto trace = traceFromText("main");
    EXPECT_TRUE(trace->range().empty());
    EXPECT_EQ(trace->sliceCount(), 0U);
    EXPECT_EQ(trace->depthCount(kFirst), 0);
    EXPECT_THAT(trace->sorted(kFirst), IsEmpty());
    EXPECT_FALSE(trace->at(kFirst, 0, traceTime(0)));
    EXPECT_THAT(trace->counter(kFirst), IsEmpty());
    std::vector<LodBucket> buckets(3);
    trace->summarize(kFirst, 0, microseconds(0, 3), buckets);
    EXPECT_EQ(buckets[1].count, 0U);
    EXPECT_TRUE(traceFromText("")->tracks().empty());
}

TEST(Trace, WindowsAreHalfOpen)
{
    const auto trace = traceFromText(R"(main
        op before 0 10
        op within 10 10
        op after 20 10
        op instant 20 0 depth=1)");
    EXPECT_THAT(visited(*trace, microseconds(10, 20)), ElementsAre("within"));
    EXPECT_THAT(visited(*trace, microseconds(9, 20)), ElementsAre("before", "within"));
    EXPECT_THAT(visited(*trace, microseconds(10, 21)), ElementsAre("within", "after", "instant"));
    EXPECT_THAT(visited(*trace, microseconds(20, 21)), ElementsAre("after", "instant"));
    EXPECT_THAT(visited(*trace, microseconds(30, 40)), IsEmpty());
}

TEST(Trace, VisitorsCanStop)
{
    const auto trace = traceFromText("main\n op a 0 1\n op b 2 1\n op c 4 1");
    int seen = 0;
    trace->forEach(kFirst, trace->range(), [&](const Slice&) { return ++seen < 2; });
    EXPECT_EQ(seen, 2);
}

TEST(Trace, AtFindsTheSliceAtADepth)
{
    const auto trace = traceFromText("main\n op outer 0 10\n op inner 2 3");
    const auto nameAt = [&](int depth, std::int64_t us) {
        const auto slice = trace->at(kFirst, depth, traceTime(us * 1000));
        return slice ? std::string{trace->name(*slice)} : "";
    };
    EXPECT_EQ(nameAt(0, 0), "outer");
    EXPECT_EQ(nameAt(0, 9), "outer");
    EXPECT_EQ(nameAt(0, 10), "");
    EXPECT_EQ(nameAt(1, 1), "");
    EXPECT_EQ(nameAt(1, 2), "inner");
    EXPECT_EQ(nameAt(1, 5), "");
    EXPECT_EQ(nameAt(2, 3), "");
    EXPECT_EQ(nameAt(-1, 3), "");
}

TEST(Trace, SortsOuterBeforeInner)
{
    // As in a live trace: outer slices end last, and therefore arrive last.
    const auto trace = traceFromText("main\n op inner 0 3\n op second 5 1\n op outer 0 10");
    EXPECT_THAT(names(*trace, trace->sorted(kFirst)), ElementsAre("outer", "inner", "second"));
    EXPECT_EQ(trace->depthCount(kFirst), 2);
}

TEST(Trace, FindsKindsOnAllTracks)
{
    const auto trace = traceFromText(R"(
        stream 0 7
          kernel b 5 1
          copy HtoD 6 1
        stream 0 8
          kernel a 3 1
          kernel c 7 1)");
    EXPECT_THAT(names(*trace, trace->ofKind(ActivityKind::Kernel)), ElementsAre("a", "b", "c"));
    EXPECT_THAT(trace->ofKind(ActivityKind::GpuMemset), IsEmpty());
}

TEST(Trace, KeepsArguments)
{
    const auto trace = traceFromText(R"(main
        step -1 0 1
        step 2147483648 1 1
        step 2147483647 2 1
        phase copy 3 1 value=7 bytes=9
        stage read 4 1 value=7 bytes=9)");
    const auto slices = trace->sorted(kFirst);
    EXPECT_EQ(slices[0].args.value, -1);
    EXPECT_EQ(slices[1].args.value, 2147483648);
    EXPECT_EQ(slices[2].args.value, 2147483647);
    EXPECT_EQ(slices[3].args, (SliceArgs{9, 7}));
    EXPECT_EQ(slices[4].args, slices[3].args);
}

TEST(Trace, KernelsShareTheirLaunchConfigurations)
{
    const auto trace = traceFromText(R"(stream 0 7
        kernel a 0 1 grid=8,2,1 block=128,1,1 registers=40 shared=17408 dynamic=16384 local=8
        kernel b 2 1 grid=8,2,1 block=128,1,1 registers=40 shared=17408 dynamic=16384 local=8
        kernel c 4 1 grid=8,2,1 block=128,1,1 registers=40 shared=17408
        kernel d 6 1)");
    const auto slices = trace->sorted(kFirst);
    EXPECT_EQ(trace->launchCount(), 2U);
    EXPECT_EQ(slices[0].args, slices[1].args);
    const LaunchConfig launch = trace->launch(slices[0].args.launch);
    EXPECT_EQ(launch.blocks(), 16U);
    EXPECT_EQ(launch.threads(), 128U);
    EXPECT_EQ(launch.registers, 40U);
    EXPECT_EQ(launch.sharedMemory, 17408U);
    EXPECT_EQ(launch.dynamicSharedMemory, 16384U);
    EXPECT_EQ(launch.localMemory, 8U);
    EXPECT_EQ(trace->launch(slices[2].args.launch).localMemory, std::nullopt);
    EXPECT_EQ(slices[3].args.launch, LaunchId{});
    EXPECT_EQ(trace->launch(LaunchId{}), LaunchConfig{});
    EXPECT_EQ(trace->launch(LaunchId{99}), LaunchConfig{}) << "of another trace";
    const auto end = TraceBuilder::endOf(*trace, traceTime(4000));
    EXPECT_EQ(test_support::traceToText(*end),
              "stream 0 7\n  kernel c 4 1 grid=8,2,1 block=128,1,1 registers=40 shared=17408\n"
              "  kernel d 6 1\n");
}

TEST(Trace, WithoutKernelsThereAreNoLaunchConfigurations)
{
    EXPECT_EQ(traceFromText("main\n op a 0 1")->launchCount(), 0U);
}

TEST(Trace, FindsStrings)
{
    const auto trace = traceFromText("main\n op relu 0 1");
    ASSERT_TRUE(trace->findString("relu"));
    EXPECT_EQ(trace->string(*trace->findString("relu")), "relu");
    EXPECT_EQ(trace->findString(""), StringId{0});
    EXPECT_FALSE(trace->findString("gelu"));
}

TEST(Trace, CountersAreSortedByTime)
{
    const auto trace = traceFromText("counter loss\n sample 3 1\n sample 1 2\n sample 2 3");
    std::vector<double> values;
    for (const CounterSample& sample : trace->counter(kFirst))
        values.push_back(sample.value);
    EXPECT_THAT(values, ElementsAre(2, 3, 1));
}

TEST(TraceFlows, ConnectCallsAndDeviceWork)
{
    const auto trace = traceFromText(R"(
        main
          call cudaGraphLaunch 0 5 corr=9
          call cudaMalloc 6 1
          op unrelated 7 1 seq=9
        stream 0 7
          kernel a 10 1 corr=9
          kernel b 12 1 corr=9
          kernel orphan 14 1 corr=10
          kernel none 15 1)");
    const auto flows = trace->flowsOf({TrackId{0}, 0});
    ASSERT_EQ(flows.size(), 2U);
    EXPECT_EQ(flows[1].kind, FlowKind::Launch);
    EXPECT_EQ(flows[1].to, (SliceId{TrackId{1}, 1}));
    const auto back = trace->flowsOf({TrackId{1}, 1});
    ASSERT_EQ(back.size(), 1U);
    EXPECT_EQ(back[0].from, (SliceId{TrackId{0}, 0}));
    EXPECT_THAT(trace->flowsOf({TrackId{0}, 1}), IsEmpty());
    EXPECT_THAT(trace->flowsOf({TrackId{0}, 2}), IsEmpty());
    EXPECT_THAT(trace->flowsOf({TrackId{1}, 2}), IsEmpty());
    EXPECT_THAT(trace->flowsOf({TrackId{1}, 3}), IsEmpty());
}

TEST(TraceFlows, BackwardNodesBelongToTheLatestForwardOpWithTheirSequenceNumber)
{
    const auto trace = traceFromText(R"(
        main
          op aten::linear 0 10 seq=7
          op aten::addmm 2 5 seq=7
          op aten::relu 20 5 seq=8
          op recomputed 90 5 seq=7
        thread backward
          op ReluBackward0 50 5 seq=8 backward
          op AddmmBackward0 60 5 seq=7 backward
          op aten::mm 61 1)");
    const SliceId linear{TrackId{0}, 0}, addmm{TrackId{0}, 1}, node{TrackId{1}, 1};
    EXPECT_THAT(trace->flowsOf(linear), IsEmpty());
    const auto flows = trace->flowsOf(addmm);
    ASSERT_EQ(flows.size(), 1U);
    EXPECT_EQ(flows[0].kind, FlowKind::ForwardBackward);
    EXPECT_EQ(flows[0].to, node);
    ASSERT_EQ(trace->flowsOf(node).size(), 1U);
    EXPECT_EQ(trace->flowsOf(node)[0].from, addmm);
    EXPECT_THAT(trace->flowsOf({TrackId{1}, 2}), IsEmpty());
}

TEST(TraceNesting, IsInferredFromTheIntervals)
{
    const auto depths = [](const Trace& trace) {
        std::vector<int> found;
        for (const Slice& slice : trace.sorted(kFirst))
            found.push_back(slice.depth);
        return found;
    };
    EXPECT_THAT(depths(*traceFromText("main\n op a 0 10\n op b 0 10\n op c 9 1\n op d 10 1")), ElementsAre(0, 1, 2, 0));
    // A slice that only overlaps another gets a free depth; depths do not keep growing.
    EXPECT_THAT(depths(*traceFromText("main\n op a 0 10\n op b 5 10\n op c 12 10\n op d 20 10")),
                ElementsAre(0, 1, 0, 1));
    // Known depths are kept, and contain the slices within them.
    EXPECT_THAT(depths(*traceFromText("main\n op a 0 10 depth=3\n call b 1 2\n call c 11 1")), ElementsAre(3, 4, 0));
}

TEST(TraceNesting, IsLimitedToTheMaximumDepth)
{
    TraceBuilder builder;
    const TrackId track = builder.addTrack({});
    Slice slice;
    slice.depth = TraceBuilder::kUnknownDepth;
    for (int i = 0; i < 300; ++i) {
        slice.begin = traceTime(i);
        slice.duration = Nanoseconds{1000 - 2 * i};
        builder.add(track, slice);
    }
    EXPECT_EQ(builder.finish()->depthCount(track), 255);
}

TEST(TraceLod, ReportsCountShareKindAndName)
{
    const auto trace = traceFromText(R"(main
        op small 0 2
        call large 4 4
        op tail 15 10)");
    std::vector<LodBucket> buckets(3);
    trace->summarize(kFirst, 0, microseconds(0, 30), buckets);
    EXPECT_EQ(buckets[0].count, 2U);
    EXPECT_FLOAT_EQ(buckets[0].busy, 0.6F);
    EXPECT_EQ(buckets[0].kind, ActivityKind::CudaRuntime);
    EXPECT_EQ(trace->string(buckets[0].name), "large");
    EXPECT_EQ(buckets[1].count, 1U);
    EXPECT_FLOAT_EQ(buckets[1].busy, 0.5F);
    EXPECT_EQ(buckets[2].count, 1U);
    EXPECT_FLOAT_EQ(buckets[2].busy, 0.5F);
    EXPECT_EQ(buckets[2].kind, ActivityKind::CpuOp);
}

TEST(TraceLod, AcceptsAnyWindow)
{
    const auto trace = traceFromText("main\n op a 1ns 2ns\n op b 5ns 0");
    std::vector<LodBucket> buckets(10);
    trace->summarize(kFirst, 0, {traceTime(0), traceTime(3)}, buckets); // less than a nanosecond each
    EXPECT_EQ(buckets[0].count, 0U);
    EXPECT_EQ(buckets[9].count, 1U);
    EXPECT_FLOAT_EQ(buckets[9].busy, 1);
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    trace->summarize(kFirst, 0, {traceTime(-kMost), traceTime(kMost)}, buckets);
    EXPECT_EQ(buckets[4].count + buckets[5].count, 2U);
    trace->summarize(kFirst, 0, {traceTime(9), traceTime(2)}, buckets);
    trace->summarize(kFirst, 7, trace->range(), buckets);
    EXPECT_EQ(buckets[0].count, 0U);
    trace->summarize(kFirst, 0, trace->range(), {});
}

TEST(Trace, AcceptsImpossibleTimes)
{
    TraceBuilder builder;
    const TrackId track = builder.addTrack({});
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t begin : {-kMost, std::int64_t{0}, kMost}) {
        for (const std::int64_t duration : {-kMost, std::int64_t{0}, kMost}) {
            Slice slice;
            slice.begin = traceTime(begin);
            slice.duration = Nanoseconds{duration};
            builder.add(track, slice);
            slice.depth = TraceBuilder::kUnknownDepth;
            builder.add(track, slice);
        }
    }
    const auto trace = builder.finish();
    EXPECT_EQ(trace->sorted(track).size(), 18U);
    EXPECT_GT(trace->range().duration().count(), 0);
    std::vector<LodBucket> buckets(7);
    trace->summarize(track, 0, trace->range(), buckets);
    EXPECT_GT(buckets[3].count, 0U);
}

TEST(Trace, SequenceNumbersConnectOpsOfOneProcess)
{
    const auto trace = traceFromText(R"(
        main pid=100 tid=100
          op aten::mm 0 10 seq=5
          op MmBackward0 50 10 seq=5 backward
        thread other pid=200 tid=200
          op aten::mm 20 10 seq=5
          op MmBackward0 70 10 seq=5 backward
    )");
    for (const Track& track : trace->tracks()) {
        const auto ops = trace->sorted(track.id);
        ASSERT_EQ(ops.size(), 2U);
        for (const Slice& op : ops) {
            const auto flows = trace->flowsOf(op.id);
            ASSERT_EQ(flows.size(), 1U) << trace->name(op);
            EXPECT_EQ(flows[0].from, ops[0].id);
            EXPECT_EQ(flows[0].to, ops[1].id);
        }
    }
}

} // namespace
