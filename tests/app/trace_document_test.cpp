#include "app/document/analyser.h"
#include "app/views/summary/summary.h"
#include "app/views/view.h"
#include "app/window/workbench.h"
#include "stepscope_app_views_registry.h"
#include "tests/app/app_support.h"

#include <QComboBox>
#include <QFile>
#include <QInputDialog>
#include <QLabel>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using app::RunState;
using app_test::shortTraining;
using app_test::useScript;

namespace {
std::unique_ptr<app_test::OwnFolders> folders;
} // namespace

class TraceDocumentTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init() { useScript("train"); }
    void twoDocumentsAreOpenSideBySide();
    void anImportedTraceDoesNotChangeTheConfiguration();
    void stepsOfATraceWithoutMarksAreInferredUntilRemoved();
    void aRunningAnalysisIsShown();
    void aRunThatEndedDoesNotReplaceWhatWasOpenedAfterIt();
    void rangesAreUsedAsStepsOnRequest();
    void aRankCanBeChosen();
    void noStepsAreInferredWithoutRepetition();
    void anExportedTraceOpensAgain();
    void aFailedExportIsReported();
    void anExportContinuesWhileAnotherTraceIsOpened();
    void reportsAreWrittenOneAfterAnother();
    void aRunIsDeletedWhileAnotherTrains();

private:
    void runToEnd(app::Workbench& bench);
    static void openUnmarked(app::TraceDocument& document, const QTemporaryDir& folder, int rounds,
                             const QString& name = "unmarked.json");
};

