#include "profiler/model/name_search.h"
#include "profiler/model/trace_builder.h"
#include "profiler/model/track_slices.h"
#include "profiler/model/track_store.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

// Compares queries on tracks of several blocks with the result of checking every slice.
namespace {

using namespace profiler;

constexpr int kNames = 40;

/// Bursts of back-to-back slices and long pauses, with some long slices over others, on two tracks.
std::shared_ptr<const Trace> bursts(std::size_t slices, bool live, std::mt19937& random)
{
    const auto below = [&](std::int64_t limit) {
        return std::uniform_int_distribution<std::int64_t>{0, limit - 1}(random);
    };
    TraceBuilder builder;
    for (int i = 0; i < kNames; ++i)
        builder.intern("name " + std::to_string(i) + "!");
    for (int t = 0; t < 2; ++t) {
        const TrackId track = builder.addTrack({});
        std::vector<RawSlice> made;
        std::int64_t time = 0;
        while (made.size() < slices / 2) {
            time += below(50) == 0 ? below(200'000) : below(30);
            RawSlice slice;
            slice.begin = time;
            slice.duration = below(1000) == 0 ? below(50'000) : below(100);
            slice.kind = below(3) == 0 ? ActivityKind::Kernel : ActivityKind::GpuMemcpy;
            slice.name = 1 + static_cast<std::uint32_t>(below(kNames));
            made.push_back(slice);
            time += slice.duration > 100 ? below(slice.duration) : slice.duration;
        }
        if (!live) {
            builder.addMany(track, std::move(made), Depth::Inferred);
            continue;
        }
        for (std::size_t i = 0; i < made.size(); ++i) {
            Slice slice;
            slice.begin = traceTime(made[i].begin);
            slice.duration = Nanoseconds{made[i].duration};
            slice.kind = made[i].kind;
            slice.name = StringId{made[i].name};
            slice.depth = static_cast<std::uint8_t>(made[i].duration > 100 ? 0 : 1);
            builder.add(track, slice);
            if (i % 5000 == 0)
                static_cast<void>(builder.snapshot());
        }
    }
    return live ? builder.snapshot() : builder.finish(2);
}

/// From this many slices of a kind in a bucket on, results may come from groups and be off by an eighth.
constexpr std::uint32_t kCounted = 240;

struct Naive {
    std::uint32_t count = 0, mostOfAKind = 0;
    double busy = 0;
};

Naive lookAtEverySlice(const std::vector<Slice>& slices, int depth, TimeRange span)
{
    Naive naive;
    std::array<std::uint32_t, kActivityKinds> ofKind{};
    for (const Slice& slice : slices) {
        const bool lies = slice.begin < span.end && (slice.end() > span.begin || slice.begin >= span.begin);
        if (!lies || slice.depth != depth)
            continue;
        ++naive.count;
        ++ofKind[static_cast<std::size_t>(slice.kind)];
        naive.busy += static_cast<double>(slice.range().clippedTo(span).duration().count());
    }
    naive.mostOfAKind = *std::max_element(ofKind.begin(), ofKind.end());
    naive.busy = std::min(naive.busy / static_cast<double>(span.duration().count()), 1.0);
    return naive;
}

class LargeTrace : public testing::TestWithParam<bool> {};

TEST_P(LargeTrace, BucketsEqualCheckingEverySlice)
{
    std::mt19937 random{11};
    const auto trace = bursts(300'000, GetParam(), random);
    const auto slices = trace->sorted(TrackId{1});
    const std::int64_t length = trace->range().duration().count();
    std::size_t byGroups = 0;
    for (const std::int64_t part : {1, 7, 60, 500}) {
        const std::int64_t width = length / part;
        const std::int64_t begin = std::uniform_int_distribution<std::int64_t>{0, length - width}(random);
        const TimeRange window{traceTime(begin), traceTime(begin + width)};
        std::vector<LodBucket> buckets(12);
        for (int depth = 0; depth < std::min(trace->depthCount(TrackId{1}), 2); ++depth) {
            trace->summarize(TrackId{1}, depth, window, buckets);
            for (std::int64_t i = 0; i < 12; ++i) {
                const auto edge = [&](std::int64_t n) {
                    return traceTime(begin + width / 12 * n + width % 12 * n / 12);
                };
                const Naive naive = lookAtEverySlice(slices, depth, {edge(i), edge(i + 1)});
                const LodBucket& bucket = buckets[static_cast<std::size_t>(i)];
                const bool groups = naive.mostOfAKind >= kCounted;
                byGroups += groups ? 1 : 0;
                ASSERT_NEAR(bucket.count, naive.count, groups ? naive.count / 8.0 : 0.0);
                ASSERT_NEAR(bucket.busy, naive.busy, groups ? naive.busy / 8 : 1e-5);
                ASSERT_EQ(bucket.count > 0, naive.count > 0);
            }
        }
    }
    EXPECT_GT(byGroups, 10U) << "otherwise the test checks nothing";
}

TEST_P(LargeTrace, SearchEqualsCheckingEverySlice)
{
    std::mt19937 random{12};
    const auto trace = bursts(160'000, GetParam(), random);
    const std::vector<TrackId> tracks{TrackId{0}, TrackId{1}};
    const auto search = NameSearch::make(trace, {"name (7|31)!", true});
    ASSERT_TRUE(search);
    using Key = std::tuple<std::int64_t, std::uint32_t, std::int64_t, std::uint32_t>;
    const auto keyOf = [](const Slice& s) {
        return Key{toNs(s.begin), s.id.track.value, -s.duration.count(), s.id.ordinal};
    };
    std::vector<Key> expected;
    for (const TrackId track : tracks) {
        for (const Slice& slice : trace->sorted(track)) {
            if (trace->name(slice) == "name 7!" || trace->name(slice) == "name 31!")
                expected.push_back(keyOf(slice));
        }
    }
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(search->count(tracks), expected.size());
    std::vector<std::uint32_t> marks(100);
    search->marks(tracks, trace->range(), marks);
    std::size_t marked = 0;
    for (const std::uint32_t mark : marks)
        marked += mark;
    EXPECT_EQ(marked, expected.size());
    for (std::size_t i = 0; i + 1 < expected.size(); i += 97) {
        const auto hit = search->next(tracks, traceTime(std::get<0>(expected[i])));
        ASSERT_TRUE(hit);
        const Key from{std::get<0>(expected[i]), 0, -(std::int64_t{1} << 62), 0};
        const auto first = std::lower_bound(expected.begin(), expected.end(), from);
        ASSERT_EQ(keyOf(*hit), *first);
        const auto after = search->next(tracks, *hit);
        ASSERT_EQ(after.has_value(), first + 1 != expected.end());
        if (after) {
            ASSERT_EQ(keyOf(*after), *(first + 1));
        }
        const auto before = search->previous(tracks, *hit);
        ASSERT_EQ(before.has_value(), first != expected.begin());
        if (before) {
            ASSERT_EQ(keyOf(*before), *(first - 1));
        }
        ASSERT_EQ(search->rank(tracks, *hit), static_cast<std::size_t>(first - expected.begin()));
    }
}

INSTANTIATE_TEST_SUITE_P(BulkAndLive, LargeTrace, testing::Bool());

TEST(LargeTrace, SnapshotsOfAGrowingTraceRebuildFewBlocks)
{
    constexpr int kSlices = 300'000;
    constexpr int kStep = 1000;
    TrackStore store;
    std::set<const TrackBlock*> known;
    std::vector<std::shared_ptr<const TrackBlock>> kept; // so that no address is reused
    std::size_t remade = 0;
    for (int i = 0; i < kSlices; i += kStep) {
        for (int k = 0; k < kStep; ++k) {
            RawSlice slice;
            slice.begin = i + k;
            slice.duration = 1;
            store.add(slice, false);
        }
        store.seal();
        for (const auto& block : store.blocks(0)) {
            if (known.insert(block.get()).second) {
                remade += block->size();
                kept.push_back(block);
            }
        }
    }
    EXPECT_LE(remade, kSlices * 8U) << "each slice is copied a few times, however long the trace becomes";
}

} // namespace
