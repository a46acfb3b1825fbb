#include "app/findings/finding_card.h"
#include "app/views/run/run.h"
#include "app/window/workbench.h"
#include "tests/app/app_support.h"

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

using app::RunState;
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

class JobGuardTest : public QObject {
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

void JobGuardTest::pendingInputCountsAtTheStart()
{
    app::Workbench bench;
    app::ConfigurationForm form(&bench.configuration, &bench.levelCosts, &bench.jobs, nullptr);
    bench.configuration.set(shortTraining(), "short");
    type(fieldOf(form, "batch.size"), "48");
    QCOMPARE(bench.configuration.get().text("batch.size"), "32");
    bench.training.start();
    QCOMPARE(bench.configuration.get().text("batch.size"), "48");
    QCOMPARE(bench.runs.all().front().configuration.text("batch.size"), "48");
    type(fieldOf(form, "model.path"), "none.pt");
    emit bench.configuration.commitPendingEdits();
    QCOMPARE(bench.configuration.get().text("model.path"), "none.pt");
    QTRY_COMPARE_WITH_TIMEOUT(bench.training.state(), RunState::Idle, kPatienceMs);
}

void JobGuardTest::aRejectedValuePreventsTheStart()
{
    app::Workbench bench;
    app::ConfigurationForm form(&bench.configuration, &bench.levelCosts, &bench.jobs, nullptr);
    type(fieldOf(form, "loader.workers"), "9999");
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    bench.training.start();
    QCOMPARE(bench.training.state(), RunState::Idle);
    QCOMPARE(told.count(), 1);
    QVERIFY2(told[0][1].toString().contains("9999"), qPrintable(told[0][1].toString()));
    bench.experiments.start(moreWorkers());
    bench.tuning.start(std::chrono::minutes(1));
    bench.levelCosts.measure();
    QVERIFY(!bench.jobs.isBusy());
    QCOMPARE(told.count(), 4);
    bench.configuration.set(shortTraining(), "short"); // discards the typed text
    bench.training.start();
    QVERIFY(bench.jobs.isBusy());
    QTRY_COMPARE_WITH_TIMEOUT(bench.training.state(), RunState::Idle, kPatienceMs);
}

void JobGuardTest::aRecordingKeepsEverythingElseFromStarting()
{
    app::Workbench bench;
    QSignalSpy changed(&bench.jobs, &app::JobGuard::changed);
    bench.jobs.begin(app::Job::Recording);
    QVERIFY(bench.jobs.isBusy());
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    bench.training.start();
    bench.experiments.start(moreWorkers());
    bench.tuning.start(std::chrono::minutes(1));
    bench.levelCosts.measure();
    QVERIFY(bench.training.state() == RunState::Idle && !bench.experiments.isRunning() && !bench.tuning.isRunning());
    QCOMPARE(told.count(), 4);
    for (const auto& notice : told)
        QVERIFY2(notice[0].toString().contains("A recording is in progress"), qPrintable(notice[0].toString()));
    bench.jobs.end(app::Job::Recording);
    QVERIFY(!bench.jobs.isBusy());
    QCOMPARE(changed.count(), 2);
}

void JobGuardTest::aMeasurementIsStoppedLikeATraining()
{
    app::Workbench bench;
    QVERIFY(!bench.jobs.canStop());
    QSignalSpy failed(&bench.experiments, &app::ExperimentService::failed);
    bench.experiments.start(moreWorkers());
    QVERIFY(bench.jobs.canStop());
    bench.jobs.stop();
    QVERIFY(!bench.jobs.canStop()); // it was requested
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, kPatienceMs);
    QVERIFY(!bench.jobs.isBusy());

    QSignalSpy ended(&bench.tuning, &app::TuningService::ended);
    bench.tuning.start(std::chrono::minutes(1));
    QVERIFY(bench.jobs.canStop());
    bench.jobs.stop();
    QVERIFY(!bench.jobs.canStop());
    QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, kPatienceMs);
}

void JobGuardTest::stopIsNotForgottenByTheCard()
{
    app::Workbench bench;
    app::FindingCard card(app_test::cardServices(bench), moreWorkers(), nullptr);
    QSignalSpy failed(&bench.experiments, &app::ExperimentService::failed);
    bench.experiments.start(moreWorkers());
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

void JobGuardTest::aCardCreatedDuringItsMeasurementShowsIt()
{
    app::Workbench bench;
    bench.experiments.start(moreWorkers());
    QTRY_VERIFY_WITH_TIMEOUT(bench.experiments.progress(), kPatienceMs);
    app::FindingCard card(app_test::cardServices(bench), moreWorkers(), nullptr);
    card.setAdvice(moreWorkers(), 1);
    QVERIFY(find<QPushButton>(&card, "stopMeasuring")->isVisibleTo(&card));
    for (const char* name : {"keep", "undo", "runAgain"})
        QVERIFY2(!find<QPushButton>(&card, name)->isVisibleTo(&card), name);
    QCOMPARE(find<QLabel>(&card, "verdict")->text().isEmpty(), false);
    bench.experiments.cancel();
    QTRY_VERIFY_WITH_TIMEOUT(!bench.jobs.isBusy(), kPatienceMs);
}

void JobGuardTest::anotherTraceStopsTheMeasurement()
{
    app::Workbench bench;
    bench.configuration.set(shortTraining(), "short");
    bench.training.start();
    QTRY_COMPARE_WITH_TIMEOUT(bench.training.state(), RunState::Idle, kPatienceMs);
    QSignalSpy failed(&bench.experiments, &app::ExperimentService::failed);
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    QSignalSpy opened(&bench.document, &app::TraceDocument::traceOpened);
    bench.experiments.start(moreWorkers());
    QVERIFY(bench.experiments.isRunning());
    bench.document.openTrace(bench.runs.all().front().trace());
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, kPatienceMs);
    QVERIFY(failed[0][1].toString().isEmpty());
    QVERIFY(!bench.jobs.isBusy());
    QVERIFY(!bench.journal.result("loader.workers"));
    QVERIFY(!told.isEmpty() && told.last()[0].toString().contains("Measurement stopped"));
}

QTEST_MAIN(JobGuardTest)
#include "job_guard_test.moc"
