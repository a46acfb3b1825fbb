#include "app/tables/evidence_table.h"
#include "app/timeline/timeline_canvas.h"
#include "app/views/side_by_side/side_by_side_view.h"
#include "app/window/dock_layout.h"
#include "app/window/window_strips.h"
#include "profiler/formats/format.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"
#include "tests/support/trace_text.h"

#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QMouseEvent>
#include <QSettings>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>
#include <fmt/format.h>

// Two traces side by side on one axis.

using app::Side;
using app::TracePair;
using app_test::App;
using app_test::find;
using profiler::Nanoseconds;
using profiler::Slice;
using profiler::toNs;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

/// Steps of `us` µs, each with two `gemm` kernels of a fifth of it and one named `last`.
std::string training(int us, int first, int steps, const std::string& last)
{
    std::string text = "main\n";
    std::string kernels = "stream 0 7\n";
    for (int i = 0; i < steps; ++i) {
        const int begin = i * us;
        text +=
            fmt::format("step {0} {1} {2}\nphase \"data wait\" {1} {3}\nphase forward {4} {5}\nop aten::mm {4} {3}\n",
                        first + i, begin, us, us / 5, begin + us / 5, us - us / 5);
        kernels += fmt::format("kernel gemm {} {}\nkernel gemm {} {}\nkernel {} {} {}\n", begin + us / 5, us / 5,
                               begin + 2 * us / 5, us / 5, last, begin + 4 * us / 5, us / 10);
    }
    return text + kernels;
}

