#include "app/document/analyser.h"
#include "app/document/session.h"

#include "tests/app/app_support.h"

#include <QFile>
#include <QSignalSpy>
#include <QTest>

using app::RunState;
using app::Session;
using app_test::shortTraining;
using app_test::useScript;

namespace {
std::unique_ptr<app_test::OwnFolders> folders;
} // namespace

class SessionTest : public QObject {
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
    void garbageIsReportedAndSkipped();
    void aTrainerThatRefusesIsReported();
    void aMissingTrainerIsReported();

    void anUnreadableTraceIsReportedAndTheOldOneStays();
    void openingARunTakesItsConfiguration();
    void anExperimentMeasuresAndKeepingItIsUndone();
    void changesToTheLearningAreComparedByLoss();
    void anExperimentCanBeCancelled();

private:
    void runToEnd(Session& session);
};

void SessionTest::init()
{
    useScript("train");
}

void SessionTest::runToEnd(Session& session)
{
    session.start();
    QCOMPARE(session.runState(), RunState::Starting);
    QTRY_COMPARE_WITH_TIMEOUT(session.runState(), RunState::Idle, 20000);
}

void SessionTest::aRefusedValueNamesWhatIsAllowedAndChangesNothing()
{
    Session session;
    const auto refused = session.setKnob("loader.workers", "9999");
    QVERIFY(refused.has_value());
    QVERIFY2(refused->contains("9999") && refused->contains("256"), qPrintable(*refused));
    QCOMPARE(session.configuration(), config::TrainingConfig());
    QVERIFY(!session.undoStack()->canUndo());
}

void SessionTest::aKnobChangeIsUndoneAndRedone()
{
    Session session;
    QSignalSpy changed(&session, &Session::configurationChanged);
    QVERIFY(!session.setKnob("loader.workers", "2"));
    QCOMPARE(session.configuration().text("loader.workers"), "2");
    session.undoStack()->undo();
    QCOMPARE(session.configuration().text("loader.workers"), "0");
    session.undoStack()->redo();
    QCOMPARE(session.configuration().text("loader.workers"), "2");
    QCOMPARE(changed.count(), 3);
}

void SessionTest::quickEditsOfOneKnobAreOneUndo()
{
    Session session;
    for (const char* value : {"1", "2", "3"})
        QVERIFY(!session.setKnob("loader.workers", value));
    QCOMPARE(session.undoStack()->count(), 1);
    session.undoStack()->undo();
    QCOMPARE(session.configuration().text("loader.workers"), "0");
}

void SessionTest::editsOfTwoKnobsAreTwoUndos()
{
    Session session;
    QVERIFY(!session.setKnob("loader.workers", "1"));
    QVERIFY(!session.setKnob("batch.size", "64"));
    QVERIFY(!session.setKnob("loader.workers", "2"));
    QCOMPARE(session.undoStack()->count(), 3);
}

void SessionTest::aKnobThatNeedsAGpuIsRefusedWithoutOne()
{
    Session session;
    QSignalSpy described(&session, &Session::descriptionChanged);
    session.refreshDescription();
    QVERIFY(described.wait(10000));
    QVERIFY(!session.description().gpuAvailable);
    const auto refused = session.setKnob("loader.pin_memory", "true");
    QVERIFY(refused.has_value());
    QVERIFY2(refused->contains("GPU"), qPrintable(*refused));
    QCOMPARE(session.configuration().text("loader.pin_memory"), "false");
}

void SessionTest::aBadConfigurationFileLeavesTheConfiguration()
{
    Session session;
    QVERIFY(!session.setKnob("loader.workers", "2"));
    QTemporaryDir folder;
    const QString file = folder.filePath("bad.json");
    QFile out(file);
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write("{\"loader\": {\"workers\": 4,,}}");
    out.close();
    QSignalSpy told(&session, &Session::noticed);
    session.loadConfiguration(file.toStdString());
    QCOMPARE(told.count(), 1);
    const QString detail = told.at(0).at(1).toString();
    QVERIFY2(detail.contains("bad.json") && detail.contains("byte"), qPrintable(detail));
    QVERIFY(told.at(0).at(2).toBool());
    QCOMPARE(session.configuration().text("loader.workers"), "2");
}

