#include "app/document/analyser.h"
#include "app/window/workbench.h"
#include "profiler/formats/container/ring_file.h"
#include "profiler/formats/container/trace_file.h"
#include "profiler/formats/container/trace_reader.h"
#include "tests/app/app_support.h"

#include <QFile>
#include <QSignalSpy>
#include <QTest>

using app::RunState;
using app_test::shortTraining;
using app_test::useScript;

namespace {
std::unique_ptr<app_test::OwnFolders> folders;

bool isSealed(const std::filesystem::path& trace)
{
    const auto header = profiler::container::InputFile::open(trace).and_then(profiler::container::readHeader);
    return header && header->isSealed;
}
} // namespace

class TrainingServiceTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init();

    void aRefusedValueNamesWhatIsAllowedAndChangesNothing();
    void aKnobChangeIsUndoneAndRedone();
    void quickEditsOfOneKnobAreOneUndo();
    void editsOfTwoKnobsAreTwoUndos();
    void aKnobThatNeedsAGpuIsRefusedWithoutOne();
    void aBadConfigurationFileLeavesTheConfiguration();

    void aTrainingRunsAndLeavesItsTraceAndResult();
    void snapshotsArriveWhileItRuns();
    void stopEndsItAndKeepsTheTrace();
    void pauseHoldsTheSteps();
    void aCrashIsReportedWithTheTrainersLastOutput();
    void aKilledTrainerLeavesItsEvents();
    void aRunIsSealedEvenIfTheNextOneStartsAtOnce();
    void garbageIsReportedAndSkipped();
    void aTrainerThatRefusesIsReported();
    void aMissingTrainerIsReported();

    void anUnreadableTraceIsReportedAndTheOldOneStays();
    void openingARunTakesItsConfiguration();
    void anExperimentMeasuresAndKeepingItIsUndone();
    void changesToTheLearningAreComparedByLoss();
    void anExperimentCanBeCancelled();

private:
    void runToEnd(app::Workbench& bench);
};

void TrainingServiceTest::init()
{
    useScript("train");
}

void TrainingServiceTest::runToEnd(app::Workbench& bench)
{
    bench.training.start();
    QCOMPARE(bench.training.state(), RunState::Starting);
    QTRY_COMPARE_WITH_TIMEOUT(bench.training.state(), RunState::Idle, 20000);
}

void TrainingServiceTest::aRefusedValueNamesWhatIsAllowedAndChangesNothing()
{
    app::Workbench bench;
    const auto refused = bench.configuration.setKnob("loader.workers", "9999");
    QVERIFY(refused.has_value());
    QVERIFY2(refused->contains("9999") && refused->contains("256"), qPrintable(*refused));
    QCOMPARE(bench.configuration.get(), config::TrainingConfig());
    QVERIFY(!bench.configuration.undoStack()->canUndo());
}

void TrainingServiceTest::aKnobChangeIsUndoneAndRedone()
{
    app::Workbench bench;
    QSignalSpy changed(&bench.configuration, &app::ConfigurationModel::changed);
    QVERIFY(!bench.configuration.setKnob("loader.workers", "2"));
    QCOMPARE(bench.configuration.get().text("loader.workers"), "2");
    bench.configuration.undoStack()->undo();
    QCOMPARE(bench.configuration.get().text("loader.workers"), "0");
    bench.configuration.undoStack()->redo();
    QCOMPARE(bench.configuration.get().text("loader.workers"), "2");
    QCOMPARE(changed.count(), 3);
}

void TrainingServiceTest::quickEditsOfOneKnobAreOneUndo()
{
    app::Workbench bench;
    for (const char* value : {"1", "2", "3"})
        QVERIFY(!bench.configuration.setKnob("loader.workers", value));
    QCOMPARE(bench.configuration.undoStack()->count(), 1);
    bench.configuration.undoStack()->undo();
    QCOMPARE(bench.configuration.get().text("loader.workers"), "0");
}