/// A window with a trace and a second one next to it.
struct Both {
    explicit Both(QSize size = {1440, 900}) : app(size)
    {
        a = save("a.sspack", training(1000, 0, 10, "relu"));
        b = save("b.sspack", training(600, 0, 14, "gelu"));
        app.bench.document.openTrace(a);
        if (!QTest::qWaitFor([this] { return app.bench.document.analysed() != nullptr; }, 20'000))
            qFatal("the trace was not analysed in time");
        QTest::qWait(50);
    }
    std::filesystem::path save(const char* name, const std::string& text)
    {
        std::filesystem::path path = folder.filePath(name).toStdString();
        if (!profiler::formats::saveTrace(*test_support::traceFromText(text), path, {}))
            qFatal("a test's trace cannot be written");
        return path;
    }
    void open() { open(b); }
    void open(const std::filesystem::path& file)
    {
        pair().open(file);
        if (!QTest::qWaitFor([this] { return pair().isOpen() && !pair().steps(Side::Second).empty(); }, 20'000))
            qFatal("the second trace was not analysed in time");
        settle();
    }
    void settle()
    {
        if (!QTest::qWaitFor([this] { return pair().isUpToDate(); }, 10'000))
            qFatal("the counterpart was not found in time");
        QTest::qWait(20);
    }
    TracePair& pair() { return app.bench.pair; }
    [[nodiscard]] app::TimelineCanvas* canvas(Side side) const
    {
        if (side == Side::Second)
            return app.window.findChild<app::SideBySideView*>()->canvas();
        for (auto* canvas : app.window.findChildren<app::TimelineCanvas*>())
            if (canvas->objectName() != "secondTimeline")
                return canvas;
        return nullptr;
    }
    [[nodiscard]] double x(Side side, profiler::TraceTime time) const { return canvas(side)->scene().xOf(time); }
    /// The nth slice with this name.
    Slice slice(Side side, std::string_view name, std::size_t nth)
    {
        const auto trace = pair().document(side)->trace();
        for (const profiler::Track& track : trace->tracks())
            for (const Slice& slice : trace->sorted(track.id))
                if (trace->name(slice) == name && nth-- == 0)
                    return slice;
        qFatal("there is no such slice");
    }
    app::Selection* selection(Side side) { return pair().document(side)->selection(); }
    void select(Side side, const Slice& slice)
    {
        selection(side)->selectSlice(slice.id);
        settle();
    }
    [[nodiscard]] QMap<QString, QRect> places() const
    {
        QMap<QString, QRect> found;
        for (const auto& placed : app.window.findChild<app::DockLayout*>()->views()) {
            const bool visible = placed.widget->isVisible() && !placed.widget->visibleRegion().isEmpty();
            found[placed.widget->objectName()] =
                visible ? QRect(placed.widget->mapTo(&app.window, QPoint()), placed.widget->size()) : QRect();
        }
        return found;
    }
    void drop(const QString& file)
    {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(file)});
        QDragEnterEvent enter(QPoint(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&app.window, &enter);
        QDropEvent dropped(QPointF(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&app.window, &dropped);
    }
    /// Chooses an entry of the menu that a dropped file opens.
    void chooseInDropMenu(const char* entry)
    {
        if (!QTest::qWaitFor([this] { return app.window.findChild<QMenu*>("howToOpen") != nullptr; }, 5'000))
            qFatal("nothing was asked");
        auto* menu = app.window.findChild<QMenu*>("howToOpen");
        find<QAction>(menu, entry)->trigger();
        menu->close();
    }

    QTemporaryDir folder;
    std::filesystem::path a, b;
    App app;
};

} // namespace

class SideBySideTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init() { QSettings().clear(); }
    void bothTimelinesShareTheWindow_data();
    void bothTimelinesShareTheWindow();
    void closingRestoresTheLayout();
    void theyMoveTogetherOrIndependently();
    void theSelectedStepStartsAtTheSamePosition();
    void aSliceSelectsItsCounterpart();
    void aRangeIsSelectedInBoth();
    void withoutCommonNumbersTheOrderDecides();
    void theSelectedSliceAndItsCounterpartAreAligned();
    void marksAlignTheTraces();
    void aDragWithCtrlShiftsTheSecondTrace();
    void aClickWithCtrlSelectsSeveralSlices();
    void stepsCanBeWalkedThrough();
    void theDifferenceOfTheStepIsListed();
    void aDroppedFileCanBeOpenedBeside();
    void aDroppedFileCanReplaceTheTrace();
    void aFileThatIsNotATraceClosesThePair();
    void anotherTraceOnScreenClosesTheSecond();
    void maximizedTimelinesAreBothShown();
    void equalKindsHaveEqualColours();
    void searchAndBookmarksAreThoseOfTheFocusedTimeline();
    void theMenusActOnTheTimelineThatWasUsedLast();
};

void SideBySideTest::bothTimelinesShareTheWindow_data()
{
    QTest::addColumn<QSize>("size");
    QTest::newRow("1366x768") << QSize(1366, 768);
    QTest::newRow("1920x1080") << QSize(1920, 1080);
    QTest::newRow("1920x1080 at 200 %") << QSize(960, 540);
}

void SideBySideTest::bothTimelinesShareTheWindow()
{
    QFETCH(QSize, size);
    Both both(size);
    both.open();
    const auto *first = both.canvas(Side::First), *second = both.canvas(Side::Second);
    QVERIFY(second->isVisible());
    QCOMPARE(second->viewport()->width(), first->viewport()->width());
    QVERIFY2(first->height() + second->height() > size.height() / 3,
             qPrintable(QString("%1 + %2").arg(first->height()).arg(second->height())));
    const int upper = first->parentWidget()->height(),
              lower = both.app.window.findChild<app::SideBySideView*>()->height();
    QVERIFY2(std::abs(upper - lower) <= 6, // the handle between them
             qPrintable(QString("%1, %2").arg(upper).arg(lower)));
    QCOMPARE(both.app.window.size(), size);
    QVERIFY(find<QLabel>(&both.app.window, "firstTraceName")->text().endsWith("a.sspack"));
    QVERIFY(find<QLabel>(&both.app.window, "secondTraceName")->text().endsWith("b.sspack"));
    QTRY_VERIFY(find<app::EvidenceTable>(&both.app.window, "differenceTable")->isVisible());
    QVERIFY(!find<QComboBox>(&both.app.window, "differenceOf")->visibleRegion().isEmpty()); // in front of its tabs
}

void SideBySideTest::closingRestoresTheLayout()
{
    Both both;
    const auto before = both.places();
    both.open();
    QVERIFY(both.places() != before);
    find<QAction>(&both.app.window, "closeBeside")->trigger();
    QVERIFY(!both.pair().isOpen());
    QTest::qWait(50);
    QCOMPARE(both.places(), before);
    QVERIFY(!find<QLabel>(&both.app.window, "firstTraceName")->isVisible());
    // And a second time, with what the first one left.
    both.open();
    both.pair().close();
    QTest::qWait(50);
    QCOMPARE(both.places(), before);
}

void SideBySideTest::theyMoveTogetherOrIndependently()
{
    Both both;
    both.open();
    auto *first = both.canvas(Side::First), *second = both.canvas(Side::Second);
    const auto differ = [&] {
        const auto a = first->scene().axis.visible(), b = second->scene().axis.visible();
        const Nanoseconds shift = both.pair().viewport()->shift();
        return std::max(std::abs((a.begin - b.begin - shift).count()), std::abs((a.end - b.end - shift).count()));
    };
    QVERIFY(differ() <= 2);
    first->navigation().zoomIn();
    first->navigation().zoomIn();
    QVERIFY(differ() <= 2);
    second->navigation().panRight();
    QVERIFY(differ() <= 2);
    second->navigation().zoomOut();
    QVERIFY(differ() <= 2);
    // The longer trace can be seen completely in both.
    const auto whole = first->scene().axis.bounds();
    first->navigation().fitAll();
    QVERIFY(second->scene().axis.visible().duration() >= whole.duration());
    QVERIFY(differ() <= 2);
    find<QToolButton>(&both.app.window, "lockTimelines")->click();
    const auto before = first->scene().axis.visible();
    second->navigation().zoomIn();
    second->navigation().zoomIn();
    QCOMPARE(first->scene().axis.visible(), before);
    find<QToolButton>(&both.app.window, "lockTimelines")->click();
    QVERIFY(differ() <= 2);
}

void SideBySideTest::theSelectedStepStartsAtTheSamePosition()
{
    Both both;
    both.open();
    for (const auto& [side, position] :
         {std::pair(Side::First, 3), std::pair(Side::Second, 7), std::pair(Side::First, 9)}) {
        both.select(side, both.slice(side, "step", static_cast<std::size_t>(position)));
        const auto a = both.pair().step(Side::First), b = both.pair().step(Side::Second);
        QCOMPARE(a, std::optional(static_cast<std::size_t>(position)));
        QCOMPARE(b, a);
        const double inA = both.x(Side::First, both.pair().steps(Side::First)[*a].range.begin);
        const double inB = both.x(Side::Second, both.pair().steps(Side::Second)[*b].range.begin);
        QVERIFY2(std::abs(inA - inB) < 0.5, qPrintable(QString("%1, %2").arg(inA).arg(inB)));
    }
    QCOMPARE(both.pair().viewport()->shift().count(), 9 * 400'000);
    QVERIFY(find<QLabel>(&both.app.window, "comparedStep")->text().startsWith("Step 9:"));
}

void SideBySideTest::aSliceSelectsItsCounterpart()
{
    Both both;
    both.open();
    both.select(Side::First, both.slice(Side::First, "gemm", 7)); // the second one of step 3
    const auto found = both.selection(Side::Second)->slice();
    QVERIFY(found);
    QCOMPARE(*found, both.slice(Side::Second, "gemm", 7).id);
    both.select(Side::Second, both.slice(Side::Second, "gemm", 4)); // the first one of step 2
    QCOMPARE(both.selection(Side::First)->slice(), std::optional(both.slice(Side::First, "gemm", 4).id));
    QCOMPARE(both.pair().step(Side::First), std::optional<std::size_t>(2));
    // There is no relu in B.
    both.select(Side::First, both.slice(Side::First, "relu", 0));
    QVERIFY(!both.selection(Side::Second)->slice());
    // Steps from 10 on are only in B.
    both.select(Side::Second, both.slice(Side::Second, "gemm", 24));
    QVERIFY(!both.selection(Side::First)->slice());
    QVERIFY(!both.pair().step(Side::First));
    QVERIFY(!both.pair().difference());
}

void SideBySideTest::aRangeIsSelectedInBoth()
{
    Both both;
    both.open();
    const auto step = both.pair().steps(Side::First)[4].range;
    both.selection(Side::First)->selectRange({step.begin + Nanoseconds(100'000), step.end});
    both.settle();
    const auto range = both.selection(Side::Second)->range();
    QVERIFY(range);
    QCOMPARE(range->begin - both.pair().steps(Side::Second)[4].range.begin, Nanoseconds(100'000));
    QCOMPARE(range->duration(), Nanoseconds(900'000));
    both.selection(Side::First)->clear();
    QVERIFY(!both.selection(Side::Second)->range());
}

void SideBySideTest::withoutCommonNumbersTheOrderDecides()
{
    Both both;
    both.open(both.save("c.sspack", training(600, 100, 10, "gelu")));
    QCOMPARE(both.pair().match().by, profiler::analysis::StepMatch::By::Position);
    both.select(Side::First, both.slice(Side::First, "step", 2));
    QCOMPARE(both.pair().step(Side::Second), std::optional<std::size_t>(2));
    QVERIFY2(find<QLabel>(&both.app.window, "comparedStep")->text().contains("102"),
             qPrintable(find<QLabel>(&both.app.window, "comparedStep")->text()));
}

void SideBySideTest::theSelectedSliceAndItsCounterpartAreAligned()
{
    Both both;
    both.open();
    both.select(Side::First, both.slice(Side::First, "gemm", 7));
    auto* alignment = find<QComboBox>(&both.app.window, "alignment");
    alignment->setCurrentIndex(alignment->findData(int(TracePair::Alignment::BySelection)));
    emit alignment->activated(alignment->currentIndex());
    both.settle();
    const auto distance = [&](std::string_view name, std::size_t nth) {
        return std::abs(both.x(Side::First, both.slice(Side::First, name, nth).begin) -
                        both.x(Side::Second, both.slice(Side::Second, name, nth).begin));
    };
    QVERIFY(distance("gemm", 7) < 0.5);
    QVERIFY(distance("step", 3) > 1);
    both.select(Side::Second, both.slice(Side::Second, "gemm", 11));
    QVERIFY(distance("gemm", 11) < 0.5);
    both.select(Side::First, both.slice(Side::First, "relu", 4)); // without a counterpart: its step
    QVERIFY(distance("step", 4) < 0.5);
}

void SideBySideTest::marksAlignTheTraces()
{
    Both both;
    both.open();
    const auto a = both.pair().steps(Side::First)[2].range.begin + Nanoseconds(5'000);
    const auto b = both.pair().steps(Side::Second)[5].range.begin + Nanoseconds(7'000);
    both.pair().setMark(Side::First, a);
    QCOMPARE(both.pair().alignment(), TracePair::Alignment::ByStep);
    QVERIFY(find<QLabel>(&both.app.window, "comparedStep")->text().contains("Shift+M"));
    both.pair().setMark(Side::Second, b);
    both.settle();
    QCOMPARE(both.pair().alignment(), TracePair::Alignment::ByMark);
    QVERIFY(std::abs(both.x(Side::First, a) - both.x(Side::Second, b)) < 0.5);
    // The steps with the marks correspond, and so do the others by order.
    QCOMPARE(both.pair().step(Side::First), std::optional<std::size_t>(2));
    QCOMPARE(both.pair().step(Side::Second), std::optional<std::size_t>(5));
    const auto shift = both.pair().viewport()->shift();
    both.select(Side::First, both.slice(Side::First, "step", 3));
    QCOMPARE(both.pair().step(Side::Second), std::optional<std::size_t>(6));
    QCOMPARE(both.pair().viewport()->shift(), shift);
    auto* alignment = find<QComboBox>(&both.app.window, "alignment");
    alignment->setCurrentIndex(0);
    emit alignment->activated(0);
    both.settle();
    QCOMPARE(both.pair().step(Side::Second), std::optional<std::size_t>(3));
    // With the keyboard, at the selected slice.
    for (const Side side : {Side::First, Side::Second}) {
        both.canvas(side)->setFocus();
        find<QAction>(both.canvas(side), "markForAlignment")->trigger();
    }
    QCOMPARE(both.pair().alignment(), TracePair::Alignment::ByMark);
    QCOMPARE(both.pair().mark(Side::First), std::optional(both.pair().steps(Side::First)[3].range.begin));
}

void SideBySideTest::aDragWithCtrlShiftsTheSecondTrace()
{
    Both both;
    both.open();
    both.select(Side::First, both.slice(Side::First, "step", 2));
    auto* canvas = both.canvas(Side::Second);
    const auto before = both.pair().viewport()->shift();
    const auto visible = both.canvas(Side::First)->scene().axis.visible();
    const double nsPerPixel = canvas->scene().axis.nsPerPixel();
    const QPoint from(canvas->viewport()->width() / 2, canvas->viewport()->height() / 2), to = from + QPoint(50, 0);
    QTest::mousePress(canvas->viewport(), Qt::LeftButton, Qt::ControlModifier, from);
    QMouseEvent move(QEvent::MouseMove, to, canvas->viewport()->mapToGlobal(QPointF(to)), Qt::NoButton, Qt::LeftButton,
                     Qt::ControlModifier);
    QApplication::sendEvent(canvas->viewport(), &move);
    QTest::mouseRelease(canvas->viewport(), Qt::LeftButton, Qt::ControlModifier, to);
    const double moved = double((both.pair().viewport()->shift() - before).count());
    QVERIFY2(std::abs(moved - 50 * nsPerPixel) < nsPerPixel, qPrintable(QString::number(moved / nsPerPixel)));
    QCOMPARE(both.canvas(Side::First)->scene().axis.visible(), visible);
    QCOMPARE(both.pair().alignment(), TracePair::Alignment::ByShift);
    // The field shows it, and sets it. 0: both traces start at the same position.
    auto* shift = find<QDoubleSpinBox>(&both.app.window, "shift");
    QVERIFY(std::abs(shift->value() - double(both.pair().viewport()->shift().count()) / 1e6) < 0.001);
    shift->setValue(0.25);
    QCOMPARE(both.pair().viewport()->shift(), Nanoseconds(250'000));
    find<QAction>(&both.app.window, "shiftRight")->trigger();
    QVERIFY(both.pair().viewport()->shift() > Nanoseconds(250'000));
    // The steps still correspond by number.
    QCOMPARE(both.pair().step(Side::Second), std::optional<std::size_t>(2));
}

void SideBySideTest::aClickWithCtrlSelectsSeveralSlices()
{
    Both both;
    both.open();
    auto* canvas = both.canvas(Side::Second);
    const auto shift = both.pair().viewport()->shift();
    for (const std::size_t nth : {8, 9}) {
        const Slice slice = both.slice(Side::Second, "gemm", nth);
        canvas->revealTrack(slice.id.track, slice.depth);
        const QPoint at = canvas->scene().rectOf(slice).center().toPoint();
        QTest::mouseClick(canvas->viewport(), Qt::LeftButton, Qt::ControlModifier, at);
    }
    QCOMPARE(both.selection(Side::Second)->slices().size(), std::size_t{2});
    QCOMPARE(both.pair().viewport()->shift(), shift);
}

void SideBySideTest::stepsCanBeWalkedThrough()
{
    Both both;
    both.open();
    both.select(Side::First, both.slice(Side::First, "step", 8));
    auto* next = find<QToolButton>(&both.app.window, "nextStep");
    QVERIFY(next->isEnabled());
    next->click();
    both.settle();
    QCOMPARE(both.pair().step(Side::Second), std::optional<std::size_t>(9));
    QVERIFY(!next->isEnabled());
    find<QToolButton>(&both.app.window, "previousStep")->click();
    both.settle();
    QCOMPARE(both.pair().step(Side::First), std::optional<std::size_t>(8));
    const auto visible = both.canvas(Side::First)->scene().axis.visible();
    QVERIFY(visible.contains(both.pair().steps(Side::First)[8].range.begin));
    QVERIFY(visible.duration() < Nanoseconds(3'000'000));
}

void SideBySideTest::theDifferenceOfTheStepIsListed()
{
    Both both;
    both.open();
    both.select(Side::First, both.slice(Side::First, "step", 3));
    QTRY_VERIFY(both.pair().difference());
    const auto* table = find<app::EvidenceTable>(&both.app.window, "differenceTable");
    const auto row = [&](const QString& name) -> const app::EvidenceRow* {
        for (int i = 0; i < table->evidence()->rowCount(); ++i)
            if (table->evidence()->row(i).cells[0].text == name)
                return &table->evidence()->row(i);
        return nullptr;
    };
    const auto* gemm = row("gemm  ·  kernel");
    QVERIFY(gemm);
    QCOMPARE(gemm->cells[1].text, QString("400 µs"));
    QCOMPARE(gemm->cells[2].text, QString("240 µs"));
    QCOMPARE(gemm->cells[3].number, -160'000.0);
    QVERIFY(row("relu  ·  kernel")->cells[3].text.startsWith("gone"));
    QVERIFY(row("gelu  ·  kernel")->cells[3].text.startsWith("new"));
    QVERIFY(row("mm  ·  operator"));
    QVERIFY(row("forward  ·  phase"));
    auto* what = find<QComboBox>(&both.app.window, "differenceOf");
    what->setCurrentIndex(1);
    emit what->activated(1);
    QVERIFY(!row("gemm  ·  kernel"));
    QVERIFY(row("forward  ·  phase"));
    what->setCurrentIndex(0);
    emit what->activated(0);
    // A row selects its longest slice, and its counterpart.
    auto* shown = const_cast<app::EvidenceTable*>(table);
    emit shown->rowActivated(*row("gemm  ·  kernel"));
    both.settle();
    const auto slice = both.selection(Side::First)->slice();
    QVERIFY(slice);
    QCOMPARE(both.pair().document(Side::First)->trace()->slice(*slice).duration, Nanoseconds(200'000));
    QVERIFY(both.selection(Side::Second)->slice());
    emit shown->rowActivated(*row("gelu  ·  kernel"));
    both.settle();
    QVERIFY(both.selection(Side::Second)->slice());
    QVERIFY(!both.selection(Side::First)->slice());
}

void SideBySideTest::aDroppedFileCanBeOpenedBeside()
{
    Both both;
    both.drop(QString::fromStdString(both.b.string()));
    both.chooseInDropMenu("openBesideThis");
    QTRY_VERIFY(both.pair().isOpen() && !both.pair().steps(Side::Second).empty());
    QCOMPARE(both.app.bench.document.path(), both.a);
    QCOMPARE(both.pair().document(Side::Second)->path(), both.b);
}

void SideBySideTest::aDroppedFileCanReplaceTheTrace()
{
    Both both;
    both.drop(QString::fromStdString(both.b.string()));
    both.chooseInDropMenu("openInstead");
    QTRY_COMPARE(both.app.bench.document.path(), both.b);
    QVERIFY(!both.pair().isOpen());
}

void SideBySideTest::aFileThatIsNotATraceClosesThePair()
{
    Both both;
    const auto before = both.places();
    QFile file(both.folder.filePath("holiday.jpg"));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("no trace") > 0);
    file.close();
    both.pair().open(file.fileName().toStdString());
    QTRY_VERIFY(!both.pair().isOpen());
    auto* strip = both.app.window.findChild<app::NoticeStrip*>();
    QVERIFY2(strip->text().startsWith("holiday.jpg cannot be opened: "), qPrintable(strip->text()));
    QCOMPARE(both.app.bench.document.path(), both.a);
    find<QToolButton>(strip, "noticeClose")->click();
    QTest::qWait(50);
    QCOMPARE(both.places(), before);
}

void SideBySideTest::anotherTraceOnScreenClosesTheSecond()
{
    Both both;
    both.open();
    both.app.bench.document.openTrace(both.save("c.sspack", training(700, 0, 5, "relu")));
    QTRY_VERIFY(!both.pair().isOpen());
    QVERIFY(!both.app.window.findChild<app::SideBySideView*>()->isVisible());
    QTRY_VERIFY(both.app.bench.document.analysed());
}

void SideBySideTest::maximizedTimelinesAreBothShown()
{
    Both both;
    both.open();
    const int before = both.canvas(Side::Second)->height();
    find<QAction>(&both.app.window, "maximizeTimeline")->trigger();
    QTest::qWait(50);
    QVERIFY(both.canvas(Side::Second)->isVisible());
    QVERIFY(both.canvas(Side::Second)->height() > before);
    find<QAction>(&both.app.window, "maximizeTimeline")->trigger();
    QTest::qWait(50);
    QCOMPARE(both.canvas(Side::Second)->height(), before);
}

void SideBySideTest::equalKindsHaveEqualColours()
{
    Both both;
    both.open();
    both.pair().goToStep(1);
    both.settle();
    const auto colourOf = [&](Side side) {
        auto* canvas = both.canvas(side);
        both.selection(side)->clear();
        const auto step = both.pair().step(side);
        const Slice slice = both.slice(side, "gemm", 2 * *step);
        canvas->revealTrack(slice.id.track, slice.depth);
        const QRectF place = canvas->scene().rectOf(slice);
        QImage image;
        for (int frame = 0; frame < 100; ++frame) {
            image = canvas->viewport()->grab().toImage();
            if (canvas->isExact())
                break;
        }
        return image.pixelColor(QPoint(int(place.left()) + 4, int(place.bottom()) - 4));
    };
    QCOMPARE(colourOf(Side::First), colourOf(Side::Second));
}

/// The actions of each timeline act on it, and each has its own search bar, as a user expects who presses a key in it.
void SideBySideTest::searchAndBookmarksAreThoseOfTheFocusedTimeline()
{
    Both both;
    both.open();
    both.app.window.activateWindow();
    auto *first = both.canvas(Side::First), *second = both.canvas(Side::Second);
    second->setFocus();
    QTest::keyClick(second, Qt::Key_F, Qt::ControlModifier);
    auto* view = both.app.window.findChild<app::SideBySideView*>();
    auto* text = find<QLineEdit>(view, "timelineFind");
    QVERIFY(text->isVisible());
    QTest::keyClicks(text, "gelu"); // only in B
    QTRY_VERIFY(second->scene().hits && second->scene().hits->count == 14);
    QTest::keyClick(text, Qt::Key_Return);
    QTRY_VERIFY(both.selection(Side::Second)->slice());
    const auto& trace = *both.pair().document(Side::Second)->trace();
    QCOMPARE(trace.name(trace.slice(*both.selection(Side::Second)->slice())), std::string_view("gelu"));
    QVERIFY(!first->scene().hits);
    QTest::keyClick(text, Qt::Key_Escape);
    QVERIFY(!text->isVisible());

    second->setFocus();
    QTest::keyClick(second, Qt::Key_B, Qt::ControlModifier);
    QTRY_VERIFY(view->findChild<QInputDialog*>("bookmarkNote"));
    auto* dialog = view->findChild<QInputDialog*>("bookmarkNote");
    dialog->setTextValue("here");
    dialog->accept();
    QCOMPARE(second->scene().marks.bookmarks().size(), std::size_t{1});
    QVERIFY(first->scene().marks.bookmarks().empty());
    const auto at = second->scene().marks.bookmarks().front().time;
    // It is stored with its file.
    both.pair().close();
    both.open();
    QCOMPARE(both.canvas(Side::Second)->scene().marks.bookmarks().size(), std::size_t{1});
    QCOMPARE(both.canvas(Side::Second)->scene().marks.bookmarks().front().time, at);
}

void SideBySideTest::theMenusActOnTheTimelineThatWasUsedLast()
{
    Both both;
    both.open();
    both.app.window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&both.app.window));
    find<QToolButton>(&both.app.window, "lockTimelines")->click(); // a movement of one is not one of the other
    auto *first = both.canvas(Side::First), *second = both.canvas(Side::Second);
    auto* menu = find<QMenu>(&both.app.window, "timelineMenu");
    const auto inMenu = [&](const char* name) -> QAction* {
        for (const QAction* topic : menu->actions())
            if (topic->menu())
                for (QAction* action : topic->menu()->actions())
                    if (action->objectName() == name)
                        return action;
        return nullptr;
    };
    const auto moved = [&] {
        const auto a = first->scene().axis.visible(), b = second->scene().axis.visible();
        inMenu("zoomIn")->trigger();
        return std::pair(first->scene().axis.visible() != a, second->scene().axis.visible() != b);
    };
    const auto isShownActive = [&](const char* name) {
        return find<QLabel>(&both.app.window, name)->text().startsWith(QChar(0x25b6));
    };
    first->setFocus();
    QTRY_COMPARE(both.pair().activeSide(), Side::First);
    QCOMPARE(moved(), std::pair(true, false));
    QVERIFY(isShownActive("firstTraceName") && !isShownActive("secondTraceName"));

    second->setFocus();
    QTRY_COMPARE(both.pair().activeSide(), Side::Second);
    QCOMPARE(moved(), std::pair(false, true));
    QVERIFY(!isShownActive("firstTraceName") && isShownActive("secondTraceName"));
    emit menu->aboutToShow();
    QVERIFY(menu->actions().front()->text().endsWith("b.sspack"));
    inMenu("colorByName")->trigger();
    QVERIFY(second->scene().colors.scheme() == app::ColorBy::Name &&
            first->scene().colors.scheme() == app::ColorBy::Kind);
    // With the focus in a panel, they act on the one that was used last, and so does the toolbar.
    find<QComboBox>(&both.app.window, "differenceOf")->setFocus();
    QVERIFY(!second->hasFocus());
    QCOMPARE(moved(), std::pair(false, true));
    find<QAction>(&both.app.window, "findName")->trigger();
    auto* text = find<QLineEdit>(both.app.window.findChild<app::SideBySideView*>(), "timelineFind");
    QVERIFY(text->isVisible());
    QTest::keyClicks(text, "gelu");
    QTRY_VERIFY(second->scene().hits && second->scene().hits->count == 14);
    QTest::keyClick(text, Qt::Key_F3); // in the search bar
    QTRY_VERIFY(both.selection(Side::Second)->slice());
    QTest::keyClick(text, Qt::Key_Escape);

    // The wheel moves a timeline without a click.
    second->setFocus();
    const QPoint at = first->viewport()->rect().center();
    QWheelEvent wheel(at, first->viewport()->mapToGlobal(at), {}, {0, 120}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(first->viewport(), &wheel);
    QCOMPARE(both.pair().activeSide(), Side::First);
    QVERIFY(first->hasFocus());
    QCOMPARE(moved(), std::pair(true, false));

    second->setFocus();
    QTRY_COMPARE(both.pair().activeSide(), Side::Second);
    both.pair().close();
    QCOMPARE(both.pair().activeSide(), Side::First);
    const auto before = first->scene().axis.visible();
    inMenu("fitAll")->trigger();
    QVERIFY(first->scene().axis.visible() != before);
}

QTEST_MAIN(SideBySideTest)
#include "side_by_side_test.moc"
