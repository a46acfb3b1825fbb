#include "app/views/query/query.h"

#include "app/views/query/sql_editor.h"
#include "profiler/formats/format.h"
#include "tests/app/app_support.h"
#include "tests/support/trace_text.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QCompleter>
#include <QLabel>
#include <QMenu>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

using app_test::find;
using test_support::traceFromText;

namespace {

constexpr int kPatienceMs = 20'000;

std::unique_ptr<app_test::OwnFolders> folders;

} // namespace

/// The Query view in a workbench with a trace.
class QueryPanelTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init();
    void cleanup();
    void theEmptyPanelShowsExamples();
    void controlReturnRunsTheStatement();
    void aRowSelectsItsSlice();
    void aRowWithATimeSelectsItsRange();
    void allRowsAreMarkedOnTheTimeline();
    void anErrorIsUnderlined();
    void aRunningQueryIsCancelled();
    void anotherTraceClearsTheResult();
    void rowsAreCopiedExactly();
    void wordsAreCompleted();
    void textAndHistoryAreKept();

private:
    void type(const QString& sql) const { find<app::SqlEditor>(m_panel.get(), "queryEditor")->setPlainText(sql); }
    void run(const QString& sql) const
    {
        type(sql);
        m_panel->run();
        QTRY_VERIFY_WITH_TIMEOUT(!m_panel->isRunning(), kPatienceMs);
    }
    void open(std::string_view text, const QString& name)
    {
        const auto path = std::filesystem::path(m_folder->filePath(name).toStdString());
        QVERIFY(profiler::formats::saveTrace(*traceFromText(text), path).has_value());
        m_bench->document.openTrace(path);
        QTRY_VERIFY_WITH_TIMEOUT(!m_bench->document.isLoading() && m_bench->document.trace()->sliceCount() > 0 &&
                                     m_bench->document.analysed(),
                                 kPatienceMs);
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<app::Workbench> m_bench;
    std::unique_ptr<app::QueryPanel> m_panel;
};

void QueryPanelTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_bench = std::make_unique<app::Workbench>();
    m_panel = std::make_unique<app::QueryPanel>(&m_bench->document, &m_bench->notices, nullptr);
    m_panel->resize(1200, 300);
    m_panel->show();
    open(R"(
        main
          repeat 3 every 1000
            step 0 0 1000
            op aten::mm 100 250
          end
        stream 0 7
          repeat 3 every 1000
            kernel sgemm 300 90
          end
    )",
         "run.sspack");
}

void QueryPanelTest::cleanup()
{
    m_panel.reset();
    m_bench.reset();
}

void QueryPanelTest::theEmptyPanelShowsExamples()
{
    auto* message = find<QLabel>(m_panel.get(), "queryMessage");
    QVERIFY(message->isVisible());
    emit message->linkActivated("0");
    QTRY_VERIFY_WITH_TIMEOUT(!m_panel->isRunning(), kPatienceMs);
    QCOMPARE(m_panel->result()->rowCount(), 3);
    QVERIFY(!message->isVisible());
    QVERIFY(find<QToolButton>(m_panel.get(), "queryExamples")->menu()->actions().size() > 5);
}

void QueryPanelTest::controlReturnRunsTheStatement()
{
    type("SELECT name, SUM(dur), COUNT(*) FROM slice GROUP BY name ORDER BY 2 DESC");
    QTest::keyClick(find<app::SqlEditor>(m_panel.get(), "queryEditor"), Qt::Key_Return, Qt::ControlModifier);
    QTRY_VERIFY_WITH_TIMEOUT(!m_panel->isRunning(), kPatienceMs);
    auto* model = m_panel->result();
    const QAbstractItemModelTester tester(model);
    QCOMPARE(model->rowCount(), 3);
    QCOMPARE(model->index(0, 0).data().toString(), "step");
    QCOMPARE(model->index(0, 1).data().toString(), "3.00 ms");
    QCOMPARE(model->index(0, 1).data(Qt::ToolTipRole).toString(), "3000000");
    QVERIFY((model->index(0, 1).data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight) != 0);
    QVERIFY((model->index(0, 0).data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight) == 0);
}

void QueryPanelTest::aRowSelectsItsSlice()
{
    run("SELECT id, name FROM kernel ORDER BY ts DESC");
    find<QTableView>(m_panel.get(), "queryResult")->selectRow(0);
    const auto slice = m_bench->document.selection()->slice();
    QVERIFY(slice);
    QCOMPARE(profiler::toNs(m_bench->document.trace()->slice(*slice).begin), 2'300'000);
}

