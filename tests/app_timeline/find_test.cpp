#include "app/timeline/timeline_canvas.h"
#include "app/timeline/timeline_minimap.h"
#include "app/timeline_tools/timeline_search.h"
#include "app/views/timeline/timeline_view.h"
#include "tests/app_timeline/training_trace.h"

#include <QApplication>
#include <QLabel>
#include <QLineEdit>
#include <QMouseEvent>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>
#include <gtest/gtest.h>

namespace app {
namespace {

using namespace profiler;

class FindTest : public testing::Test {
protected:
    void SetUp() override
    {
        view.resize(1200, 700);
        view.replaceTrace(trace);
        view.show();
        view.activateWindow();
        canvas().setFocus();
        ASSERT_TRUE(QTest::qWaitForWindowActive(&view));
    }

    TimelineCanvas& canvas() { return *view.canvas(); }
    const TimelineScene& scene() { return view.canvas()->scene(); }
    TimelineMinimap& minimap() { return *view.findChild<TimelineMinimap*>(); }
    QLineEdit* text() { return view.findChild<QLineEdit*>("timelineFind"); }
    QString place() { return view.findChild<QLabel*>("timelineFindPlace")->text(); }
    void type(const QString& what)
    {
        QTest::keyClick(&canvas(), Qt::Key_F, Qt::ControlModifier);
        text()->setText(what);
    }
    bool says(const QString& what)
    {
        return QTest::qWaitFor([&] { return place() == what; }, 10'000);
    }
    std::string selectedName() { return std::string(trace->name(*scene().selected)); }

    QTemporaryDir folder;
    std::shared_ptr<const Trace> trace = test::trainingTrace({.steps = 30});
    Selection selection;
    TimelineView view{&selection, BookmarkStore(folder.path())};
};

TEST_F(FindTest, CtrlFFindsNamesAndStepsThroughMatches)
{
    EXPECT_FALSE(text()->isVisible());
    type("OPTIMIZER");
    EXPECT_TRUE(text()->hasFocus());
    ASSERT_TRUE(says("30 found")) << place().toStdString();
    EXPECT_FALSE(scene().selected) << "typing moves nothing";
    QTest::keyClick(text(), Qt::Key_Return);
    ASSERT_TRUE(says("1 of 30")) << place().toStdString();
    EXPECT_EQ(selectedName(), "optimizer");
    EXPECT_EQ(selection.slice(), scene().selected->id) << "all views show it";
    const TraceTime first = scene().selected->begin;
    QTest::keyClick(text(), Qt::Key_F3);
    ASSERT_TRUE(says("2 of 30"));
    EXPECT_GT(scene().selected->begin, first);
    EXPECT_TRUE(scene().axis.visible().contains(scene().selected->begin));
    QTest::keyClick(text(), Qt::Key_Return, Qt::ShiftModifier);
    ASSERT_TRUE(says("1 of 30"));
    QTest::keyClick(text(), Qt::Key_F3, Qt::ShiftModifier);
    ASSERT_TRUE(says("30 of 30")) << "around the begin";
    QTest::keyClick(text(), Qt::Key_Return);
    ASSERT_TRUE(says("1 of 30")) << "around the end";
}

TEST_F(FindTest, TheShortcutsAlsoWorkInTheTimeline)
{
    type("optimizer");
    ASSERT_TRUE(says("30 found"));
    canvas().setFocus();
    QTest::keyClick(&canvas(), Qt::Key_F3);
    ASSERT_TRUE(says("1 of 30"));
}

TEST_F(FindTest, CaseAndExpressionsAreToggles)
{
    type("Memcpy HtoD .*");
    ASSERT_TRUE(says("not found")) << "a dot is literal";
    for (QToolButton* button : view.findChild<FindBar*>()->findChildren<QToolButton*>())
        if (button->text() == ".*")
            button->click();
    ASSERT_TRUE(says("30 found"));
    text()->setText("memcpy (htod|x)");
    ASSERT_TRUE(says("30 found"));
    for (QToolButton* button : view.findChild<FindBar*>()->findChildren<QToolButton*>())
        if (button->text() == "Aa")
            button->click();
    ASSERT_TRUE(says("not found"));
    text()->setText("memcpy (");
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return !place().isEmpty() && place() != "not found" && place() != "searching…"; }));
    EXPECT_GT(place().size(), 10) << "the syntax error: " << place().toStdString();
}