void TrainingServiceTest::editsOfTwoKnobsAreTwoUndos()
{
    app::Workbench bench;
    QVERIFY(!bench.configuration.setKnob("loader.workers", "1"));
    QVERIFY(!bench.configuration.setKnob("batch.size", "64"));
    QVERIFY(!bench.configuration.setKnob("loader.workers", "2"));
    QCOMPARE(bench.configuration.undoStack()->count(), 3);
}

void TrainingServiceTest::aKnobThatNeedsAGpuIsRefusedWithoutOne()
{
    app::Workbench bench;
    QSignalSpy described(&bench.configuration, &app::ConfigurationModel::descriptionChanged);
    bench.configuration.refreshDescription();
    QVERIFY(described.wait(10000));
    QVERIFY(!bench.configuration.description().gpuAvailable);
    const auto refused = bench.configuration.setKnob("loader.pin_memory", "true");
    QVERIFY(refused.has_value());
    QVERIFY2(refused->contains("GPU"), qPrintable(*refused));
    QCOMPARE(bench.configuration.get().text("loader.pin_memory"), "false");
}

void TrainingServiceTest::aBadConfigurationFileLeavesTheConfiguration()
{
    app::Workbench bench;
    QVERIFY(!bench.configuration.setKnob("loader.workers", "2"));
    QTemporaryDir folder;
    const QString file = folder.filePath("bad.json");
    QFile out(file);
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write("{\"loader\": {\"workers\": 4,,}}");
    out.close();
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    bench.configuration.load(file.toStdString());
    QCOMPARE(told.count(), 1);
    const QString detail = told.at(0).at(1).toString();
    QVERIFY2(detail.contains("bad.json") && detail.contains("byte"), qPrintable(detail));
    QVERIFY(told.at(0).at(2).toBool());
    QCOMPARE(bench.configuration.get().text("loader.workers"), "2");
}

void TrainingServiceTest::aTrainingRunsAndLeavesItsTraceAndResult()
{
    app::Workbench bench;
    bench.configuration.set(shortTraining(), "short");
    runToEnd(bench);
    QTRY_VERIFY_WITH_TIMEOUT(bench.document.analysed() && !bench.document.trace()->captureStats().live, 20000);
    QTRY_COMPARE_WITH_TIMEOUT(bench.document.analysed()->facts.steps.size(), std::size_t{30}, 20000);
    QVERIFY(!bench.document.trace()->captureStats().cut);
    QVERIFY(!bench.training.stepHistory().empty());
    QCOMPARE(bench.training.epochHistory().size(), std::size_t{1});
    const auto& run = bench.runs.all().front();
    QCOMPARE(run.outcome.state, QString("finished"));
    QCOMPARE(run.outcome.steps, 30);
    QVERIFY(std::filesystem::exists(run.trace()));
    QVERIFY(std::filesystem::exists(run.folder / "config.json"));
    QTRY_VERIFY_WITH_TIMEOUT(isSealed(run.trace()), 20000);
    QTRY_VERIFY_WITH_TIMEOUT(!std::filesystem::exists(profiler::container::ringPath(run.trace())), 20000);
    const auto kept = profiler::container::readTrace(run.trace());
    QVERIFY(kept.has_value());
    QCOMPARE((*kept)->sliceCount(), bench.document.trace()->sliceCount());
    // Another session can read it.
    app::Workbench later;
    later.runs.reload();
    QTRY_VERIFY_WITH_TIMEOUT(!later.runs.all().empty(), 20000);
    QCOMPARE(later.runs.all().front().name, run.name);
    QCOMPARE(later.runs.all().front().outcome.samplesPerSecond, run.outcome.samplesPerSecond);
    QCOMPARE(later.runs.all().front().configuration, shortTraining());
}

void TrainingServiceTest::snapshotsArriveWhileItRuns()
{
    app::Workbench bench;
    bench.configuration.set(shortTraining(200), "longer");
    bench.training.start();
    QTRY_VERIFY_WITH_TIMEOUT(bench.training.state() == RunState::Running && bench.document.trace()->sliceCount() > 20,
                             10000);
    QVERIFY(bench.document.trace()->captureStats().live);
    const auto before = bench.document.trace()->sliceCount();
    QTRY_VERIFY_WITH_TIMEOUT(bench.document.trace()->sliceCount() > before, 20000);
    bench.training.stop();
    QTRY_COMPARE_WITH_TIMEOUT(bench.training.state(), RunState::Idle, 20000);
}