void SessionTest::aTrainingRunsAndLeavesItsTraceAndResult()
{
    Session session;
    session.setConfiguration(shortTraining(), "short");
    runToEnd(session);
    QTRY_VERIFY_WITH_TIMEOUT(session.analysed() && !session.trace()->captureStats().live, 20000);
    QTRY_COMPARE_WITH_TIMEOUT(session.analysed()->facts.steps.size(), std::size_t{30}, 20000);
    QVERIFY(!session.trace()->captureStats().cut);
    QVERIFY(!session.stepHistory().empty());
    QCOMPARE(session.epochHistory().size(), std::size_t{1});
    const auto& run = session.runs().front();
    QCOMPARE(run.outcome.state, QString("finished"));
    QCOMPARE(run.outcome.steps, 30);
    QVERIFY(std::filesystem::exists(run.trace()));
    QVERIFY(std::filesystem::exists(run.folder / "config.json"));
    // Another session can read it.
    Session later;
    later.reloadRuns();
    QTRY_VERIFY_WITH_TIMEOUT(!later.runs().empty(), 20000);
    QCOMPARE(later.runs().front().name, run.name);
    QCOMPARE(later.runs().front().outcome.samplesPerSecond, run.outcome.samplesPerSecond);
    QCOMPARE(later.runs().front().configuration, shortTraining());
}

void SessionTest::snapshotsArriveWhileItRuns()
{
    Session session;
    session.setConfiguration(shortTraining(200), "longer");
    session.start();
    QTRY_VERIFY_WITH_TIMEOUT(session.runState() == RunState::Running && session.trace()->sliceCount() > 20, 10000);
    QVERIFY(session.trace()->captureStats().live);
    const auto before = session.trace()->sliceCount();
    QTRY_VERIFY_WITH_TIMEOUT(session.trace()->sliceCount() > before, 20000);
    session.stop();
    QTRY_COMPARE_WITH_TIMEOUT(session.runState(), RunState::Idle, 20000);
}

void SessionTest::stopEndsItAndKeepsTheTrace()
{
    Session session;
    session.setConfiguration(shortTraining(100000), "long");
    session.start();
    QTRY_COMPARE_WITH_TIMEOUT(session.runState(), RunState::Running, 20000);
    QTest::qWait(300);
    session.stop();
    QCOMPARE(session.runState(), RunState::Stopping);
    QTRY_COMPARE_WITH_TIMEOUT(session.runState(), RunState::Idle, 20000);
    QCOMPARE(session.runs().front().outcome.state, QString("stopped"));
    QTRY_VERIFY_WITH_TIMEOUT(!session.trace()->captureStats().live && session.trace()->sliceCount() > 0, 20000);
    QVERIFY(!session.trace()->captureStats().cut);
}

void SessionTest::pauseHoldsTheSteps()
{
    Session session;
    session.setConfiguration(shortTraining(100000), "long");
    session.start();
    QTRY_COMPARE_WITH_TIMEOUT(session.runState(), RunState::Running, 20000);
    session.pause();
    QCOMPARE(session.runState(), RunState::Paused);
    // The current steps end, then there are no more.
    const auto rests = [&] {
        const auto before = session.stepHistory().size();
        QTest::qWait(300);
        return session.stepHistory().size() == before;
    };
    QTRY_VERIFY_WITH_TIMEOUT(rests(), 20000);
    const auto held = session.stepHistory().size();
    session.resume();
    QTRY_VERIFY_WITH_TIMEOUT(session.stepHistory().size() > held, 20000);
    session.stop();
    QTRY_COMPARE_WITH_TIMEOUT(session.runState(), RunState::Idle, 20000);
}

void SessionTest::aCrashIsReportedWithTheTrainersLastOutput()
{
    useScript("crash");
    Session session;
    session.setConfiguration(shortTraining(), "short");
    QSignalSpy told(&session, &Session::noticed);
    runToEnd(session);
    QVERIFY(told.count() >= 1);
    const QString detail = told.at(0).at(1).toString();
    QVERIFY2(detail.contains("the tensors have no shape"), qPrintable(detail));
    QVERIFY(told.at(0).at(2).toBool());
    QCOMPARE(session.runs().front().outcome.state, QString("failed"));
    QTRY_VERIFY_WITH_TIMEOUT(session.trace()->captureStats().cut, 20000);
}

