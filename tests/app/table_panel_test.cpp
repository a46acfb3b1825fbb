#include "app/tables/table_panel.h"

#include "app/look/theme.h"
#include "app/tables/table_bar.h"
#include "app/tables/table_view.h"
#include "tests/app/app_support.h"
#include "tests/support/trace_text.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSettings>
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

std::unique_ptr<app_test::OwnFolders> folders;

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
        panel.bar()->setGrouping({});
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
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init() { QSettings().clear(); }
    void itIsGroupedWithTheMostTimeFirst();
    void itWorksOnlyWhileItIsVisible();
    void aHeadingSortsNumbersLargestFirst();
    void aRowSelectsItsSliceAndShowsIt();
    void aSelectedSliceMovesTheTable();
    void occurrencesOfAGroupAreVisitedInTimeOrder();
    void aGroupListsItsSlices();
    void typingFilters();
    void anInvalidFilterIsReportedAndFiltersNothing();
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
    void shiftClickSortsByAFurtherColumn();
    void theChoiceOfColumnsIsKept();
    void theGroupingIsChosen();
    void aSelectedSliceRestrictsTheRowsToItsTime();
    void onlyShownColumnsAreCopied();
    void severalRowsSelectTheirSlices();
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

void TablePanelTest::anInvalidFilterIsReportedAndFiltersNothing()
{
    Panel table;
    table.panel.bar()->setFilterText("durr>1us");
    table.settle();
    QVERIFY(find<QLabel>(&table.panel, "tableProblem")->isVisible());
    QVERIFY(find<QLineEdit>(&table.panel, "tableFilter")->width() >= 200); // the text stays readable
    QCOMPARE(table.model()->rowCount(), 2);
    table.panel.bar()->setFilterText("dur>10us");
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
             QString("Name\tStart (ns)\tDuration (ns)\tClass\tTrack\ngemm\t50000\t10000\tgemm\tstream 7\n"));
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
    table.panel.bar()->setFilterText("nothing");
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
    table.panel.bar()->setFilterText("dur>");
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
             QString("Name,Start (ns),Duration (ns),Class,Track\ngemm,50000,10000,gemm,stream 7\n"));
    const QTemporaryDir folder;
    const app_test::SaveAs dialog(folder.filePath("kernels"));
    table.trigger("tableSave");
    QVERIFY(dialog.asked());
    QFile file(folder.filePath("kernels.csv"));
    QTRY_VERIFY_WITH_TIMEOUT(file.exists(), 20000);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray saved = file.readAll();
    QCOMPARE(saved.count('\n'), 5);
    QVERIFY2(saved.contains("relu,40000,1000,elementwise,stream 7"), saved.constData());
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

void TablePanelTest::shiftClickSortsByAFurtherColumn()
{
    Panel table(R"(
        stream 0 7
          kernel b 0 10
          kernel a 20 10
          kernel b 40 30
          kernel a 80 30
    )");
    table.list();
    QHeaderView* heads = table.panel.view()->horizontalHeader();
    const auto click = [&](int section, Qt::KeyboardModifiers modifiers) {
        QTest::mouseClick(heads->viewport(), Qt::LeftButton, modifiers,
                          QPoint(heads->sectionViewportPosition(section) + 10, heads->height() / 2));
        table.settle();
    };
    const auto rows = [&] {
        QStringList all;
        for (int row = 0; row < table.model()->rowCount(); ++row)
            all << table.cell(row, 0) + ' ' + table.cell(row, 2);
        return all.join(", ");
    };
    click(2, {});
    QCOMPARE(rows(), QString("b 30.0 µs, a 30.0 µs, b 10.0 µs, a 10.0 µs"));
    click(0, Qt::ShiftModifier);
    QCOMPARE(rows(), QString("a 30.0 µs, b 30.0 µs, a 10.0 µs, b 10.0 µs"));
    click(0, Qt::ShiftModifier); // the other direction
    QCOMPARE(rows(), QString("b 30.0 µs, a 30.0 µs, b 10.0 µs, a 10.0 µs"));
    click(2, Qt::ShiftModifier); // the shortest first
    QCOMPARE(rows(), QString("b 10.0 µs, a 10.0 µs, b 30.0 µs, a 30.0 µs"));
    click(2, Qt::ShiftModifier); // only the name is left
    QCOMPARE(rows(), QString("b 10.0 µs, b 30.0 µs, a 10.0 µs, a 30.0 µs"));
    click(0, {});
    click(2, {});
    QCOMPARE(rows(), QString("b 30.0 µs, a 30.0 µs, b 10.0 µs, a 10.0 µs"));
}

