#include "profiler/model/trace_builder.h"
#include "profiler/model/track_slices.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

// How queries walk over a track of several blocks: which blocks a window needs, and how far off the coarse walk may be.
namespace {

using namespace profiler;

constexpr TrackId kTrack{0};

/// Consecutive slices with a pause after each group, and, at another depth, one slice over the first thousand steps.
/// @param inARow  slices between two pauses
std::shared_ptr<const Trace> steps(std::size_t slices, std::size_t inARow = 300)
{
    std::mt19937 random{3};
    const auto below = [&](std::int64_t limit) {
        return std::uniform_int_distribution<std::int64_t>{0, limit - 1}(random);
    };
    TraceBuilder builder;
    const TrackId track = builder.addTrack({});
    for (int i = 0; i < 20; ++i)
        builder.intern("name " + std::to_string(i));
    std::vector<RawSlice> made;
    std::int64_t time = 0;
    while (made.size() < slices) {
        if (made.size() % inARow == 0)
            time += 3'000 + below(6'000);
        RawSlice slice;
        slice.begin = time;
        slice.duration = 20 + below(60);
        slice.depth = 1;
        slice.kind = below(4) == 0 ? ActivityKind::GpuMemcpy : ActivityKind::Kernel;
        slice.name = 1 + static_cast<std::uint32_t>(below(20));
        made.push_back(slice);
        time += slice.duration + below(40);
    }
    RawSlice whole;
    whole.begin = 0;
    whole.duration = made[std::min<std::size_t>(300'000, slices - 1)].begin;
    whole.kind = ActivityKind::Kernel;
    whole.name = 1;
    made.insert(made.begin(), whole);
    builder.addMany(track, std::move(made), Depth::Given);
    return builder.finish(2);
}

struct Sums {
    double count = 0, busyNs = 0;
    int filled = 0;
};

Sums sums(const std::vector<LodBucket>& buckets, TimeRange window)
{
    const double width = static_cast<double>(window.duration().count()) / static_cast<double>(buckets.size());
    Sums all;
    for (const LodBucket& bucket : buckets) {
        all.count += bucket.count;
        all.busyNs += static_cast<double>(bucket.busy) * width;
        all.filled += bucket.count > 0;
    }
    return all;
}

void compareSums(const Trace& trace)
{
    const std::int64_t length = trace.range().duration().count();
    std::vector<LodBucket> fine(1730), coarse(1730);
    for (const std::int64_t part : {1, 3, 7, 11, 40, 160}) { // from 230 slices per bucket down to one
        const TimeRange window{traceTime(length / part / 2), traceTime(length / part / 2 + length / part)};
        trace.summarize(kTrack, 1, window, fine);
        trace.summarize(kTrack, 1, window, coarse, LodEdges::Coarse);
        const Sums exact = sums(fine, window), guessed = sums(coarse, window);
        EXPECT_NEAR(guessed.busyNs, exact.busyNs, exact.busyNs * 0.02) << part;
        // In the exact count, a slice over an edge counts in both buckets.
        double least = 0;
        trace.forEach(kTrack, window, [&least](const Slice& slice) {
            least += slice.depth == 1;
            return true;
        });
        EXPECT_GT(guessed.count, least * 0.98) << part;
        EXPECT_LT(guessed.count, exact.count * 1.02) << part;
        EXPECT_NEAR(guessed.filled, exact.filled, 1730 * 0.02) << part << ": pauses remain visible";
    }
}

TEST(TraceWalk, SumsOfTheCoarseWalkMatchTheFineWalk)
{
    for (const std::size_t inARow : {37U, 300U}) {
        SCOPED_TRACE(inARow);
        compareSums(*steps(400'000, inARow));
    }
}

TEST(TraceWalk, ABucketWithFewSlicesIsExactInTheCoarseWalk)
{
    const auto trace = steps(100'000);
    const Slice from = trace->sorted(kTrack).at(50'000);
    const TimeRange window{from.begin, from.begin + std::chrono::microseconds(30)};
    std::vector<LodBucket> fine(1730), coarse(1730);
    trace->summarize(kTrack, 1, window, fine);
    trace->summarize(kTrack, 1, window, coarse, LodEdges::Coarse);
    ASSERT_GT(sums(fine, window).filled, 100);
    for (std::size_t i = 0; i < fine.size(); ++i) {
        ASSERT_EQ(coarse[i].count, fine[i].count) << i;
        ASSERT_EQ(coarse[i].busy, fine[i].busy) << i;
        ASSERT_EQ(coarse[i].name, fine[i].name) << i;
        ASSERT_EQ(coarse[i].kind, fine[i].kind) << i;
    }
}

TEST(TraceWalk, ANarrowWindowUsesOnlyTheBlocksAroundIt)
{
    const auto trace = steps(600'000);
    const TrackSlices& slices = trace->slicesOf(kTrack);
    ASSERT_GE(slices.blocks.size(), 9U);
    ASSERT_TRUE(slices.ordered);
    const std::int64_t length = trace->range().duration().count();
    std::size_t fewest = slices.blocks.size();
    for (std::int64_t i = 0; i < 100; ++i) {
        const std::int64_t begin = length * i / 100, end = begin + length / 1000;
        const auto around = slices.around(begin, end);
        fewest = std::min(fewest, around.size());
        for (const BlockRef& block : slices.blocks) {
            const bool given = !around.empty() && &block >= around.data() && &block < around.data() + around.size();
            ASSERT_TRUE(given || !block.summary().overlaps(begin, end)) << i;
        }
    }
    EXPECT_EQ(fewest, 1U);
    EXPECT_TRUE(slices.around(length + 1, length + 2).empty());
    EXPECT_TRUE(slices.around(-5, 0).empty());
    EXPECT_EQ(slices.around(0, 1).size(), 1U);
}

TEST(TraceWalk, ASliceOverManyBlocksIsFoundInEachOfThem)
{
    const auto trace = steps(600'000);
    const auto whole = trace->at(kTrack, 0, traceTime(0));
    ASSERT_TRUE(whole);
    for (int tenth = 1; tenth < 10; ++tenth) {
        const TraceTime time = whole->begin + whole->duration * tenth / 10;
        const auto found = trace->at(kTrack, 0, time);
        ASSERT_TRUE(found) << tenth;
        EXPECT_EQ(found->id, whole->id);
        bool met = false;
        trace->forEach(kTrack, {time, time + Nanoseconds{1}}, [&](const Slice& slice) {
            met |= slice.id == whole->id;
            return true;
        });
        EXPECT_TRUE(met) << tenth;
    }
    EXPECT_FALSE(trace->at(kTrack, 0, whole->end()));
    EXPECT_FALSE(trace->at(kTrack, 0, TraceTime{Nanoseconds::max()})) << "queries accept any time";
}

TEST(TraceWalk, CountsSlicesThatStartInManyBlocks)
{
    const auto trace = steps(600'000);
    const auto sorted = trace->sorted(kTrack);
    const TimeRange all = trace->range();
    EXPECT_EQ(trace->beginIn(kTrack, {all.begin, all.end + Nanoseconds{1}}, 10'000'000), sorted.size());
    EXPECT_EQ(trace->beginIn(kTrack, all, 1500), 1500U);
    EXPECT_EQ(trace->beginIn(kTrack, {all.end + Nanoseconds{1}, all.end + Nanoseconds{9}}, 1500), 0U);
    for (const std::size_t from : {std::size_t{1}, std::size_t{65'000}, std::size_t{300'000}}) {
        const TimeRange window{sorted[from].begin, sorted[from + 200'000].begin};
        EXPECT_EQ(trace->beginIn(kTrack, window, 10'000'000), 200'000U) << from;
    }
}

/// Work in batches of 97, each batch within an outer slice: 1 of 98 slices of a block is at depth 0.
std::shared_ptr<const Trace> batches(std::size_t batches)
{
    std::mt19937 random{5};
    const auto below = [&](std::int64_t limit) {
        return std::uniform_int_distribution<std::int64_t>{0, limit - 1}(random);
    };
    TraceBuilder builder;
    const TrackId track = builder.addTrack({});
    for (int i = 0; i < 20; ++i)
        builder.intern("name " + std::to_string(i));
    std::vector<RawSlice> made;
    std::int64_t time = 0;
    const auto add = [&](int depth, std::int64_t duration) {
        RawSlice slice;
        slice.begin = time;
        slice.duration = duration;
        slice.depth = static_cast<std::uint8_t>(depth);
        slice.kind = ActivityKind::CpuOp;
        slice.name = 1 + static_cast<std::uint32_t>(below(20));
        made.push_back(slice);
    };
    for (std::size_t i = 0; i < batches; ++i) {
        add(0, 97 * 50 + below(3'000));
        const std::int64_t end = time + made.back().duration;
        for (int k = 0; k < 97; ++k, time += 50)
            add(1, 20 + below(30));
        time = end + below(2'000);
    }
    builder.addMany(track, std::move(made), Depth::Given);
    return builder.finish(2);
}

/// The slices at depth 0 in each of `count` equal spans, slice by slice.
std::vector<LodBucket> spanBySpan(const Trace& trace, TimeRange window, std::size_t count)
{
    std::vector<Slice> all;
    trace.forEach(kTrack, trace.range(), [&](const Slice& slice) {
        if (slice.depth == 0)
            all.push_back(slice);
        return true;
    });
    std::vector<LodBucket> buckets(count);
    const std::int64_t width = window.duration().count() / static_cast<std::int64_t>(count);
    for (std::size_t i = 0; i < count; ++i) {
        const TraceTime begin = window.begin + Nanoseconds{width * static_cast<std::int64_t>(i)};
        const TraceTime end = begin + Nanoseconds{width};
        Nanoseconds covered{0}, longest{-1};
        for (const Slice& slice : all) {
            if (slice.begin >= end || slice.end() <= begin)
                continue;
            ++buckets[i].count;
            covered += std::min(end, slice.end()) - std::max(begin, slice.begin);
            if (slice.duration > longest) {
                longest = slice.duration;
                buckets[i].name = slice.name;
            }
        }
        buckets[i].busy = static_cast<float>(static_cast<double>(covered.count()) / static_cast<double>(width));
    }
    return buckets;
}

TEST(TraceWalk, RareSlicesAreSummedExactly)
{
    const auto trace = batches(4'000); // six blocks
    ASSERT_GE(trace->slicesOf(kTrack).blocks.size(), 6U);
    constexpr std::size_t kBuckets = 400;
    for (const std::int64_t width : {700, 9'000, 60'000}) { // from eight slices per bucket down
        const TimeRange window{traceTime(200'000), traceTime(200'000 + width * static_cast<std::int64_t>(kBuckets))};
        const auto wanted = spanBySpan(*trace, window, kBuckets);
        std::vector<LodBucket> buckets(kBuckets);
        trace->summarize(kTrack, 0, window, buckets);
        for (std::size_t i = 0; i < kBuckets; ++i) {
            ASSERT_EQ(buckets[i].count, wanted[i].count) << width << ", " << i;
            ASSERT_NEAR(buckets[i].busy, wanted[i].busy, 1e-6) << width << ", " << i;
            ASSERT_EQ(buckets[i].name, wanted[i].name) << width << ", " << i;
        }
    }
}

TEST(TraceWalk, RareSlicesAreFoundByTimeAndByWindow)
{
    const auto trace = batches(2'000);
    const auto sorted = trace->sorted(kTrack);
    for (std::size_t i = 0; i < sorted.size(); i += 98 * 13) {
        const Slice batch = sorted.at(i);
        ASSERT_EQ(batch.depth, 0);
        const TraceTime inside = batch.end() - Nanoseconds{1};
        const auto found = trace->at(kTrack, 0, inside);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->id, batch.id);
        EXPECT_NE(trace->at(kTrack, 0, batch.end()).value_or(sorted.at(1)).id, batch.id);
        bool met = false;
        trace->forEach(kTrack, {inside, inside + Nanoseconds{1}}, [&](const Slice& slice) {
            met |= slice.id == batch.id;
            return true;
        });
        EXPECT_TRUE(met) << i;
    }
}

} // namespace