/// A trace without step marks that repeats two operators, one of them in a backward pass.
void TraceDocumentTest::openUnmarked(app::TraceDocument& document, const QTemporaryDir& folder, int rounds,
                                     const QString& name)
{
    QByteArray events;
    for (int i = 0; i < 2 * rounds; ++i)
        events +=
            (i > 0 ? "," : "") +
            QStringLiteral(R"({"ph": "X", "cat": "cpu_op", "name": "%1", "pid": 1, "tid": 1, "ts": %2, "dur": 50})")
                .arg(i % 2 == 0 ? "aten::mm" : "MmBackward0")
                .arg(50 * i)
                .toUtf8();
    QFile file(folder.filePath(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}");
    file.close();
    document.openTrace(file.fileName().toStdString());
    QTRY_VERIFY_WITH_TIMEOUT(document.analysed(), 20000);
}

void TraceDocumentTest::twoDocumentsAreOpenSideBySide()
{
    const QTemporaryDir folder;
    app::Notices notices;
    const app::RunStore runs(&notices);
    app::TraceDocument first(&notices, &runs), second(&notices, &runs);
    QSignalSpy firstChanged(&first, &app::TraceDocument::traceChanged);
    QSignalSpy firstSelected(first.selection(), &app::Selection::changed);
    openUnmarked(first, folder, 6, "first.json");
    QTRY_VERIFY_WITH_TIMEOUT(first.advice(), 20000);
    const auto slice = first.trace()->ofKind(profiler::ActivityKind::CpuOp).front().id;
    first.selection()->selectSlice(slice);
    const auto trace = first.trace();
    const auto analysed = first.analysed();
    const auto advice = first.advice();
    const auto changes = firstChanged.count();
    openUnmarked(second, folder, 3, "second.json");
    QTRY_VERIFY_WITH_TIMEOUT(second.advice(), 20000);
    second.selection()->selectRange(second.trace()->range());
    // Each has its own trace, analysis, advice and selection.
    QCOMPARE(first.title(), QString("first.json"));
    QCOMPARE(second.title(), QString("second.json"));
    QCOMPARE(first.trace()->sliceCount(), std::size_t(12));
    QCOMPARE(second.trace()->sliceCount(), std::size_t(6));
    QVERIFY(first.trace() == trace && first.analysed() == analysed && first.advice() == advice);
    QVERIFY(second.analysed() != analysed && second.advice() != advice);
    QCOMPARE(firstChanged.count(), changes);
    QCOMPARE(firstSelected.count(), 1);
    QVERIFY(first.selection()->slice() == slice && !first.selection()->range());
    QVERIFY(second.selection()->range() && !second.selection()->slice());
    // Opening another trace in one of them leaves the other as it is.
    openUnmarked(second, folder, 4, "third.json");
    QTRY_COMPARE_WITH_TIMEOUT(second.title(), QString("third.json"), 20000);
    QVERIFY(!second.selection()->range());
    QVERIFY(first.trace() == trace && first.advice() == advice && first.selection()->slice() == slice);
}

void TraceDocumentTest::stepsOfATraceWithoutMarksAreInferredUntilRemoved()
{
    const QTemporaryDir folder;
    app::Workbench bench;
    openUnmarked(bench.document, folder, 6);
    app::SummaryPanel panel(bench.document.selection());
    QObject::connect(&panel, &app::SummaryPanel::stepsByRepetitionWanted, &bench.document,
                     &app::TraceDocument::setStepsByRepetition);
    auto* choice = panel.findChild<QLabel*>("stepChoice");
    const auto steps = [&] {
        const auto analysed = bench.document.analysed();
        panel.show(analysed->trace, {analysed, &analysed->facts}, {analysed, &analysed->summary});
        return analysed->facts.steps.size();
    };
    QCOMPARE(steps(), std::size_t(6));
    QVERIFY(bench.document.analysed()->facts.steps.front().found);
    QVERIFY(!choice->isHidden());
    QVERIFY2(choice->text().contains("inferred"), qPrintable(choice->text()));
    emit choice->linkActivated("leave");
    QTRY_COMPARE_WITH_TIMEOUT(steps(), std::size_t(0), 20000);
    QVERIFY2(choice->text().contains("\"find\""), qPrintable(choice->text()));
    emit choice->linkActivated("find");
    QTRY_COMPARE_WITH_TIMEOUT(steps(), std::size_t(6), 20000);
}

void TraceDocumentTest::aRunningAnalysisIsShown()
{
    const QTemporaryDir folder;
    app::Workbench bench;
    QWidget window;
    const QWidget* summary = app::views::summary().create(bench, &window);
    const QWidget* advisor = app::views::advisor().create(bench, &window);
    const auto said = [&] {
        return summary->findChild<QLabel*>("summaryEmpty")->text() + '\n' +
               advisor->findChild<QLabel*>("advisorEmpty")->text();
    };
    QVERIFY(!said().contains("Analysing the trace"));
    QString beforeAnalysis;
    connect(&bench.document, &app::TraceDocument::traceOpened, this, [&] { beforeAnalysis = said(); });
    openUnmarked(bench.document, folder, 3);
    QCOMPARE(beforeAnalysis.count("Analysing the trace"), 2);
    QTRY_VERIFY_WITH_TIMEOUT(!said().contains("Analysing the trace"), 20000);
}

void TraceDocumentTest::aRunThatEndedDoesNotReplaceWhatWasOpenedAfterIt()
{
    const QTemporaryDir folder;
    app::Workbench bench;
    bench.configuration.set(shortTraining(), "short");
    openUnmarked(bench.document, folder, 3);
    const std::filesystem::path file = bench.document.path();
    // As early as possible, which is before the final trace of the run.
    connect(&bench.training, &app::TrainingService::stateChanged, this, [&](RunState state) {
        if (state == RunState::Idle)
            bench.document.openTrace(file);
    });
    QSignalSpy opened(&bench.document, &app::TraceDocument::traceOpened);
    runToEnd(bench);
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
    QVERIFY(!bench.training.isOpen());
    QTest::qWait(300); // the run's file is checked every 100 ms
    QCOMPARE(bench.document.path(), file);
    QCOMPARE(bench.document.trace()->tracks().size(), std::size_t(1));
}

void TraceDocumentTest::rangesAreUsedAsStepsOnRequest()
{
    const QTemporaryDir folder;
    QByteArray events;
    for (int i = 0; i < 8; ++i) // "iteration 0" and its "load", four times
        events += (i > 0 ? "," : "") +
                  QStringLiteral(R"({"ph": "X", "cat": "user_annotation", "name": "%1", "pid": 1, "tid": 1, "ts": %2,
                                     "dur": %3})")
                      .arg(i % 2 == 0 ? QString("iteration %1").arg(i / 2) : QString("load"))
                      .arg(i / 2 * 100 + i % 2 * 10)
                      .arg(i % 2 == 0 ? 90 : 20)
                      .toUtf8();
    QFile file(folder.filePath("ranges.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}");
    file.close();
    app::Workbench bench;
    bench.document.openTrace(file.fileName().toStdString());
    QTRY_VERIFY_WITH_TIMEOUT(bench.document.analysed(), 20000);
    QCOMPARE(bench.document.analysed()->facts.steps.size(), std::size_t(0));
    app::SummaryPanel panel(bench.document.selection());
    QObject::connect(&panel, &app::SummaryPanel::stepsByRepetitionWanted, &bench.document,
                     &app::TraceDocument::setStepsByRepetition);
    QObject::connect(&panel, &app::SummaryPanel::stepRangeWanted, &bench.document, &app::TraceDocument::setStepRange);
    const auto steps = [&] {
        const auto analysed = bench.document.analysed();
        panel.show(analysed->trace, {analysed, &analysed->facts}, {analysed, &analysed->summary});
        return analysed->facts.steps.size();
    };
    QCOMPARE(steps(), std::size_t(0));
    auto* choice = panel.findChild<QLabel*>("stepChoice");
    QVERIFY2(choice->text().contains("use a range"), qPrintable(choice->text()));
    emit choice->linkActivated("range");
    auto* dialog = app_test::find<QInputDialog>(&panel, "stepRange");
    QCOMPARE(dialog->comboBoxItems(), QStringList({"iteration", "load"}));
    dialog->accept(); // the first one, with the most time
    QTRY_COMPARE_WITH_TIMEOUT(steps(), std::size_t(4), 20000);
    QCOMPARE(bench.document.analysed()->facts.steps.at(3).index, 3);
    QVERIFY2(choice->text().contains("iteration"), qPrintable(choice->text()));
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    bench.document.setStepRange("iterations");
    QTRY_COMPARE_WITH_TIMEOUT(steps(), std::size_t(0), 20000);
    QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, 20000);
    QVERIFY2(told.at(0).at(1).toString().contains("“iterations”"), qPrintable(told.at(0).at(1).toString()));
    bench.document.setStepRange("iteration");
    QTRY_COMPARE_WITH_TIMEOUT(steps(), std::size_t(4), 20000);
    emit choice->linkActivated("leave");
    QTRY_COMPARE_WITH_TIMEOUT(steps(), std::size_t(0), 20000);
}

