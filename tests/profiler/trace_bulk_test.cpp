#include "profiler/model/pools.h"
#include "profiler/model/trace_builder.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace profiler;
using test_support::traceToText;

RawSlice raw(StringId name, std::int64_t begin, std::int64_t duration, ActivityKind kind = ActivityKind::CpuOp)
{
    RawSlice slice;
    slice.name = name.value;
    slice.begin = begin * 1000;
    slice.duration = duration * 1000;
    slice.kind = kind;
    slice.link = kind == ActivityKind::CpuOp ? -1 : 0;
    return slice;
}

TrackId addMain(TraceBuilder& builder)
{
    Track track;
    track.kind = TrackKind::MainThread;
    track.name = "main thread";
    return builder.addTrack(track);
}

TEST(TraceBulk, AnyOrderIsSortedAndNested)
{
    TraceBuilder builder;
    const TrackId track = addMain(builder);
    const StringId outer = builder.intern("outer");
    const StringId inner = builder.intern("inner");
    builder.addMany(track, {raw(inner, 12, 3), raw(outer, 10, 10), raw(inner, 10, 2)}, Depth::Inferred);
    builder.addMany(track, {raw(outer, 0, 5), raw(inner, 1, 1)}, Depth::Inferred);
    const auto trace = builder.finish();
    EXPECT_EQ(traceToText(*trace), R"(main
  op outer 0 5
    op inner 1 1 depth=1
  op outer 10 10
    op inner 10 2 depth=1
    op inner 12 3 depth=1
)");
}

TEST(TraceBulk, GivenDepthsAreKept)
{
    TraceBuilder builder;
    const TrackId track = addMain(builder);
    RawSlice deep = raw(builder.intern("deep"), 3, 1);
    deep.depth = 4;
    builder.addMany(track, {deep}, Depth::Given);
    EXPECT_EQ(traceToText(*builder.finish()), "main\n          op deep 3 1 depth=4\n");
}

TEST(TraceBulk, PoolsOfThreadsAreMerged)
{
    TraceBuilder builder;
    const TrackId track = addMain(builder);
    builder.intern("other");
    for (const std::int64_t begin : {0, 100}) {
        LocalPools pools;
        const StringId name = pools.strings.intern(begin == 0 ? "first" : "second");
        SliceArgs args;
        args.bytes = 77;
        args.shapes = pools.strings.intern("[[2, 3]]");
        LaunchConfig launch;
        launch.registers = begin == 0 ? 16U : 40U;
        args.launch = pools.launches.intern(launch);
        RawSlice slice = raw(name, begin, 5);
        slice.args = pools.args.intern(args);
        RawSlice small = raw(name, begin + 1, 1);
        args = {};
        args.value = 9;
        small.args = pools.args.intern(args);
        builder.addMany(track, {slice, small}, Depth::Inferred, builder.merge(pools));
    }
    EXPECT_EQ(traceToText(*builder.finish()), R"(main
  op first 0 5 bytes=77 shapes="[[2, 3]]" registers=16
    op first 1 1 value=9 depth=1
  op second 100 5 bytes=77 shapes="[[2, 3]]" registers=40
    op second 101 1 value=9 depth=1
)");
}

class Rows : public ArgSource {
public:
    Result<SliceDetails> read(std::uint64_t source) const override
    {
        return SliceDetails{{"row", std::to_string(source)}};
    }
};

