#include "app/document/analyser.h"
#include "app/document/selection.h"
#include "app/document/session.h"
#include "app/views/summary/summary_panel.h"
#include "app/views/view.h"
#include "stepscope_app_views_registry.h"
#include "tests/app/app_support.h"

#include <QFile>
#include <QInputDialog>
#include <QLabel>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using app::RunState;
using app::Session;
using app_test::shortTraining;
using app_test::useScript;

namespace {
std::unique_ptr<app_test::OwnFolders> folders;
} // namespace

class SessionTraceTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init() { useScript("train"); }
    void anImportedTraceDoesNotChangeTheConfiguration();
    void stepsOfATraceWithoutMarksAreInferredUntilRemoved();
    void aRunningAnalysisIsShown();
    void aRunThatEndedDoesNotReplaceWhatWasOpenedAfterIt();
    void rangesAreUsedAsStepsOnRequest();
    void noStepsAreInferredWithoutRepetition();
    void anExportedTraceOpensAgain();
    void aFailedExportIsReported();
    void anExportContinuesWhileAnotherTraceIsOpened();
    void reportsAreWrittenOneAfterAnother();
    void aRunIsDeletedWhileAnotherTrains();

private:
    void runToEnd(Session& session);
    static void openUnmarked(Session& session, const QTemporaryDir& folder, int rounds);
};

/// A trace without step marks that repeats two operators, one of them in a backward pass.
void SessionTraceTest::openUnmarked(Session& session, const QTemporaryDir& folder, int rounds)
{
    QByteArray events;
    for (int i = 0; i < 2 * rounds; ++i)
        events +=
            (i > 0 ? "," : "") +
            QStringLiteral(R"({"ph": "X", "cat": "cpu_op", "name": "%1", "pid": 1, "tid": 1, "ts": %2, "dur": 50})")
                .arg(i % 2 == 0 ? "aten::mm" : "MmBackward0")
                .arg(50 * i)
                .toUtf8();
    const QString name = folder.filePath("unmarked.json");
    QFile file(name);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}");
    file.close();
    session.openTrace(name.toStdString());
    QTRY_VERIFY_WITH_TIMEOUT(session.analysed(), 20000);
}

void SessionTraceTest::stepsOfATraceWithoutMarksAreInferredUntilRemoved()
{
    const QTemporaryDir folder;
    Session session;
    openUnmarked(session, folder, 6);
    app::Selection selection;
    app::SummaryPanel panel(&selection);
    QObject::connect(&panel, &app::SummaryPanel::stepsByRepetitionWanted, &session, &Session::setStepsByRepetition);
    auto* choice = panel.findChild<QLabel*>("stepChoice");
    const auto steps = [&] {
        const auto analysed = session.analysed();
        panel.show(analysed->trace, {analysed, &analysed->facts}, {analysed, &analysed->summary});
        return analysed->facts.steps.size();
    };
    QCOMPARE(steps(), std::size_t(6));
    QVERIFY(session.analysed()->facts.steps.front().found);
    QVERIFY(!choice->isHidden());
    QVERIFY2(choice->text().contains("inferred"), qPrintable(choice->text()));
    emit choice->linkActivated("leave");
    QTRY_COMPARE_WITH_TIMEOUT(steps(), std::size_t(0), 20000);
    QVERIFY2(choice->text().contains("\"find\""), qPrintable(choice->text()));
    emit choice->linkActivated("find");
    QTRY_COMPARE_WITH_TIMEOUT(steps(), std::size_t(6), 20000);
}

void SessionTraceTest::aRunningAnalysisIsShown()
{
    const QTemporaryDir folder;
    Session session;
    app::Selection selection;
    QWidget window;
    const app::ViewContext context{&session, &selection};
    const QWidget* summary = app::views::summary().create(context, &window);
    const QWidget* advisor = app::views::advisor().create(context, &window);
    const auto said = [&] {
        return summary->findChild<QLabel*>("summaryEmpty")->text() + '\n' +
               advisor->findChild<QLabel*>("advisorEmpty")->text();
    };
    QVERIFY(!said().contains("Analysing the trace"));
    QString meanwhile;
    connect(&session, &Session::traceOpened, this, [&] { meanwhile = said(); });
    openUnmarked(session, folder, 3);
    QCOMPARE(meanwhile.count("Analysing the trace"), 2);
    QTRY_VERIFY_WITH_TIMEOUT(!said().contains("Analysing the trace"), 20000);
}

