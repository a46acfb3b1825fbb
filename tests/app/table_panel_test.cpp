#include "app/tables/table_panel.h"

#include "app/look/theme.h"
#include "app/tables/table_bar.h"
#include "app/tables/table_view.h"
#include "tests/app/app_support.h"
#include "tests/support/trace_text.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

using app_test::find;
using profiler::traceTime;
using test_support::traceFromText;

namespace {

constexpr auto kKernels = R"(
    stream 0 7
      kernel gemm 0 30
      kernel relu 40 1
      kernel gemm 50 10
      kernel gemm 80 20
)";

struct Panel {
    explicit Panel(const char* text = kKernels) : panel(app::kernelSubject(), &selection, nullptr), tester(model())
    {
        panel.resize(900, 300);
        panel.replaceTrace(traceFromText(text));
        panel.show();
        settle();
    }
    void settle()
    {
        if (!QTest::qWaitFor([this] { return panel.isUpToDate(); }))
            qFatal("the table was not filled in time");
    }
    app::TableModel* model() { return panel.view()->table(); }
    QString cell(int row, int column) { return model()->index(row, column).data().toString(); }
    void trigger(const char* name) { find<QAction>(&panel, name)->trigger(); }
    void list()
    {
        panel.bar()->setGrouped(false);
        settle();
    }
    /// Start of the selected slice, in µs.
    [[nodiscard]] std::int64_t selectedAt(const profiler::Trace& trace) const
    {
        return selection.slice() ? profiler::toNs(trace.slice(*selection.slice()).begin) / 1000 : -1;
    }
    const profiler::Trace& trace() { return model()->rows()->trace(); }

    app::Selection selection;
    app::TablePanel panel;
    QAbstractItemModelTester tester;
};

} // namespace

class TablePanelTest : public QObject {
    Q_OBJECT
private slots:
    void itIsGroupedWithTheMostTimeFirst();
    void itWorksOnlyWhileItIsVisible();
    void aHeadingSortsNumbersLargestFirst();
    void aRowSelectsItsSliceAndShowsIt();
    void aSelectedSliceMovesTheTable();
    void occurrencesOfAGroupAreVisitedInTimeOrder();
    void aGroupListsItsSlices();
    void typingFilters();
    void anInvalidPatternIsReportedAndFiltersNothing();
    void theSelectedRangeRestrictsTheRows();
    void choosingARowKeepsTheRange();
    void rowsAreCopiedExactly();
    void anotherTraceHasItsOwnRows();
    void emptyTablesSayWhy();
    void numbersAreRightAligned();
    void cancelledWorkIsShownAndCanBeRepeated();
    void anErrorUsesTheThemesColour();
    void rowsAreCopiedAndSavedAsCsv();
    void aNameIsFilteredByFromItsRow();
    void theFindShortcutFocusesTheFilter();
    void aHiddenRowIsShownAgain();
};

void TablePanelTest::itIsGroupedWithTheMostTimeFirst()
{
    Panel table;
    QCOMPARE(table.cell(0, 0), QString("gemm"));
    QCOMPARE(table.cell(0, 1), QString("3"));
    QCOMPARE(table.cell(0, 2), QString("60.0 µs"));
    QCOMPARE(find<QLabel>(&table.panel, "tableCount")->text(), QString("2 names"));
}

void TablePanelTest::itWorksOnlyWhileItIsVisible()
{
    Panel table;
    table.panel.hide();
    table.panel.replaceTrace(traceFromText("stream 0 7\n kernel later 0 1"));
    QTest::qWait(50);
    QVERIFY(!table.model()->rows());
    table.panel.show();
    table.settle();
    QCOMPARE(table.cell(0, 0), QString("later"));
}

