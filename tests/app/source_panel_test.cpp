#include "app/views/source/source.h"

#include "app/document/analyser.h"
#include "app/findings/finding_card.h"
#include "app/findings/finding_details.h"
#include "app/views/selection/selection_panel.h"
#include "profiler/formats/format.h"
#include "tests/app/app_support.h"
#include "tests/support/trace_text.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QCryptographicHash>
#include <QFile>
#include <QHeaderView>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

using app::SourceModel;
using app_test::find;
using test_support::traceFromText;

namespace {

constexpr int kPatienceMs = 20'000;

const QByteArray kScript = "import torch\n"
                           "\"\"\"A text\n"
                           "of two lines\"\"\"\n"
                           "\n"
                           "def main():\n"
                           "    loader = DataLoader(data, batch_size=32)  # slow\n"
                           "    for x in loader:\n"
                           "        train(x)\n";

std::unique_ptr<app_test::OwnFolders> folders;

} // namespace

/// The Source view: files of a recorded program with times and findings at their lines.
class SourcePanelTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        qputenv("XDG_STATE_HOME", m_folder->filePath("state").toUtf8());
        qputenv("STEPSCOPE_PROGRAMS", PROGRAMS);
        m_file = m_folder->filePath("train.py");
        write(kScript);
    }
    void pythonSyntaxIsColoured();
    void eachLineHasItsTimesAndFindings();
    void linesHaveTheirAllocationsWhereTheyAreRecorded();
    void aLineSelectsItsOccurrences();
    void aSliceSelectsItsLine();
    void theHottestLineIsVisibleAtFirst();
    void theSelectionPanelLinksToTheLine();
    void aFindingsLineShowsItsCardAndTheCardShowsTheLine();
    void aChangedFileIsReportedAndHasNoText();

private:
    void write(const QByteArray& text) const
    {
        QFile file(m_file);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }

    /// A recording whose steps wait for data; lines 7 and 8 were sampled.
    /// @param above  number of lines before the script
    /// @param allocations  whether they are recorded: 1.5 MB at line 8 in each step
    [[nodiscard]] std::filesystem::path recorded(int above = 0, bool allocations = false) const
    {
        const QByteArray script = QByteArray("# above\n").repeated(above) + kScript;
        write(script);
        const QString hash = QCryptographicHash::hash(script, QCryptographicHash::Sha256).toHex();
        const QJsonObject site{{"file", m_file},        {"line", 6 + above}, {"column", 13},
                               {"end_line", 6 + above}, {"end_column", 44},  {"function", "main"}};
        const QJsonObject loader{
            {"id", "loader:0"},
            {"kind", "loader"},
            {"class", "torch.utils.data.DataLoader"},
            {"site", site},
            {"role", "training"},
            {"chain", QJsonArray()},
            {"count", 1},
            {"framework", QJsonValue::Null},
            {"settings", QJsonObject{{"num_workers", QJsonObject{{"value", 0}, {"given", false}}}}}};
        const QJsonObject program{
            {"schema", 1},
            {"argv", QJsonArray{"python", "train.py"}},
            {"cwd", m_folder->path()},
            {"script", m_file},
            {"files", QJsonArray{QJsonObject{{"path", m_file}, {"sha256", hash}, {"lines", 8 + above}}}},
            {"objects", QJsonArray{loader}},
            {"arguments", QJsonArray()}};
        QJsonArray samples, allocated;
        for (int i = 0; i < 20; ++i) { // per step of 1000 µs: 600 µs in the loader, then the training
            samples << 0 << (i == 0 ? 0 : 400) << 1 << 600;
            allocated << 0 << 0 << 1'500'000 << 2;
        }
        QJsonObject lines{{"schema", 1},
                          {"interval_us", 200},
                          {"begin_ns", 0},
                          {"files", QJsonArray{m_file}},
                          {"places", QJsonArray{QJsonArray{0, 7 + above, "main"}, QJsonArray{0, 8 + above, "main"}}},
                          {"stacks", QJsonArray{QJsonArray{0}, QJsonArray{1}}},
                          {"samples", samples},
                          {"cost_us", 1}};
        if (allocations)
            lines["allocated"] = allocated;
        const auto line = [](const QJsonObject& json) {
            return QJsonDocument(json).toJson(QJsonDocument::Compact).toStdString();
        };
        const auto trace = traceFromText(
            "meta host.cores 8\nmeta loader.workers 0\nmeta record.command python train.py\n"
            "meta record.directory " +
            m_folder->path().toStdString() + "\nmeta program " + line(program) + "\nmeta lines " + line(lines) + R"(
                main
                  repeat 20 every 1000
                    step 0 0 1000
                    phase "data wait" 0 600
                    phase forward 600 200
                    op aten::conv2d 600 150
                  end
            )");
        const std::filesystem::path path = m_folder->filePath("run.sspack").toStdString();
        if (!profiler::formats::saveTrace(*trace, path))
            qFatal("the trace cannot be written");
        return path;
    }

    struct Shown {
        Shown(const std::filesystem::path& path, bool inFront = true) : panel(app_test::cardServices(bench), nullptr)
        {
            panel.resize(1200, 500);
            panel.setVisible(inFront);
            bench.document.openTrace(path);
            if (!QTest::qWaitFor([&] { return bench.document.advice() && !bench.document.advice()->live; },
                                 kPatienceMs))
                qFatal("the trace was not analysed in time");
            table = find<QTableView>(&panel, "sourceTable");
            model = qobject_cast<SourceModel*>(table->model());
        }
        [[nodiscard]] QString text(int line, SourceModel::Column column) const
        {
            return model->index(model->rowOf(line), column).data().toString();
        }
        app::Workbench bench;
        app::SourcePanel panel;
        QTableView* table = nullptr;
        SourceModel* model = nullptr;
    };

    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_file;
};