void SessionTraceTest::aRunThatEndedDoesNotReplaceWhatWasOpenedAfterIt()
{
    const QTemporaryDir folder;
    Session session;
    session.setConfiguration(shortTraining(), "short");
    openUnmarked(session, folder, 3);
    const std::filesystem::path file = session.tracePath();
    // As early as possible, which is before the final trace of the run.
    connect(&session, &Session::runStateChanged, this, [&](RunState state) {
        if (state == RunState::Idle)
            session.openTrace(file);
    });
    QSignalSpy opened(&session, &Session::traceOpened);
    runToEnd(session);
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
    QVERIFY(!session.isRunOpen());
    QTest::qWait(300); // the run's file is checked every 100 ms
    QCOMPARE(session.tracePath(), file);
    QCOMPARE(session.trace()->tracks().size(), std::size_t(1));
}

void SessionTraceTest::rangesAreUsedAsStepsOnRequest()
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
    Session session;
    session.openTrace(file.fileName().toStdString());
    QTRY_VERIFY_WITH_TIMEOUT(session.analysed(), 20000);
    QCOMPARE(session.analysed()->facts.steps.size(), std::size_t(0));
    app::Selection selection;
    app::SummaryPanel panel(&selection);
    QObject::connect(&panel, &app::SummaryPanel::stepsByRepetitionWanted, &session, &Session::setStepsByRepetition);
    QObject::connect(&panel, &app::SummaryPanel::stepRangeWanted, &session, &Session::setStepRange);
    const auto steps = [&] {
        const auto analysed = session.analysed();
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
    QCOMPARE(session.analysed()->facts.steps.at(3).index, 3);
    QVERIFY2(choice->text().contains("iteration"), qPrintable(choice->text()));
    QSignalSpy told(&session, &Session::noticed);
    session.setStepRange("iterations");
    QTRY_COMPARE_WITH_TIMEOUT(steps(), std::size_t(0), 20000);
    QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, 20000);
    QVERIFY2(told.at(0).at(1).toString().contains("“iterations”"), qPrintable(told.at(0).at(1).toString()));
    session.setStepRange("iteration");
    QTRY_COMPARE_WITH_TIMEOUT(steps(), std::size_t(4), 20000);
    emit choice->linkActivated("leave");
    QTRY_COMPARE_WITH_TIMEOUT(steps(), std::size_t(0), 20000);
}

void SessionTraceTest::noStepsAreInferredWithoutRepetition()
{
    const QTemporaryDir folder;
    Session session;
    openUnmarked(session, folder, 1);
    QSignalSpy told(&session, &Session::noticed);
    session.setStepsByRepetition(true);
    QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, 20000);
    QVERIFY(told.at(0).at(1).toString().contains("No sequence of operators repeats"));
    QVERIFY(session.analysed()->facts.steps.empty());
}

void SessionTraceTest::runToEnd(Session& session)
{
    session.start();
    QCOMPARE(session.runState(), RunState::Starting);
    QTRY_COMPARE_WITH_TIMEOUT(session.runState(), RunState::Idle, 20000);
}

void SessionTraceTest::anImportedTraceDoesNotChangeTheConfiguration()
{
    const QTemporaryDir folder;
    const QString file = folder.filePath("elsewhere.json");
    QFile json(file);
    QVERIFY(json.open(QIODevice::WriteOnly));
    json.write(R"({"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 50},
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 1, "tid": 1, "ts": 100, "dur": 100}]})");
    json.close();
    Session session;
    auto configuration = shortTraining();
    QVERIFY(configuration.set("batch.size", "48"));
    session.setConfiguration(configuration, "mine");
    QSignalSpy opened(&session, &Session::traceOpened);
    session.openTrace(file.toStdString());
    QTRY_COMPARE(opened.count(), 1);
    QCOMPARE(session.configuration().text("batch.size"), "48");
    QVERIFY(!session.traceConfiguration());
    QCOMPARE(session.traceTitle(), QString("elsewhere.json"));
    QCOMPARE(session.trace()->format(), "pytorch-json");
    QTRY_VERIFY(session.analysed());
    QCOMPARE(session.analysed()->facts.steps.size(), std::size_t(2));
    for (const advisor::RuleAdvice& advice : session.advice()->rules)
        QVERIFY2(!advice.advice.toggle, advice.id.c_str());
}

void SessionTraceTest::anExportedTraceOpensAgain()
{
    Session session;
    auto configuration = shortTraining();
    QVERIFY(configuration.set("capture.ops_every", "5"));
    QVERIFY(configuration.set("capture.ops_window", "2"));
    session.setConfiguration(configuration, "short");
    runToEnd(session);
    QTRY_VERIFY_WITH_TIMEOUT(session.trace()->sliceCount() > 0 && !session.isRunOpen(), 20000);
    const QTemporaryDir folder;
    const std::filesystem::path file = folder.filePath("exported.json").toStdString();
    QSignalSpy told(&session, &Session::noticed);
    session.exportTrace(file);
    QTRY_COMPARE(told.count(), 1);
    QVERIFY2(!told.at(0).at(2).toBool(), qPrintable(told.at(0).at(0).toString()));
    const auto count = [&](profiler::ActivityKind kind) { return session.trace()->ofKind(kind).size(); };
    const std::size_t ops = count(profiler::ActivityKind::CpuOp), steps = count(profiler::ActivityKind::Step),
                      slices = session.trace()->sliceCount();
    QVERIFY(ops > 0);
    QCOMPARE(steps, std::size_t(30));
    QSignalSpy opened(&session, &Session::traceOpened);
    session.openTrace(file);
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
    QCOMPARE(count(profiler::ActivityKind::CpuOp), ops);
    QCOMPARE(count(profiler::ActivityKind::Step), steps);
    QCOMPARE(session.trace()->sliceCount(), slices);
}