void TablePanelTest::aHeadingSortsNumbersLargestFirst()
{
    Panel table;
    table.list();
    QHeaderView* heads = table.panel.view()->horizontalHeader();
    const auto click = [&](int section) {
        QTest::mouseClick(heads->viewport(), Qt::LeftButton, {},
                          QPoint(heads->sectionViewportPosition(section) + 10, heads->height() / 2));
        table.settle();
    };
    click(2);
    QCOMPARE(table.cell(0, 2), QString("30.0 µs"));
    click(2);
    QCOMPARE(table.cell(0, 2), QString("1.00 µs"));
    click(2); // a third click returns to time order
    QCOMPARE(table.cell(0, 1), QString("0.000 000 000 s"));
    click(0);
    QCOMPARE(table.cell(3, 0), QString("relu"));
}

void TablePanelTest::aRowSelectsItsSliceAndShowsIt()
{
    Panel table;
    table.list();
    QSignalSpy shown(&table.selection, &app::Selection::showRequested);
    const QRect row = table.panel.view()->visualRect(table.model()->index(1, 0));
    QTest::mouseClick(table.panel.view()->viewport(), Qt::LeftButton, {}, row.center());
    QCOMPARE(table.selectedAt(table.trace()), 40);
    QCOMPARE(shown.count(), 1);
    QTest::keyClick(table.panel.view(), Qt::Key_Down);
    QCOMPARE(table.selectedAt(table.trace()), 50);
    QCOMPARE(shown.count(), 2);
    // The slice is visible with some margin.
    const auto range = shown[1][0].value<profiler::TimeRange>();
    QVERIFY(range.begin < traceTime(50'000) && range.end > traceTime(60'000));
}

void TablePanelTest::aSelectedSliceMovesTheTable()
{
    Panel table;
    const auto relu = table.trace().ofKind(profiler::ActivityKind::Kernel)[1];
    QSignalSpy shown(&table.selection, &app::Selection::showRequested);
    table.selection.selectSlice(relu.id);
    QCOMPARE(table.panel.view()->currentRow(), std::optional<std::size_t>(1));
    table.list();
    QCOMPARE(table.panel.view()->currentRow(), std::optional<std::size_t>(1));
    table.selection.clear();
    QVERIFY(!table.panel.view()->currentRow());
    QCOMPARE(shown.count(), 0); // the selection came from the timeline, so it does not move
}

void TablePanelTest::occurrencesOfAGroupAreVisitedInTimeOrder()
{
    Panel table;
    table.panel.view()->setCurrentIndex(table.model()->index(0, 0));
    QCOMPARE(table.selectedAt(table.trace()), 0); // the longest
    table.trigger("tableNext");
    QTRY_COMPARE(table.selectedAt(table.trace()), 50);
    QCOMPARE(find<QLabel>(&table.panel, "tableCount")->text(), QString("2 of 3"));
    table.trigger("tableNext");
    QTRY_COMPARE(table.selectedAt(table.trace()), 80);
    table.trigger("tableNext");
    QTRY_COMPARE(table.selectedAt(table.trace()), 0);
    table.trigger("tablePrevious");
    QTRY_COMPARE(table.selectedAt(table.trace()), 80);
    QCOMPARE(table.panel.view()->currentRow(), std::optional<std::size_t>(0));
}

void TablePanelTest::aGroupListsItsSlices()
{
    Panel table;
    table.panel.view()->setCurrentIndex(table.model()->index(0, 0));
    table.trigger("tableList");
    table.settle();
    QCOMPARE(table.model()->rowCount(), 3);
    QCOMPARE(table.cell(0, 0), QString("gemm"));
    QCOMPARE(find<QLabel>(&table.panel, "tableCount")->text(), QString("3 rows"));
}

void TablePanelTest::typingFilters()
{
    Panel table;
    QTest::keyClicks(find<QLineEdit>(&table.panel, "tableFilter"), "REL");
    QTRY_COMPARE(table.model()->rowCount(), 1);
    QCOMPARE(table.cell(0, 0), QString("relu"));
}