void TrainingServiceTest::stopEndsItAndKeepsTheTrace()
{
    app::Workbench bench;
    bench.configuration.set(shortTraining(100000), "long");
    bench.training.start();
    QTRY_COMPARE_WITH_TIMEOUT(bench.training.state(), RunState::Running, 20000);
    QTest::qWait(300);
    bench.training.stop();
    QCOMPARE(bench.training.state(), RunState::Stopping);
    QTRY_COMPARE_WITH_TIMEOUT(bench.training.state(), RunState::Idle, 20000);
    QCOMPARE(bench.runs.all().front().outcome.state, QString("stopped"));
    QTRY_VERIFY_WITH_TIMEOUT(!bench.document.trace()->captureStats().live && bench.document.trace()->sliceCount() > 0,
                             20000);
    QVERIFY(!bench.document.trace()->captureStats().cut);
}

void TrainingServiceTest::pauseHoldsTheSteps()
{
    app::Workbench bench;
    bench.configuration.set(shortTraining(100000), "long");
    bench.training.start();
    QTRY_COMPARE_WITH_TIMEOUT(bench.training.state(), RunState::Running, 20000);
    bench.training.pause();
    QCOMPARE(bench.training.state(), RunState::Paused);
    // The current steps end, then there are no more.
    const auto rests = [&] {
        const auto before = bench.training.stepHistory().size();
        QTest::qWait(300);
        return bench.training.stepHistory().size() == before;
    };
    QTRY_VERIFY_WITH_TIMEOUT(rests(), 20000);
    const auto held = bench.training.stepHistory().size();
    bench.training.resume();
    QTRY_VERIFY_WITH_TIMEOUT(bench.training.stepHistory().size() > held, 20000);
    bench.training.stop();
    QTRY_COMPARE_WITH_TIMEOUT(bench.training.state(), RunState::Idle, 20000);
}

void TrainingServiceTest::aCrashIsReportedWithTheTrainersLastOutput()
{
    useScript("crash");
    app::Workbench bench;
    bench.configuration.set(shortTraining(), "short");
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    runToEnd(bench);
    QVERIFY(told.count() >= 1);
    const QString detail = told.at(0).at(1).toString();
    QVERIFY2(detail.contains("the tensors have no shape"), qPrintable(detail));
    QVERIFY(told.at(0).at(2).toBool());
    QCOMPARE(bench.runs.all().front().outcome.state, QString("failed"));
    QTRY_VERIFY_WITH_TIMEOUT(bench.document.trace()->captureStats().cut, 20000);
}

void TrainingServiceTest::aKilledTrainerLeavesItsEvents()
{
    useScript("killed");
    app::Workbench bench;
    bench.configuration.set(shortTraining(), "short");
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    runToEnd(bench);
    QVERIFY2(told.at(0).at(0).toString().contains("9"), qPrintable(told.at(0).at(0).toString()));
    QTRY_VERIFY_WITH_TIMEOUT(bench.document.trace()->captureStats().cut, 20000);
    QTRY_VERIFY_WITH_TIMEOUT(bench.document.analysed() && bench.document.analysed()->facts.steps.size() >= 9, 20000);
    const auto trace = bench.runs.all().front().trace();
    QVERIFY(!isSealed(trace));
    const auto kept = profiler::container::readTrace(trace);
    QVERIFY(kept.has_value());
    QCOMPARE((*kept)->sliceCount(), bench.document.trace()->sliceCount());
}

void TrainingServiceTest::aRunIsSealedEvenIfTheNextOneStartsAtOnce()
{
    app::Workbench bench;
    bench.configuration.set(shortTraining(), "short");
    runToEnd(bench);
    const auto first = bench.runs.all().front().trace();
    runToEnd(bench);
    const auto second = bench.runs.all().front().trace();
    QVERIFY(first != second);
    QTRY_VERIFY_WITH_TIMEOUT(isSealed(first), 20000);
    QTRY_VERIFY_WITH_TIMEOUT(isSealed(second), 20000);
}