void SessionTest::aKilledTrainerLeavesItsEvents()
{
    useScript("killed");
    Session session;
    session.setConfiguration(shortTraining(), "short");
    QSignalSpy told(&session, &Session::noticed);
    runToEnd(session);
    QVERIFY2(told.at(0).at(0).toString().contains("9"), qPrintable(told.at(0).at(0).toString()));
    QTRY_VERIFY_WITH_TIMEOUT(session.trace()->captureStats().cut, 20000);
    QTRY_VERIFY_WITH_TIMEOUT(session.analysed() && session.analysed()->facts.steps.size() >= 9, 20000);
}

void SessionTest::garbageIsReportedAndSkipped()
{
    useScript("garbage");
    Session session;
    session.setConfiguration(shortTraining(), "short");
    QSignalSpy told(&session, &Session::noticed);
    runToEnd(session);
    QVERIFY(told.count() >= 1);
    QVERIFY(!told.at(0).at(2).toBool());
    QCOMPARE(session.runs().front().outcome.state, QString("finished"));
    QCOMPARE(session.runs().front().outcome.steps, 30);
}

void SessionTest::aTrainerThatRefusesIsReported()
{
    useScript("refuse");
    Session session;
    QSignalSpy told(&session, &Session::noticed);
    runToEnd(session);
    QVERIFY(told.count() >= 1);
    QVERIFY2((told.at(0).at(0).toString() + told.at(0).at(1).toString()).contains("there is no such folder"),
             qPrintable(told.at(0).at(0).toString()));
}

void SessionTest::aMissingTrainerIsReported()
{
    qputenv("STEPSCOPE_TRAINER", "/nowhere/stepscope-train");
    Session session;
    QSignalSpy told(&session, &Session::noticed);
    session.start();
    qputenv("STEPSCOPE_TRAINER", STEPSCOPE_SCRIPTED_TRAINER);
    QCOMPARE(session.runState(), RunState::Idle);
    QCOMPARE(told.count(), 1);
    QVERIFY2(told.at(0).at(1).toString().contains("/nowhere/stepscope-train"), qPrintable(told.at(0).at(1).toString()));
}

void SessionTest::anUnreadableTraceIsReportedAndTheOldOneStays()
{
    Session session;
    session.setConfiguration(shortTraining(), "short");
    runToEnd(session);
    // The complete trace has replaced the live one.
    QTRY_VERIFY_WITH_TIMEOUT(session.analysed() && session.analysed()->trace == session.trace() &&
                                 !session.trace()->captureStats().live,
                             20000);
    const auto before = session.trace();
    QSignalSpy told(&session, &Session::noticed);
    session.openTrace("/nowhere/a.sstrace");
    QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, 20000);
    QVERIFY2(told.at(0).at(1).toString().contains("/nowhere/a.sstrace"), qPrintable(told.at(0).at(1).toString()));
    QCOMPARE(session.trace(), before);
}

void SessionTest::openingARunTakesItsConfiguration()
{
    Session session;
    auto configuration = shortTraining();
    QVERIFY(configuration.set("batch.size", "48"));
    session.setConfiguration(configuration, "short");
    runToEnd(session);
    const auto run = session.runs().front();
    QVERIFY(!session.setKnob("batch.size", "16"));
    QSignalSpy replaced(&session, &Session::traceReplaced);
    session.openRun(run);
    QTRY_COMPARE_WITH_TIMEOUT(replaced.count(), 1, 20000);
    QCOMPARE(session.configuration().text("batch.size"), "48");
    QCOMPARE(session.trace()->format(), "stepscope");
    session.undoStack()->undo();
    QCOMPARE(session.configuration().text("batch.size"), "16");
}