void TablePanelTest::anInvalidPatternIsReportedAndFiltersNothing()
{
    Panel table;
    table.panel.bar()->setFilterText("(ge", true);
    table.settle();
    QVERIFY(find<QLabel>(&table.panel, "tableProblem")->isVisible());
    QCOMPARE(table.model()->rowCount(), 2);
    table.panel.bar()->setFilterText("(ge)", true);
    table.settle();
    QVERIFY(!find<QLabel>(&table.panel, "tableProblem")->isVisible());
    QCOMPARE(table.model()->rowCount(), 1);
}

void TablePanelTest::theSelectedRangeRestrictsTheRows()
{
    Panel table;
    table.list();
    auto* inRange = find<QToolButton>(&table.panel, "tableInRange");
    QVERIFY(!inRange->isEnabled());
    table.selection.selectRange({traceTime(35'000), traceTime(55'000)});
    QVERIFY(inRange->isEnabled());
    QCOMPARE(table.model()->rowCount(), 4);
    inRange->click();
    table.settle();
    QCOMPARE(table.model()->rowCount(), 2);
    table.selection.selectRange({traceTime(35'000), traceTime(45'000)});
    table.settle();
    QCOMPARE(table.model()->rowCount(), 1);
}

void TablePanelTest::choosingARowKeepsTheRange()
{
    Panel table;
    table.list();
    table.selection.selectRange({traceTime(35'000), traceTime(55'000)});
    find<QToolButton>(&table.panel, "tableInRange")->click();
    table.settle();
    table.panel.view()->setCurrentIndex(table.model()->index(1, 0));
    table.settle();
    QCOMPARE(table.selectedAt(table.trace()), 50);
    QCOMPARE(table.model()->rowCount(), 2);
}

void TablePanelTest::rowsAreCopiedExactly()
{
    Panel table;
    table.list();
    table.panel.view()->selectRow(2);
    table.panel.view()->setFocus();
    table.trigger("tableCopy");
    QCOMPARE(QGuiApplication::clipboard()->text(),
             QString("Name\tStart (ns)\tDuration (ns)\tTrack\ngemm\t50000\t10000\tstream 7\n"));
    table.trigger("tableCopyAll");
    QCOMPARE(QGuiApplication::clipboard()->text().count(u'\n'), 5);
}

void TablePanelTest::anotherTraceHasItsOwnRows()
{
    Panel table;
    const std::weak_ptr<const app::TableRows> before = table.model()->rows();
    table.panel.replaceTrace(traceFromText("stream 0 7\n kernel other 0 1"));
    QVERIFY(before.expired()); // the earlier trace is released
    table.settle();
    QCOMPARE(table.cell(0, 0), QString("other"));
}

void TablePanelTest::emptyTablesSayWhy()
{
    Panel table("main\n op a 0 1");
    auto* empty = find<QLabel>(&table.panel, "tableEmpty");
    QVERIFY(empty->isVisible());
    QVERIFY2(empty->text().contains("No kernels"), qPrintable(empty->text()));
    table.panel.replaceTrace(traceFromText(kKernels));
    table.settle();
    QVERIFY(!empty->isVisible());
    table.panel.bar()->setFilterText("nothing", false);
    table.settle();
    QVERIFY(empty->isVisible());
    QVERIFY2(empty->text().contains("match"), qPrintable(empty->text()));
}

void TablePanelTest::numbersAreRightAligned()
{
    Panel table;
    const auto alignment = [&](int column) {
        return table.model()->index(0, column).data(Qt::TextAlignmentRole).toInt() & Qt::AlignHorizontal_Mask;
    };
    QCOMPARE(alignment(0), int(Qt::AlignLeft));
    QCOMPARE(alignment(2), int(Qt::AlignRight));
}

