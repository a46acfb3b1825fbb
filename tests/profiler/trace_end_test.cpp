#include "profiler/model/trace_builder.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace profiler;
using test_support::TextFeeder;
using test_support::traceFromText;
using test_support::traceToText;

TEST(TraceEnd, KeepsOverlappingSlicesAndEverythingElseOfTheTrace)
{
    const auto whole = traceFromText(R"(
        meta workload toy
        main
          phase epoch 0 100
          op early 0 10
          op across 40 20
          op late 60 5 seq=7
        counter loss
          sample 5 2.5
    )");
    const auto end = TraceBuilder::endOf(*whole, traceTime(50'000));
    EXPECT_EQ(traceToText(*end), R"(meta workload toy
main
  phase epoch 0 100
    op across 40 20 depth=1
    op late 60 5 seq=7 depth=1
counter loss
  sample 5 2.5
)");
    EXPECT_EQ(end->range().begin, traceTime(50'000));
    EXPECT_EQ(end->range().end, whole->range().end);
    EXPECT_EQ(whole->sliceCount(), 4U) << "the whole trace is unchanged";
}

TEST(TraceEnd, MayContainNothingOrEverything)
{
    const auto whole = traceFromText("main\n op a 10 10\n op b 20 10");
    EXPECT_EQ(TraceBuilder::endOf(*whole, traceTime(31'000))->sliceCount(), 0U);
    EXPECT_EQ(traceToText(*TraceBuilder::endOf(*whole, traceTime(0))), traceToText(*whole));
    const auto none = traceFromText("main");
    EXPECT_EQ(TraceBuilder::endOf(*none, traceTime(0))->sliceCount(), 0U);
}

using Row = std::tuple<std::uint32_t, TraceTime, Nanoseconds, std::uint32_t, int, bool>;

Row rowOf(const Slice& slice)
{
    return {slice.id.ordinal, slice.begin, slice.duration, slice.name.value, slice.depth, slice.is(slice_flag::kOpen)};
}

std::vector<Row> overlapping(const Trace& trace, TrackId track, TraceTime from)
{
    std::vector<Row> rows;
    trace.forEach(track, {from, traceTime(RawSlice::kTimeLimit)}, [&](const Slice& slice) {
        rows.push_back(rowOf(slice));
        return true;
    });
    std::sort(rows.begin(), rows.end());
    return rows;
}

TEST(TraceEnd, OfAGrowingTraceHasTheSameSlicesWithTheSameIds)
{
    std::mt19937 random(7);
    TraceBuilder builder;
    const TrackId tracks[] = {builder.addTrack(Track()), builder.addTrack(Track())};
    const StringId outer = builder.intern("outer"), inner = builder.intern("inner"), open = builder.intern("open");
    std::int64_t now = 0;
    for (int i = 0; i < 4000; ++i) {
        const TrackId track = tracks[random() % 2];
        Slice slice;
        slice.depth = TraceBuilder::kUnknownDepth;
        slice.begin = traceTime(now);
        slice.duration = Nanoseconds(20 + random() % 50);
        slice.name = inner;
        builder.add(track, slice);
        if (i % 5 == 0) { // arrives after the slices it contains
            slice.begin = traceTime(now - 5);
            slice.duration = Nanoseconds(120);
            slice.name = outer;
            builder.add(track, slice);
        }
        now += 130;
        if (i % 97 == 0)
            static_cast<void>(builder.snapshot());
    }
    Slice begun;
    begun.begin = traceTime(now / 2);
    begun.name = open;
    builder.begin(tracks[0], begun);
    const auto whole = builder.snapshot();
    for (const std::int64_t from : {std::int64_t{0}, now / 3, now / 2 + 7, now - 1000, now + 1000}) {
        const auto end = TraceBuilder::endOf(*whole, traceTime(from));
        std::size_t count = 0;
        for (const TrackId track : tracks) {
            const auto expected = overlapping(*whole, track, traceTime(from));
            EXPECT_EQ(overlapping(*end, track, traceTime(from)), expected) << from;
            EXPECT_EQ(end->sorted(track).size(), expected.size()) << from;
            count += expected.size();
            for (const Slice& slice : end->sorted(track))
                EXPECT_EQ(rowOf(whole->slice(slice.id)), rowOf(slice));
        }
        EXPECT_EQ(end->sliceCount(), count);
    }
}

} // namespace