void SessionTest::anExperimentMeasuresAndKeepingItIsUndone()
{
    Session session;
    session.setConfiguration(shortTraining(60), "short");
    runToEnd(session);
    QTRY_VERIFY_WITH_TIMEOUT(session.analysed() && session.analysed()->trace == session.trace() &&
                                 !session.advice()->rules.empty() && !session.trace()->captureStats().live,
                             20000);
    const advisor::RuleAdvice advice = session.advice()->rules.front();
    QCOMPARE(advice.id, "loader.workers");
    QCOMPARE(static_cast<int>(advice.advice.state), static_cast<int>(advisor::State::Fires));
    QVERIFY(session.expectedDuration(advice).has_value());

    QSignalSpy finished(&session, &Session::experimentFinished);
    QSignalSpy failed(&session, &Session::experimentFailed);
    session.startExperiment(advice);
    QVERIFY(session.experimentRunning());
    session.start(); // refused because it would skew the results
    QCOMPARE(session.runState(), RunState::Idle);
    QTRY_VERIFY_WITH_TIMEOUT(finished.count() + failed.count() == 1, 90000);
    QVERIFY2(failed.isEmpty(), failed.isEmpty() ? "" : qPrintable(failed.at(0).at(1).toString()));
    const auto* result = session.experiments().result("loader.workers");
    QVERIFY(result);
    QVERIFY2(result->verdict == advisor::Verdict::Pays, result->why.text.c_str());

    const std::string before = session.configuration().text("loader.workers");
    session.keepChange(advice);
    QCOMPARE(session.configuration().text("loader.workers"), advice.advice.toggle->to);
    QCOMPARE(session.journal().changes.size(), std::size_t{1});
    QVERIFY(session.journal().factorAfter(1) > 1.2);
    session.undoStack()->undo();
    QCOMPARE(session.configuration().text("loader.workers"), before);
    QVERIFY(session.journal().changes.empty());
    session.undoStack()->redo();
    QCOMPARE(session.journal().changes.size(), std::size_t{1});
    session.undoChange("loader.workers");
    QCOMPARE(session.configuration().text("loader.workers"), before);
    QVERIFY(session.journal().changes.empty());
}

void SessionTest::changesToTheLearningAreComparedByLoss()
{
    Session session;
    session.setConfiguration(shortTraining(60), "short"); // sixty steps of two milliseconds from each seed
    advisor::RuleAdvice advice;
    advice.id = "optimizer.kind";
    advice.advice.toggle = advisor::Toggle{"optimizer.kind", "sgd", "adamw"};
    advice.advice.judgedBy = advisor::JudgedBy::LossAtEqualTime;
    QSignalSpy finished(&session, &Session::experimentFinished);
    QSignalSpy failed(&session, &Session::experimentFailed);
    session.startExperiment(advice);
    QTRY_VERIFY_WITH_TIMEOUT(finished.count() + failed.count() == 1, 90000);
    QVERIFY2(failed.isEmpty(), failed.isEmpty() ? "" : qPrintable(failed.at(0).at(1).toString()));
    const auto* result = session.experiments().result("optimizer.kind");
    QVERIFY(result && result->lossAtEqualTime);
    QVERIFY2(result->verdict == advisor::Verdict::Pays, result->why.text.c_str());
    QVERIFY(std::abs(result->lossAtEqualTime->saved.value - 0.1) < 1e-6);
    QVERIFY(!result->lossAtEqualTime->validation);
    session.keepChange(advice);
    QCOMPARE(session.configuration().text("optimizer.kind"), "adamw");
    QVERIFY(session.journal().changes[0].result.lossAtEqualTime);
}

void SessionTest::anExperimentCanBeCancelled()
{
    Session session;
    advisor::RuleAdvice advice;
    advice.id = "loader.workers";
    advice.advice.toggle = advisor::Toggle{"loader.workers", "0", "2"};
    QSignalSpy failed(&session, &Session::experimentFailed);
    session.startExperiment(advice);
    QTest::qWait(200);
    session.cancelExperiment();
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, 20000);
    QVERIFY(failed.at(0).at(1).toString().isEmpty());
    QVERIFY(!session.experimentRunning());
}

QTEST_MAIN(SessionTest)
#include "session_test.moc"
