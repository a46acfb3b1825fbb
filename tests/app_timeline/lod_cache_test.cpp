#include "app/timeline/lane_builder.h"

#include "app/timeline/slice_colors.h"
#include "tests/app_timeline/training_trace.h"

#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <utility>

namespace app {
namespace {

using namespace profiler;

constexpr int kWidth = 800;

class LodCacheTest : public testing::Test {
protected:
    LodCacheTest() : trace(test::trainingTraceOf(100'000)), colors(trace, ColorBy::Kind)
    {
        for (const Track& each : trace->tracks())
            if (trace->sliceCount(each.id) > trace->sliceCount(track))
                track = each.id;
        axis.setWidth(kWidth);
        axis.setBounds(trace->range());
        const auto quarter = trace->range().duration() / 4;
        axis.show({trace->range().begin + quarter, trace->range().end - quarter}, 1);
        begin(memory);
    }

    void begin(LodCache& of, LodEdges edges = LodEdges::Fine) const
    {
        of.begin(trace, axis, 1, kWidth, edges, colors.palette(false));
    }
    std::vector<ColoredBucket> fresh(LodEdges edges = LodEdges::Fine) const
    {
        LodCache none;
        begin(none, edges);
        return none.buckets(track, depth);
    }
    void zoom(double x, double factor)
    {
        axis.zoomAt(x, factor);
        begin(memory, LodEdges::Coarse);
    }
    /// Columns that are full within full ones or empty within empty ones, but not in `shown`.
    static int misplaced(const std::vector<ColoredBucket>& shown, const std::vector<ColoredBucket>& there)
    {
        constexpr std::size_t kBeside = 3;
        int count = 0;
        for (std::size_t x = kBeside; x + kBeside < there.size(); ++x) {
            int full = 0;
            for (std::size_t at = x - kBeside; at <= x + kBeside; ++at)
                full += there[at].count > 0;
            if (full == 0 || full == 2 * kBeside + 1)
                count += (shown[x].count > 0) != (full > 0);
        }
        return count;
    }
    static double busy(const std::vector<ColoredBucket>& buckets)
    {
        double sum = 0;
        for (const ColoredBucket& bucket : buckets)
            sum += static_cast<double>(bucket.busy);
        return sum;
    }
    /// Columns that differ; the edges of a column may differ by a nanosecond.
    static int differing(const std::vector<ColoredBucket>& a, const std::vector<ColoredBucket>& b)
    {
        int count = 0;
        for (std::size_t i = 0; i < a.size(); ++i)
            count += a[i].name != b[i].name || a[i].kind != b[i].kind || std::abs(a[i].busy - b[i].busy) > 0.02 ||
                     std::abs(a[i].color.green - b[i].color.green) > 5;
        return count;
    }

    std::shared_ptr<const Trace> trace;
    SliceColors colors;
    TrackId track{0};
    int depth = 0;
    TimeAxis axis;
    LodCache memory;
};

TEST_F(LodCacheTest, APanByWholePixelsIsExact)
{
    ASSERT_EQ(differing(memory.buckets(track, 0), fresh()), 0);
    std::size_t filled = 0;
    for (const ColoredBucket& bucket : fresh())
        filled += bucket.count > 0;
    ASSERT_GT(filled, kWidth / 2U);
    for (const double pixels : {31.0, 120.0, -64.0, -300.0, 790.0, -1.0, 0.0}) {
        axis.panBy(pixels);
        begin(memory);
        EXPECT_LE(differing(memory.buckets(track, 0), fresh()), kWidth / 200) << pixels;
    }
}

TEST_F(LodCacheTest, ManySmallPansDoNotAddUp)
{
    memory.buckets(track, 0);
    for (int i = 0; i < 700; ++i) {
        axis.panBy(i % 2 == 0 ? 3 : -2);
        begin(memory);
        memory.buckets(track, 0);
    }
    EXPECT_LE(differing(memory.buckets(track, 0), fresh()), kWidth / 200);
}

TEST_F(LodCacheTest, BucketsThatCannotBeShiftedAreReadAgain)
{
    memory.buckets(track, 0);
    axis.panBy(0.4);
    begin(memory);
    EXPECT_EQ(differing(memory.buckets(track, 0), fresh()), 0);
    axis.zoomAt(100, 1.3);
    begin(memory);
    EXPECT_EQ(differing(memory.buckets(track, 0), fresh()), 0);
    trace = test::trainingTraceOf(50'000);
    axis.setBounds(trace->range());
    begin(memory);
    EXPECT_EQ(differing(memory.buckets(track, 0), fresh()), 0);
}

TEST_F(LodCacheTest, WhileZoomingKnownBucketsAreInPlace)
{
    depth = 2; // operators with gaps of some pixels
    const auto steps = trace->ofKind(ActivityKind::Step);
    axis.show({steps[20].begin, steps[40].end()}, 1);
    begin(memory);
    memory.buckets(track, depth);
    for (const double factor : {1.2, 1 / 1.2, 1 / 1.2, 1.1, 1.2, 1.05}) {
        zoom(230, factor);
        const auto shown = memory.buckets(track, depth);
        const auto there = fresh();
        EXPECT_LE(misplaced(shown, there), kWidth / 200) << factor;
        EXPECT_NEAR(busy(shown), busy(there), busy(there) * 0.04) << factor;
        axis.panBy(17.3);
        begin(memory, LodEdges::Coarse);
        EXPECT_LE(misplaced(memory.buckets(track, depth), fresh()), kWidth / 200) << factor << ", panned";
    }
}

TEST_F(LodCacheTest, ZoomingOutReadsTheNewPart)
{
    depth = 2;
    memory.buckets(track, depth);
    zoom(kWidth / 2.0, 1 / 1.2);
    const auto shown = memory.buckets(track, depth);
    const auto there = fresh();
    // The sixty columns at either side are new.
    for (const auto& side : {std::pair{0, 60}, std::pair{kWidth - 60, kWidth}}) {
        const std::vector<ColoredBucket> is(shown.begin() + side.first, shown.begin() + side.second);
        const std::vector<ColoredBucket> was(there.begin() + side.first, there.begin() + side.second);
        EXPECT_GT(busy(was), 10) << "otherwise the test shows nothing";
        EXPECT_NEAR(busy(is), busy(was), busy(was) * 0.05) << side.first;
        EXPECT_EQ(misplaced(is, was), 0) << side.first;
    }
}

TEST_F(LodCacheTest, ALargeZoomIsReadAgainAndEverythingAtRest)
{
    depth = 2;
    memory.buckets(track, depth);
    zoom(300, 3);
    EXPECT_EQ(differing(memory.buckets(track, depth), fresh(LodEdges::Coarse)), 0);
    zoom(300, 1.2);
    memory.buckets(track, depth);
    begin(memory);
    const auto shown = memory.buckets(track, depth);
    const auto there = fresh();
    for (std::size_t x = 0; x < shown.size(); ++x) {
        ASSERT_EQ(shown[x].count, there[x].count) << x;
        ASSERT_EQ(shown[x].busy, there[x].busy) << x;
        ASSERT_EQ(shown[x].name, there[x].name) << x;
        ASSERT_EQ(shown[x].kind, there[x].kind) << x;
    }
}

TEST_F(LodCacheTest, AFrameWithoutTimeReadsOneLaneAndDefersTheOthers)
{
    constexpr int kDepths = 4;
    const auto read = [this](LodEdges edges) {
        begin(memory, edges);
        for (depth = 0; depth < kDepths; ++depth)
            memory.buckets(track, depth);
    };
    const auto exactLanes = [this] {
        int exact = 0;
        for (depth = 0; depth < kDepths; ++depth)
            exact += differing(memory.buckets(track, depth), fresh()) == 0;
        return exact;
    };
    read(LodEdges::Fine);
    EXPECT_TRUE(memory.isSettled());
    memory.setReadingTime(std::chrono::nanoseconds(0));
    axis.zoomAt(200, 1.7);
    read(LodEdges::Coarse);
    EXPECT_TRUE(memory.isSettled()) << "nothing is deferred while zooming";
    for (int frame = 1; frame <= kDepths; ++frame) {
        read(LodEdges::Fine);
        EXPECT_EQ(memory.isSettled(), frame == kDepths) << frame;
        EXPECT_GE(exactLanes(), frame);
    }
    EXPECT_EQ(exactLanes(), kDepths);
    axis.panBy(31);
    read(LodEdges::Fine);
    EXPECT_TRUE(memory.isSettled()) << "a pan by whole pixels reads nothing again";
}

TEST_F(LodCacheTest, UnreadPartsAreNeverBlank)
{
    memory.setReadingTime(std::chrono::nanoseconds(0));
    trace = test::trainingTraceOf(120'000);
    axis.setBounds(trace->range());
    begin(memory);
    for (depth = 0; depth < 4; ++depth) {
        const auto shown = memory.buckets(track, depth), there = fresh();
        EXPECT_LE(misplaced(shown, there), kWidth / 200) << depth;
        EXPECT_NEAR(busy(shown), busy(there), busy(there) * 0.04) << depth;
    }
    EXPECT_FALSE(memory.isSettled());
}

} // namespace
} // namespace app
