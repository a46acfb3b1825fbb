#include "app/timeline/timeline_actions.h"
#include "app/timeline/track_rows.h"
#include "tests/app_timeline/timeline_canvas_fixture.h"

#include <QAction>
#include <QContextMenuEvent>
#include <QMenu>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTimer>
#include <gmock/gmock.h>

namespace app {
namespace {

using namespace profiler;
using testing::ElementsAre;

std::vector<std::string> names(const TrackRows& rows)
{
    std::vector<std::string> all;
    for (const TrackRow& row : rows.all())
        all.push_back(row.name.toStdString());
    return all;
}

class RowLayoutTest : public TimelineCanvasTest {
protected:
    int row(const QString& name) const
    {
        for (int i = 0; i < scene().rows.count(); ++i)
            if (scene().rows.at(i).name == name)
                return i;
        ADD_FAILURE() << name.toStdString();
        return 0;
    }
    const TrackRow& rowNamed(const QString& name) const { return scene().rows.at(row(name)); }
    QPoint headerOf(const QString& name) const
    {
        const TrackRow& which = rowNamed(name);
        return {80, scene().topOf(which) + std::min(which.height / 2, 12)};
    }
    void makeCurrent(const QString& name)
    {
        while (scene().currentRow > row(name))
            key(Qt::Key_Up, Qt::ControlModifier);
        while (scene().currentRow < row(name))
            key(Qt::Key_Down, Qt::ControlModifier);
    }
};

TEST_F(RowLayoutTest, AltArrowsMoveARowAmongItsSiblings)
{
    QSignalSpy changed(&canvas, &TimelineCanvas::rowLayoutChanged);
    makeCurrent("stream 7");
    key(Qt::Key_Down, Qt::AltModifier);
    EXPECT_THAT(names(scene().rows), ElementsAre("Loader workers", "loader worker 0", "loader worker 1", "main thread",
                                                 "GPU 0", "stream 14", "stream 7", "Counters", "loss", "memory"));
    EXPECT_EQ(scene().currentRow, row("stream 7")) << "it stays current";
    EXPECT_EQ(changed.size(), 1);
    key(Qt::Key_Down, Qt::AltModifier);
    EXPECT_EQ(row("stream 7"), 6) << "it does not leave its device";
    makeCurrent("GPU 0");
    key(Qt::Key_Up, Qt::AltModifier);
    EXPECT_THAT(names(scene().rows), ElementsAre("Loader workers", "loader worker 0", "loader worker 1", "GPU 0",
                                                 "stream 14", "stream 7", "main thread", "Counters", "loss", "memory"))
        << "a group moves with its rows";
}

TEST_F(RowLayoutTest, AHeaderCanBeDraggedToAnotherPlace)
{
    drag(headerOf("Counters"), headerOf("Loader workers") - QPoint(0, 8));
    EXPECT_THAT(names(scene().rows), ElementsAre("Counters", "loss", "memory", "Loader workers", "loader worker 0",
                                                 "loader worker 1", "main thread", "GPU 0", "stream 7", "stream 14"));
    drag(headerOf("loss"), {80, scene().topOf(rowNamed("memory")) + rowNamed("memory").height - 4});
    EXPECT_EQ(row("loss"), 2);
    EXPECT_TRUE(scene().rows.at(0).open) << "a drag is not a click";
    drag(headerOf("loss"), headerOf("GPU 0"));
    EXPECT_EQ(row("loss"), 2) << "dropped outside its group, it becomes the last one";
}

TEST_F(RowLayoutTest, HiddenRowsAreCountedAndCanBeShown)
{
    makeCurrent("main thread");
    key(Qt::Key_H);
    makeCurrent("stream 14");
    key(Qt::Key_H);
    EXPECT_THAT(names(scene().rows), ElementsAre("Loader workers", "loader worker 0", "loader worker 1", "GPU 0",
                                                 "stream 7", "Counters", "loss", "memory", "2 hidden – show all"));
    EXPECT_FALSE(scene().rectOf(step(3)).isValid()) << "nothing is drawn of it";
    canvas.verticalScrollBar()->setValue(canvas.verticalScrollBar()->maximum());
    click(headerOf("2 hidden – show all"));
    EXPECT_EQ(scene().rows.count(), 10);
    EXPECT_EQ(row("main thread"), 3) << "at its old place";
}

TEST_F(RowLayoutTest, ShowingEvidenceUnhidesItsRow)
{
    makeCurrent("main thread");
    key(Qt::Key_H);
    canvas.bringIntoView(step(4).range(), step(4).id.track);
    EXPECT_EQ(scene().rectOf(step(4)).isEmpty(), false);
}

TEST_F(RowLayoutTest, APinnedRowStaysWhileTheOthersScroll)
{
    canvas.resize(1200, 300);
    makeCurrent("stream 7");
    key(Qt::Key_P);
    ASSERT_EQ(row("stream 7"), 0);
    EXPECT_TRUE(rowNamed("stream 7").pinned);
    EXPECT_EQ(rowNamed("stream 7").detail, "GPU 0") << "it shows its group";
    const auto kernel = trace->ofKind(ActivityKind::Kernel).at(30);
    canvas.bringIntoView({kernel.begin - Nanoseconds{1'000'000}, kernel.end() + Nanoseconds{1'000'000}});
    const QRectF before = scene().rectOf(kernel);
    QScrollBar* bar = canvas.verticalScrollBar();
    ASSERT_GT(bar->maximum(), 20);
    bar->setValue(bar->maximum());
    EXPECT_EQ(scene().rectOf(kernel), before);
    click(before.center().toPoint());
    ASSERT_TRUE(scene().selected);
    EXPECT_EQ(scene().selected->id, kernel.id) << "it can be clicked there";
    // Scrolled rows are not drawn over it.
    const QColor fill = scene().colors.scheme() == ColorBy::Kind
                            ? classStyle(classify(kernel.kind, trace->name(kernel)), false).fill
                            : QColor();
    canvas.setSelectedSlice({});
    EXPECT_EQ(colorAt({static_cast<int>(before.right()) - 3, static_cast<int>(before.bottom()) - 2}), fill);
    makeCurrent("stream 7");
    key(Qt::Key_P);
    EXPECT_FALSE(rowNamed("stream 7").pinned);
}

TEST_F(RowLayoutTest, PinsThatWouldFillTheCanvasScrollWithTheRest)
{
    canvas.resize(1200, 160);
    makeCurrent("main thread");
    key(Qt::Key_P);
    EXPECT_GT(scene().rows.pinnedHeight(), 80);
    EXPECT_EQ(scene().pinnedHeight(), 0);
    canvas.verticalScrollBar()->setValue(60);
    EXPECT_EQ(scene().topOf(scene().rows.at(0)), TimelineScene::kRulerHeight - 60);
}

TEST_F(RowLayoutTest, TheLowerEdgeOfAHeaderSetsTheHeight)
{
    const auto dragEdge = [&](const QString& name, int by) {
        const TrackRow& which = rowNamed(name);
        const QPoint edge(80, scene().topOf(which) + which.height - 1);
        drag(edge, edge + QPoint(0, by));
    };
    const int lossHeight = rowNamed("loss").height;
    dragEdge("loss", 30);
    EXPECT_EQ(rowNamed("loss").height, lossHeight + 29);
    const int levels = rowNamed("main thread").lanes;
    ASSERT_GE(levels, 4);
    dragEdge("main thread", -2 * rowNamed("main thread").laneHeight);
    EXPECT_EQ(rowNamed("main thread").lanes, levels - 2);
    EXPECT_FALSE(scene().rows.shows(step(0).id.track, levels - 1));
    dragEdge("main thread", 10 * rowNamed("main thread").laneHeight);
    EXPECT_EQ(rowNamed("main thread").lanes, levels) << "never more than there are";
    EXPECT_FALSE(scene().rows.layout().sizes.contains(rowNamed("main thread").key)) << "showing all is not a limit";
}

TEST_F(RowLayoutTest, OneActionResetsTheOrder)
{
    makeCurrent("stream 7");
    key(Qt::Key_P);
    makeCurrent("main thread");
    key(Qt::Key_H);
    timelineAction(canvas, "resetRows")->trigger();
    EXPECT_EQ(scene().rows.layout(), RowLayout{});
    EXPECT_EQ(scene().rows.count(), 10);
}

TEST_F(RowLayoutTest, TheMenuOfARowOffersItsActions)
{
    const auto choose = [&](const QString& row, const char* entry) {
        bool offered = false;
        QTimer::singleShot(0, &canvas, [&] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            ASSERT_TRUE(menu);
            if (auto* action = menu->findChild<QAction*>(entry)) {
                offered = true;
                action->trigger();
            }
            menu->close();
        });
        const QPoint at = headerOf(row);
        QContextMenuEvent event(QContextMenuEvent::Mouse, at, canvas.viewport()->mapToGlobal(at));
        QApplication::sendEvent(canvas.viewport(), &event);
        return offered;
    };
    EXPECT_TRUE(choose("loss", "hideRow"));
    EXPECT_EQ(scene().rows.hidden().size(), 1U);
    EXPECT_TRUE(choose("memory", "togglePin"));
    EXPECT_EQ(row("memory"), 0);
    EXPECT_FALSE(choose("memory", "toggleRow")) << "a counter cannot be collapsed";
}

TEST(RowLayout, SurvivesSavingAndIgnoresMalformedParts)
{
    RowLayout layout;
    layout.open["a"] = false;
    layout.hidden = {"b", "c"};
    layout.pinned = {"d"};
    layout.sizes["e"] = 120;
    layout.order[""] = {"z", "y"};
    EXPECT_EQ(RowLayout::fromJson(layout.toJson()), layout);
    EXPECT_EQ(RowLayout::fromJson("not json"), RowLayout{});
    const RowLayout read = RowLayout::fromJson(
        R"({"open":{"a":"yes"},"hidden":["b",7],"sizes":{"e":-3,"f":99999999,"g":40},"order":{"":["z","z",1],"p":[]}})");
    EXPECT_TRUE(read.open.empty());
    EXPECT_THAT(read.hidden, ElementsAre(QString("b")));
    EXPECT_THAT(read.sizes, ElementsAre(std::pair<const QString, int>("g", 40)));
    EXPECT_EQ(read.order.at(""), QStringList{"z"});
    EXPECT_EQ(read.order.size(), 1U);
}

/// A layout does not use ids, so it applies to the next run, which has other ids.
TEST(RowLayout, FitsAnotherTraceOfTheSameKind)
{
    const auto trace = [](std::int64_t pid, std::int64_t tid) {
        TraceBuilder builder;
        for (const auto& [kind, name] : {std::pair{TrackKind::MainThread, "main thread"},
                                         {TrackKind::Thread, "python"},
                                         {TrackKind::Thread, "python"}}) {
            Track track;
            track.kind = kind;
            track.name = name;
            track.pid = pid;
            track.tid = ++tid;
            const TrackId id = builder.addTrack(track);
            Slice slice;
            slice.duration = Nanoseconds{10};
            slice.name = builder.intern("work");
            builder.add(id, slice);
        }
        return builder.finish();
    };
    TrackRows first;
    first.setTrace(trace(10, 100));
    ASSERT_THAT(names(first), ElementsAre("main thread", "Other threads", "python", "python"));
    first.hide(3);
    TrackRows second;
    second.setLayout(RowLayout::fromJson(first.layout().toJson()));
    second.setTrace(trace(77, 900));
    EXPECT_THAT(names(second), ElementsAre("main thread", "Other threads", "python", "1 hidden – show all"));
    EXPECT_EQ(second.at(2).detail, "thread 902") << "the second of them, not both";
}

} // namespace
} // namespace app