TEST_F(FindTest, MatchesAreMarkedOnTheTracks)
{
    const auto inked = [&] {
        const QImage image = canvas().viewport()->grab().toImage();
        int found = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = scene().headerWidth; x < image.width(); ++x)
                found += image.pixelColor(x, y) == scene().theme.found;
        return found;
    };
    canvas().bringIntoView(trace->ofKind(ActivityKind::Step).at(10).range());
    EXPECT_EQ(inked(), 0);
    type("optimizer");
    ASSERT_TRUE(says("30 found"));
    EXPECT_GT(inked(), 20);
    const QImage strip = minimap().grab().toImage();
    int marks = 0;
    for (int x = scene().headerWidth; x < strip.width(); ++x)
        marks += strip.pixelColor(x, 2) == scene().theme.found;
    EXPECT_GE(marks, 20) << "one a step";
    EXPECT_LE(marks, 130);
    QTest::keyClick(text(), Qt::Key_Escape);
    EXPECT_FALSE(text()->isVisible());
    EXPECT_TRUE(canvas().hasFocus());
    EXPECT_EQ(inked(), 0);
}

TEST_F(FindTest, ALaterSnapshotIsSearchedToo)
{
    type("optimizer");
    ASSERT_TRUE(says("30 found"));
    trace = test::trainingTrace({.steps = 40});
    view.updateTrace(trace);
    EXPECT_TRUE(says("40 found")) << place().toStdString();
}

