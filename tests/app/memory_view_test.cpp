#include "app/tables/evidence_table.h"
#include "app/views/memory/memory_chart.h"
#include "app/views/memory/memory_maps.h"
#include "app/views/memory/memory_panel.h"
#include "profiler/formats/format.h"
#include "tests/app/app_support.h"
#include "tests/support/allocator_trace.h"
#include "tests/support/trace_text.h"

#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QGuiApplication>
#include <QLabel>
#include <QMenu>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

using app_test::find;
using profiler::analysis::MemoryCategory;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

const std::string kModule = "/venv/torch/nn/modules/module.py";

/// A model, an activation, and a failed allocation.
std::shared_ptr<const profiler::Trace> snapshot(const std::string& folder)
{
    const std::string build = "/venv/torch/nn/modules/linear.py:1 __init__\n" + folder + "/model.py:5 __init__";
    const auto forward = [&](int line) {
        return "/venv/torch/nn/functional.py:" + std::to_string(line) + " linear\n" + kModule + ":7 _call_impl\n" +
               folder + "/train.py:" + std::to_string(line) + " main";
    };
    return test_support::AllocatorTrace()
        .event("segment_alloc", 0x1000, 10'000'000)
        .alloc(0x1000, 4'000'000, build)
        .alloc(0x1000 + 5'000'000, 3'000'000, forward(41))
        .alloc(0x1000 + 4'000'000, 1'000'000, forward(42))
        .free(0x1000 + 4'000'000, 1'000'000, forward(42))
        .event("oom", 0, 99'000'000)
        .segments("S\t4096\t10000000\t7000000\t0\tlarge\t0\nB\t0\t4000000\ta\t0\nB\t4000000\t1000000\tf\t0\n"
                  "B\t5000000\t3000000\ta\t0\nB\t8000000\t2000000\tf\t0\n")
        .trace();
}

struct Shown {
    Shown() : panel(&bench.document, nullptr)
    {
        panel.resize(1200, 300);
        panel.show();
        if (!QTest::qWaitForWindowExposed(&panel))
            qFatal("the panel is not shown");
    }
    explicit Shown(const std::shared_ptr<const profiler::Trace>& trace) : Shown() { open(trace); }
    void open(const std::shared_ptr<const profiler::Trace>& trace)
    {
        const std::filesystem::path path = folder.filePath("trace.sspack").toStdString();
        if (!profiler::formats::saveTrace(*trace, path, {}))
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
    template <class T>
    T* part(const char* name)
    {
        return find<T>(&panel, name);
    }
    void choose(const char* name, int entry)
    {
        part<QComboBox>(name)->setCurrentIndex(entry);
        emit part<QComboBox>(name)->activated(entry);
    }
    /// The text in a column of a row of the holders.
    QString cell(int row, int column) { return panel.table()->model()->index(row, column).data().toString(); }

    QTemporaryDir folder;
    app::Workbench bench;
    app::MemoryPanel panel;
};

} // namespace

class MemoryViewTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void saysWhatToDoWithoutATraceAndWithoutMemory();
    void aSnapshotHasHoldersByLine();
    void theMomentIsChosen();
    void aHolderSelectsItsAllocation();
    void aDoubleClickOpensTheEditor();
    void theTreemapHasAreasByBytes();
    void squarifiedFillsTheRectangle();
    void segmentsShowTheirBlocks();
    void theChartDescribesAndChoosesTimes();
    void theChartIsCopiedAndSaved();
    void rulesAreThoseOfTheSource();
    void totalsHaveNoHolders();
    void memoryEventsOfPytorchHaveHolders();
    void theBusiestDeviceIsShownFirst();
    void anotherTraceReplacesTheMemory();
};

void MemoryViewTest::saysWhatToDoWithoutATraceAndWithoutMemory()
{
    Shown shown;
    auto* empty = shown.part<QLabel>("memoryEmpty");
    QVERIFY(empty->isVisible());
    const QString without = empty->text();
    shown.open(test_support::traceFromText("main\nop aten::mm 0 10"));
    QVERIFY(empty->isVisible());
    QVERIFY(empty->text() != without);
    QVERIFY(empty->text().contains("_record_memory_history"));
}