void QueryPanelTest::aRowWithATimeSelectsItsRange()
{
    run("SELECT step, ts, dur FROM step");
    find<QTableView>(m_panel.get(), "queryResult")->selectRow(1);
    const auto range = m_bench->document.selection()->range();
    QVERIFY(range);
    QCOMPARE(profiler::toNs(range->begin), 1'000'000);
    QCOMPARE(range->duration().count(), 1'000'000);
}

void QueryPanelTest::allRowsAreMarkedOnTheTimeline()
{
    auto* mark = find<QToolButton>(m_panel.get(), "queryMark");
    run("SELECT id FROM kernel");
    QVERIFY(!m_bench->document.selection()->marked());
    mark->click();
    const auto marked = m_bench->document.selection()->marked();
    QVERIFY(marked);
    QCOMPARE(marked->slices.size(), 3U);
    run("SELECT ts, dur FROM op LIMIT 2");
    QCOMPARE(m_bench->document.selection()->marked()->ranges.size(), 2U);
    mark->click();
    QVERIFY(!m_bench->document.selection()->marked());
}

void QueryPanelTest::anErrorIsUnderlined()
{
    run("SELECT name,\n  duration FROM kernel");
    auto* editor = find<app::SqlEditor>(m_panel.get(), "queryEditor");
    QCOMPARE(editor->extraSelections().size(), 1);
    QCOMPARE(editor->extraSelections().front().cursor.selectedText(), "duration");
    auto* message = find<QLabel>(m_panel.get(), "queryMessage");
    QVERIFY(message->isVisible());
    QVERIFY(message->text().contains("^"));
    QCOMPARE(m_panel->result()->rowCount(), 0);
    editor->insertPlainText("x");
    QVERIFY(editor->extraSelections().isEmpty());
}

void QueryPanelTest::aRunningQueryIsCancelled()
{
    type("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n");
    auto* cancel = find<QToolButton>(m_panel.get(), "queryCancel");
    QVERIFY(!cancel->isEnabled());
    m_panel->run();
    QVERIFY(m_panel->isRunning());
    QVERIFY(cancel->isEnabled());
    cancel->click();
    QVERIFY(!m_panel->isRunning());
    run("SELECT 1");
    QCOMPARE(m_panel->result()->rowCount(), 1);
}

void QueryPanelTest::anotherTraceClearsTheResult()
{
    run("SELECT id FROM kernel");
    find<QToolButton>(m_panel.get(), "queryMark")->click();
    open("main\n op aten::add 0 5", "other.sspack");
    QTRY_COMPARE_WITH_TIMEOUT(m_panel->result()->rowCount(), 0, kPatienceMs);
    QVERIFY(!m_bench->document.selection()->marked());
    QVERIFY(find<QLabel>(m_panel.get(), "queryMessage")->isVisible());
}

void QueryPanelTest::rowsAreCopiedExactly()
{
    run("SELECT name, dur FROM op LIMIT 1");
    auto* table = find<QTableView>(m_panel.get(), "queryResult");
    table->setFocus();
    table->selectAll();
    for (QAction* action : table->actions())
        if (action->shortcut() == QKeySequence::Copy)
            action->trigger();
    QCOMPARE(QApplication::clipboard()->text(), "name\tdur\naten::mm\t250000\n");
    QCOMPARE(m_panel->result()->csv({0}, ','), "name,dur\r\naten::mm,250000\r\n");
}

void QueryPanelTest::wordsAreCompleted()
{
    auto* editor = find<app::SqlEditor>(m_panel.get(), "queryEditor");
    for (const char* word : {"SELECT", "kernel", "shared_memory", "'gpu_memcpy'", "arg(", "sum("})
        QVERIFY2(editor->words().contains(word), word);
    editor->clear();
    editor->setFocus();
    QTest::keyClicks(editor, "SELECT shared_m");
    QCOMPARE(editor->completer()->currentCompletion(), "shared_memory");
    emit editor->completer()->activated(QString("shared_memory"));
    QCOMPARE(editor->toPlainText(), "SELECT shared_memory");
}

void QueryPanelTest::textAndHistoryAreKept()
{
    run("SELECT 41 + 1");
    type("SELECT 'draft'");
    m_panel.reset();
    m_panel = std::make_unique<app::QueryPanel>(&m_bench->document, &m_bench->notices, nullptr);
    QCOMPARE(find<app::SqlEditor>(m_panel.get(), "queryEditor")->toPlainText(), "SELECT 'draft'");
    auto* menu = find<QToolButton>(m_panel.get(), "queryHistory")->menu();
    emit menu->aboutToShow();
    QCOMPARE(menu->actions().front()->text(), "SELECT 41 + 1");
}

QTEST_MAIN(QueryPanelTest)
#include "query_panel_test.moc"
