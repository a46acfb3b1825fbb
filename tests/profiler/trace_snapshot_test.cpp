#include "profiler/model/trace_builder.h"
#include "profiler/model/track_store.h"
#include "tests/support/trace_text.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

namespace {

using namespace profiler;
using test_support::TextFeeder;
using test_support::traceToText;

constexpr TrackId kFirst{0};

TEST(TraceSnapshot, OpenSlicesEndAtTheLatestTimeAndKeepTheirId)
{
    TraceBuilder builder;
    TextFeeder feeder{builder};
    feeder.feed("main\n step 3 0 open\n phase forward 1 open\n op relu 2 3\nworker 0\n stage read 4 8");
    const auto early = builder.snapshot();
    EXPECT_EQ(traceToText(*early), R"(main
  step 3 0 open
    phase forward 1 open depth=1
      op relu 2 3 depth=2
worker 0
  stage read 4 8
)");
    const auto step = early->at(kFirst, 0, traceTime(0));
    ASSERT_TRUE(step);
    EXPECT_EQ(step->end(), traceTime(12'000));
    EXPECT_TRUE(step->is(slice_flag::kOpen));
    EXPECT_EQ(early->range().end, traceTime(12'000));

    feeder.feed("main\n phase forward 1 20 value=3\n op gelu 30 1\n step 3 0 40");
    const auto late = builder.snapshot();
    EXPECT_EQ(late->sliceCount(), 5U);
    const Slice same = late->slice(step->id);
    EXPECT_EQ(late->name(same), "step");
    EXPECT_EQ(same.duration, std::chrono::microseconds(40));
    EXPECT_FALSE(same.is(slice_flag::kOpen));
    EXPECT_EQ(early->slice(step->id).end(), traceTime(12'000)) << "an earlier snapshot does not change";
}

TEST(TraceSnapshot, OfEqualStartsTheInnermostIsCompletedFirst)
{
    TraceBuilder builder;
    TextFeeder feeder{builder};
    feeder.feed("main\n op same 5 open depth=0\n op same 5 open depth=1\n op same 5 2 depth=1");
    const auto trace = builder.snapshot();
    EXPECT_TRUE(trace->slice({kFirst, 0}).is(slice_flag::kOpen));
    EXPECT_FALSE(trace->slice({kFirst, 1}).is(slice_flag::kOpen));
    EXPECT_EQ(trace->sliceCount(), 2U);
}

TEST(TraceSnapshot, SlicesWithoutAnEndAreOpenInTheFinishedTrace)
{
    TraceBuilder builder;
    TextFeeder{builder}.feed("main\n phase \"data wait\" 5 open\nworker 0\n stage read 0 9");
    const auto trace = builder.finish();
    EXPECT_EQ(traceToText(*trace), "main\n  phase \"data wait\" 5 open\nworker 0\n  stage read 0 9\n");
    EXPECT_EQ(trace->slice({kFirst, 0}).duration, std::chrono::microseconds(4));
}

TEST(TraceSnapshot, DepthsAreUpdatedByLaterSlices)
{
    TraceBuilder builder;
    TextFeeder feeder{builder};
    feeder.feed("main\n call launch 10 1\n call launch 60 1");
    const auto early = builder.snapshot();
    EXPECT_EQ(early->slice({kFirst, 0}).depth, 0);
    feeder.feed("main\n op linear 5 10 depth=0\n op addmm 6 8 depth=1");
    const auto late = builder.snapshot();
    EXPECT_EQ(late->slice({kFirst, 0}).depth, 2);
    EXPECT_EQ(late->slice({kFirst, 1}).depth, 0);
    EXPECT_EQ(early->slice({kFirst, 0}).depth, 0);
    EXPECT_EQ(late->depthCount(kFirst), 3);
}

TEST(TraceSnapshot, IdsDoNotChangeWhenBlocksMerge)
{
    TraceBuilder builder;
    const TrackId track = builder.addTrack({});
    std::vector<Slice> fed;
    std::vector<std::shared_ptr<const Trace>> snapshots;
    for (int i = 0; i < 3000; ++i) {
        Slice slice;
        // Slices arrive in order of their ends, as scopes do: each outer slice comes after its two inner ones.
        const int outer = i / 3 * 100;
        slice.begin = traceTime(i % 3 == 2 ? outer : outer + 10 + i % 3 * 40);
        slice.duration = Nanoseconds{i % 3 == 2 ? 95 : 30};
        slice.depth = i % 3 == 2 ? 0 : 1;
        slice.args.value = i;
        builder.add(track, slice);
        fed.push_back(slice);
        if (i % 7 == 0)
            snapshots.push_back(builder.snapshot());
    }
    snapshots.push_back(builder.finish());
    for (const auto& snapshot : snapshots) {
        for (std::uint32_t ordinal = 0; ordinal < snapshot->sliceCount(track); ++ordinal) {
            const Slice slice = snapshot->slice({track, ordinal});
            ASSERT_EQ(slice.args.value, fed[ordinal].args.value);
            ASSERT_EQ(slice.begin, fed[ordinal].begin);
        }
    }
}

TEST(TraceSnapshot, StringsAndCountersOfEarlierSnapshotsDoNotChange)
{
    TraceBuilder builder;
    TextFeeder feeder{builder};
    feeder.feed("counter loss\n sample 1 5");
    const auto early = builder.snapshot();
    for (int i = 0; i < 2000; ++i) {
        builder.intern("name " + std::to_string(i));
        builder.addSample(kFirst, {traceTime(i), 1});
    }
    const auto late = builder.snapshot();
    EXPECT_EQ(early->counter(kFirst).size(), 1U);
    EXPECT_EQ(late->counter(kFirst).size(), 2001U);
    EXPECT_FALSE(early->findString("name 7"));
    ASSERT_TRUE(late->findString("name 1999"));
    EXPECT_EQ(late->string(*late->findString("name 1999")), "name 1999");
}

RawSlice rawAt(std::int64_t begin)
{
    RawSlice slice;
    slice.begin = begin;
    slice.duration = 1;
    return slice;
}

TEST(TrackStore, SnapshotsShareTheirBlocks)
{
    TrackStore store;
    std::int64_t time = 0;
    const auto feed = [&](int slices) {
        for (int i = 0; i < slices; ++i)
            store.add(rawAt(time++), false);
        store.seal();
    };
    feed(1000);
    const BlockList before = store.blocks(0);
    feed(10);
    const BlockList after = store.blocks(0);
    ASSERT_EQ(after.size(), 2U);
    EXPECT_EQ(after[0], before[0]) << "a large block is shared, not copied, if few slices were added";
    store.seal();
    EXPECT_EQ(store.blocks(0), after) << "without new slices, no block is built";
}

TEST(TrackStore, HasFewBlocks)
{
    TrackStore store;
    std::size_t most = 0;
    for (int i = 0; i < 20'000; ++i) {
        store.add(rawAt(i), false);
        store.seal();
        most = std::max(most, store.blocks(0).size());
    }
    EXPECT_LE(most, static_cast<std::size_t>(std::log2(20'000)) + 1);
    store.compact();
    EXPECT_EQ(store.blocks(0).size(), 1U);
}

TEST(TrackStore, SealsAutomaticallyWithoutInferredDepths)
{
    TrackStore store;
    for (std::uint32_t i = 0; i < TrackStore::kMergedSlices + 1; ++i)
        store.add(rawAt(i), false);
    ASSERT_EQ(store.blocks(0).size(), 1U);
    EXPECT_EQ(store.blocks(0)[0]->size(), TrackStore::kMergedSlices);
}

} // namespace
