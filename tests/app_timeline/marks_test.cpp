#include "app/timeline/timeline_actions.h"
#include "app/timeline/timeline_minimap.h"
#include "app/timeline_tools/go_to.h"
#include "app/views/timeline/timeline_view.h"
#include "tests/app_timeline/timeline_canvas_fixture.h"

#include <QAction>
#include <QDir>
#include <QFile>
#include <QInputDialog>
#include <QMenu>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <cmath>
#include <limits>

namespace app {
namespace {

using namespace profiler;

class MarksTest : public TimelineCanvasTest {
protected:
    void point(QPointF at)
    {
        QMouseEvent move(QEvent::MouseMove, at, canvas.viewport()->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                         Qt::NoModifier);
        QApplication::sendEvent(canvas.viewport(), &move);
    }
};

TEST_F(MarksTest, SeveralMarksCanBeSetAndRemoved)
{
    for (const double x : {400., 600., 800.}) {
        point({x, 300});
        key(Qt::Key_M);
    }
    ASSERT_EQ(scene().marks.all().size(), 3U);
    EXPECT_EQ(scene().marks.origin(), scene().marks.all()[2].time) << "measured from the last";
    point({602, 200});
    key(Qt::Key_M);
    ASSERT_EQ(scene().marks.all().size(), 2U);
    EXPECT_EQ(scene().marks.all()[1].time, scene().timeAt(800));
    key(Qt::Key_Escape);
    EXPECT_TRUE(scene().marks.all().empty());
}

TEST_F(MarksTest, AMeasuredRangeIsShownInSteps)
{
    const Steps& steps = *scene().steps;
    EXPECT_EQ(stepSpan(steps, {step(4).begin, step(6).begin}).toStdString(), "2.00 steps");
    const TraceTime middle = step(7).begin + step(7).duration / 2;
    EXPECT_EQ(stepSpan(steps, {step(7).begin, middle}).toStdString(), "0.500 steps");
    // Step numbers may restart each epoch or have gaps: the distance is counted in steps.
    Steps epochs = steps;
    for (profiler::analysis::Step& one : epochs)
        one.index %= 3;
    EXPECT_EQ(stepSpan(epochs, {step(4).begin, step(6).begin}).toStdString(), "2.00 steps");
    EXPECT_EQ(stepPlace(steps, step(7).begin + Nanoseconds{3'100'000}).toStdString(), "step 7 + 3.10 ms");
    EXPECT_TRUE(stepPlace(steps, trace->range().begin - Nanoseconds{5}).isEmpty());
}

TEST_F(MarksTest, F2StepsThroughTheBookmarks)
{
    QSignalSpy changed(&canvas, &TimelineCanvas::bookmarksChanged);
    canvas.setBookmark(step(3).begin, "slow");
    canvas.setBookmark(step(20).begin, "fast");
    EXPECT_EQ(changed.size(), 2);
    canvas.bringIntoView(step(10).range());
    const auto middle = [&] { return scene().axis.timeAt(scene().axis.width() / 2); };
    const auto isAt = [&](TraceTime time) {
        return std::abs((middle() - time).count()) < 2 * scene().axis.nsPerPixel();
    };
    key(Qt::Key_F2);
    EXPECT_TRUE(isAt(step(20).begin));
    key(Qt::Key_F2);
    EXPECT_TRUE(isAt(step(3).begin)) << "and around";
    key(Qt::Key_F2, Qt::ShiftModifier);
    EXPECT_TRUE(isAt(step(20).begin));
    point(QPointF(scene().xOf(step(20).begin) + 2, 300));
    key(Qt::Key_B, Qt::ControlModifier | Qt::ShiftModifier);
    ASSERT_EQ(scene().marks.bookmarks().size(), 1U);
    EXPECT_EQ(scene().marks.bookmarks()[0].note, "slow");
    key(Qt::Key_Escape);
    EXPECT_EQ(scene().marks.bookmarks().size(), 1U) << "Esc takes marks, not bookmarks";
}

TEST_F(MarksTest, CtrlBAsksForANoteAndShowsTheExistingOne)
{
    QSignalSpy wanted(&canvas, &TimelineCanvas::bookmarkWanted);
    canvas.setBookmark(step(9).begin, "warm");
    point(QPointF(scene().xOf(step(9).begin) + 3, 250));
    key(Qt::Key_B, Qt::ControlModifier);
    ASSERT_EQ(wanted.size(), 1);
    EXPECT_EQ(wanted[0][0].value<TraceTime>(), step(9).begin);
    EXPECT_EQ(wanted[0][1].toString(), "warm");
    point(QPointF(scene().xOf(step(9).begin) + 60, 250));
    key(Qt::Key_B, Qt::ControlModifier);
    EXPECT_EQ(wanted[1][0].value<TraceTime>(), scene().timeAt(scene().xOf(step(9).begin) + 60));
    EXPECT_TRUE(wanted[1][1].toString().isEmpty());
}

class BookmarksTest : public testing::Test {
protected:
    void writeTrace(const QByteArray& content)
    {
        QFile file(QString::fromStdString(path.string()));
        ASSERT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(content);
    }
    QTemporaryDir folder;
    std::filesystem::path path = folder.filePath("a trace.json").toStdString();
    Selection selection;
    std::shared_ptr<const Trace> trace = test::trainingTrace({.steps = 12});
};

TEST_F(BookmarksTest, AreRestoredOnlyWithTheirTrace)
{
    writeTrace("one");
    const TraceTime time = trace->ofKind(ActivityKind::Step).at(5).begin;
    {
        TimelineView view(&selection, BookmarkStore(folder.filePath("kept")));
        view.resize(1000, 500);
        view.replaceTrace(trace, path);
        view.show();
        view.canvas()->setBookmark(time, "here & there");
        view.canvas()->marks().toggleMark();
    }
    EXPECT_EQ(QDir(folder.path()).entryList(QDir::Files), QStringList{"a trace.json"}) << "no file next to the trace";
    TimelineView later(&selection, BookmarkStore(folder.filePath("kept")));
    later.replaceTrace(trace, path);
    const auto found = later.canvas()->scene().marks.all();
    ASSERT_EQ(found.size(), 1U) << "a mark without a bookmark is not saved";
    EXPECT_EQ(found[0], (TimelineMark{time, true, "here & there"}));
    auto* menu = later.findChild<QMenu*>("bookmarks");
    ASSERT_TRUE(menu);
    emit menu->aboutToShow();
    ASSERT_EQ(menu->actions().size(), 1);
    EXPECT_TRUE(menu->actions()[0]->text().contains("here && there"));
    menu->actions()[0]->trigger();

    writeTrace("another recording");
    later.replaceTrace(trace, path);
    EXPECT_TRUE(later.canvas()->scene().marks.all().empty());
}

TEST_F(BookmarksTest, ADamagedBookmarkFileIsEmpty)
{
    writeTrace("one");
    const BookmarkStore store(folder.filePath("kept"));
    ASSERT_TRUE(store.save(path, {{traceTime(std::numeric_limits<std::int64_t>::max() - 7), true, "late"}}));
    EXPECT_EQ(store.load(path).value().at(0).time, traceTime(std::numeric_limits<std::int64_t>::max() - 7))
        << "to the ns";
    QDir kept(folder.filePath("kept"));
    QFile file(kept.filePath(kept.entryList(QDir::Files).at(0)));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(R"({"bookmarks":[{"ns":12},{"ns":"x"},7,{"note":"no time"}]})");
    file.close();
    EXPECT_TRUE(store.load(path).value().empty());
    EXPECT_FALSE(store.load("/no/such/file"));
    EXPECT_FALSE(store.save("/no/such/file", {{traceTime(1), true, ""}}));
}

TEST_F(BookmarksTest, AFailedSaveIsReported)
{
    writeTrace("one");
    // A file at the path of the folder makes writing fail for every user.
    QFile file(folder.filePath("kept"));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    TimelineView view(&selection, BookmarkStore(folder.filePath("kept")));
    view.replaceTrace(trace, path);
    QStringList told;
    QObject::connect(&view, &TimelineView::noticed, [&](const QString& what) { told << what; });
    view.canvas()->setBookmark(trace->range().begin, "look here");
    ASSERT_EQ(told.size(), 1);
    EXPECT_TRUE(told[0].startsWith("Could not save the bookmarks")) << told[0].toStdString();
    std::filesystem::remove(path);
    view.canvas()->setBookmark(trace->range().begin, "and here");
    ASSERT_EQ(told.size(), 2);
    EXPECT_TRUE(told[1].contains("no longer exists")) << told[1].toStdString();
}

TEST_F(BookmarksTest, TheDialogSetsTheNote)
{
    writeTrace("one");
    TimelineView view(&selection, BookmarkStore(folder.filePath("kept")));
    view.resize(1000, 500);
    view.replaceTrace(trace, path);
    view.show();
    view.canvas()->marks().editBookmark();
    auto* dialog = view.findChild<QInputDialog*>("bookmarkNote");
    ASSERT_TRUE(dialog);
    dialog->setTextValue("  look here ");
    dialog->accept();
    ASSERT_EQ(view.canvas()->scene().marks.bookmarks().size(), 1U);
    EXPECT_EQ(view.canvas()->scene().marks.bookmarks()[0].note, "look here");
}

TEST_F(BookmarksTest, GoingToATimeOrAStep)
{
    TimelineView view(&selection, BookmarkStore(folder.filePath("kept")));
    view.resize(1000, 500);
    view.replaceTrace(trace, {});
    EXPECT_FALSE(view.goTo("step 7").isEmpty()) << "not known yet";
    view.showSteps(std::make_shared<const Steps>(analysis::findSteps(*trace)));
    view.show();
    view.canvas()->navigation().zoomIn();
    view.canvas()->navigation().zoomIn();
    const auto& axis = view.canvas()->scene().axis;
    EXPECT_TRUE(view.goTo("340 ms").isEmpty());
    EXPECT_NEAR(axis.xOf(trace->range().begin + Nanoseconds{340'000'000}), axis.width() / 2, 1);
    EXPECT_TRUE(view.goTo("step 7").isEmpty());
    EXPECT_EQ(selection.slice(), trace->ofKind(ActivityKind::Step).at(7).id);
    EXPECT_TRUE(view.goTo("step 700").contains("700"));
    EXPECT_FALSE(view.goTo("99 h").isEmpty()) << "beyond the end";
    EXPECT_FALSE(view.goTo("nowhere").isEmpty());
}

TEST(GoTo, AcceptsCommonNotationsOfTimesAndSteps)
{
    const auto ns = [](const char* text) {
        const auto found = parseDestination(QString::fromUtf8(text));
        return found && std::holds_alternative<Nanoseconds>(*found) ? std::get<Nanoseconds>(*found).count() : -1;
    };
    EXPECT_EQ(ns("1.25 s"), 1'250'000'000);
    EXPECT_EQ(ns("340ms"), 340'000'000);
    EXPECT_EQ(ns(" 12 µs "), 12'000);
    EXPECT_EQ(ns("12us"), 12'000);
    EXPECT_EQ(ns("7 NS"), 7);
    EXPECT_EQ(ns("1:23.5"), 83'500'000'000);
    EXPECT_EQ(ns("1,5 s"), 1'500'000'000);
    EXPECT_EQ(ns("2 min"), 120'000'000'000);
    EXPECT_EQ(ns("12.345 678 901 s"), 12'345'678'901) << "as the app shows it";
    EXPECT_EQ(ns("1,234.567 890 123 s"), 1'234'567'890'123);
    for (const char* bad : {"", "12", "ms", "-3 ms", "1e400 s", "999999999999999 h", "step", "step x", "1.2.3 s"})
        EXPECT_FALSE(parseDestination(bad)) << bad;
    EXPECT_EQ(std::get<std::int64_t>(*parseDestination("Step 12")), 12);
    EXPECT_EQ(std::get<std::int64_t>(*parseDestination("#3")), 3);
}

} // namespace
} // namespace app