void MemoryViewTest::aSnapshotHasHoldersByLine()
{
    Shown shown(snapshot("/me"));
    QVERIFY(!shown.part<QLabel>("memoryEmpty")->isVisible());
    auto* table = shown.panel.table();
    QCOMPARE(table->model()->rowCount(), 3);
    QCOMPARE(shown.cell(0, 0), QString("model.py:5"));
    QCOMPARE(shown.cell(0, 4), QString("__init__"));
    QCOMPARE(shown.cell(0, 3), app::memoryCategoryTitle(MemoryCategory::Parameters));
    QCOMPARE(shown.cell(0, 1), QString("4.00 MB"));
    QCOMPARE(shown.cell(0, 2), QString("50.0 %"));
    QCOMPARE(shown.cell(1, 0), QString("train.py:41"));
    QCOMPARE(shown.cell(1, 3), app::memoryCategoryTitle(MemoryCategory::Activations));
    QCOMPARE(shown.cell(2, 3), app::memoryCategoryTitle(MemoryCategory::Temporaries));
}

void MemoryViewTest::theMomentIsChosen()
{
    Shown shown(snapshot("/me"));
    QCOMPARE(shown.part<QComboBox>("memoryMoment")->count(), 2);
    QCOMPARE(shown.part<QComboBox>("memoryMoment")->currentIndex(), 1);
    shown.choose("memoryMoment", 0); // when it ran out
    QCOMPARE(shown.panel.table()->model()->rowCount(), 2);
}

void MemoryViewTest::aHolderSelectsItsAllocation()
{
    Shown shown(snapshot("/me"));
    QSignalSpy requested(shown.bench.document.selection(), &app::Selection::showRequested);
    auto* table = shown.panel.table();
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(1, 0)).center());
    const auto slice = shown.bench.document.selection()->slice();
    QVERIFY(slice.has_value());
    QCOMPARE(shown.bench.document.trace()->slice(*slice).args.bytes, std::int64_t{3'000'000});
    QCOMPARE(requested.count(), 1);
    QVERIFY(shown.panel.treemap()->current() == std::size_t{1});
}

void MemoryViewTest::aDoubleClickOpensTheEditor()
{
    QTemporaryDir folder;
    const QString opened = folder.filePath("opened");
    QFile source(folder.filePath("model.py"));
    QVERIFY(source.open(QIODevice::WriteOnly));
    source.write("model = 1\n");
    source.close();
    QSettings().setValue("editor/command", "/bin/sh -c \"echo {file}:{line} > " + opened + "\"");
    Shown shown(snapshot(folder.path().toStdString()));
    auto* table = shown.panel.table();
    const QPoint at = table->visualRect(table->model()->index(0, 0)).center();
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, at);
    QTest::mouseDClick(table->viewport(), Qt::LeftButton, {}, at);
    QTRY_VERIFY(QFile(opened).size() > 0);
    QFile result(opened);
    QVERIFY(result.open(QIODevice::ReadOnly));
    QCOMPARE(QString::fromUtf8(result.readAll()).trimmed(), folder.filePath("model.py:5"));
    QSettings().remove("editor/command");
    // A file that does not exist is a notice.
    QSignalSpy noticed(&shown.panel, &app::MemoryPanel::noticed);
    const QPoint missing = table->visualRect(table->model()->index(1, 0)).center();
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, missing);
    QTest::mouseDClick(table->viewport(), Qt::LeftButton, {}, missing);
    QCOMPARE(noticed.count(), 1);
}

void MemoryViewTest::theTreemapHasAreasByBytes()
{
    Shown shown(snapshot("/me"));
    shown.panel.setPage(app::MemoryPanel::Treemap);
    app::MemoryTreemap* map = shown.panel.treemap();
    map->grab();
    const auto area = [&](std::size_t holder) { return map->rectOf(holder).width() * map->rectOf(holder).height(); };
    QVERIFY(std::abs(area(0) / area(1) - 4.0 / 3) < 0.01);
    QVERIFY(std::abs(area(0) / area(2) - 4) < 0.01);
    QTest::mouseClick(map, Qt::LeftButton, {}, map->rectOf(1).center().toPoint());
    QVERIFY(map->current() == std::size_t{1});
    QVERIFY(!map->accessibleDescription().isEmpty());
    const auto slice = shown.bench.document.selection()->slice();
    QVERIFY(slice.has_value());
    QCOMPARE(shown.bench.document.trace()->slice(*slice).args.bytes, std::int64_t{3'000'000});
    QSignalSpy opened(map, &app::MemoryTreemap::opened);
    QTest::keyClick(map, Qt::Key_Left);
    QVERIFY(map->current() == std::size_t{0});
    QTest::keyClick(map, Qt::Key_Return);
    QCOMPARE(opened.count(), 1);
}