void TrainingServiceTest::garbageIsReportedAndSkipped()
{
    useScript("garbage");
    app::Workbench bench;
    bench.configuration.set(shortTraining(), "short");
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    runToEnd(bench);
    QVERIFY(told.count() >= 1);
    QVERIFY(!told.at(0).at(2).toBool());
    QCOMPARE(bench.runs.all().front().outcome.state, QString("finished"));
    QCOMPARE(bench.runs.all().front().outcome.steps, 30);
}

void TrainingServiceTest::aTrainerThatRefusesIsReported()
{
    useScript("refuse");
    app::Workbench bench;
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    runToEnd(bench);
    QVERIFY(told.count() >= 1);
    QVERIFY2((told.at(0).at(0).toString() + told.at(0).at(1).toString()).contains("there is no such folder"),
             qPrintable(told.at(0).at(0).toString()));
}

void TrainingServiceTest::aMissingTrainerIsReported()
{
    qputenv("STEPSCOPE_TRAINER", "/nowhere/stepscope-train");
    app::Workbench bench;
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    bench.training.start();
    qputenv("STEPSCOPE_TRAINER", STEPSCOPE_SCRIPTED_TRAINER);
    QCOMPARE(bench.training.state(), RunState::Idle);
    QCOMPARE(told.count(), 1);
    QVERIFY2(told.at(0).at(1).toString().contains("/nowhere/stepscope-train"), qPrintable(told.at(0).at(1).toString()));
}

void TrainingServiceTest::anUnreadableTraceIsReportedAndTheOldOneStays()
{
    app::Workbench bench;
    bench.configuration.set(shortTraining(), "short");
    runToEnd(bench);
    // The complete trace has replaced the live one.
    QTRY_VERIFY_WITH_TIMEOUT(bench.document.analysed() && bench.document.analysed()->trace == bench.document.trace() &&
                                 !bench.document.trace()->captureStats().live,
                             20000);
    const auto before = bench.document.trace();
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    bench.document.openTrace("/nowhere/a.sstrace");
    QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, 20000);
    QVERIFY2(told.at(0).at(1).toString().contains("/nowhere/a.sstrace"), qPrintable(told.at(0).at(1).toString()));
    QCOMPARE(bench.document.trace(), before);
}

void TrainingServiceTest::openingARunTakesItsConfiguration()
{
    app::Workbench bench;
    auto configuration = shortTraining();
    QVERIFY(configuration.set("batch.size", "48"));
    bench.configuration.set(configuration, "short");
    runToEnd(bench);
    const auto run = bench.runs.all().front();
    QVERIFY(!bench.configuration.setKnob("batch.size", "16"));
    QSignalSpy replaced(&bench.document, &app::TraceDocument::traceReplaced);
    bench.document.openTrace(run.trace());
    QTRY_COMPARE_WITH_TIMEOUT(replaced.count(), 1, 20000);
    QTRY_COMPARE_WITH_TIMEOUT(bench.configuration.get().text("batch.size"), "48", 20000);
    QCOMPARE(bench.document.trace()->format(), "stepscope");
    bench.configuration.undoStack()->undo();
    QCOMPARE(bench.configuration.get().text("batch.size"), "16");
}

