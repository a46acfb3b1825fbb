#include "app/widgets/lane_memory.h"

#include "tests/app_timeline/training_trace.h"

#include <cmath>
#include <gtest/gtest.h>

namespace app {
namespace {

using namespace profiler;

constexpr int kWidth = 800;

class LaneMemoryTest : public testing::Test {
protected:
    LaneMemoryTest() : trace(test::trainingTraceOf(100'000))
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

    void begin(LaneMemory& of) const { of.begin(trace, axis, 1, kWidth, LodEdges::Fine); }
    std::vector<LodBucket> fresh() const
    {
        LaneMemory none;
        begin(none);
        return none.buckets(track, 0);
    }
    /// Columns that show something else; a column's edges may lie a nanosecond elsewhere.
    static int differing(const std::vector<LodBucket>& a, const std::vector<LodBucket>& b)
    {
        int count = 0;
        for (std::size_t i = 0; i < a.size(); ++i)
            count += a[i].name != b[i].name || a[i].kind != b[i].kind || std::abs(a[i].busy - b[i].busy) > 0.02;
        return count;
    }

    std::shared_ptr<const Trace> trace;
    TrackId track{0};
    TimeAxis axis;
    LaneMemory memory;
};

TEST_F(LaneMemoryTest, APanByWholePixelsShowsWhatIsThere)
{
    ASSERT_EQ(differing(memory.buckets(track, 0), fresh()), 0);
    std::size_t filled = 0;
    for (const LodBucket& bucket : fresh())
        filled += bucket.count > 0;
    ASSERT_GT(filled, kWidth / 2U);
    for (const double pixels : {31.0, 120.0, -64.0, -300.0, 790.0, -1.0, 0.0}) {
        axis.panBy(pixels);
        begin(memory);
        EXPECT_LE(differing(memory.buckets(track, 0), fresh()), kWidth / 200) << pixels;
    }
}

TEST_F(LaneMemoryTest, ManySmallPansDoNotAddUp)
{
    memory.buckets(track, 0);
    for (int i = 0; i < 700; ++i) {
        axis.panBy(i % 2 == 0 ? 3 : -2);
        begin(memory);
        memory.buckets(track, 0);
    }
    EXPECT_LE(differing(memory.buckets(track, 0), fresh()), kWidth / 200);
}

TEST_F(LaneMemoryTest, WhatCannotBeMovedIsReadAnew)
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

} // namespace
} // namespace app
