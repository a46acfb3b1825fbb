#include "app/widgets/timeline_canvas.h"

#include "tests/app_timeline/training_trace.h"

#include <QAction>
#include <QApplication>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>
#include <gtest/gtest.h>

namespace app {
namespace {

using namespace profiler;

/// A shown, active canvas with a training on it.
class TimelineCanvasTest : public testing::Test {
protected:
    void SetUp() override
    {
        trace = test::trainingTrace({.steps = 30});
        canvas.resize(1200, 700);
        canvas.setTrace(trace);
        canvas.show();
        canvas.activateWindow();
        canvas.setFocus();
        ASSERT_TRUE(QTest::qWaitForWindowActive(&canvas));
    }

    const TimelineScene& scene() const { return canvas.scene(); }
    Slice step(std::size_t index) const { return trace->ofKind(ActivityKind::Step).at(index); }

    Slice named(std::string_view name, TimeRange within) const
    {
        for (const Track& track : trace->tracks())
            for (const Slice& slice : trace->sorted(track.id))
                if (trace->name(slice) == name && within.contains(slice.begin))
                    return slice;
        ADD_FAILURE() << "no slice " << name;
        return {};
    }

    QPoint middleOf(const Slice& slice) const { return scene().rectOf(slice).center().toPoint(); }
    void click(QPoint at) { QTest::mouseClick(canvas.viewport(), Qt::LeftButton, Qt::NoModifier, at); }
    void key(Qt::Key which, Qt::KeyboardModifiers modifiers = Qt::NoModifier) { QTest::keyClick(&canvas, which, modifiers); }