void SourcePanelTest::pythonSyntaxIsColoured()
{
    using app::CodeKind;
    using Parts = std::vector<app::CodePart>;
    const auto parts =
        app::pythonParts({"x = f'a' if y else 12.5  # why", "s = \"\"\"open", "for \\\"\"\"", "def f(if_):"});
    QCOMPARE(parts[0], (Parts{{4, 4, CodeKind::String},
                              {9, 2, CodeKind::Keyword},
                              {14, 4, CodeKind::Keyword},
                              {19, 4, CodeKind::Number},
                              {25, 5, CodeKind::Comment}}));
    QCOMPARE(parts[1], (Parts{{4, 7, CodeKind::String}}));
    QCOMPARE(parts[2], (Parts{{0, 8, CodeKind::String}})); // the escaped quote does not end it
    QCOMPARE(parts[3], (Parts{{0, 11, CodeKind::String}}));
}

void SourcePanelTest::eachLineHasItsTimesAndFindings()
{
    const Shown shown(recorded());
    const QAbstractItemModelTester tester(shown.model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(shown.model->rowCount(), 8);
    QCOMPARE(shown.text(6, SourceModel::Code), QString("    loader = DataLoader(data, batch_size=32)  # slow"));
    QCOMPARE(shown.text(7, SourceModel::Host), QString("12.0 ms"));
    QCOMPARE(shown.text(7, SourceModel::Wait), QString("12.0 ms"));
    QVERIFY(shown.text(8, SourceModel::Wait).isEmpty());
    QVERIFY(shown.text(1, SourceModel::Host).isEmpty());
    QVERIFY(shown.table->isColumnHidden(SourceModel::Device)); // no GPU activity
    QCOMPARE(shown.model->lineOf(shown.model->hottestRow()), 7);
    QVERIFY(!shown.model->findingsOf(shown.model->rowOf(6)).empty());
    QVERIFY(shown.model->findingsOf(shown.model->rowOf(8)).empty());
}

void SourcePanelTest::linesHaveTheirAllocationsWhereTheyAreRecorded()
{
    {
        const Shown shown(recorded());
        QVERIFY(shown.table->isColumnHidden(SourceModel::Allocated));
    }
    const Shown shown(recorded(0, true));
    QVERIFY(!shown.table->isColumnHidden(SourceModel::Allocated));
    QVERIFY2(shown.table->columnWidth(SourceModel::Allocated) >=
                 shown.table->horizontalHeader()->sectionSizeHint(SourceModel::Allocated),
             "the title is cut off");
    QCOMPARE(shown.text(8, SourceModel::Allocated), QString("30.0 MB"));
    QVERIFY(shown.text(7, SourceModel::Allocated).isEmpty());
    const QModelIndex cell = shown.model->index(shown.model->rowOf(8), SourceModel::Allocated);
    QCOMPARE(cell.data(Qt::ToolTipRole).toString(), QString("30.0 MB in 40 allocations"));
}

void SourcePanelTest::aLineSelectsItsOccurrences()
{
    Shown shown(recorded());
    shown.table->setCurrentIndex(shown.model->index(shown.model->rowOf(7), SourceModel::Code));
    QVERIFY(shown.bench.document.selection()->range());
    const profiler::TimeRange first = *shown.bench.document.selection()->range();
    QCOMPARE(first.duration(), profiler::Nanoseconds(600'000));
    find<QToolButton>(&shown.panel, "sourceNext")->click();
    QVERIFY(shown.bench.document.selection()->range() &&
            shown.bench.document.selection()->range()->begin - first.begin == profiler::Nanoseconds(1'000'000));
    shown.table->setCurrentIndex(shown.model->index(shown.model->rowOf(1), SourceModel::Code));
    QVERIFY(!find<QToolButton>(&shown.panel, "sourceNext")->isVisible()); // never sampled
}

void SourcePanelTest::aSliceSelectsItsLine()
{
    Shown shown(recorded());
    const auto slices = shown.bench.document.trace()->ofKind(profiler::ActivityKind::CpuOp);
    QVERIFY(!slices.empty());
    shown.bench.document.selection()->selectSlice(slices.front().id);
    QCOMPARE(shown.model->lineOf(shown.table->currentIndex().row()), 8);
    QVERIFY(shown.bench.document.selection()->slice()); // the line follows and does not change the selection
}

void SourcePanelTest::theHottestLineIsVisibleAtFirst()
{
    const auto isInSight = [](const Shown& shown, int line) {
        const QRect row = shown.table->visualRect(shown.model->index(shown.model->rowOf(line), SourceModel::Code));
        return shown.table->viewport()->rect().contains(row.left(), row.top()) &&
               shown.table->viewport()->rect().contains(row.left(), row.bottom());
    };
    const Shown shown(recorded(300));
    QTRY_VERIFY(isInSight(shown, 307));
    // The trace is opened while another tab is in front, as when the app starts.
    Shown behind(recorded(300), false);
    QCOMPARE(behind.model->lineOf(behind.model->hottestRow()), 307);
    behind.panel.resize(1200, 300);
    behind.panel.show();
    QTRY_VERIFY(isInSight(behind, 307));
    behind.table->scrollToTop();
    behind.panel.hide();
    behind.panel.show();
    QTest::qWait(50);
    QVERIFY(isInSight(behind, 1)); // it stays where the user left it
}

void SourcePanelTest::theSelectionPanelLinksToTheLine()
{
    Shown shown(recorded(300));
    app::SelectionPanel selected(shown.bench.document.selection());
    selected.resize(900, 300);
    selected.setTrace(shown.bench.document.trace());
    selected.show();
    const auto slices = shown.bench.document.trace()->ofKind(profiler::ActivityKind::CpuOp);
    shown.bench.document.selection()->selectSlice(slices.front().id);
    const auto linkOf = [&]() -> QPushButton* {
        for (auto* button : selected.findChildren<QPushButton*>("link"))
            if (button->accessibleName() == "Source line train.py:308")
                return button;
        return nullptr;
    };
    QVERIFY(!linkOf()); // the program's lines are not known yet
    selected.setAdvice(shown.bench.document.advice());
    QVERIFY(linkOf());
    QCOMPARE(linkOf()->toolTip(), m_file);
    shown.panel.goTo(m_file, 301);
    linkOf()->click();
    QTRY_COMPARE(shown.model->lineOf(shown.table->currentIndex().row()), 308);
    QVERIFY(shown.bench.document.selection()->slice() == slices.front().id); // it stays selected
}

void SourcePanelTest::aFindingsLineShowsItsCardAndTheCardShowsTheLine()
{
    Shown shown(recorded());
    shown.panel.goTo(m_file, 6);
    const auto cards = shown.panel.findChildren<app::FindingCard*>();
    QVERIFY(!cards.isEmpty());
    const auto* snippet = find<app::SourceSnippet>(cards.front(), "snippet");
    QVERIFY(snippet->isVisible());
    QCOMPARE(snippet->firstLine(), 4);
    QCOMPARE(snippet->lines().value(2).trimmed(), QString("loader = DataLoader(data, batch_size=32)  # slow"));
    QVERIFY(!shown.bench.document.selection()
                 ->range()); // the line was selected from outside, so the timeline does not move
}

void SourcePanelTest::aChangedFileIsReportedAndHasNoText()
{
    const auto path = recorded();
    write(kScript + "# later\n");
    const Shown shown(path);
    QVERIFY(find<QLabel>(&shown.panel, "sourceProblem")->isVisible());
    QCOMPARE(shown.text(7, SourceModel::Host), QString("12.0 ms")); // the times are unchanged
    QVERIFY(shown.text(7, SourceModel::Code).isEmpty());
    for (const auto* card : shown.panel.findChildren<app::FindingCard*>())
        QVERIFY(!find<app::SourceSnippet>(card, "snippet")->isVisible());
}

QTEST_MAIN(SourcePanelTest)
#include "source_panel_test.moc"
