#include "app/look/style.h"
#include "tests/app_timeline/timeline_canvas_fixture.h"

#include <QAction>
#include <QMenu>
#include <QScrollBar>
#include <QSignalSpy>

namespace app {
namespace {

using namespace profiler;

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

TEST_F(TimelineCanvasTest, AClickNextToATinySliceSelectsIt)
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

TEST_F(TimelineCanvasTest, ADragPansByItsDistance)
{
    canvas.bringIntoView({step(10).begin, step(14).end()});
    const TraceTime held = scene().timeAt(800);
    drag({800, 400}, {620, 400});
    EXPECT_NEAR(scene().xOf(held), 620, 0.01);
    EXPECT_FALSE(scene().selected) << "a drag is not a click";
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

TEST_F(TimelineCanvasTest, AnOpenMenuReceivesTheLetters)
{
    canvas.navigation().fitAll();
    const TimeRange all = scene().axis.visible();
    Style style;
    QMenu menu;
    menu.setStyle(&style);
    QSignalSpy chosen(menu.addAction("&Wide"), &QAction::triggered);
    menu.popup(canvas.mapToGlobal(QPoint(20, 20)));
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&menu));
    QTest::keyClick(menu.windowHandle(), Qt::Key_W);
    EXPECT_EQ(chosen.count(), 1);
    EXPECT_EQ(scene().axis.visible(), all);
    key(Qt::Key_W);
    EXPECT_LT(scene().axis.visible().duration(), all.duration());
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

TEST_F(TimelineCanvasTest, CommaAndPeriodStepThroughTheSlicesOfALane)
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

TEST_F(TimelineCanvasTest, ShiftWithUpAndDownSelectsParentAndChild)
{
    canvas.setSelectedSlice(step(4).id);
    key(Qt::Key_Down, Qt::ShiftModifier);
    ASSERT_TRUE(scene().selected);
    const Slice inner = *scene().selected;
    EXPECT_EQ(inner.depth, step(4).depth + 1);
    EXPECT_TRUE(step(4).range().contains(inner.begin)) << "not the last slice of the previous step, although it is "
                                                          "nearer";
    key(Qt::Key_Up, Qt::ShiftModifier);
    EXPECT_EQ(scene().selected->id, step(4).id);
    key(Qt::Key_Up, Qt::ShiftModifier);
    EXPECT_EQ(scene().selected->id, step(4).id) << "it has no parent";
}

TEST_F(TimelineCanvasTest, RSelectsTheRangeInView)
{
    QSignalSpy selected(&canvas, &TimelineCanvas::rangeSelected);
    canvas.bringIntoView(step(3).range());
    canvas.setSelectedSlice(step(3).id);
    key(Qt::Key_R);
    ASSERT_EQ(selected.size(), 1);
    EXPECT_FALSE(scene().selected);
    EXPECT_EQ(*scene().range, scene().axis.visible());
    canvas.navigation().fitAll();
    key(Qt::Key_R);
    EXPECT_EQ(*scene().range, scene().axis.bounds()) << "and no space outside the trace";
}

TEST_F(TimelineCanvasTest, MSetsAMarkAndEscClears)
{
    QTest::mouseMove(canvas.viewport(), {500, 300});
    QMouseEvent move(QEvent::MouseMove, QPointF(500, 300), canvas.viewport()->mapToGlobal(QPointF(500, 300)),
                     Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    QApplication::sendEvent(canvas.viewport(), &move);
    key(Qt::Key_M);
    ASSERT_TRUE(scene().marks.origin());
    EXPECT_EQ(*scene().marks.origin(), scene().timeAt(500));
    canvas.setSelectedSlice(step(1).id);
    QSignalSpy cleared(&canvas, &TimelineCanvas::selectionCleared);
    key(Qt::Key_Escape);
    EXPECT_TRUE(scene().marks.all().empty());
    EXPECT_TRUE(scene().selected);
    key(Qt::Key_Escape);
    EXPECT_FALSE(scene().selected);
    EXPECT_EQ(cleared.size(), 1);
}

TEST_F(TimelineCanvasTest, RowsCollapseByMouseAndByKey)
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

TEST_F(TimelineCanvasTest, ShowsEvidenceOfACollapsedTrack)
{
    key(Qt::Key_Left, Qt::ControlModifier);
    const Slice decode = named(stage::kDecode, step(8).range());
    canvas.bringIntoView(decode.range(), decode.id.track);
    EXPECT_TRUE(scene().rows.shows(decode.id.track, 0));
    const QRectF rect = scene().rectOf(decode);
    EXPECT_TRUE(QRectF(scene().lanesRect()).contains(rect));
    EXPECT_NEAR(rect.width(), scene().axis.width() * 0.6, 1);
}

TEST_F(TimelineCanvasTest, EveryCommandIsAnActionWithAShortcut)
{
    int withKeys = 0;
    for (const QAction* action : canvas.actions()) {
        if (action->isSeparator())
            continue;
        EXPECT_FALSE(action->text().isEmpty());
        EXPECT_FALSE(action->shortcut().isEmpty()) << action->text().toStdString();
        EXPECT_EQ(action->shortcutContext(), Qt::WidgetWithChildrenShortcut) << "letters are not shortcuts in other "
                                                                                "widgets";
        ++withKeys;
    }
    EXPECT_GE(withKeys, 19);
    EXPECT_EQ(canvas.accessibleName(), "Timeline");
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

TEST_F(TimelineCanvasTest, ARowThatIsDraggedMayBeGoneWithItsTrace)
{
    const int row = scene().rows.count() - 1;
    const QPointF from(40, scene().topOf(scene().rows.at(row)) + 5), to(40, from.y() - 60);
    QTest::mousePress(canvas.viewport(), Qt::LeftButton, {}, from.toPoint());
    QMouseEvent move(QEvent::MouseMove, to, canvas.viewport()->mapToGlobal(to), Qt::NoButton, Qt::LeftButton, {});
    QApplication::sendEvent(canvas.viewport(), &move);
    ASSERT_EQ(scene().draggedRow, row);
    canvas.setTrace(test::trainingTrace({.steps = 2, .loaderWorkers = 0, .gpu = false}));
    EXPECT_EQ(scene().draggedRow, -1);
    EXPECT_FALSE(scene().dropLine);
    EXPECT_FALSE(canvas.grab().isNull());
    QTest::mouseRelease(canvas.viewport(), Qt::LeftButton, {}, to.toPoint());
}

} // namespace
} // namespace app