    void drag(QPoint from, QPoint to, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
    {
        QTest::mousePress(canvas.viewport(), Qt::LeftButton, modifiers, from);
        for (int i = 1; i <= 4; ++i) {
            const QPointF at = QPointF(from) + QPointF(to - from) * i / 4;
            QMouseEvent move(QEvent::MouseMove, at, canvas.viewport()->mapToGlobal(at), Qt::NoButton, Qt::LeftButton, modifiers);
            QApplication::sendEvent(canvas.viewport(), &move);
        }
        QTest::mouseRelease(canvas.viewport(), Qt::LeftButton, modifiers, to);
    }

    void wheel(QPointF at, QPoint angle, Qt::KeyboardModifiers modifiers = Qt::NoModifier, QPoint pixels = {},
               Qt::ScrollPhase phase = Qt::NoScrollPhase)
    {
        QWheelEvent event(at, canvas.viewport()->mapToGlobal(at), pixels, angle, Qt::NoButton, modifiers, phase, false);
        QApplication::sendEvent(canvas.viewport(), &event);
    }

    QColor colorAt(QPoint at) { return canvas.viewport()->grab().toImage().pixelColor(at); }

    std::shared_ptr<const Trace> trace;
    TimelineCanvas canvas;
};

TEST_F(TimelineCanvasTest, DrawsASliceWhereItIs)
{
    canvas.bringIntoView(step(10).range());
    for (const auto& [name, which] : {std::pair{"forward", SliceClass::Forward}, {"backward", SliceClass::Backward}, {"optimizer", SliceClass::Optimizer}}) {
        const Slice slice = named(name, step(10).range());
        const QRect rect = scene().rectOf(slice).toRect();
        ASSERT_GT(rect.width(), 10) << name;
        const QImage image = canvas.viewport()->grab().toImage();
        const QColor fill = classStyle(which, scene().theme.dark).fill;
        // Near its four corners, clear of the label, and not beyond.
        EXPECT_EQ(image.pixelColor(rect.left() + 2, rect.top() + 1), fill) << name;
        EXPECT_EQ(image.pixelColor(rect.right() - 2, rect.bottom() - 1), fill) << name;
        EXPECT_NE(image.pixelColor(rect.left() - 3, rect.top() + 1), fill) << name;
        EXPECT_NE(image.pixelColor(rect.right() + 3, rect.top() + 1), fill) << name;
        EXPECT_NE(image.pixelColor(rect.left() + 2, rect.bottom() + 1), fill) << name << ": lanes stay apart";
    }
}

TEST_F(TimelineCanvasTest, HatchesWaits)
{
    canvas.bringIntoView(step(10).range());
    const Slice wait = named(phase::kDataWait, step(10).range());
    const QRect rect = scene().rectOf(wait).toRect();
    const QImage image = canvas.viewport()->grab().toImage();
    int fills = 0, seconds = 0;
    const ClassStyle& style = classStyle(SliceClass::DataWait, scene().theme.dark);
    for (int x = rect.right() - 40; x < rect.right() - 2; ++x) {
        fills += image.pixelColor(x, rect.top() + 1) == style.fill;
        seconds += image.pixelColor(x, rect.top() + 1) == style.second;
    }
    EXPECT_GT(fills, 10);
    EXPECT_GT(seconds, 5);
    EXPECT_EQ(fills + seconds, 38);
}

TEST_F(TimelineCanvasTest, DrawsManySlicesAsDenseAsTheyAre)
{
    const auto dense = test::trainingTraceOf(100'000);
    canvas.setTrace(dense);
    const Slice first = dense->ofKind(ActivityKind::Step).at(5);
    canvas.bringIntoView({first.begin, dense->ofKind(ActivityKind::Step).at(60).end()});
    const auto ops = dense->ofKind(ActivityKind::CpuOp);
    const QImage image = canvas.viewport()->grab().toImage();
    int busy = 0, idle = 0, wrong = 0;
    const int y = static_cast<int>(scene().rectOf(ops.front()).center().y());
    for (int x = 300; x < 1100; ++x) {
        std::vector<LodBucket> bucket(1);
        dense->summarize(ops.front().id.track, ops.front().depth, {scene().timeAt(x), scene().timeAt(x + 1)}, bucket);
        const bool drawn = std::abs(image.pixelColor(x, y).lightness() - scene().theme.background.lightness()) > 20;
        busy += bucket[0].count > 0;
        idle += bucket[0].count == 0;
        wrong += drawn != (bucket[0].count > 0);
    }
    EXPECT_GT(busy, 100);
    EXPECT_GT(idle, 100);
    EXPECT_LE(wrong, 60) << "edges and grid lines only";
}

TEST_F(TimelineCanvasTest, FollowsLightAndDark)
{
    const auto luminance = [&] { return colorAt({600, 650}).lightness(); };
    const int before = luminance();
    QPalette dark = canvas.palette();
    dark.setColor(QPalette::Base, QColor(0x16, 0x18, 0x1d));
    dark.setColor(QPalette::Text, QColor(0xe4, 0xe7, 0xeb));
    canvas.setPalette(dark);
    EXPECT_GT(before, 200);
    EXPECT_LT(luminance(), 60);
    EXPECT_TRUE(scene().theme.dark);
}

TEST_F(TimelineCanvasTest, AClickSelectsTheSliceAtItsDepth)
{
    canvas.bringIntoView(step(7).range());
    QSignalSpy selected(&canvas, &TimelineCanvas::sliceSelected);
    const Slice forward = named(phase::kForward, step(7).range());
    for (int depth = 0; depth < 4; ++depth) {
        const auto expected = trace->at(forward.id.track, depth, forward.begin + forward.duration / 3);
        if (!expected)
            continue;
        click(middleOf(*expected));
        ASSERT_TRUE(scene().selected) << depth;
        EXPECT_EQ(scene().selected->depth, depth);
        EXPECT_EQ(scene().selected->id, expected->id);
        EXPECT_EQ(selected.takeLast().at(0).value<SliceId>(), expected->id);
    }
    click({1100, 690}); // nothing there
    EXPECT_FALSE(scene().selected);
}

TEST_F(TimelineCanvasTest, AClickBesideATinySliceStillMeansIt)
{
    const Slice copy = named("Memcpy HtoD (Pageable -> Device)", step(12).range());
    ASSERT_LT(scene().rectOf(copy).width(), 4);
    click(scene().rectOf(copy).center().toPoint() + QPoint(3, 0));
    ASSERT_TRUE(scene().selected);
    EXPECT_EQ(scene().selected->id, copy.id);
}

TEST_F(TimelineCanvasTest, AClickOnTheStepRulerSelectsTheStep)
{
    canvas.bringIntoView({step(5).begin, step(8).end()});
    click({static_cast<int>(scene().xOf(step(6).begin + step(6).duration / 2)), TimelineScene::kAxisHeight + 8});
    ASSERT_TRUE(scene().selected);
    EXPECT_EQ(scene().selected->id, step(6).id);
}

TEST_F(TimelineCanvasTest, TheWheelZoomsAtThePointer)
{
    canvas.bringIntoView({step(10).begin, step(20).end()});
    const QPointF at(777, 300);
    const TraceTime time = scene().timeAt(at.x());
    const double before = scene().axis.nsPerPixel();
    for (int i = 0; i < 5; ++i)
        wheel(at, {0, 120});
    EXPECT_LT(scene().axis.nsPerPixel(), before / 2);
    EXPECT_NEAR(scene().xOf(time), at.x(), 0.01);
    for (int i = 0; i < 5; ++i)
        wheel(at, {0, -120});
    EXPECT_NEAR(scene().axis.nsPerPixel(), before, before * 1e-9);
    EXPECT_NEAR(scene().xOf(time), at.x(), 0.01);
}

TEST_F(TimelineCanvasTest, ShiftWheelAndTrackpadScroll)
{
    canvas.bringIntoView({step(10).begin, step(12).end()});
    const double scale = scene().axis.nsPerPixel();
    const TraceTime begin = scene().axis.visible().begin;
    wheel({700, 300}, {0, -120}, Qt::ShiftModifier);
    const TraceTime later = scene().axis.visible().begin;
    EXPECT_GT(later, begin);
    wheel({700, 300}, {-800, 0}, Qt::NoModifier, {-100, 0}, Qt::ScrollUpdate);
    EXPECT_NEAR(static_cast<double>((scene().axis.visible().begin - later).count()), 100 * scale, 2);
    EXPECT_DOUBLE_EQ(scene().axis.nsPerPixel(), scale);
}

TEST_F(TimelineCanvasTest, ADragPansByWhatTheHandMoves)
{
    canvas.bringIntoView({step(10).begin, step(14).end()});
    const TraceTime held = scene().timeAt(800);
    drag({800, 400}, {620, 400});
    EXPECT_NEAR(scene().xOf(held), 620, 0.01);
    EXPECT_FALSE(scene().selected) << "a drag is no click";
}

TEST_F(TimelineCanvasTest, ADragOnTheRulerSelectsARange)
{
    QSignalSpy ranges(&canvas, &TimelineCanvas::rangeSelected);
    drag({400, 8}, {700, 8});
    ASSERT_EQ(ranges.size(), 1);
    const auto range = ranges.front().front().value<TimeRange>();
    EXPECT_EQ(range.begin, scene().timeAt(400));
    EXPECT_EQ(range.end, scene().timeAt(700));
    EXPECT_EQ(scene().range, range);
}

TEST_F(TimelineCanvasTest, ShiftDragSelectsARangeInTheLanesEitherWay)
{
    QSignalSpy ranges(&canvas, &TimelineCanvas::rangeSelected);
    const TimeRange visible = scene().axis.visible();
    drag({700, 300}, {400, 320}, Qt::ShiftModifier);
    ASSERT_EQ(ranges.size(), 1);
    EXPECT_EQ(ranges.front().front().value<TimeRange>(), (TimeRange{scene().timeAt(400), scene().timeAt(700)}));
    EXPECT_EQ(scene().axis.visible(), visible) << "it does not pan";
}

TEST_F(TimelineCanvasTest, ADoubleClickZoomsToTheSlice)
{
    const Slice sixth = step(6);
    QTest::mouseDClick(canvas.viewport(), Qt::LeftButton, Qt::NoModifier, middleOf(sixth));
    ASSERT_TRUE(scene().selected);
    EXPECT_EQ(scene().selected->id, sixth.id);
    EXPECT_NEAR(scene().rectOf(sixth).width(), scene().axis.width() * 0.8, 1);
}

TEST_F(TimelineCanvasTest, KeysZoomPanAndFit)
{
    const double whole = scene().axis.nsPerPixel();
    key(Qt::Key_W);
    EXPECT_NEAR(scene().axis.nsPerPixel(), whole / 1.5, whole * 1e-9);
    key(Qt::Key_Plus);
    EXPECT_NEAR(scene().axis.nsPerPixel(), whole / 2.25, whole * 1e-9);
    key(Qt::Key_Minus);
    const TraceTime begin = scene().axis.visible().begin;
    key(Qt::Key_D);
    EXPECT_GT(scene().axis.visible().begin, begin);
    key(Qt::Key_A);
    EXPECT_EQ(scene().axis.visible().begin, begin);
    key(Qt::Key_Right);
    key(Qt::Key_Left);
    EXPECT_EQ(scene().axis.visible().begin, begin);
    key(Qt::Key_S);
    EXPECT_NEAR(scene().axis.nsPerPixel(), whole, whole * 1e-9);
    key(Qt::Key_W);
    key(Qt::Key_F);
    EXPECT_NEAR(scene().axis.nsPerPixel(), whole, whole * 1e-9);
}

TEST_F(TimelineCanvasTest, FitsTheSelectionFirstThenAll)
{
    const double whole = scene().axis.nsPerPixel();
    canvas.setSelectedSlice(step(9).id);
    key(Qt::Key_F);
    EXPECT_NEAR(scene().rectOf(step(9)).width(), scene().axis.width() * 0.8, 1);
    key(Qt::Key_F);
    EXPECT_NEAR(scene().axis.nsPerPixel(), whole, whole * 1e-9);
}

TEST_F(TimelineCanvasTest, CommaAndPeriodGoThroughTheSlicesOfALane)
{
    canvas.bringIntoView(step(3).range());
    canvas.setSelectedSlice(step(3).id);
    QSignalSpy selected(&canvas, &TimelineCanvas::sliceSelected);
    key(Qt::Key_Period);
    EXPECT_EQ(scene().selected->id, step(4).id);
    EXPECT_TRUE(scene().axis.visible().contains(step(4).begin)) << "it comes into view";
    key(Qt::Key_Comma);
    key(Qt::Key_Comma);
    EXPECT_EQ(scene().selected->id, step(2).id);
    EXPECT_EQ(selected.size(), 3);
    EXPECT_TRUE(canvas.accessibleDescription().contains("step 2")) << canvas.accessibleDescription().toStdString();
}

TEST_F(TimelineCanvasTest, MMeasuresAndEscLetsGo)
{
    QTest::mouseMove(canvas.viewport(), {500, 300});
    QMouseEvent move(QEvent::MouseMove, QPointF(500, 300), canvas.viewport()->mapToGlobal(QPointF(500, 300)), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    QApplication::sendEvent(canvas.viewport(), &move);
    key(Qt::Key_M);
    ASSERT_TRUE(scene().mark);
    EXPECT_EQ(*scene().mark, scene().timeAt(500));
    canvas.setSelectedSlice(step(1).id);
    QSignalSpy cleared(&canvas, &TimelineCanvas::selectionCleared);
    key(Qt::Key_Escape);
    EXPECT_FALSE(scene().mark);
    EXPECT_TRUE(scene().selected);
    key(Qt::Key_Escape);
    EXPECT_FALSE(scene().selected);
    EXPECT_EQ(cleared.size(), 1);
}

TEST_F(TimelineCanvasTest, RowsFoldByMouseAndByKey)
{
    const std::size_t rows = scene().rows.all().size();
    click({60, TimelineScene::kRulerHeight + 8}); // "Loader workers"
    EXPECT_EQ(scene().rows.all().size(), rows - 2);
    key(Qt::Key_Space);
    EXPECT_EQ(scene().rows.all().size(), rows);
    key(Qt::Key_Down, Qt::ControlModifier);
    EXPECT_EQ(scene().currentRow, 1);
    key(Qt::Key_Left, Qt::ControlModifier);
    EXPECT_LT(scene().rows.all().size(), rows);
    key(Qt::Key_Right, Qt::ControlModifier);
    EXPECT_EQ(scene().rows.all().size(), rows);
}

TEST_F(TimelineCanvasTest, TheHeaderCanBeMadeWider)
{
    const int before = scene().headerWidth;
    drag({before, 300}, {before + 80, 300});
    EXPECT_EQ(scene().headerWidth, before + 80);
    EXPECT_DOUBLE_EQ(scene().axis.width(), canvas.viewport()->width() - before - 80);
}

TEST_F(TimelineCanvasTest, ShowsEvidenceOfAFoldedTrack)
{
    key(Qt::Key_Left, Qt::ControlModifier);
    const Slice decode = named(stage::kDecode, step(8).range());
    canvas.bringIntoView(decode.range(), decode.id.track);
    EXPECT_TRUE(scene().rows.shows(decode.id.track, 0));
    const QRectF rect = scene().rectOf(decode);
    EXPECT_TRUE(QRectF(scene().lanesRect()).contains(rect));
    EXPECT_NEAR(rect.width(), scene().axis.width() * 0.6, 1);
}

TEST_F(TimelineCanvasTest, HoveringTellsWhatASliceIs)
{
    canvas.bringIntoView(step(7).range());
    const Slice forward = named(phase::kForward, step(7).range());
    const QPointF at = middleOf(forward);
    QMouseEvent move(QEvent::MouseMove, at, canvas.viewport()->mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    const QImage before = canvas.viewport()->grab().toImage();
    QApplication::sendEvent(canvas.viewport(), &move);
    ASSERT_TRUE(scene().hovered);
    EXPECT_EQ(scene().hovered->id, forward.id);
    const QPoint inCard = at.toPoint() + QPoint(30, 50);
    EXPECT_NE(canvas.viewport()->grab().toImage().copy(QRect(inCard, QSize(60, 40))), before.copy(QRect(inCard, QSize(60, 40))));
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(canvas.viewport(), &leave);
    EXPECT_FALSE(scene().hovered);
}

TEST_F(TimelineCanvasTest, EveryHandIsAnActionWithItsKey)
{
    int withKeys = 0;
    for (const QAction* action : canvas.actions()) {
        if (action->isSeparator())
            continue;
        EXPECT_FALSE(action->text().isEmpty());
        EXPECT_FALSE(action->shortcut().isEmpty()) << action->text().toStdString();
        EXPECT_EQ(action->shortcutContext(), Qt::WidgetWithChildrenShortcut) << "letters stay free elsewhere";
        ++withKeys;
    }
    EXPECT_GE(withKeys, 19);
    EXPECT_EQ(canvas.accessibleName(), "Timeline");
}

TEST_F(TimelineCanvasTest, AnArrowLeadsFromALaunchToItsKernel)
{
    Slice kernel = trace->ofKind(ActivityKind::Kernel).at(40);
    canvas.setSelectedSlice(kernel.id);
    ASSERT_EQ(scene().flows.size(), 1U);
    EXPECT_EQ(trace->name(trace->slice(scene().flows[0].from)), "cudaLaunchKernel");
    canvas.bringIntoView(kernel.range(), kernel.id.track);
    const QImage with = canvas.viewport()->grab().toImage();
    canvas.setSelectedSlice({});
    EXPECT_NE(with, canvas.viewport()->grab().toImage());
}

TEST_F(TimelineCanvasTest, ScrollBarsAndCanvasAgree)
{
    canvas.bringIntoView(step(15).range());
    QScrollBar* bar = canvas.horizontalScrollBar();
    ASSERT_GT(bar->maximum(), 0);
    bar->setValue(bar->maximum());
    EXPECT_NEAR(scene().xOf(trace->range().end), canvas.viewport()->width(), 2);
    bar->setValue(0);
    EXPECT_NEAR(scene().xOf(trace->range().begin), scene().headerWidth, 2);
}

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
    // Hands on an empty canvas do nothing, and do not crash.
    for (QAction* action : canvas.actions())
        action->trigger();
    QTest::mouseClick(canvas.viewport(), Qt::LeftButton, Qt::NoModifier, {300, 200});
    QTest::mouseDClick(canvas.viewport(), Qt::LeftButton, Qt::NoModifier, {300, 200});
}

TEST(TimelineCanvas, FollowsAGrowingTraceUntilTheUserMoves)
{
    TimelineCanvas canvas;
    canvas.resize(900, 500);
    canvas.show();
    canvas.setTrace(test::trainingTrace({.steps = 10, .live = true}));
    EXPECT_TRUE(canvas.following());
    const auto endX = [&] { return canvas.scene().axis.xOf(canvas.scene().trace->range().end) / canvas.scene().axis.width(); };
    canvas.updateTrace(test::trainingTrace({.steps = 100, .live = true}));
    EXPECT_NEAR(endX(), 0.98, 0.02);
    canvas.updateTrace(test::trainingTrace({.steps = 400, .live = true}));
    EXPECT_NEAR(endX(), 0.97, 0.01);
    EXPECT_LT(canvas.scene().axis.visible().duration(), std::chrono::seconds(11)) << "the last ten seconds";
    canvas.zoomIn();
    EXPECT_FALSE(canvas.following());
    const auto visible = canvas.scene().axis.visible();
    canvas.updateTrace(test::trainingTrace({.steps = 420, .live = true}));
    EXPECT_EQ(canvas.scene().axis.visible(), visible);
    canvas.followEnd();
    EXPECT_TRUE(canvas.following());
    canvas.updateTrace(test::trainingTrace({.steps = 440, .live = true}));
    EXPECT_NEAR(endX(), 0.97, 0.01);
}

TEST(TimelineCanvas, AnotherTraceIsShownWholeAndNothingIsSelected)
{
    TimelineCanvas canvas;
    canvas.resize(900, 500);
    canvas.show();
    const auto first = test::trainingTrace({.steps = 10});
    canvas.setTrace(first);
    canvas.setSelectedSlice(first->ofKind(ActivityKind::Step).at(9).id);
    canvas.zoomIn();
    const auto second = test::trainingTrace({.steps = 2, .loaderWorkers = 0, .gpu = false, .begin = 77'000'000'000});
    canvas.setTrace(second);
    EXPECT_FALSE(canvas.scene().selected);
    EXPECT_LE(canvas.scene().axis.visible().begin, second->range().begin);
    EXPECT_GE(canvas.scene().axis.visible().end, second->range().end);
    EXPECT_GT(canvas.scene().axis.xOf(second->range().end) - canvas.scene().axis.xOf(second->range().begin), 0.9 * canvas.scene().axis.width());
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
    QMouseEvent move(QEvent::MouseMove, at, canvas.viewport()->mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    QApplication::sendEvent(canvas.viewport(), &move);
    EXPECT_TRUE(canvas.scene().hovered);
    EXPECT_FALSE(canvas.grab().isNull());
}

} // namespace
} // namespace app