void TrainingServiceTest::anExperimentMeasuresAndKeepingItIsUndone()
{
    app::Workbench bench;
    bench.configuration.set(shortTraining(60), "short");
    runToEnd(bench);
    QTRY_VERIFY_WITH_TIMEOUT(bench.document.analysed() && bench.document.analysed()->trace == bench.document.trace() &&
                                 !bench.document.advice()->rules.empty() &&
                                 !bench.document.trace()->captureStats().live,
                             20000);
    const advisor::RuleAdvice advice = bench.document.advice()->rules.front();
    QCOMPARE(advice.id, "loader.workers");
    QCOMPARE(static_cast<int>(advice.advice.state), static_cast<int>(advisor::State::Fires));
    QVERIFY(bench.experiments.expectedDuration(advice).has_value());

    QSignalSpy finished(&bench.experiments, &app::ExperimentService::finished);
    QSignalSpy failed(&bench.experiments, &app::ExperimentService::failed);
    bench.experiments.start(advice);
    QVERIFY(bench.experiments.isRunning());
    bench.training.start(); // refused because it would skew the results
    QCOMPARE(bench.training.state(), RunState::Idle);
    QTRY_VERIFY_WITH_TIMEOUT(finished.count() + failed.count() == 1, 90000);
    QVERIFY2(failed.isEmpty(), failed.isEmpty() ? "" : qPrintable(failed.at(0).at(1).toString()));
    const auto* result = bench.journal.result("loader.workers");
    QVERIFY(result);
    QVERIFY2(result->verdict == advisor::Verdict::Pays, result->why.text.c_str());

    const std::string before = bench.configuration.get().text("loader.workers");
    bench.journal.keep(advice);
    QCOMPARE(bench.configuration.get().text("loader.workers"), advice.advice.toggle->to);
    QCOMPARE(bench.journal.shown().changes.size(), std::size_t{1});
    QVERIFY(bench.journal.shown().factorAfter(1) > 1.2);
    bench.configuration.undoStack()->undo();
    QCOMPARE(bench.configuration.get().text("loader.workers"), before);
    QVERIFY(bench.journal.shown().changes.empty());
    bench.configuration.undoStack()->redo();
    QCOMPARE(bench.journal.shown().changes.size(), std::size_t{1});
    bench.journal.undo("loader.workers");
    QCOMPARE(bench.configuration.get().text("loader.workers"), before);
    QVERIFY(bench.journal.shown().changes.empty());
}

void TrainingServiceTest::changesToTheLearningAreComparedByLoss()
{
    app::Workbench bench;
    bench.configuration.set(shortTraining(60), "short"); // sixty steps of two milliseconds from each seed
    advisor::RuleAdvice advice;
    advice.id = "optimizer.kind";
    advice.advice.toggle = advisor::Toggle{"optimizer.kind", "sgd", "adamw"};
    advice.advice.objective = advisor::Objective::LossAtEqualTime;
    QSignalSpy finished(&bench.experiments, &app::ExperimentService::finished);
    QSignalSpy failed(&bench.experiments, &app::ExperimentService::failed);
    bench.experiments.start(advice);
    QTRY_VERIFY_WITH_TIMEOUT(finished.count() + failed.count() == 1, 90000);
    QVERIFY2(failed.isEmpty(), failed.isEmpty() ? "" : qPrintable(failed.at(0).at(1).toString()));
    const auto* result = bench.journal.result("optimizer.kind");
    QVERIFY(result && result->lossAtEqualTime);
    QVERIFY2(result->verdict == advisor::Verdict::Pays, result->why.text.c_str());
    QVERIFY(std::abs(result->lossAtEqualTime->saved.value - 0.1) < 1e-6);
    QVERIFY(!result->lossAtEqualTime->validation);
    bench.journal.keep(advice);
    QCOMPARE(bench.configuration.get().text("optimizer.kind"), "adamw");
    QVERIFY(bench.journal.shown().changes[0].result.lossAtEqualTime);
}

void TrainingServiceTest::anExperimentCanBeCancelled()
{
    app::Workbench bench;
    advisor::RuleAdvice advice;
    advice.id = "loader.workers";
    advice.advice.toggle = advisor::Toggle{"loader.workers", "0", "2"};
    QSignalSpy failed(&bench.experiments, &app::ExperimentService::failed);
    bench.experiments.start(advice);
    QTest::qWait(200);
    bench.experiments.cancel();
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, 20000);
    QVERIFY(failed.at(0).at(1).toString().isEmpty());
    QVERIFY(!bench.experiments.isRunning());
}

QTEST_MAIN(TrainingServiceTest)
#include "training_service_test.moc"
