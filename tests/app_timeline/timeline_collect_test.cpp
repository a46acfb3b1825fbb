// Several selected slices, pinned tooltips, and the filter of the tracks.
#include "app/timeline/timeline_actions.h"
#include "tests/app_timeline/timeline_canvas_fixture.h"

#include <QAction>
#include <QClipboard>
#include <QLineEdit>
#include <QSignalSpy>
#include <QToolButton>

namespace app {
namespace {

using profiler::Slice;
using profiler::SliceId;

class TimelineCollectTest : public TimelineCanvasTest {
protected:
    void ctrlClick(const Slice& slice)
    {
        QTest::mouseClick(canvas.viewport(), Qt::LeftButton, Qt::ControlModifier, middleOf(slice));
    }
    void middleClick(const Slice& slice)
    {
        const QPointF at = middleOf(slice);
        QMouseEvent move(QEvent::MouseMove, at, canvas.viewport()->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                         Qt::NoModifier);
        QApplication::sendEvent(canvas.viewport(), &move);
        QTest::mouseClick(canvas.viewport(), Qt::MiddleButton, Qt::NoModifier, at.toPoint());
    }
    std::vector<SliceId> several() const
    {
        std::vector<SliceId> ids;
        for (const Slice& slice : scene().several)
            ids.push_back(slice.id);
        return ids;
    }
    /// Those that are not being deleted.
    QList<PinnedCard*> cards() const
    {
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        return canvas.viewport()->findChildren<PinnedCard*>();
    }
    QLineEdit* filter() const { return canvas.findChild<QLineEdit*>("trackFilter"); }
    QStringList tracks() const
    {
        QStringList names;
        for (const TrackRow& row : scene().rows.all())
            names << row.name;
        return names;
    }
};

TEST_F(TimelineCollectTest, ControlClickCollectsSlices)
{
    QSignalSpy collected(&canvas, &TimelineCanvas::slicesSelected);
    const Slice first = named("forward", step(2).range()), second = named("backward", step(2).range());
    canvas.bringIntoView(step(2).range());
    click(middleOf(first));
    EXPECT_EQ(scene().selected->id, first.id);
    ctrlClick(second);
    EXPECT_FALSE(scene().selected);
    EXPECT_EQ(several(), (std::vector{first.id, second.id}));
    ASSERT_EQ(collected.count(), 1);
    EXPECT_EQ(collected[0][0].value<std::vector<SliceId>>().size(), 2U);
    EXPECT_EQ(scene().selectedTime()->begin, first.begin);
    EXPECT_EQ(scene().selectedTime()->end, second.end());
    ctrlClick(first); // removes it
    EXPECT_EQ(scene().selected->id, second.id);
    EXPECT_TRUE(several().empty());
    ctrlClick(second);
    EXPECT_FALSE(scene().selected);
}

TEST_F(TimelineCollectTest, KeysCollectNeighbours)
{
    const Slice first = named("forward", step(2).range());
    canvas.selectAndShow(first);
    key(Qt::Key_Period, Qt::ControlModifier);
    key(Qt::Key_Period, Qt::ControlModifier);
    EXPECT_EQ(several().size(), 3U);
    EXPECT_EQ(several().front(), first.id);
    key(Qt::Key_Escape);
    EXPECT_TRUE(several().empty());
    EXPECT_FALSE(scene().selectedTime());
}

TEST_F(TimelineCollectTest, AClickSelectsOneSliceAgain)
{
    canvas.bringIntoView(step(2).range());
    const Slice first = named("forward", step(2).range()), second = named("backward", step(2).range());
    canvas.setSelectedSlices({first.id, second.id});
    click(middleOf(second));
    EXPECT_EQ(scene().selected->id, second.id);
    EXPECT_TRUE(several().empty());
    canvas.setSelectedSlices({first.id, second.id});
    canvas.setTrace(test::trainingTrace({.steps = 3}));
    EXPECT_TRUE(several().empty());
}

TEST_F(TimelineCollectTest, AMiddleClickPinsTheTooltip)
{
    canvas.bringIntoView(step(2).range());
    const Slice forward = named("forward", step(2).range());
    middleClick(forward);
    ASSERT_EQ(cards().size(), 1);
    EXPECT_FALSE(scene().selected);
    const QString text = cards()[0]->text();
    EXPECT_TRUE(text.startsWith("forward\n")) << text.toStdString();
    cards()[0]->findChild<QToolButton*>("pinnedCopy")->click();
    EXPECT_EQ(QGuiApplication::clipboard()->text(), text);
    middleClick(named("backward", step(2).range()));
    ASSERT_EQ(cards().size(), 2);
    for (const PinnedCard* card : cards())
        EXPECT_TRUE(canvas.viewport()->rect().contains(card->geometry()));
}

TEST_F(TimelineCollectTest, EscapeClosesThePinnedTooltipsFirst)
{
    const Slice forward = named("forward", step(2).range());
    canvas.selectAndShow(forward);
    key(Qt::Key_T); // of the selected slice, because the pointer is not over another one
    key(Qt::Key_T);
    ASSERT_EQ(cards().size(), 2);
    key(Qt::Key_Escape);
    EXPECT_EQ(cards().size(), 1);
    EXPECT_TRUE(scene().selected);
    QTest::keyClick(cards()[0], Qt::Key_Escape);
    EXPECT_TRUE(cards().empty());
    key(Qt::Key_Escape);
    EXPECT_FALSE(scene().selected);
    key(Qt::Key_T);
    EXPECT_TRUE(cards().empty());
}

TEST_F(TimelineCollectTest, PinnedTooltipsBelongToTheirTrace)
{
    canvas.selectAndShow(named("forward", step(2).range()));
    for (std::size_t i = 0; i < PinnedCards::kMost + 3; ++i)
        key(Qt::Key_T);
    EXPECT_EQ(cards().size(), static_cast<qsizetype>(PinnedCards::kMost));
    canvas.setTrace(test::trainingTrace({.steps = 3}));
    EXPECT_TRUE(cards().empty());
}

TEST_F(TimelineCollectTest, TracksAreFilteredByText)
{
    const QStringList all = tracks();
    key(Qt::Key_F, Qt::ControlModifier | Qt::AltModifier);
    EXPECT_EQ(QApplication::focusWidget(), filter());
    QTest::keyClicks(filter(), "stream");
    EXPECT_LT(tracks().size(), all.size());
    for (const QString& track : tracks())
        EXPECT_TRUE(track.startsWith("stream") || track.startsWith("GPU")) << track.toStdString();
    const QStringList streams = tracks();
    filter()->setText("durr>1"); // does not parse: everything is shown
    EXPECT_EQ(tracks(), all);
    EXPECT_NE(filter()->palette().color(QPalette::Text), canvas.palette().color(QPalette::Text));
    filter()->setText("stream");
    EXPECT_EQ(tracks(), streams);
    QTest::keyClick(filter(), Qt::Key_Escape);
    EXPECT_EQ(tracks(), all);
    EXPECT_EQ(QApplication::focusWidget(), &canvas);
}

TEST_F(TimelineCollectTest, ATrackThatIsToBeShownClearsTheFilter)
{
    const QStringList all = tracks();
    filter()->setText("nothing-has-this");
    EXPECT_TRUE(tracks().empty());
    canvas.selectAndShow(named("forward", step(2).range()));
    EXPECT_EQ(filter()->text(), QString());
    EXPECT_EQ(tracks(), all);
    filter()->setText("\"unfinished"); // a text with an error stays
    EXPECT_EQ(filter()->text(), QString("\"unfinished"));
}

} // namespace
} // namespace app
