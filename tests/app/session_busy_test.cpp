#include "app/document/selection.h"
#include "app/document/session.h"
#include "app/findings/finding_card.h"
#include "app/views/run/configuration_form.h"
#include "tests/app/app_support.h"

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

using app::RunState;
using app::Session;
using app_test::find;
using app_test::shortTraining;
using app_test::useScript;

namespace {

constexpr int kPatienceMs = 20'000;

std::unique_ptr<app_test::OwnFolders> folders;

advisor::RuleAdvice moreWorkers()
{
    advisor::RuleAdvice advice;
    advice.id = "loader.workers";
    advice.advice.toggle = advisor::Toggle{"loader.workers", "0", "2"};
    return advice;
}

QLineEdit* fieldOf(const app::ConfigurationForm& form, const char* key)
{
    return find<QWidget>(&form, QString("knob:") + key)->findChild<QLineEdit*>();
}

void type(QLineEdit* field, const QString& text)
{
    field->selectAll();
    QTest::keyClicks(field, text);
}

} // namespace

class SessionBusyTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init() { useScript("train"); }
    void pendingInputCountsAtTheStart();
    void aRejectedValuePreventsTheStart();
    void aRecordingKeepsEverythingElseFromStarting();
    void aMeasurementIsStoppedLikeATraining();
    void stopIsNotForgottenByTheCard();
    void aCardCreatedDuringItsMeasurementShowsIt();
    void anotherTraceStopsTheMeasurement();
};

void SessionBusyTest::pendingInputCountsAtTheStart()
{
    Session session;
    app::ConfigurationForm form(&session, nullptr);
    session.setConfiguration(shortTraining(), "short");
    type(fieldOf(form, "batch.size"), "48");
    QCOMPARE(session.configuration().text("batch.size"), "32");
    session.start();
    QCOMPARE(session.configuration().text("batch.size"), "48");
    QCOMPARE(session.runs().front().configuration.text("batch.size"), "48");
    type(fieldOf(form, "model.path"), "none.pt");
    emit session.commitPendingEdits();
    QCOMPARE(session.configuration().text("model.path"), "none.pt");
    QTRY_COMPARE_WITH_TIMEOUT(session.runState(), RunState::Idle, kPatienceMs);
}

void SessionBusyTest::aRejectedValuePreventsTheStart()
{
    Session session;
    app::ConfigurationForm form(&session, nullptr);
    type(fieldOf(form, "loader.workers"), "9999");
    QSignalSpy told(&session, &Session::noticed);
    session.start();
    QCOMPARE(session.runState(), RunState::Idle);
    QCOMPARE(told.count(), 1);
    QVERIFY2(told[0][1].toString().contains("9999"), qPrintable(told[0][1].toString()));
    session.startExperiment(moreWorkers());
    session.startTuning(std::chrono::minutes(1));
    session.measureLevelCosts();
    QVERIFY(!session.isBusy());
    QCOMPARE(told.count(), 4);
    session.setConfiguration(shortTraining(), "short"); // discards the typed text
    session.start();
    QVERIFY(session.isBusy());
    QTRY_COMPARE_WITH_TIMEOUT(session.runState(), RunState::Idle, kPatienceMs);
}

void SessionBusyTest::aRecordingKeepsEverythingElseFromStarting()
{
    Session session;
    QSignalSpy changed(&session, &Session::busyChanged);
    session.setRecording(true);
    QVERIFY(session.isBusy());
    QSignalSpy told(&session, &Session::noticed);
    session.start();
    session.startExperiment(moreWorkers());
    session.startTuning(std::chrono::minutes(1));
    session.measureLevelCosts();
    QVERIFY(session.runState() == RunState::Idle && !session.experimentRunning() && !session.tuningRunning());
    QCOMPARE(told.count(), 4);
    for (const auto& notice : told)
        QVERIFY2(notice[0].toString().contains("A recording is in progress"), qPrintable(notice[0].toString()));
    session.setRecording(false);
    QVERIFY(!session.isBusy());
    QCOMPARE(changed.count(), 2);
}

void SessionBusyTest::aMeasurementIsStoppedLikeATraining()
{
    Session session;
    QVERIFY(!session.canStop());
    QSignalSpy failed(&session, &Session::experimentFailed);
    session.startExperiment(moreWorkers());
    QVERIFY(session.canStop());
    session.stopWhatRuns();
    QVERIFY(!session.canStop()); // it was requested
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, kPatienceMs);
    QVERIFY(!session.isBusy());

    QSignalSpy ended(&session, &Session::tuningEnded);
    session.startTuning(std::chrono::minutes(1));
    QVERIFY(session.canStop());
    session.stopWhatRuns();
    QVERIFY(!session.canStop());
    QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, kPatienceMs);
}

void SessionBusyTest::stopIsNotForgottenByTheCard()
{
    Session session;
    app::Selection selection;
    app::FindingCard card({&session, &selection}, moreWorkers(), nullptr);
    QSignalSpy failed(&session, &Session::experimentFailed);
    session.startExperiment(moreWorkers());
    card.refresh();
    auto* stop = find<QPushButton>(&card, "stopMeasuring");
    QVERIFY(stop->isVisibleTo(&card) && stop->isEnabled());
    stop->click();
    card.refresh(); // like any change of the configuration
    QVERIFY(!stop->isEnabled());
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, kPatienceMs);
    card.refresh();
    QVERIFY(!stop->isVisibleTo(&card));
}

void SessionBusyTest::aCardCreatedDuringItsMeasurementShowsIt()
{
    Session session;
    app::Selection selection;
    session.startExperiment(moreWorkers());
    QTRY_VERIFY_WITH_TIMEOUT(session.experiments().progress(), kPatienceMs);
    app::FindingCard card({&session, &selection}, moreWorkers(), nullptr);
    card.setAdvice(moreWorkers(), 1);
    QVERIFY(find<QPushButton>(&card, "stopMeasuring")->isVisibleTo(&card));
    for (const char* name : {"keep", "undo", "runAgain"})
        QVERIFY2(!find<QPushButton>(&card, name)->isVisibleTo(&card), name);
    QCOMPARE(find<QLabel>(&card, "verdict")->text().isEmpty(), false);
    session.cancelExperiment();
    QTRY_VERIFY_WITH_TIMEOUT(!session.isBusy(), kPatienceMs);
}

void SessionBusyTest::anotherTraceStopsTheMeasurement()
{
    Session session;
    session.setConfiguration(shortTraining(), "short");
    session.start();
    QTRY_COMPARE_WITH_TIMEOUT(session.runState(), RunState::Idle, kPatienceMs);
    QSignalSpy failed(&session, &Session::experimentFailed);
    QSignalSpy told(&session, &Session::noticed);
    QSignalSpy opened(&session, &Session::traceOpened);
    session.startExperiment(moreWorkers());
    QVERIFY(session.experimentRunning());
    session.openRun(session.runs().front());
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, kPatienceMs);
    QVERIFY(failed[0][1].toString().isEmpty());
    QVERIFY(!session.isBusy());
    QVERIFY(!session.experiments().result("loader.workers"));
    QVERIFY(!told.isEmpty() && told.last()[0].toString().contains("Measurement stopped"));
}

QTEST_MAIN(SessionBusyTest)
#include "session_busy_test.moc"