void MemoryViewTest::squarifiedFillsTheRectangle()
{
    const QRectF all(10, 20, 300, 100);
    const std::vector<double> weights{6, 6, 4, 3, 2, 2, 1, 0};
    const auto rects = app::squarified(weights, all);
    double area = 0;
    for (std::size_t i = 0; i < rects.size(); ++i) {
        QVERIFY(std::abs(rects[i].width() * rects[i].height() - 30000 * weights[i] / 24) < 0.01);
        area += rects[i].width() * rects[i].height();
        QVERIFY(weights[i] == 0 || all.adjusted(-0.01, -0.01, 0.01, 0.01).contains(rects[i]));
        QVERIFY(weights[i] == 0 ||
                std::max(rects[i].width() / rects[i].height(), rects[i].height() / rects[i].width()) < 4);
        for (std::size_t other = 0; other < i; ++other) {
            const QRectF common = rects[i].intersected(rects[other]);
            QVERIFY(common.width() * common.height() < 0.01);
        }
    }
    QVERIFY(std::abs(area - 30000) < 0.01);
    QVERIFY(app::squarified({0, 0}, all)[0].isEmpty());
}

void MemoryViewTest::segmentsShowTheirBlocks()
{
    Shown shown(snapshot("/me"));
    shown.panel.setPage(app::MemoryPanel::Segments);
    app::SegmentMap* map = shown.panel.segments();
    map->viewport()->grab();
    QVERIFY(shown.part<QLabel>("memorySegmentsSummary")->text().contains("3.00 MB"));
    const QRectF activation = map->rectOf({0, 2});
    QVERIFY(std::abs(activation.width() / map->rectOf({0, 1}).width() - 3) < 0.05);
    QVERIFY((map->blockAt(activation.center()) == app::SegmentMap::Position{0, 2}));
    QTest::mouseClick(map->viewport(), Qt::LeftButton, {}, activation.center().toPoint());
    const auto slice = shown.bench.document.selection()->slice();
    QVERIFY(slice.has_value());
    QCOMPARE(shown.bench.document.trace()->slice(*slice).args.bytes, std::int64_t{3'000'000});
    QTest::keyClick(map, Qt::Key_Left);
    QVERIFY((map->current() == app::SegmentMap::Position{0, 1}));
}

void MemoryViewTest::theChartDescribesAndChoosesTimes()
{
    Shown shown(snapshot("/me"));
    app::MemoryChart* chart = shown.panel.chart();
    chart->grab();
    const QRectF plot = chart->plot();
    QVERIFY(plot.width() > 200);
    const auto sample = chart->sampleAt(plot.left() + plot.width() * 0.7); // between the fourth and the fifth event
    QVERIFY(sample.has_value());
    QVERIFY(chart->describe(*sample).contains("8.00 MB"));
    QVERIFY(!chart->sampleAt(0).has_value());
    QSignalSpy chosen(chart, &app::MemoryChart::timeChosen);
    QSignalSpy requested(shown.bench.document.selection(), &app::Selection::showRequested);
    QTest::mouseClick(chart, Qt::LeftButton, {}, plot.center().toPoint());
    QCOMPARE(chosen.count(), 1);
    QCOMPARE(requested.count(), 1);
    QTest::keyClick(chart, Qt::Key_Home);
    QTest::keyClick(chart, Qt::Key_Return);
    QCOMPARE(profiler::toNs(chosen.last().first().value<profiler::TraceTime>()), std::int64_t{1000});
}

void MemoryViewTest::theChartIsCopiedAndSaved()
{
    Shown shown(snapshot("/me"));
    const QStringList lines = shown.panel.chart()->csv().trimmed().split('\n');
    QCOMPARE(lines.size(), 1 + 7); // the header, the state before the events, and six events
    QCOMPARE(lines[0].count(','), 8);
    QVERIFY(lines[0].contains("optimizer state (bytes)"));
    QCOMPARE(lines[5], QString("0.000003000,4000000,0,0,3000000,1000000,0,2000000,0"));
    auto* save = shown.panel.findChildren<QToolButton*>().last();
    for (QToolButton* button : shown.panel.findChildren<QToolButton*>())
        if (button->menu())
            save = button;
    save->menu()->actions().at(0)->trigger();
    QVERIFY(!QGuiApplication::clipboard()->image().isNull());
    save->menu()->actions().at(1)->trigger();
    QCOMPARE(QGuiApplication::clipboard()->text(), shown.panel.chart()->csv());
    save->menu()->actions().at(2)->trigger();
    QCOMPARE(QGuiApplication::clipboard()->text().count('\n'), 4);
    for (const char* name : {"chart.png", "chart.svg", "chart.csv"}) {
        const app_test::SaveAs dialog(shown.folder.filePath(name));
        save->menu()->actions().at(3)->trigger();
        QTRY_VERIFY(QFile(shown.folder.filePath(name)).size() > 100);
    }
}