void TablePanelTest::cancelledWorkIsShownAndCanBeRepeated()
{
    Panel table;
    emit table.panel.view()->orderChanged({{1}}); // starts immediately
    QVERIFY(!table.panel.isUpToDate());
    emit table.panel.bar()->cancelled();
    QVERIFY(!table.panel.isUpToDate());
    QCOMPARE(find<QLabel>(&table.panel, "tableCount")->text(), QString("cancelled"));
    emit find<QLabel>(&table.panel, "tableEmpty")->linkActivated("again");
    table.settle();
    QCOMPARE(find<QLabel>(&table.panel, "tableCount")->text(), QString("2 names"));
}

void TablePanelTest::anErrorUsesTheThemesColour()
{
    Panel table;
    table.panel.bar()->setFilterText("(", true);
    const auto* problem = find<QLabel>(&table.panel, "tableProblem");
    const QPalette before = QApplication::palette();
    QPalette dark = before;
    dark.setColor(QPalette::Window, Qt::black);
    dark.setColor(QPalette::WindowText, Qt::white);
    QApplication::setPalette(dark);
    QCoreApplication::processEvents(); // posted to the widgets
    const QColor worn = problem->palette().color(QPalette::WindowText), wanted = app::shades(dark).bad;
    QApplication::setPalette(before);
    QCOMPARE(worn, wanted);
    QVERIFY(app::shades(before).bad != wanted);
    table.settle();
}

void TablePanelTest::rowsAreCopiedAndSavedAsCsv()
{
    Panel table;
    table.list();
    table.panel.view()->selectRow(2);
    table.trigger("tableCopyCsv");
    QCOMPARE(QGuiApplication::clipboard()->text(),
             QString("Name,Start (ns),Duration (ns),Track\ngemm,50000,10000,stream 7\n"));
    const QTemporaryDir folder;
    const app_test::SaveAs dialog(folder.filePath("kernels"));
    table.trigger("tableSave");
    QVERIFY(dialog.asked());
    QFile file(folder.filePath("kernels.csv"));
    QTRY_VERIFY_WITH_TIMEOUT(file.exists(), 20000);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray saved = file.readAll();
    QCOMPARE(saved.count('\n'), 5);
    QVERIFY2(saved.contains("relu,40000,1000,stream 7"), saved.constData());
}

void TablePanelTest::aNameIsFilteredByFromItsRow()
{
    Panel table;
    QCOMPARE(table.model()->rowCount(), 2);
    table.panel.view()->setCurrentIndex(table.model()->index(1, 0));
    table.trigger("tableFilterName");
    QTRY_COMPARE_WITH_TIMEOUT(table.model()->rowCount(), 1, 20000);
    QCOMPARE(table.cell(0, 0), QString("relu"));
    QVERIFY2(find<QLineEdit>(&table.panel, "tableFilter")->text().contains("relu"),
             qPrintable(find<QLineEdit>(&table.panel, "tableFilter")->text()));
}

void TablePanelTest::theFindShortcutFocusesTheFilter()
{
    Panel table;
    table.panel.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&table.panel));
    table.panel.view()->setFocus();
    table.trigger("tableFind");
    QCOMPARE(QApplication::focusWidget(), find<QLineEdit>(&table.panel, "tableFilter"));
}

void TablePanelTest::aHiddenRowIsShownAgain()
{
    Panel table;
    table.list();
    table.panel.view()->setCurrentIndex(table.model()->index(1, 0));
    QSignalSpy shown(&table.selection, &app::Selection::showRequested);
    table.selection.clear(); // it moves the current row
    QVERIFY(!find<QAction>(&table.panel, "tableShow")->isEnabled());
    table.selection.selectSlice(table.trace().ofKind(profiler::ActivityKind::Kernel)[1].id);
    QCOMPARE(shown.count(), 0);
    table.trigger("tableShow");
    QCOMPARE(shown.count(), 1);
    QVERIFY(shown[0][0].value<profiler::TimeRange>().contains(traceTime(40'000)));
    QCOMPARE(table.selectedAt(table.trace()), 40);
}

QTEST_MAIN(TablePanelTest)
#include "table_panel_test.moc"