void SessionTraceTest::aFailedExportIsReported()
{
    Session session;
    session.setConfiguration(shortTraining(), "short");
    runToEnd(session);
    QTRY_VERIFY(session.trace()->sliceCount() > 0);
    QSignalSpy told(&session, &Session::noticed);
    session.exportTrace("/nowhere/exported.json");
    QTRY_COMPARE(told.count(), 1);
    QVERIFY(told.at(0).at(2).toBool());
    QVERIFY2(told.at(0).at(0).toString().startsWith("Could not save exported.json: "),
             qPrintable(told.at(0).at(0).toString()));
}

void SessionTraceTest::anExportContinuesWhileAnotherTraceIsOpened()
{
    Session session;
    session.setConfiguration(shortTraining(), "short");
    runToEnd(session);
    QTRY_VERIFY_WITH_TIMEOUT(session.trace()->sliceCount() > 0 && !session.isRunOpen(), 20000);
    const QTemporaryDir folder;
    QSignalSpy told(&session, &Session::noticed);
    QSignalSpy opened(&session, &Session::traceOpened);
    session.exportTrace(folder.filePath("exported.json").toStdString());
    QVERIFY(session.isExporting());
    session.openRun(session.runs().front());
    QVERIFY(session.isExporting());
    QTRY_VERIFY_WITH_TIMEOUT(opened.count() == 1 && told.count() == 1, 20000);
    QVERIFY2(told[0][0].toString().contains("was exported"), qPrintable(told[0][0].toString()));
    QVERIFY(QFile::exists(folder.filePath("exported.json")));
    // It continues during a training.
    session.exportTrace(folder.filePath("again.json").toStdString());
    session.start();
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(folder.filePath("again.json")) && !session.isRunOpen(), 20000);
}

void SessionTraceTest::reportsAreWrittenOneAfterAnother()
{
    const QTemporaryDir folder;
    {
        Session session;
        QSignalSpy told(&session, &Session::noticed);
        for (const char* name : {"a.html", "b.html", "c.html"})
            session.saveReport(folder.filePath(name).toStdString());
        QTRY_COMPARE_WITH_TIMEOUT(told.count(), 3, 20000);
        session.saveReport(folder.filePath("d.html").toStdString());
        session.saveReport(folder.filePath("e.html").toStdString());
    }
    for (const char* name : {"a.html", "b.html", "c.html", "d.html", "e.html"})
        QVERIFY2(QFile::exists(folder.filePath(name)), name);
}

void SessionTraceTest::aRunIsDeletedWhileAnotherTrains()
{
    Session session;
    session.setConfiguration(shortTraining(), "short");
    runToEnd(session);
    const app::RunRecord first = session.runs().front();
    session.setConfiguration(shortTraining(100000), "long");
    session.start();
    const auto before = session.runs().size();
    QSignalSpy changed(&session, &Session::runsChanged);
    session.deleteRun(first);
    QTRY_COMPARE_WITH_TIMEOUT(session.runs().size(), before - 1, 20000);
    QVERIFY(!std::filesystem::exists(first.folder));
    QVERIFY(!changed.isEmpty());
    // A run in progress cannot be deleted by any window; another window shows its state.
    Session other;
    other.reloadRuns();
    QTRY_VERIFY_WITH_TIMEOUT(!other.runs().empty(), 20000);
    const app::RunRecord training = other.runs().front();
    QVERIFY(training.isRunning());
    for (Session* asked : {&session, &other}) {
        QSignalSpy told(asked, &Session::noticed);
        asked->deleteRun(training);
        QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, 20000);
        QVERIFY2(told[0][0].toString().contains("still in progress"), qPrintable(told[0][0].toString()));
        QVERIFY(std::filesystem::exists(training.folder));
    }
    session.stop();
    QTRY_VERIFY_WITH_TIMEOUT(!session.isRunOpen(), 20000);
    other.reloadRuns();
    QTRY_VERIFY_WITH_TIMEOUT(!other.runs().front().isRunning(), 20000);
    other.deleteRun(training);
    QTRY_VERIFY_WITH_TIMEOUT(!std::filesystem::exists(training.folder), 20000);
}

QTEST_MAIN(SessionTraceTest)
#include "session_trace_test.moc"
