#include "app/findings/capture_notice.h"
#include "app/timeline/timeline_actions.h"
#include "app/timeline/timeline_canvas.h"
#include "app/views/timeline/timeline_view.h"
#include "profiler/formats/format.h"
#include "tests/app_timeline/training_trace.h"
#include "tests/support/trace_text.h"

#include <QAction>
#include <QApplication>
#include <QContextMenuEvent>
#include <QLabel>
#include <QMenu>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <gtest/gtest.h>

namespace app {
namespace {

/// A view with its settings in a test folder.
class TimelineViewTest : public testing::Test {
protected:
    void SetUp() override
    {
        QCoreApplication::setOrganizationName("Stepscope tests");
        QCoreApplication::setApplicationName("timeline");
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder.path());
        QSettings().clear();
    }
    void TearDown() override { QSettings().clear(); }

    static int rows(const TimelineView& view) { return view.canvas()->scene().rows.count(); }

    QTemporaryDir folder;
    Selection selection;
};

TEST_F(TimelineViewTest, TheNextTraceOfAKindKeepsTheRowLayout)
{
    {
        TimelineView view(&selection, BookmarkStore(folder.filePath("bookmarks")));
        view.replaceTrace(test::trainingTrace({.steps = 3}));
        ASSERT_EQ(rows(view), 10);
        view.canvas()->rows().rowDown();
        view.canvas()->rows().hideRow();
        ASSERT_EQ(view.canvas()->scene().rows.hidden().size(), 1U);
    }
    TimelineView later(&selection, BookmarkStore(folder.filePath("bookmarks")));
    later.replaceTrace(test::trainingTrace({.steps = 9, .begin = 1'000}));
    EXPECT_EQ(later.canvas()->scene().rows.hidden().size(), 1U);

    profiler::TraceBuilder other;
    other.setFormat("pytorch-json");
    later.replaceTrace(other.finish());
    EXPECT_EQ(later.canvas()->rowLayout(), RowLayout{}) << "another kind has its own";
    later.replaceTrace(test::trainingTrace({.steps = 2}));
    EXPECT_EQ(later.canvas()->rowLayout().hidden.size(), 1U);
    timelineAction(*later.canvas(), "resetRows")->trigger();
    later.replaceTrace(test::trainingTrace({.steps = 2}));
    EXPECT_EQ(later.canvas()->rowLayout(), RowLayout{});
}

TEST_F(TimelineViewTest, ReportsUnreadableData)
{
    const std::filesystem::path file = folder.filePath("a.sspack").toStdString();
    ASSERT_TRUE(profiler::formats::saveTrace(*test::trainingTrace({.steps = 6'000}), file));
    profiler::formats::ReadOptions options;
    options.memoryBudget = 1 << 20; // its blocks stay in the file
    const auto trace = profiler::formats::openTrace(file, options);
    ASSERT_TRUE(trace) << trace.error().message();
    TimelineView view(&selection, BookmarkStore(folder.filePath("bookmarks")));
    view.resize(900, 500);
    view.replaceTrace(*trace);
    auto* notice = view.findChild<CaptureNotice*>();
    ASSERT_TRUE(notice);
    EXPECT_FALSE(notice->isVisibleTo(&view));
    std::filesystem::resize_file(file, 1000);
    for (const profiler::Track& track : (*trace)->tracks()) // like views
        static_cast<void>((*trace)->sorted(track.id));
    ASSERT_GT((*trace)->unread().slices, 0U);
    EXPECT_TRUE(QTest::qWaitFor([&] { return notice->isVisibleTo(&view); }));
    EXPECT_TRUE(notice->findChild<QLabel*>("captureText")->text().contains("could not be read"));
}

/// The context menu of a slice opens the Python function that called it.
TEST_F(TimelineViewTest, ASliceOpensItsPythonFunction)
{
    TimelineView view(&selection, BookmarkStore(folder.filePath("bookmarks")));
    view.resize(900, 400);
    view.show();
    view.replaceTrace(test_support::traceFromText("main\nother \"net.py(42): forward\" 0 100\nop aten::mm 10 80"));
    QSignalSpy requested(&selection, &Selection::editorRequested);
    TimelineCanvas& canvas = *view.canvas();
    const profiler::Slice op = canvas.scene().trace->ofKind(profiler::ActivityKind::CpuOp).at(0);
    canvas.revealTrack(op.id.track, op.depth);
    QTimer::singleShot(0, &view, [] {
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        ASSERT_TRUE(menu);
        if (auto* open = menu->findChild<QAction*>("openSource"))
            open->trigger();
        menu->close();
    });
    const QPoint at = canvas.scene().rectOf(op).center().toPoint();
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, canvas.viewport()->mapToGlobal(at));
    QApplication::sendEvent(canvas.viewport(), &event);
    ASSERT_EQ(requested.count(), 1);
    EXPECT_EQ(requested[0][0].toString(), "net.py");
    EXPECT_EQ(requested[0][1].toInt(), 42);
}

TEST_F(TimelineViewTest, EveryActionIsInAMenuOnce)
{
    TimelineView view(&selection, BookmarkStore(folder.filePath("bookmarks")));
    QList<QAction*> listed;
    for (const QMenu* topic : timelineMenus(*view.canvas(), &view))
        listed += topic->actions();
    for (QAction* action : view.canvas()->actions())
        EXPECT_EQ(listed.count(action), 1) << action->text().toStdString();
}

} // namespace
} // namespace app