TEST_F(FindTest, ALaterSnapshotKeepsTheResultText)
{
    type("optimizer");
    ASSERT_TRUE(says("30 found"));
    QTest::keyClick(text(), Qt::Key_Return);
    ASSERT_TRUE(says("1 of 30"));
    auto* finder = view.findChild<TimelineFinder*>();
    int searches = 0, searched = 0;
    QObject::connect(finder, &TimelineFinder::searching, [&] { ++searches; });
    QObject::connect(finder, &TimelineFinder::hitsChanged, [&] { ++searched; });
    trace = test::trainingTrace({.steps = 40, .live = true});
    view.updateTrace(trace);
    ASSERT_TRUE(QTest::qWaitFor([&] { return searched > 0; }, 20'000));
    EXPECT_EQ(place(), "1 of 40");
    EXPECT_EQ(searches, 0);
    text()->setText("forward");
    EXPECT_TRUE(QTest::qWaitFor([&] { return place().endsWith(" found"); }, 20'000)) << place().toStdString();
    EXPECT_EQ(searches, 1);
}

TEST_F(FindTest, TheNewestOfManyLettersWins)
{
    QTest::keyClick(&canvas(), Qt::Key_F, Qt::ControlModifier);
    for (const QChar letter : QString("optimizer"))
        QTest::keyClick(text(), letter.toLatin1());
    EXPECT_TRUE(says("30 found")) << place().toStdString();
}

class MinimapTest : public FindTest {
protected:
    void send(QEvent::Type type, QPointF at, Qt::MouseButton button, Qt::MouseButtons buttons)
    {
        QMouseEvent event(type, at, minimap().mapToGlobal(at), button, buttons, Qt::NoModifier);
        QApplication::sendEvent(&minimap(), &event);
    }
    void drag(QPointF from, QPointF to)
    {
        send(QEvent::MouseButtonPress, from, Qt::LeftButton, Qt::LeftButton);
        for (int i = 1; i <= 8; ++i)
            send(QEvent::MouseMove, from + (to - from) * i / 8, Qt::NoButton, Qt::LeftButton);
        send(QEvent::MouseButtonRelease, to, Qt::LeftButton, Qt::NoButton);
    }
    double seconds(TimeRange range) { return static_cast<double>(range.duration().count()) / 1e9; }
};

TEST_F(MinimapTest, TheFrameIsWhatTheTimelineShows)
{
    const auto steps = trace->ofKind(ActivityKind::Step);
    canvas().showRange({steps[10].begin, steps[19].end()});
    EXPECT_NEAR(minimap().frame().left(), minimap().xOf(steps[10].begin), 1);
    EXPECT_NEAR(minimap().frame().right(), minimap().xOf(steps[19].end()), 1);
    EXPECT_EQ(minimap().xOf(trace->range().begin), scene().headerWidth) << "over the lanes";
}

TEST_F(MinimapTest, DraggingTheFrameMovesTheTimelineAtItsScale)
{
    const auto steps = trace->ofKind(ActivityKind::Step);
    canvas().showRange({steps[10].begin, steps[14].end()});
    const auto before = scene().axis.visible();
    const QPointF middle = minimap().frame().center();
    drag(middle, middle + QPointF(200, 0));
    EXPECT_NEAR(seconds(scene().axis.visible()), seconds(before), 1e-6);
    EXPECT_NEAR(minimap().frame().center().x(), middle.x() + 200, 2);
    drag(minimap().frame().center(), QPointF(5'000, middle.y()));
    EXPECT_NEAR(minimap().frame().right(), minimap().width(), 2) << "it stops at the end";
    EXPECT_NEAR(seconds(scene().axis.visible()), seconds(before), 1e-6);
}

TEST_F(MinimapTest, DraggingAnEdgeZooms)
{
    const auto steps = trace->ofKind(ActivityKind::Step);
    canvas().showRange({steps[10].begin, steps[14].end()});
    const QRectF before = minimap().frame();
    drag(QPointF(before.right(), 15), QPointF(before.right() + 150, 15));
    EXPECT_NEAR(minimap().frame().left(), before.left(), 1.5);
    EXPECT_NEAR(minimap().frame().right(), before.right() + 150, 2);
    drag(QPointF(minimap().frame().left(), 15), QPointF(before.left() - 60, 15));
    EXPECT_NEAR(minimap().frame().left(), before.left() - 60, 2);
}

TEST_F(MinimapTest, APressOutsideTheFrameMovesItThere)
{
    const auto steps = trace->ofKind(ActivityKind::Step);
    canvas().showRange({steps[2].begin, steps[4].end()});
    const double x = minimap().xOf(steps[20].begin);
    drag({x, 15}, {x, 15});
    EXPECT_NEAR(minimap().frame().center().x(), x, 2);
    QTest::mouseDClick(&minimap(), Qt::LeftButton, Qt::NoModifier, QPoint(static_cast<int>(x), 15));
    EXPECT_LE(scene().axis.visible().begin, trace->range().begin) << "a double click shows all";
}

TEST_F(MinimapTest, ShowsWhereTheDeviceWorks)
{
    const QImage strip = minimap().grab().toImage();
    int busy = 0;
    for (int x = scene().headerWidth + 10; x < strip.width() - 10; ++x)
        busy += strip.pixelColor(x, TimelineMinimap::kHeight - 8) != scene().theme.background;
    EXPECT_GT(busy, (strip.width() - scene().headerWidth) / 3);
}

TEST(TimelineFinder, FindsInATraceThatGrowsFasterThanItIsSearched)
{
    TimelineFinder finder;
    int snapshots = 0;
    // A newer snapshot arrives each time it starts to search.
    QObject::connect(&finder, &TimelineFinder::searching, &finder, [&] {
        if (++snapshots < 1000)
            finder.updateTrace(test::trainingTrace({.steps = 20, .live = true}));
    });
    std::optional<profiler::Slice> found;
    QObject::connect(&finder, &TimelineFinder::found, &finder, [&](const profiler::Slice& slice) { found = slice; });
    finder.setTrace(test::trainingTrace({.steps = 20, .live = true}));
    finder.setPattern({"forward", false, false});
    ASSERT_TRUE(QTest::qWaitFor([&] { return finder.hits() && finder.hits()->count > 0; }, 20'000));
    EXPECT_LT(snapshots, 1000);
    finder.step(true, {}, {});
    finder.updateTrace(test::trainingTrace({.steps = 21, .live = true})); // does not cancel a pending request
    EXPECT_TRUE(QTest::qWaitFor([&] { return found.has_value(); }, 20'000));
    const auto before = finder.hits();
    EXPECT_TRUE(QTest::qWaitFor([&] { return finder.hits() != before; }, 20'000)) << "it is searched again";
}

} // namespace
} // namespace app
