#include "app/document/trace_pair.h"

#include <QSignalSpy>
#include <gtest/gtest.h>

namespace app {
namespace {

using profiler::Nanoseconds;
using profiler::TimeRange;
using profiler::traceTime;

TimeRange range(std::int64_t begin, std::int64_t end)
{
    return {traceTime(begin), traceTime(end)};
}

class LinkedViewportTest : public testing::Test {
protected:
    void SetUp() override
    {
        viewport.setRanges(range(1000, 2000), range(0, 3000));
        viewport.setShift(Nanoseconds{1000}); // 0 of the second is 1000 of the first
        viewport.move(Side::First, {range(1100, 1200), 150});
    }
    LinkedViewport viewport;
};

TEST_F(LinkedViewportTest, TheOtherTimelineFollowsInItsOwnTime)
{
    EXPECT_EQ(viewport.view(Side::Second), (LinkedViewport::View{range(100, 200), 150}));
    QSignalSpy wanted(&viewport, &LinkedViewport::viewWanted);
    viewport.move(Side::Second, {range(500, 900), 180});
    EXPECT_EQ(viewport.view(Side::First), (LinkedViewport::View{range(1500, 1900), 180}));
    ASSERT_EQ(wanted.count(), 1);
    EXPECT_EQ(wanted.front().front().value<Side>(), Side::First);
    viewport.move(Side::Second, {range(500, 900), 180}); // nothing changes
    EXPECT_EQ(wanted.count(), 1);
}

TEST_F(LinkedViewportTest, UnlockedTimelinesMoveIndependently)
{
    viewport.setLocked(false);
    viewport.move(Side::Second, {range(700, 800), 150});
    EXPECT_EQ(viewport.view(Side::First).visible, range(1100, 1200));
    viewport.setLocked(true); // the second one returns to the first
    EXPECT_EQ(viewport.view(Side::Second).visible, range(100, 200));
}

TEST_F(LinkedViewportTest, AShiftMovesOnlyTheSecondTrace)
{
    viewport.setShift(Nanoseconds{1050});
    EXPECT_EQ(viewport.view(Side::First).visible, range(1100, 1200));
    EXPECT_EQ(viewport.view(Side::Second).visible, range(50, 150));
    EXPECT_EQ(viewport.toOther(Side::First, traceTime(1050)), traceTime(0));
    EXPECT_EQ(viewport.toOther(Side::Second, range(0, 10)), range(1050, 1060));
}

TEST_F(LinkedViewportTest, TheLimitsContainBothTracesWhileTheyMoveTogether)
{
    EXPECT_EQ(viewport.limits(Side::First), range(1000, 4000));
    EXPECT_EQ(viewport.limits(Side::Second), range(0, 3000));
    viewport.setLocked(false);
    EXPECT_TRUE(viewport.limits(Side::First).empty());
    viewport.setLocked(true);
    viewport.setRanges(range(1000, 2000), {}); // the second one is closed
    EXPECT_TRUE(viewport.limits(Side::First).empty());
    EXPECT_FALSE(viewport.isLinked());
}

} // namespace
} // namespace app
