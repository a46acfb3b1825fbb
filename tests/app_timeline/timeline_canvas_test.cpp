#include "app/timeline/timeline_canvas.h"
#include "tests/app_timeline/training_trace.h"
#include "tests/support/trace_text.h"

#include <QAction>
#include <QApplication>
#include <QMouseEvent>
#include <QTest>
#include <gtest/gtest.h>
#include <set>

namespace app {
namespace {

using namespace profiler;

TEST(TimelineCanvas, SaysWhatToDoWhenThereIsNothing)
{
    TimelineCanvas canvas;
    canvas.resize(800, 400);
    canvas.setTrace(TraceBuilder().finish());
    canvas.show();
    const QImage empty = canvas.viewport()->grab().toImage();
    int ink = 0;
    for (int x = 0; x < empty.width(); ++x)
        for (int y = 0; y < empty.height(); ++y)
            ink += std::abs(empty.pixelColor(x, y).lightness() - canvas.scene().theme.background.lightness()) > 60;
    EXPECT_GT(ink, 300) << "words";
    // Input on an empty canvas does nothing and does not crash.
    for (QAction* action : canvas.actions())
        action->trigger();
    QTest::mouseClick(canvas.viewport(), Qt::LeftButton, Qt::NoModifier, {300, 200});
    QTest::mouseDClick(canvas.viewport(), Qt::LeftButton, Qt::NoModifier, {300, 200});
}

TEST(TimelineCanvas, ReadsOnlyNewSamplesOfAGrowingCounter)
{
    TimelineCanvas canvas;
    TraceBuilder builder;
    builder.captureStats().live = true;
    Track memory;
    memory.kind = TrackKind::Counter;
    const TrackId track = builder.addTrack(memory);
    const auto samplesAfter = [&](int upTo) {
        for (int i = static_cast<int>(builder.snapshot()->counter(track).size()); i < upTo; ++i)
            builder.addSample(track, {traceTime(1000 * i), 1.0 * i});
        canvas.updateTrace(builder.snapshot());
        const auto& kept = canvas.scene().counters;
        return kept.contains(track) ? kept.at(track).samples().size() : 0;
    };
    auto scene = [&]() -> TimelineScene& { return const_cast<TimelineScene&>(canvas.scene()); };
    canvas.setTrace(builder.snapshot());
    EXPECT_EQ(samplesAfter(100), 0U) << "not shown yet";
    EXPECT_EQ(scene().samples(track).samples().size(), 100U);
    EXPECT_EQ(samplesAfter(150), 100U) << "the samples read stay";
    EXPECT_EQ(scene().samples(track).samples().size(), 150U);
    // Another trace has its own bounds, even if it is also live.
    canvas.setTrace(builder.snapshot());
    EXPECT_TRUE(canvas.scene().counters.empty());
    EXPECT_EQ(scene().samples(track).samples().size(), 150U);
    // The complete trace, or a preview of a file, is read again.
    builder.captureStats().live = false;
    EXPECT_EQ(samplesAfter(160), 0U);
    EXPECT_EQ(scene().samples(track).samples().size(), 160U);
}

TEST(TimelineCanvas, FollowsAGrowingTraceUntilTheUserMoves)
{
    TimelineCanvas canvas;
    canvas.resize(900, 500);
    canvas.show();
    canvas.setTrace(test::trainingTrace({.steps = 10, .live = true}));
    EXPECT_TRUE(canvas.navigation().isFollowing());
    const auto endX = [&] {
        return canvas.scene().axis.xOf(canvas.scene().trace->range().end) / canvas.scene().axis.width();
    };
    canvas.updateTrace(test::trainingTrace({.steps = 100, .live = true}));
    EXPECT_NEAR(endX(), 0.98, 0.02);
    canvas.updateTrace(test::trainingTrace({.steps = 400, .live = true}));
    EXPECT_NEAR(endX(), 0.97, 0.01);
    EXPECT_LT(canvas.scene().axis.visible().duration(), std::chrono::seconds(11)) << "the last ten seconds";
    canvas.navigation().zoomIn();
    EXPECT_FALSE(canvas.navigation().isFollowing());
    const auto visible = canvas.scene().axis.visible();
    canvas.updateTrace(test::trainingTrace({.steps = 420, .live = true}));
    EXPECT_EQ(canvas.scene().axis.visible(), visible);
    canvas.navigation().followEnd();
    EXPECT_TRUE(canvas.navigation().isFollowing());
    canvas.updateTrace(test::trainingTrace({.steps = 440, .live = true}));
    EXPECT_NEAR(endX(), 0.97, 0.01);
}

TEST(TimelineCanvas, ALoadingFileIsShownCompletelyUntilTheUserMoves)
{
    TimelineCanvas canvas;
    canvas.resize(900, 500);
    canvas.show();
    canvas.setTrace(test::trainingTrace({.steps = 10}));
    const auto more = test::trainingTrace({.steps = 100});
    canvas.updateTrace(more);
    EXPECT_GE(canvas.scene().axis.visible().end, more->range().end);
    canvas.navigation().zoomIn();
    const auto visible = canvas.scene().axis.visible();
    canvas.updateTrace(test::trainingTrace({.steps = 200}));
    EXPECT_EQ(canvas.scene().axis.visible(), visible);
}

TEST(TimelineCanvas, AnotherTraceIsShownCompletelyWithoutSelection)
{
    TimelineCanvas canvas;
    canvas.resize(900, 500);
    canvas.show();
    const auto first = test::trainingTrace({.steps = 10});
    canvas.setTrace(first);
    canvas.setSelectedSlice(first->ofKind(ActivityKind::Step).at(9).id);
    canvas.navigation().zoomIn();
    const auto second = test::trainingTrace({.steps = 2, .loaderWorkers = 0, .gpu = false, .begin = 77'000'000'000});
    canvas.setTrace(second);
    EXPECT_FALSE(canvas.scene().selected);
    EXPECT_LE(canvas.scene().axis.visible().begin, second->range().begin);
    EXPECT_GE(canvas.scene().axis.visible().end, second->range().end);
    EXPECT_GT(canvas.scene().axis.xOf(second->range().end) - canvas.scene().axis.xOf(second->range().begin),
              0.9 * canvas.scene().axis.width());
}

TEST(TimelineCanvas, MarksASliceThatHasNotEnded)
{
    TraceBuilder builder;
    Track track;
    track.kind = TrackKind::MainThread;
    track.name = "main thread";
    const TrackId id = builder.addTrack(track);
    Slice done, open;
    done.begin = traceTime(1000);
    done.duration = Nanoseconds{9000};
    done.name = builder.intern("forward");
    done.kind = ActivityKind::Phase;
    done.depth = 0;
    open = done;
    open.begin = traceTime(11'000);
    open.name = builder.intern("backward");
    builder.add(id, done);
    builder.begin(id, open);
    Track other;
    other.name = "other";
    const TrackId otherId = builder.addTrack(other);
    done.begin = traceTime(1000);
    done.duration = Nanoseconds{20'000};
    builder.add(otherId, done);
    const auto trace = builder.snapshot();
    const auto hanging = trace->at(id, 0, traceTime(12'000));
    ASSERT_TRUE(hanging && hanging->is(slice_flag::kOpen));

    TimelineCanvas canvas;
    canvas.resize(900, 300);
    canvas.setTrace(trace);
    canvas.show();
    const QRect rect = canvas.scene().rectOf(*hanging).toRect();
    const QImage image = canvas.viewport()->grab().toImage();
    std::set<QRgb> edge;
    for (int y = rect.top(); y < rect.bottom(); ++y)
        edge.insert(image.pixel(rect.right() - 1, y));
    EXPECT_GE(edge.size(), 2U) << "a dotted end";
}

/// The texts of a canvas with one counter of this maximum.
QByteArray textsOfCounter(double most)
{
    TraceBuilder builder;
    Track track;
    track.kind = TrackKind::Counter;
    track.name = "page faults";
    track.unit = "1/s";
    const TrackId counter = builder.addTrack(std::move(track));
    builder.addSample(counter, {traceTime(1'000'000), 0});
    builder.addSample(counter, {traceTime(3'000'000), most});
    TimelineCanvas canvas;
    canvas.resize(900, 300);
    canvas.setTrace(builder.finish());
    canvas.show();
    return canvas.svg();
}

TEST(TimelineCanvas, TheNameOfACounterLeavesSpaceForItsValues)
{
    const QByteArray low = textsOfCounter(7), high = textsOfCounter(18'200'000);
    EXPECT_TRUE(low.contains(">page faults</text>"));
    EXPECT_TRUE(high.contains(">18,200,000/s</text>"));
    EXPECT_FALSE(high.contains(">page faults</text>")) << "name and value do not fit on one line";
    EXPECT_TRUE(high.contains(">page</text>") && high.contains(">faults</text>"));
}

TEST(TimelineCanvas, ATraceOfCountersOnlyIsShown)
{
    const auto trace = test_support::traceFromText("counter power\nsample 1000 50\nsample 3000 90\nsample 5000 70");
    TimelineCanvas canvas;
    canvas.resize(900, 300);
    canvas.setTrace(trace);
    canvas.show();
    EXPECT_EQ(canvas.scene().axis.bounds(), (TimeRange{traceTime(1'000'000), traceTime(5'000'000)}));
    const QImage shown = canvas.viewport()->grab().toImage();
    const int x = static_cast<int>(canvas.scene().xOf(traceTime(4'000'000)));
    std::set<QRgb> colors;
    for (int y = TimelineScene::kRulerHeight; y < shown.height(); ++y)
        colors.insert(shown.pixel(x, y));
    TimelineCanvas empty;
    empty.resize(900, 300);
    empty.show();
    EXPECT_GE(colors.size(), 3U) << "a curve over its background";
    EXPECT_NE(shown, empty.viewport()->grab().toImage());
}

TEST(TimelineCanvas, ATraceOfOneInstantIsShownAndCanBeSelected)
{
    const auto trace = test_support::traceFromText("main\n other mark 1000 0");
    TimelineCanvas canvas;
    canvas.resize(900, 300);
    canvas.setTrace(trace);
    canvas.show();
    ASSERT_TRUE(trace->range().empty());
    const Slice mark = trace->slice({trace->tracks()[0].id, 0});
    QTest::mouseClick(canvas.viewport(), Qt::LeftButton, Qt::NoModifier,
                      canvas.scene().rectOf(mark).center().toPoint());
    ASSERT_TRUE(canvas.scene().selected);
    EXPECT_EQ(canvas.scene().selected->id, mark.id);
}

TEST(TimelineCanvas, SurvivesHostileNames)
{
    TraceBuilder builder;
    Track track;
    track.name = std::string(5000, 'x') + "<b>\xff\xfe";
    const TrackId id = builder.addTrack(track);
    Slice slice;
    slice.begin = traceTime(0);
    slice.duration = Nanoseconds{1000};
    slice.name = builder.intern(std::string(100'000, 'k') + "\n\t<script>");
    builder.add(id, slice);
    TimelineCanvas canvas;
    canvas.resize(700, 200);
    canvas.setTrace(builder.finish());
    canvas.show();
    const QPointF at(400, TimelineScene::kRulerHeight + 12);
    QMouseEvent move(QEvent::MouseMove, at, canvas.viewport()->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                     Qt::NoModifier);
    QApplication::sendEvent(canvas.viewport(), &move);
    EXPECT_TRUE(canvas.scene().hovered);
    EXPECT_FALSE(canvas.grab().isNull());
}

} // namespace
} // namespace app
