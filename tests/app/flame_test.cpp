#include "app/views/flame/call_frames.h"
#include "app/views/flame/flame_graph.h"
#include "app/views/flame/flame_panel.h"
#include "profiler/formats/format.h"
#include "tests/app/app_support.h"
#include "tests/support/trace_text.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <QTreeView>

using app_test::find;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

constexpr std::string_view kTrace = R"(
    main
      repeat 4 every 1000
        step 0 0 1000
        op aten::linear 0 600
        op aten::addmm 100 300
        call cudaLaunchKernel 150 50 corr=1
        op aten::relu 700 100
      end
      step 4 4000 2000
      op aten::linear 4000 1600
      op aten::addmm 4100 1300
      call cudaLaunchKernel 4150 50 corr=9999
    stream 0 7
      repeat 4 every 1000
        kernel gemm 300 200 corr=1
      end
      kernel gemm 4300 900 corr=9999
)";

struct Shown {
    explicit Shown(std::string_view text = kTrace) : panel(&bench.document, nullptr)
    {
        panel.resize(1200, 300);
        panel.show();
        if (!QTest::qWaitForWindowExposed(&panel))
            qFatal("the panel is not shown");
        open(text);
    }
    void open(std::string_view text)
    {
        const std::filesystem::path path = folder.filePath("trace.sspack").toStdString();
        if (!profiler::formats::saveTrace(*test_support::traceFromText(text), path, {}))
            qFatal("the trace cannot be written");
        QSignalSpy analysed(&bench.document, &app::TraceDocument::analysedChanged);
        bench.document.openTrace(path);
        if (!QTest::qWaitFor([&] { return bench.document.analysed() != nullptr && !analysed.isEmpty(); }, 10'000))
            qFatal("the trace was not opened");
        settle();
    }
    void settle()
    {
        QTest::qWait(10);
        if (!QTest::qWaitFor([&] { return panel.isUpToDate(); }, 10'000))
            qFatal("nothing was computed");
    }
    void choose(const char* name, int entry)
    {
        auto* choice = find<QComboBox>(&panel, name);
        choice->setCurrentIndex(entry);
        emit choice->activated(entry);
        settle();
    }
    [[nodiscard]] const app::CallFrames& frames() const { return *panel.graph()->frames(); }
    /// The frame with this name, or 0.
    [[nodiscard]] std::uint32_t frame(const QString& name) const
    {
        for (std::uint32_t i = 1; i < frames().frames.size(); ++i)
            if (frames().name(frames().frames[i]) == name)
                return i;
        return 0;
    }
    [[nodiscard]] QString empty() const { return find<QLabel>(&panel, "flameEmpty")->text(); }
    [[nodiscard]] bool isEmpty() const { return find<QLabel>(&panel, "flameEmpty")->isVisible(); }

    QTemporaryDir folder;
    app::Workbench bench;
    app::FlamePanel panel;
};

} // namespace

class FlameTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void showsTheCallsOfTheTrace();
    void aClickZoomsAndSelectsTheLongestCall();
    void deviceTimeBottomUpAndSandwich();
    void theSelectedStepFollowsTheSelection();
    void theDifferenceWithAStepIsColouredByChange();
    void theDifferenceOfTwoRanges();
    void aMissingGroupingSaysHowToRecordIt();
    void aSearchShowsItsShare();
    void theKeyboardMovesAndZooms();
    void theTableIsAModel();
    void aNarrowTableKeepsTheNames();
    void narrowFramesAreNotPainted();
};

void FlameTest::showsTheCallsOfTheTrace()
{
    const Shown shown;
    QVERIFY(!shown.isEmpty());
    QCOMPARE(shown.frames().frames.size(), std::size_t{6});
    const app::CallFrame& linear = shown.frames().frames[shown.frame("aten::linear")];
    QCOMPARE(linear.total, 4'000'000.0);
    QCOMPARE(linear.calls, 5.0);
    QCOMPARE(shown.frames().share(linear), 4000.0 / 6000);
}

void FlameTest::aClickZoomsAndSelectsTheLongestCall()
{
    Shown shown;
    app::FlameGraph* graph = shown.panel.graph();
    graph->viewport()->grab();
    const std::uint32_t linear = shown.frame("aten::linear");
    QPoint at;
    for (int y = 0; y < graph->viewport()->height() && at.isNull(); ++y)
        for (int x = 0; x < graph->viewport()->width() && at.isNull(); x += 3)
            if (graph->frameAt(QPointF(x, y)) == linear)
                at = QPoint(x, y + 2);
    QVERIFY(!at.isNull());
    QTest::mouseClick(graph->viewport(), Qt::LeftButton, {}, at);
    QCOMPARE(graph->current(), linear);
    QCOMPARE(graph->visiblePart().second - graph->visiblePart().first, 4'000'000.0);
    const auto slice = shown.bench.document.selection()->slice();
    QVERIFY(slice.has_value());
    QCOMPARE(profiler::toNs(shown.bench.document.trace()->slice(*slice).begin), std::int64_t{4'000'000});
    QTest::keyClick(graph, Qt::Key_Escape);
    QCOMPARE(graph->visiblePart().second - graph->visiblePart().first, 6'000'000.0);
}

void FlameTest::deviceTimeBottomUpAndSandwich()
{
    Shown shown;
    shown.choose("flameTime", 1);
    QCOMPARE(shown.frames().frames.front().total, 1'700'000.0);
    shown.choose("flameOrder", 1);
    QCOMPARE(shown.frames().name(shown.frames().frames[1]), QString("gemm"));
    QCOMPARE(shown.frames().name(shown.frames().frames[2]), QString("aten::addmm"));
    shown.choose("flameTime", 0);
    shown.choose("flameOrder", 2);
    QVERIFY(find<app::FlameGraph>(&shown.panel, "flameCallers")->isVisible());
    auto* table = find<QTreeView>(&shown.panel, "flameTable");
    for (int row = 0; row < table->model()->rowCount(); ++row)
        if (table->model()->index(row, 0).data().toString() == "aten::addmm")
            table->setCurrentIndex(table->model()->index(row, 0));
    shown.settle();
    QCOMPARE(shown.frames().name(shown.frames().frames[1]), QString("aten::addmm"));
    const auto callers = find<app::FlameGraph>(&shown.panel, "flameCallers")->frames();
    QCOMPARE(callers->name(callers->frames[2]), QString("aten::linear"));
}

void FlameTest::theSelectedStepFollowsTheSelection()
{
    Shown shown;
    shown.choose("flameScope", 2);
    QVERIFY(shown.isEmpty());
    QVERIFY(!shown.empty().isEmpty());
    const auto& steps = shown.bench.document.analysed()->facts.steps;
    shown.bench.document.selection()->selectRange(steps[1].range);
    QTRY_VERIFY(!shown.isEmpty());
    QCOMPARE(shown.frames().frames.front().total, 1'000'000.0);
    shown.bench.document.selection()->selectSlice(steps[4].slice);
    QTRY_COMPARE(shown.frames().frames.front().total, 2'000'000.0);
}

void FlameTest::theDifferenceWithAStepIsColouredByChange()
{
    Shown shown;
    shown.bench.document.selection()->selectSlice(shown.bench.document.analysed()->facts.steps[4].slice);
    shown.choose("flameScope", 2);
    auto* other = find<QComboBox>(&shown.panel, "flameOther");
    shown.choose("flameOther", other->findData(int(app::FlamePanel::Other::MedianStep)));
    QVERIFY(shown.frames().isDifference);
    QVERIFY(shown.frames().perStep);
    const app::CallFrame& linear = shown.frames().frames[shown.frame("aten::linear")];
    QCOMPARE(linear.totalOther, 600'000.0);
    QCOMPARE(linear.total, 1'600'000.0);
    const app::CallFrame& relu = shown.frames().frames[shown.frame("aten::relu")];
    QCOMPARE(app::changeOf(relu), -1.0);
    QVERIFY(app::changeColor(app::changeOf(relu), false).blue() > app::changeColor(app::changeOf(relu), false).red());
    QVERIFY(app::changeColor(app::changeOf(linear), false).red() >
            app::changeColor(app::changeOf(linear), false).blue());
}

void FlameTest::theDifferenceOfTwoRanges()
{
    Shown shown;
    QString said;
    connect(&shown.panel, &app::FlamePanel::noticed, &shown.panel, [&](const QString& what) { said = what; });
    auto *useAsA = find<QToolButton>(&shown.panel, "useAsA"), *useAsB = find<QToolButton>(&shown.panel, "useAsB");
    useAsA->click();
    QVERIFY(!said.isEmpty()); // nothing is selected
    app::Selection* selection = shown.bench.document.selection();
    const auto range = [](std::int64_t begin, std::int64_t end) {
        return profiler::TimeRange{profiler::traceTime(begin * 1000), profiler::traceTime(end * 1000)};
    };
    selection->selectRange(range(0, 1000));
    useAsA->click();
    shown.settle();
    QVERIFY(shown.frames().isDifference);
    // Until B is kept, it is the selection.
    selection->selectRange(range(4000, 6000));
    QTRY_COMPARE(shown.frames().frames[shown.frame("aten::linear")].total, 1'600'000.0);
    QCOMPARE(shown.frames().frames[shown.frame("aten::linear")].totalOther, 600'000.0);
    QVERIFY(!shown.frames().perStep);
    useAsB->click();
    selection->selectRange(range(2500, 2600));
    shown.settle();
    QCOMPARE(shown.frames().frames[shown.frame("aten::linear")].total, 1'600'000.0);
    QCOMPARE(shown.frames().frames[shown.frame("aten::relu")].totalOther, 100'000.0);
    QCOMPARE(shown.frames().frames[shown.frame("aten::relu")].total, 0.0);
    // Another trace has other ranges.
    shown.open(kTrace);
    QVERIFY(!shown.frames().isDifference);
    QCOMPARE(find<QComboBox>(&shown.panel, "flameScope")->count(), 4);
}

void FlameTest::aMissingGroupingSaysHowToRecordIt()
{
    Shown shown;
    shown.choose("flameGrouping", 1);
    QVERIFY(shown.isEmpty());
    QVERIFY(shown.empty().contains("with_stack=True"));
    shown.choose("flameGrouping", 0);
    QVERIFY(!shown.isEmpty());
}

void FlameTest::aSearchShowsItsShare()
{
    const Shown shown;
    find<QLineEdit>(&shown.panel, "flameSearch")->setText("ADDMM");
    QCOMPARE(shown.panel.graph()->found().second, std::size_t{1});
    QCOMPARE(shown.panel.graph()->found().first, 2500.0 / 6000);
    shown.panel.graph()->goToMatch(1);
    QCOMPARE(shown.panel.graph()->current(), shown.frame("aten::addmm"));
    find<QLineEdit>(&shown.panel, "flameSearch")->setText("nothing of that name");
    QCOMPARE(shown.panel.graph()->found().second, std::size_t{0});
}

void FlameTest::theKeyboardMovesAndZooms()
{
    const Shown shown;
    app::FlameGraph* graph = shown.panel.graph();
    graph->setFocus();
    QTest::keyClick(graph, Qt::Key_Down); // step
    QTest::keyClick(graph, Qt::Key_Down); // linear
    QCOMPARE(graph->current(), shown.frame("aten::linear"));
    QTest::keyClick(graph, Qt::Key_Right);
    QCOMPARE(graph->current(), shown.frame("aten::relu"));
    QTest::keyClick(graph, Qt::Key_Left);
    QTest::keyClick(graph, Qt::Key_Return);
    QCOMPARE(graph->visiblePart().second - graph->visiblePart().first, 4'000'000.0);
    QTest::keyClick(graph, Qt::Key_Slash);
    QTRY_VERIFY(find<QLineEdit>(&shown.panel, "flameSearch")->hasFocus());
}

void FlameTest::theTableIsAModel()
{
    const Shown shown;
    app::CallTableModel model(nullptr);
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setFrames(shown.panel.graph()->frames());
    model.sort(app::CallTableModel::Self, Qt::AscendingOrder);
    const QModelIndex step = model.index(0, 0);
    QCOMPARE(model.rowCount(step), 2);
    QCOMPARE(model.index(0, 0, step).data().toString(), QString("relu"));
    model.sort(app::CallTableModel::Total, Qt::DescendingOrder);
    QCOMPARE(model.index(0, 0, model.index(0, 0)).data().toString(), QString("linear"));
}

void FlameTest::aNarrowTableKeepsTheNames()
{
    Shown shown;
    auto* table = find<QTreeView>(&shown.panel, "flameTable");
    for (const int width : {1600, 560, 1600}) {
        shown.panel.resize(width, 300);
        QCoreApplication::processEvents();
        const bool isWide = width == 1600;
        QVERIFY(!table->isColumnHidden(app::CallTableModel::Total));
        for (const int column : {app::CallTableModel::Share, app::CallTableModel::Self, app::CallTableModel::Calls})
            QVERIFY2(!isWide || !table->isColumnHidden(column), qPrintable(QString::number(column)));
        QCOMPARE(table->isColumnHidden(app::CallTableModel::Calls), !isWide);
        QVERIFY2(table->columnWidth(app::CallTableModel::Name) >= 100,
                 qPrintable(QString::number(table->columnWidth(app::CallTableModel::Name))));
    }
}

void FlameTest::narrowFramesAreNotPainted()
{
    std::string text = "main\n op big 0 1000000\n";
    for (int i = 0; i < 5000; ++i)
        text += "op small" + std::to_string(i) + " " + std::to_string(i * 200) + " 1\n";
    const Shown shown(text);
    app::FlameGraph* graph = shown.panel.graph();
    graph->viewport()->grab();
    QCOMPARE(shown.frames().frames.size(), std::size_t{5002});
    for (int x = 0; x < graph->viewport()->width(); ++x)
        for (int y = 0; y < graph->viewport()->height(); y += 5)
            QVERIFY(graph->frameAt(QPointF(x, y)).value_or(0) < 2);
}

QTEST_MAIN(FlameTest)
#include "flame_test.moc"