void MemoryViewTest::rulesAreThoseOfTheSource()
{
    Shown shown(snapshot("/me"));
    QCOMPARE(shown.panel.findChildren<QLabel*>("memoryRule").size(), 8);
    shown.open(test_support::traceFromText("counter \"GPU 0 memory taken\" unit=bytes\nsample 1 900"));
    QCOMPARE(shown.panel.findChildren<QLabel*>("memoryRule").size(), 1);
}

void MemoryViewTest::totalsHaveNoHolders()
{
    Shown shown(test_support::traceFromText("main\nop aten::mm 0 10\ncounter \"GPU 0 memory allocated\" unit=bytes\n"
                                            "sample 1 900\nsample 5 100"));
    QVERIFY(shown.part<QLabel>("memoryNoHolders")->isVisible());
    QVERIFY(!shown.panel.hasPage(app::MemoryPanel::Treemap));
    QVERIFY(!shown.panel.hasPage(app::MemoryPanel::Segments));
    QVERIFY(shown.part<QComboBox>("memoryMoment")->currentText().contains("900 B"));
}

void MemoryViewTest::memoryEventsOfPytorchHaveHolders()
{
    QTemporaryDir folder;
    QFile file(folder.filePath("trace.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "python_function", "name": "train.py(10): main", "pid": 7, "tid": 7, "ts": 100, "dur": 900},
        {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 7, "tid": 7, "ts": 210, "dur": 180},
        {"ph": "i", "s": "t", "name": "[memory]", "pid": 7, "tid": 7, "ts": 225, "args": {"Total Reserved": 9000,
         "Total Allocated": 1400, "Bytes": 400, "Addr": 100, "Device Id": 0, "Device Type": 1}}]})");
    file.close();
    const auto trace = profiler::formats::openTrace(file.fileName().toStdString());
    QVERIFY(trace);
    Shown shown(*trace);
    QVERIFY(!shown.part<QLabel>("memoryNoHolders")->isVisible());
    QVERIFY(shown.panel.hasPage(app::MemoryPanel::Treemap));
    QCOMPARE(shown.panel.table()->model()->rowCount(), 2);
    QCOMPARE(shown.cell(0, 0), QString("Allocated before the recording"));
    QCOMPARE(shown.cell(0, 1), QString("1.00 kB"));
    QCOMPARE(shown.cell(0, 3), QString("–"));
    QCOMPARE(shown.cell(1, 0), QString("train.py:10 · linear"));
    QCOMPARE(shown.cell(1, 1), QString("400 B"));
    QCOMPARE(shown.cell(1, 4), QString("main"));
    const QString source = shown.part<QLabel>("memorySource")->text();
    QVERIFY2(source.contains("earlier"), qPrintable(source));
    auto* table = shown.panel.table();
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(1, 0)).center());
    const auto slice = shown.bench.document.selection()->slice();
    QVERIFY(slice.has_value());
    QCOMPARE(shown.bench.document.trace()->name(shown.bench.document.trace()->slice(*slice)),
             std::string_view("aten::linear"));
}

void MemoryViewTest::theBusiestDeviceIsShownFirst()
{
    Shown shown(test_support::traceFromText(R"(
        main
          op aten::mm 0 10
        counter "CPU memory allocated" unit=bytes
          sample 1 9000
        counter "GPU 0 memory allocated" unit=bytes
          sample 1 100
        counter "GPU 1 memory allocated" unit=bytes
          sample 1 700
    )"));
    auto* device = shown.part<QComboBox>("memoryDevice");
    QCOMPARE(device->count(), 3);
    QCOMPARE(device->currentText(), QString("GPU 1"));
    shown.choose("memoryDevice", 1);
    QVERIFY(shown.part<QComboBox>("memoryMoment")->currentText().contains("100 B"));
}

void MemoryViewTest::anotherTraceReplacesTheMemory()
{
    Shown shown(snapshot("/me"));
    shown.open(test_support::traceFromText("main\nop aten::mm 0 10"));
    QVERIFY(shown.part<QLabel>("memoryEmpty")->isVisible());
    shown.open(snapshot("/me"));
    QVERIFY(!shown.part<QLabel>("memoryEmpty")->isVisible());
    QCOMPARE(shown.panel.table()->model()->rowCount(), 3);
}

QTEST_MAIN(MemoryViewTest)
#include "memory_view_test.moc"