void TraceDocumentTest::aRankCanBeChosen()
{
    const QTemporaryDir folder;
    QByteArray events;
    for (int rank = 0; rank < 2; ++rank) {
        const int process = 11 + rank, length = 100 + 20 * rank;
        for (int i = 0; i < 5; ++i)
            events += QStringLiteral(
                          R"(,{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%1", "pid": %2, "tid": %2,
                                          "ts": %3, "dur": %4},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": %2, "tid": %2, "ts": %5, "dur": 5,
                 "args": {"correlation": %6}},
                {"ph": "X", "cat": "kernel", "name": "gemm", "pid": %7, "tid": 7, "ts": %8, "dur": 20,
                 "args": {"correlation": %6, "device": %7, "stream": 7}})")
                          .arg(i)
                          .arg(process)
                          .arg(i * length)
                          .arg(length)
                          .arg(i * length + 5)
                          .arg(1 + rank * 1000 + i)
                          .arg(rank)
                          .arg(i * length + 20)
                          .toUtf8();
    }
    QFile file(folder.filePath("ranks.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"schemaVersion": 1, "traceEvents": [)" + events.mid(1) + "]}");
    file.close();
    app::Workbench bench;
    QWidget window;
    const QWidget* summary = app::views::summary().create(bench, &window);
    auto* choice = summary->findChild<QComboBox*>("rankChoice");
    bench.document.openTrace(file.fileName().toStdString());
    QTRY_VERIFY_WITH_TIMEOUT(bench.document.analysed(), 20000);
    const auto analysed = [&] { return bench.document.analysed()->facts.rank; };
    QVERIFY(analysed());
    QCOMPARE(choice->count(), 3);
    QCOMPARE(choice->currentIndex(), 0);
    QCOMPARE(analysed()->number, 1);
    emit choice->activated(1);
    QTRY_COMPARE_WITH_TIMEOUT(analysed()->number, 0, 20000);
    QTRY_VERIFY(bench.document.advice());
    QCOMPARE(choice->currentIndex(), 1);
    QCOMPARE(bench.document.analysed()->facts.statistics.steadyMeanUs, 100.0);
    emit choice->activated(0);
    QTRY_COMPARE_WITH_TIMEOUT(analysed()->number, 1, 20000);
    QVERIFY(!analysed()->chosen);
}