TEST(TraceBulk, DetailsAreReadFromTheirSource)
{
    TraceBuilder builder;
    const TrackId track = addMain(builder);
    RawSlice far = raw(builder.intern("far"), 0, 1);
    far.setSource(RawSlice::kMaxSource);
    far.external = 4'000'000'000;
    RawSlice none = raw(builder.intern("none"), 2, 1);
    none.setSource(RawSlice::kMaxSource + 1);
    builder.addMany(track, {far, none}, Depth::Inferred);
    builder.setArgSource(std::make_shared<Rows>());
    const auto trace = builder.finish();
    EXPECT_EQ(trace->slice({track, 0}).externalId, 4'000'000'000U);
    const auto details = trace->details({track, 0});
    ASSERT_TRUE(details);
    EXPECT_EQ(*details, (SliceDetails{{"row", "1099511627775"}}));
    EXPECT_EQ(trace->details({track, 1}).value(), SliceDetails{});
}

TEST(TraceBulk, ExplicitFlowsConnectTheInnermostSlicesWithoutDuplicates)
{
    TraceBuilder builder;
    const TrackId track = addMain(builder);
    const TrackId stream = builder.addTrack({});
    RawSlice call = raw(builder.intern("launch"), 2, 1, ActivityKind::CudaRuntime);
    call.link = 5;
    RawSlice kernel = raw(builder.intern("gemm"), 4, 6, ActivityKind::Kernel);
    kernel.link = 5;
    builder.addMany(track, {raw(builder.intern("op"), 0, 8), call}, Depth::Inferred);
    builder.addMany(stream, {kernel, raw(builder.intern("wakes"), 20, 1)}, Depth::Inferred);
    builder.addFlow(FlowKind::Launch, {track, traceTime(2000)}, {stream, traceTime(4000)});
    builder.addFlow(FlowKind::Async, {track, traceTime(2000)}, {stream, traceTime(20'000)});
    builder.addFlow(FlowKind::Async, {track, traceTime(2000)}, {stream, traceTime(99'000)});
    const auto trace = builder.finish();
    const auto flows = trace->flowsOf({track, 1});
    ASSERT_EQ(flows.size(), 2U);
    EXPECT_EQ(flows[0].kind, FlowKind::Launch);
    EXPECT_EQ(flows[1].kind, FlowKind::Async);
    EXPECT_EQ(flows[1].to, (SliceId{stream, 1}));
    EXPECT_EQ(trace->flowsOf({stream, 1}).size(), 1U);
    EXPECT_TRUE(trace->flowsOf({track, 0}).empty());
    EXPECT_EQ(trace->captureStats().unmatched, 1U); // there is no slice at 99
    EXPECT_EQ(trace->captureStats().notes.size(), 1U);
}

TEST(TraceBulk, AFlowMayEndAtTheNextSlice)
{
    for (const int copies : {1, 40}) { // a few are looked up; many are found by a walk
        TraceBuilder builder;
        const TrackId track = addMain(builder);
        builder.addMany(
            track,
            {raw(builder.intern("a"), 0, 8), raw(builder.intern("b"), 10, 8), raw(builder.intern("in b"), 10, 4)},
            Depth::Inferred);
        const auto nextOf = [&](std::int64_t ns) {
            for (int i = 0; i < copies; ++i)
                builder.addFlow(FlowKind::Async, {track, traceTime(1000)}, {track, traceTime(ns), true});
        };
        nextOf(3000);
        nextOf(10'000);
        nextOf(10'001);
        const auto trace = builder.finish();
        ASSERT_EQ(trace->explicitFlows().size(), 1U) << copies;
        EXPECT_EQ(trace->name(trace->slice(trace->explicitFlows()[0].to)), "b") << copies;
        EXPECT_EQ(trace->captureStats().unmatched, static_cast<std::uint64_t>(copies));
    }
}

TEST(TraceBulk, OverlapsAreCountedInOrderOfTime)
{
    TraceBuilder builder;
    const TrackId track = addMain(builder);
    const auto at = [&](std::int64_t begin, std::int64_t duration, std::uint64_t source) {
        RawSlice slice = raw(builder.intern("a"), begin, duration);
        slice.setSource(source);
        return slice;
    };
    // Of the slices within [0, 10), 5 to 12 and 8 to 20 end after it, 2 to 4 does not.
    builder.addMany(track, {at(8, 12, 70), at(0, 10, 60), at(5, 7, 80), at(2, 2, 50)}, Depth::Inferred);
    builder.seal(1);
    EXPECT_EQ(builder.overlaps(track).count, 2U);
    EXPECT_EQ(builder.overlaps(track).first, 70U);
    EXPECT_EQ(builder.finish()->sliceCount(), 4U);
}

TEST(TraceBulk, ManyExplicitFlowsAlsoConnectTheInnermostSlices)
{
    TraceBuilder builder;
    const TrackId tracks[] = {addMain(builder), builder.addTrack({})};
    std::minstd_rand random;
    for (const TrackId track : tracks) {
        std::vector<RawSlice> slices;
        for (std::int64_t outer = 0; outer < 200; ++outer) {
            slices.push_back(raw(builder.intern("outer"), 100 * outer, 90));
            for (std::int64_t inner = 0; inner < 8; ++inner) {
                const auto begin = static_cast<std::int64_t>(100 * outer + 10 * inner + random() % 5);
                slices.push_back(raw(builder.intern("inner"), begin, static_cast<std::int64_t>(random() % 6)));
            }
        }
        builder.addMany(track, std::move(slices), Depth::Inferred);
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> given; // µs: on the edges of slices, within them and between
                                                              // them
    for (int i = 0; i < 1000; ++i) {
        given.emplace_back(random() % 20'100, random() % 20'100);
        builder.addFlow(FlowKind::Async, {tracks[0], traceTime(1000 * given.back().first)},
                        {tracks[1], traceTime(1000 * given.back().second)});
    }
    const auto trace = builder.finish(2);
    const auto innermost = [&](TrackId track, std::int64_t us) {
        std::optional<Slice> found;
        for (const Slice& slice : trace->sorted(track))
            if (slice.range().contains(traceTime(1000 * us)) && (!found || slice.depth > found->depth))
                found = slice;
        return found;
    };
    std::set<std::pair<SliceId, SliceId>> expected, joined;
    for (const auto& [from, to] : given) {
        const auto source = innermost(tracks[0], from), target = innermost(tracks[1], to);
        if (source && target)
            expected.emplace(source->id, target->id);
    }
    for (const Flow& flow : trace->explicitFlows())
        joined.emplace(flow.from, flow.to);
    EXPECT_GT(expected.size(), 500U);
    EXPECT_EQ(joined, expected);
}

TEST(TraceBulk, ByteCountsFromAnyFileCanBeSummed)
{
    TraceBuilder builder;
    SliceArgs args;
    args.bytes = 9'000'000'000'000'000'000;
    RawSlice copy = raw(builder.intern("copy"), 0, 1, ActivityKind::GpuMemcpy);
    copy.args = builder.internArgs(args);
    args.bytes = -5;
    RawSlice back = raw(builder.intern("back"), 2, 1, ActivityKind::GpuMemcpy);
    back.args = builder.internArgs(args);
    const TrackId track = addMain(builder);
    builder.addMany(track, {copy, back}, Depth::Inferred);
    const auto slices = builder.finish()->sorted(track);
    EXPECT_EQ(slices[0].args.bytes, std::int64_t{1} << 53);
    EXPECT_EQ(slices[1].args.bytes, 0);
}

} // namespace