void TablePanelTest::theChoiceOfColumnsIsKept()
{
    const auto titles = [](Panel& table) {
        QStringList all;
        for (const std::size_t column : table.panel.view()->shownColumns())
            all << table.model()->rows()->columns()[column].title;
        return all;
    };
    const auto columnOf = [](Panel& table, const QString& title) {
        for (int i = 0; i < table.model()->columnCount(); ++i)
            if (table.model()->rows()->columns()[static_cast<std::size_t>(i)].title == title)
                return i;
        return -1;
    };
    QStringList chosen;
    {
        Panel table;
        QVERIFY(titles(table).contains("Share"));
        QVERIFY(!titles(table).contains("Median")); // not by default
        QMenu menu;
        table.panel.view()->addColumnActions(&menu);
        find<QAction>(&menu, "column:share")->trigger();
        find<QAction>(&menu, "column:median")->trigger();
        QHeaderView* heads = table.panel.view()->horizontalHeader();
        heads->moveSection(heads->visualIndex(columnOf(table, "Max")), 1);
        chosen = titles(table);
        QVERIFY(!chosen.contains("Share") && chosen.contains("Median"));
        QCOMPARE(chosen.value(1), QString("Max"));
        table.list(); // has its own choice
        QVERIFY(titles(table) != chosen);
        table.panel.bar()->setGrouping({app::Field::Name});
        table.settle();
        QCOMPARE(titles(table), chosen);
    }
    Panel again("stream 0 7\n kernel other 0 1");
    QCOMPARE(titles(again), chosen);
    again.panel.view()->resetColumns();
    QVERIFY(titles(again).contains("Share") && !titles(again).contains("Median"));
    QCOMPARE(titles(again).value(1), QString("Count"));
    // One column stays.
    for (int i = 0; i < again.model()->columnCount(); ++i)
        again.panel.view()->setColumnShown(i, false);
    QCOMPARE(titles(again).size(), 1);
}

void TablePanelTest::theGroupingIsChosen()
{
    Panel table;
    auto* grouping = find<QComboBox>(&table.panel, "tableGrouping");
    grouping->setCurrentIndex(grouping->findText("By class"));
    table.settle();
    QCOMPARE(table.cell(0, 0), QString("gemm"));
    QCOMPARE(table.cell(1, 0), QString("elementwise"));
    QCOMPARE(find<QLabel>(&table.panel, "tableCount")->text(), QString("2 groups"));
    table.panel.view()->setCurrentIndex(table.model()->index(1, 0));
    table.trigger("tableList");
    table.settle();
    QCOMPARE(table.model()->rowCount(), 1);
    QCOMPARE(table.cell(0, 0), QString("relu"));
    QCOMPARE(find<QLineEdit>(&table.panel, "tableFilter")->text(), QString("class=\"elementwise\""));
}

void TablePanelTest::aSelectedSliceRestrictsTheRowsToItsTime()
{
    Panel table(R"(
        main
          step 0 0 35
          step 1 35 40
        stream 0 7
          kernel gemm 0 30
          kernel relu 40 1
          kernel gemm 50 10
          kernel gemm 80 20
    )");
    table.list();
    table.selection.selectSlice(table.trace().ofKind(profiler::ActivityKind::Step)[1].id);
    find<QToolButton>(&table.panel, "tableInRange")->click();
    table.settle();
    QCOMPARE(table.model()->rowCount(), 2);
    table.panel.view()->setCurrentIndex(table.model()->index(1, 0)); // a row of the table itself does not change it
    table.settle();
    QCOMPARE(table.model()->rowCount(), 2);
    table.selection.selectSlice(table.trace().ofKind(profiler::ActivityKind::Step)[0].id);
    table.settle();
    QCOMPARE(table.model()->rowCount(), 1);
}

void TablePanelTest::onlyShownColumnsAreCopied()
{
    Panel table;
    table.list();
    app::TableView* view = table.panel.view();
    QHeaderView* heads = view->horizontalHeader();
    view->setColumnShown(1, false);
    view->setColumnShown(3, false);
    heads->moveSection(heads->visualIndex(2), 0);
    view->selectRow(2);
    table.trigger("tableCopyCsv");
    QCOMPARE(QGuiApplication::clipboard()->text(), QString("Duration (ns),Name,Track\n10000,gemm,stream 7\n"));
}

void TablePanelTest::severalRowsSelectTheirSlices()
{
    Panel table;
    table.panel.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&table.panel));
    table.list();
    app::TableView* view = table.panel.view();
    view->setFocus();
    const auto click = [&](int row, Qt::KeyboardModifiers modifiers) {
        QTest::mouseClick(view->viewport(), Qt::LeftButton, modifiers,
                          view->visualRect(table.model()->index(row, 0)).center());
    };
    click(0, {});
    QCOMPARE(table.selection.slices().size(), 1U);
    click(2, Qt::ControlModifier);
    QCOMPARE(table.selection.slices().size(), 2U);
    QVERIFY(!table.selection.slice());
    QCOMPARE(view->selectedCount(), 2U); // the table keeps its rows
    view->selectAll();
    QCOMPARE(table.selection.slices().size(), 4U);
    click(1, {});
    QCOMPARE(table.selectedAt(table.trace()), 40);
}

QTEST_MAIN(TablePanelTest)
#include "table_panel_test.moc"
