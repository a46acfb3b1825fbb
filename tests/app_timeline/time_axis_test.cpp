#include "app/charts/time_axis.h"

#include "profiler/model/number_text.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <set>

namespace app {
namespace {

using profiler::Nanoseconds;
using profiler::TimeRange;
using profiler::traceTime;

TimeAxis axisOver(std::int64_t begin, std::int64_t end, double width)
{
    TimeAxis axis;
    axis.setWidth(width);
    axis.setBounds({traceTime(begin), traceTime(end)});
    return axis;
}

TEST(TimeAxis, ShowsTheWholeTraceAtFirst)
{
    const TimeAxis axis = axisOver(5'000'000'000, 6'000'000'000, 1000);
    EXPECT_NEAR(axis.xOf(traceTime(5'000'000'000)), 20, 0.01);
    EXPECT_NEAR(axis.xOf(traceTime(6'000'000'000)), 980, 0.01);
}

TEST(TimeAxis, LimitsBeyondTheTraceLetTheViewLeaveIt)
{
    TimeAxis axis = axisOver(1000, 2000, 100);
    axis.setLimits({traceTime(0), traceTime(10'000)});
    axis.show({traceTime(5000), traceTime(6000)}, 1);
    EXPECT_EQ(axis.visible(), (TimeRange{traceTime(5000), traceTime(6000)}));
    axis.show({traceTime(0), traceTime(10'000)}, 1);
    EXPECT_EQ(axis.visible().duration(), Nanoseconds{10'000});
    axis.fit(); // the trace, not the limits
    EXPECT_NEAR(axis.xOf(traceTime(1000)), 2, 0.01);
    EXPECT_NEAR(axis.xOf(traceTime(2000)), 98, 0.01);
    axis.show({traceTime(5000), traceTime(9000)}, 1);
    axis.setLimits({}); // back to the trace
    EXPECT_LE(axis.visible().duration().count(), 1042);
    EXPECT_LE(axis.timeAt(50), traceTime(2000));
}

TEST(TimeAxis, KeepsTheTimeUnderThePointerWhenZooming)
{
    std::mt19937 random(1);
    std::uniform_real_distribution<double> where(0, 1500), factor(0.7, 1.9);
    TimeAxis axis = axisOver(3'000'000'000'000, 3'060'000'000'000, 1500);
    axis.zoomAt(700, 50);
    for (int i = 0; i < 2000; ++i) {
        const double x = where(random);
        const TimeAxis before = axis;
        axis.zoomAt(x, factor(random));
        const auto time = before.timeAt(x);
        // The centre of the view must stay within the trace, which has priority over the pointer at its ends.
        const auto middle = axis.timeAt(750);
        if (middle <= axis.bounds().begin || middle >= axis.bounds().end - Nanoseconds{1})
            continue;
        // One ns for rounding down, plus the precision of a double.
        EXPECT_NEAR(axis.xOf(time), before.xOf(time) + (axis.xOf(time) - x) - (before.xOf(time) - x), 1e-6);
        EXPECT_LE(std::abs(axis.xOf(time) - x) * axis.nsPerPixel(), 1.001 + x * axis.nsPerPixel() * 1e-9);
    }
}

TEST(TimeAxis, PansByExactPixelsAtEveryScale)
{
    for (const double zoom : {1.0, 1e3, 1e6, 1e9}) {
        TimeAxis axis = axisOver(7'000'000'000, 67'000'000'000, 1200);
        axis.zoomAt(600, zoom);
        const auto time = axis.timeAt(600);
        const double before = axis.xOf(time);
        for (int i = 0; i < 100; ++i)
            axis.panBy(1);
        EXPECT_NEAR(axis.xOf(time), before - 100, 1e-3) << "zoomed " << zoom;
        axis.panBy(-100);
        EXPECT_NEAR(axis.xOf(time), before, 1e-3) << "zoomed " << zoom;
    }
}

TEST(TimeAxis, ZoomsNoDeeperThanFiftyPixelsANanosecond)
{
    TimeAxis axis = axisOver(0, 1'000'000, 1000);
    for (int i = 0; i < 200; ++i)
        axis.zoomAt(500, 2);
    EXPECT_DOUBLE_EQ(axis.nsPerPixel(), TimeAxis::kMinNsPerPixel);
}

TEST(TimeAxis, ZoomsNoFurtherThanTheTrace)
{
    TimeAxis axis = axisOver(0, 1'000'000, 1000);
    axis.zoomAt(10, 0.001);
    EXPECT_NEAR(axis.nsPerPixel(), 1'000'000 / (1000 * TimeAxis::kFitShare), 1e-6);
    EXPECT_TRUE(axis.visible().contains(traceTime(500'000)));
}

TEST(TimeAxis, NeverLosesTheTraceWhenPanning)
{
    TimeAxis axis = axisOver(1000, 2'001'000, 800);
    axis.zoomAt(400, 10);
    axis.panBy(1e7);
    EXPECT_NEAR(axis.xOf(traceTime(2'001'000)), 400, 1);
    axis.panBy(-1e9);
    EXPECT_NEAR(axis.xOf(traceTime(1000)), 400, 1);
}

TEST(TimeAxis, ShowsARangeInTheMiddle)
{
    TimeAxis axis = axisOver(0, 1'000'000'000, 1000);
    axis.show({traceTime(400'000'000), traceTime(410'000'000)}, 0.5);
    EXPECT_NEAR(axis.xOf(traceTime(400'000'000)), 250, 0.01);
    EXPECT_NEAR(axis.xOf(traceTime(410'000'000)), 750, 0.01);
}

TEST(TimeAxis, KeepsTheVisibleRangeWhenItsWidthChanges)
{
    TimeAxis axis = axisOver(0, 1'000'000'000, 1000);
    axis.zoomAt(300, 8);
    const TimeRange before = axis.visible();
    axis.setWidth(333);
    EXPECT_NEAR(static_cast<double>(toNs(axis.visible().begin)), static_cast<double>(toNs(before.begin)), 2);
    EXPECT_NEAR(static_cast<double>(toNs(axis.visible().end)), static_cast<double>(toNs(before.end)), 2);
}

TEST(TimeAxis, TimeAndPixelAreInverse)
{
    std::mt19937 random(3);
    std::uniform_int_distribution<std::int64_t> time(9'000'000'000'000'000, 9'000'000'100'000'000);
    TimeAxis axis = axisOver(9'000'000'000'000'000, 9'000'000'100'000'000, 1920);
    for (int i = 0; i < 1000; ++i) {
        const auto t = traceTime(time(random));
        const double error = std::abs(static_cast<double>((axis.timeAt(axis.xOf(t)) - t).count()));
        EXPECT_LE(error, 1);
    }
}

TEST(TimeAxis, SurvivesAnEmptyTrace)
{
    TimeAxis axis = axisOver(0, 0, 100);
    axis.zoomAt(50, 2);
    axis.panBy(10);
    axis.fit();
    EXPECT_TRUE(std::isfinite(axis.xOf(traceTime(0))));
    EXPECT_GT(axis.nsPerPixel(), 0);
}

TEST(AxisTicks, AreRoundStepsOfOneTwoFive)
{
    EXPECT_EQ(niceStep(0.3), 1);
    EXPECT_EQ(niceStep(1), 1);
    EXPECT_EQ(niceStep(1.1), 2);
    EXPECT_EQ(niceStep(3), 5);
    EXPECT_EQ(niceStep(51), 100);
    EXPECT_EQ(niceStep(120'000'000), 200'000'000);
}

TEST(AxisTicks, AreSpacedAndCoverTheVisibleRange)
{
    TimeAxis axis = axisOver(4'000'000'000, 64'000'000'000, 1500);
    for (int i = 0; i < 60; ++i) {
        const auto ticks = axisTicks(axis, 90);
        ASSERT_GE(ticks.size(), 2U);
        EXPECT_LE(ticks.size(), 20U);
        EXPECT_LE(axis.xOf(ticks.front().time), 1);
        std::set<QString> labels;
        for (std::size_t k = 1; k < ticks.size(); ++k)
            EXPECT_GE(axis.xOf(ticks[k].time) - axis.xOf(ticks[k - 1].time), std::min(89.9, 0.99 / axis.nsPerPixel()));
        for (const AxisTick& tick : ticks)
            labels.insert(tick.label);
        EXPECT_EQ(labels.size(), ticks.size()) << "two positions have the same label";
        axis.zoomAt(777, 1.6);
    }
}

TEST(AxisTicks, CountFromTheStartOfTheTrace)
{
    const TimeAxis axis = axisOver(5'000'000'000, 6'000'000'000, 1000);
    const auto ticks = axisTicks(axis, 90);
    ASSERT_GE(ticks.size(), 3U);
    EXPECT_EQ(ticks[1].label, "0.0 s");
    EXPECT_EQ(toNs(ticks[1].time), 5'000'000'000);
    EXPECT_EQ(ticks[2].label, "0.1 s");
}

TEST(AxisTicks, HaveEveryDigitDeepInALongTrace)
{
    TimeAxis axis = axisOver(7'000'000'000'000, 7'100'000'000'000, 1000);
    axis.show({traceTime(7'012'345'678'000), traceTime(7'012'345'679'000)}, 1);
    const auto ticks = axisTicks(axis, 90);
    ASSERT_GE(ticks.size(), 4U);
    std::set<QString> labels;
    for (const AxisTick& tick : ticks) {
        labels.insert(tick.label);
        // Each label gives the position to the nanosecond.
        const auto sinceStart = tick.time - traceTime(7'000'000'000'000);
        EXPECT_EQ(tick.label.toStdString(), profiler::positionText(sinceStart));
    }
    EXPECT_EQ(labels.size(), ticks.size());
    EXPECT_TRUE(labels.contains("12.345 678 400 s")) << ticks[1].label.toStdString();
}

TEST(AxisTicks, LeaveSpaceForTheirLabels)
{
    TimeAxis axis = axisOver(0, 5'000'000'000'000, 1600);
    for (int i = 0; i < 80; ++i) {
        const auto ticks = axisTicks(axis, 90);
        for (std::size_t k = 1; k < ticks.size(); ++k)
            EXPECT_GT(axis.xOf(ticks[k].time) - axis.xOf(ticks[k - 1].time),
                      6.0 * static_cast<double>(ticks[k - 1].label.size()));
        axis.zoomAt(500, 1.5);
    }
}

TEST(ValueTicks, AreRoundAndFewEnough)
{
    EXPECT_EQ(valueTicks(100, 5), (std::vector<double>{0, 20, 40, 60, 80, 100}));
    EXPECT_EQ(valueTicks(7, 4), (std::vector<double>{0, 2, 4, 6}));
    EXPECT_EQ(valueTicks(0, 4), (std::vector<double>{0}));
    for (double top = 0.9; top < 2000; top *= 1.07)
        for (const int count : {1, 2, 3})
            EXPECT_GT(valueTicks(top, count).size(), 1U) << top << ", however low the chart";
    EXPECT_EQ(valueTicks(4.43, 2), (std::vector<double>{0, 2, 4}));
    for (double top = 0.001; top < 1e6; top *= 1.37)
        EXPECT_LE(valueTicks(top, 5).size(), 6U) << top;
}

} // namespace
} // namespace app