void TraceDocumentTest::noStepsAreInferredWithoutRepetition()
{
    const QTemporaryDir folder;
    app::Workbench bench;
    openUnmarked(bench.document, folder, 1);
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    bench.document.setStepsByRepetition(true);
    QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, 20000);
    QVERIFY(told.at(0).at(1).toString().contains("No sequence of operators repeats"));
    QVERIFY(bench.document.analysed()->facts.steps.empty());
}

void TraceDocumentTest::runToEnd(app::Workbench& bench)
{
    bench.training.start();
    QCOMPARE(bench.training.state(), RunState::Starting);
    QTRY_COMPARE_WITH_TIMEOUT(bench.training.state(), RunState::Idle, 20000);
}

void TraceDocumentTest::anImportedTraceDoesNotChangeTheConfiguration()
{
    const QTemporaryDir folder;
    const QString file = folder.filePath("imported.json");
    QFile json(file);
    QVERIFY(json.open(QIODevice::WriteOnly));
    json.write(R"({"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 50},
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 1, "tid": 1, "ts": 100, "dur": 100}]})");
    json.close();
    app::Workbench bench;
    auto configuration = shortTraining();
    QVERIFY(configuration.set("batch.size", "48"));
    bench.configuration.set(configuration, "mine");
    QSignalSpy opened(&bench.document, &app::TraceDocument::traceOpened);
    bench.document.openTrace(file.toStdString());
    QTRY_COMPARE(opened.count(), 1);
    QCOMPARE(bench.configuration.get().text("batch.size"), "48");
    QVERIFY(!bench.document.configuration());
    QCOMPARE(bench.document.title(), QString("imported.json"));
    QCOMPARE(bench.document.trace()->format(), "pytorch-json");
    QTRY_VERIFY(bench.document.analysed());
    QCOMPARE(bench.document.analysed()->facts.steps.size(), std::size_t(2));
    for (const advisor::RuleAdvice& advice : bench.document.advice()->rules)
        QVERIFY2(!advice.advice.toggle, advice.id.c_str());
}

void TraceDocumentTest::anExportedTraceOpensAgain()
{
    app::Workbench bench;
    auto configuration = shortTraining();
    QVERIFY(configuration.set("capture.ops_every", "5"));
    QVERIFY(configuration.set("capture.ops_window", "2"));
    bench.configuration.set(configuration, "short");
    runToEnd(bench);
    QTRY_VERIFY_WITH_TIMEOUT(bench.document.trace()->sliceCount() > 0 && !bench.training.isOpen(), 20000);
    const QTemporaryDir folder;
    const std::filesystem::path file = folder.filePath("exported.json").toStdString();
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    bench.document.exportTrace(file);
    QTRY_COMPARE(told.count(), 1);
    QVERIFY2(!told.at(0).at(2).toBool(), qPrintable(told.at(0).at(0).toString()));
    const auto count = [&](profiler::ActivityKind kind) { return bench.document.trace()->ofKind(kind).size(); };
    const std::size_t ops = count(profiler::ActivityKind::CpuOp), steps = count(profiler::ActivityKind::Step),
                      slices = bench.document.trace()->sliceCount();
    QVERIFY(ops > 0);
    QCOMPARE(steps, std::size_t(30));
    QSignalSpy opened(&bench.document, &app::TraceDocument::traceOpened);
    bench.document.openTrace(file);
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
    QCOMPARE(count(profiler::ActivityKind::CpuOp), ops);
    QCOMPARE(count(profiler::ActivityKind::Step), steps);
    QCOMPARE(bench.document.trace()->sliceCount(), slices);
}

