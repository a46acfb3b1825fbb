#include "app/views/timeline/timeline_view.h"
#include "app/widgets/timeline_actions.h"
#include "app/widgets/timeline_canvas.h"
#include "tests/app_timeline/training_trace.h"

#include <QAction>
#include <QMenu>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <gtest/gtest.h>

namespace app {
namespace {

/// A view whose settings are a folder of the test's.
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

TEST_F(TimelineViewTest, RowsStandInTheNextTraceOfAKindAsTheyWereLeft)
{
    {
        TimelineView view(&selection, BookmarkStore(folder.filePath("bookmarks")));
        view.replaceTrace(test::trainingTrace({.steps = 3}));
        ASSERT_EQ(rows(view), 10);
        view.canvas()->rowDown();
        view.canvas()->hideRow();
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

TEST_F(TimelineViewTest, EveryHandIsInAMenuOnce)
{
    TimelineView view(&selection, BookmarkStore(folder.filePath("bookmarks")));
    QList<QAction*> listed;
    for (const QAction* topic : view.actions()) {
        ASSERT_TRUE(topic->menu());
        listed += topic->menu()->actions();
    }
    for (QAction* action : view.canvas()->actions())
        EXPECT_EQ(listed.count(action), 1) << action->text().toStdString();
}

} // namespace
} // namespace app
