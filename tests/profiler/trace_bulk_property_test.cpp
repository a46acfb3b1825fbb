#include "profiler/model/trace_builder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

// Compares slices added in bulk with the same slices added one by one.
namespace {

using namespace profiler;

struct Shape {
    std::size_t slices;
    int swaps;        ///< how far from sorted: pairs swapped per hundred slices
    bool overlapping; ///< slices overlap without nesting
    std::size_t pieces;
    unsigned threads;
};

std::vector<RawSlice> randomSlices(const Shape& shape, unsigned seed, std::uint32_t names)
{
    std::mt19937 random{seed};
    const auto below = [&](std::int64_t limit) {
        return std::uniform_int_distribution<std::int64_t>{0, limit - 1}(random);
    };
    std::vector<RawSlice> slices;
    std::int64_t time = -1000;
    while (slices.size() < shape.slices) {
        RawSlice outer;
        outer.kind = ActivityKind::CpuOp;
        outer.begin = time += below(40);
        outer.duration = 20 + below(500);
        outer.link = below(3) == 0 ? below(1000) : -1;
        outer.name = static_cast<std::uint32_t>(below(names));
        slices.push_back(outer);
        for (std::int64_t at = outer.begin; at < outer.end() && slices.size() < shape.slices; at += 10 + below(60)) {
            RawSlice inner = outer;
            inner.kind = ActivityKind::CudaRuntime;
            inner.begin = at;
            inner.duration = shape.overlapping ? below(200) : std::min<std::int64_t>(below(10), outer.end() - at);
            inner.link = 1 + below(5000);
            inner.name = static_cast<std::uint32_t>(below(names));
            inner.setSource(static_cast<std::uint64_t>(below(1'000'000)));
            slices.push_back(inner);
        }
        time = shape.overlapping ? time : outer.end();
    }
    std::stable_sort(slices.begin(), slices.end(), [](const RawSlice& a, const RawSlice& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.duration > b.duration;
    });
    const auto count = static_cast<std::int64_t>(slices.size());
    for (std::int64_t i = 0; i < count * shape.swaps / 100; ++i)
        std::swap(slices[static_cast<std::size_t>(below(count))], slices[static_cast<std::size_t>(below(count))]);
    return slices;
}

class TraceBulkProperty : public testing::TestWithParam<Shape> {};

TEST_P(TraceBulkProperty, EqualsAddingSlicesOneByOne)
{
    const Shape shape = GetParam();
    for (unsigned seed = 0; seed < 3; ++seed) {
        TraceBuilder bulk, single;
        for (TraceBuilder* builder : {&bulk, &single}) {
            builder->addTrack({});
            for (int i = 0; i < 50; ++i)
                builder->intern("name " + std::to_string(i));
        }
        const auto slices = randomSlices(shape, seed, 50);
        for (const RawSlice& raw : slices) {
            Slice slice;
            slice.begin = traceTime(raw.begin);
            slice.duration = Nanoseconds{raw.duration};
            slice.name = StringId{raw.name};
            slice.kind = raw.kind;
            slice.depth = TraceBuilder::kUnknownDepth;
            slice.sequence = raw.link;
            slice.correlation = CorrelationId{static_cast<std::uint64_t>(raw.link)};
            slice.source = raw.source();
            single.add(TrackId{0}, slice);
        }
        for (std::size_t piece = 0; piece < shape.pieces; ++piece) {
            const auto from = slices.begin() + static_cast<std::ptrdiff_t>(slices.size() * piece / shape.pieces);
            const auto to = slices.begin() + static_cast<std::ptrdiff_t>(slices.size() * (piece + 1) / shape.pieces);
            bulk.addMany(TrackId{0}, {from, to}, Depth::Inferred);
        }
        const auto made = bulk.finish(shape.threads);
        const auto expected = single.finish();
        ASSERT_EQ(made->sliceCount(), expected->sliceCount());
        ASSERT_EQ(made->depthCount(TrackId{0}), expected->depthCount(TrackId{0}));
        ASSERT_EQ(made->range(), expected->range());
        const auto some = made->sorted(TrackId{0});
        const auto others = expected->sorted(TrackId{0});
        for (std::size_t i = 0; i < some.size(); ++i) {
            ASSERT_EQ(some[i].id.ordinal, i);
            ASSERT_EQ(some[i].begin, others[i].begin);
            ASSERT_EQ(some[i].duration, others[i].duration);
            ASSERT_EQ(some[i].depth, others[i].depth);
            ASSERT_EQ(some[i].source, others[i].source);
            ASSERT_EQ(some[i].name, others[i].name);
            ASSERT_EQ(some[i].flags, others[i].flags);
            const Slice again = made->slice(some[i].id);
            ASSERT_EQ(again.begin, some[i].begin);
            ASSERT_EQ(again.correlation, others[i].correlation);
            ASSERT_EQ(again.sequence, others[i].sequence);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, TraceBulkProperty,
                         testing::Values(Shape{1, 0, false, 1, 1}, Shape{5000, 0, false, 1, 1},
                                         Shape{5000, 0, false, 7, 2}, Shape{5000, 3, false, 3, 2},
                                         Shape{5000, 400, false, 5, 3}, Shape{3000, 10, true, 2, 1},
                                         Shape{150'000, 1, false, 4, 2}, Shape{140'000, 0, true, 4, 2}));

TEST(TraceBulk, TimesThatOverflowAreClamped)
{
    TraceBuilder builder;
    const TrackId track = builder.addTrack({});
    std::vector<RawSlice> slices(3);
    slices[0].begin = std::numeric_limits<std::int64_t>::max();
    slices[0].duration = std::numeric_limits<std::int64_t>::max();
    slices[1].begin = std::numeric_limits<std::int64_t>::min();
    slices[1].duration = -5;
    builder.addMany(track, std::move(slices), Depth::Inferred);
    const auto trace = builder.finish(2);
    EXPECT_EQ(toNs(trace->range().begin), -RawSlice::kTimeLimit);
    EXPECT_EQ(toNs(trace->range().end), 2 * RawSlice::kTimeLimit);
    EXPECT_EQ(trace->slice({track, 0}).duration.count(), 0);
}

TEST(TraceBulk, DepthsAboveTwoHundredStayDistinctUpToTheMaximum)
{
    TraceBuilder builder;
    const TrackId track = builder.addTrack({});
    std::vector<RawSlice> slices(400);
    for (std::size_t i = 0; i < slices.size(); ++i) {
        slices[i].begin = static_cast<std::int64_t>(i);
        slices[i].duration = 1000 - 2 * static_cast<std::int64_t>(i);
    }
    builder.addMany(track, std::move(slices), Depth::Inferred);
    const auto trace = builder.finish();
    EXPECT_EQ(trace->slice({track, 253}).depth, 253);
    EXPECT_EQ(trace->slice({track, 399}).depth, 254);
}

} // namespace