void TraceDocumentTest::aFailedExportIsReported()
{
    app::Workbench bench;
    bench.configuration.set(shortTraining(), "short");
    runToEnd(bench);
    QTRY_VERIFY(bench.document.trace()->sliceCount() > 0);
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    bench.document.exportTrace("/nowhere/exported.json");
    QTRY_COMPARE(told.count(), 1);
    QVERIFY(told.at(0).at(2).toBool());
    QVERIFY2(told.at(0).at(0).toString().startsWith("Could not save exported.json: "),
             qPrintable(told.at(0).at(0).toString()));
}

void TraceDocumentTest::anExportContinuesWhileAnotherTraceIsOpened()
{
    app::Workbench bench;
    bench.configuration.set(shortTraining(), "short");
    runToEnd(bench);
    QTRY_VERIFY_WITH_TIMEOUT(bench.document.trace()->sliceCount() > 0 && !bench.training.isOpen(), 20000);
    const QTemporaryDir folder;
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    QSignalSpy opened(&bench.document, &app::TraceDocument::traceOpened);
    bench.document.exportTrace(folder.filePath("exported.json").toStdString());
    QVERIFY(bench.document.isExporting());
    bench.document.openTrace(bench.runs.all().front().trace());
    QVERIFY(bench.document.isExporting());
    QTRY_VERIFY_WITH_TIMEOUT(opened.count() == 1 && told.count() == 1, 20000);
    QVERIFY2(told[0][0].toString().contains("was exported"), qPrintable(told[0][0].toString()));
    QVERIFY(QFile::exists(folder.filePath("exported.json")));
    // It continues during a training.
    bench.document.exportTrace(folder.filePath("again.json").toStdString());
    bench.training.start();
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(folder.filePath("again.json")) && !bench.training.isOpen(), 20000);
}

void TraceDocumentTest::reportsAreWrittenOneAfterAnother()
{
    const QTemporaryDir folder;
    {
        app::Workbench bench;
        QSignalSpy told(&bench.notices, &app::Notices::noticed);
        for (const char* name : {"a.html", "b.html", "c.html"})
            bench.reports.saveReport(folder.filePath(name).toStdString());
        QTRY_COMPARE_WITH_TIMEOUT(told.count(), 3, 20000);
        bench.reports.saveReport(folder.filePath("d.html").toStdString());
        bench.reports.saveReport(folder.filePath("e.html").toStdString());
    }
    for (const char* name : {"a.html", "b.html", "c.html", "d.html", "e.html"})
        QVERIFY2(QFile::exists(folder.filePath(name)), name);
}

void TraceDocumentTest::aRunIsDeletedWhileAnotherTrains()
{
    app::Workbench bench;
    bench.configuration.set(shortTraining(), "short");
    runToEnd(bench);
    const app::RunRecord first = bench.runs.all().front();
    bench.configuration.set(shortTraining(100000), "long");
    bench.training.start();
    const auto before = bench.runs.all().size();
    QSignalSpy changed(&bench.runs, &app::RunStore::changed);
    bench.runs.remove(first);
    QTRY_COMPARE_WITH_TIMEOUT(bench.runs.all().size(), before - 1, 20000);
    QVERIFY(!std::filesystem::exists(first.folder));
    QVERIFY(!changed.isEmpty());
    // A run in progress cannot be deleted by any window; another window shows its state.
    app::Workbench other;
    other.runs.reload();
    QTRY_VERIFY_WITH_TIMEOUT(!other.runs.all().empty(), 20000);
    const app::RunRecord training = other.runs.all().front();
    QVERIFY(training.isRunning());
    for (app::Workbench* asked : {&bench, &other}) {
        QSignalSpy told(&asked->notices, &app::Notices::noticed);
        asked->runs.remove(training);
        QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, 20000);
        QVERIFY2(told[0][0].toString().contains("still in progress"), qPrintable(told[0][0].toString()));
        QVERIFY(std::filesystem::exists(training.folder));
    }
    bench.training.stop();
    QTRY_VERIFY_WITH_TIMEOUT(!bench.training.isOpen(), 20000);
    other.runs.reload();
    QTRY_VERIFY_WITH_TIMEOUT(!other.runs.all().front().isRunning(), 20000);
    other.runs.remove(training);
    QTRY_VERIFY_WITH_TIMEOUT(!std::filesystem::exists(training.folder), 20000);
}

QTEST_MAIN(TraceDocumentTest)
#include "trace_document_test.moc"
