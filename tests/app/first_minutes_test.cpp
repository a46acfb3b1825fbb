#include "advisor/evidence/program_values.h"
#include "app/findings/finding_details.h"
#include "app/timeline/timeline_canvas.h"
#include "app/window/window_strips.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"

#include <QLabel>
#include <QMessageBox>
#include <QTabBar>
#include <QTest>
#include <QTimer>
#include <QWheelEvent>

using app::RunState;
using app_test::App;
using app_test::shortTraining;
using app_test::useScript;

namespace {

constexpr int kPatienceMs = 20'000;

std::unique_ptr<app_test::OwnFolders> folders;

} // namespace

/// Texts of the app during its first use.
class FirstMinutesTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void theTimelineShowsTheActivityBeforeTheFirstStep();
    void theStatusNamesTheMeasurement();
    void scrollingDoesNotChangeTheChosenCode();
    void theCloseQuestionDisappearsWithItsSubject();
};

void FirstMinutesTest::theTimelineShowsTheActivityBeforeTheFirstStep()
{
    useScript("train");
    App app;
    auto* canvas = app.window.findChild<app::TimelineCanvas*>();
    QCOMPARE(canvas->emptyText().title, QString("Nothing recorded yet"));
    app.bench.configuration.set(shortTraining(), "short");
    app.bench.training.start();
    QCOMPARE(canvas->emptyText().title, QString("The training is starting"));
    config::protocol::Preparing preparing;
    preparing.what = "writing images";
    preparing.done = 1980;
    preparing.total = 3000;
    emit app.bench.training.progressed(preparing);
    QCOMPARE(canvas->emptyText().below, QString("writing images (1,980 of 3,000)"));
    QTRY_COMPARE_WITH_TIMEOUT(app.bench.training.state(), RunState::Idle, kPatienceMs);
    QVERIFY(!canvas->emptyText().title.contains("is starting"));
}

void FirstMinutesTest::theStatusNamesTheMeasurement()
{
    useScript("stuck");
    App app;
    const auto* status = app.window.findChild<app::StatusLine*>();
    QVERIFY2(status->text().startsWith("ready"), qPrintable(status->text()));
    advisor::RuleAdvice advice;
    advice.id = "loader.workers";
    advice.advice.toggle = advisor::Toggle{"loader.workers", "0", "1"};
    app.bench.experiments.start(advice);
    QVERIFY2(status->text().startsWith("measuring a change"), qPrintable(status->text()));
    app.bench.experiments.cancel();
    QTRY_VERIFY2_WITH_TIMEOUT(status->text().startsWith("ready"), qPrintable(status->text()), kPatienceMs);
    app.bench.jobs.begin(app::Job::Recording);
    QVERIFY2(status->text().startsWith("recording a program"), qPrintable(status->text()));
    app.bench.jobs.end(app::Job::Recording);
    QVERIFY2(status->text().startsWith("ready"), qPrintable(status->text()));
}

void FirstMinutesTest::scrollingDoesNotChangeTheChosenCode()
{
    const app::TipBox tip("loader.workers", {"Here it is so."}, {}, {}, nullptr);
    auto* tabs = tip.findChild<QTabWidget*>();
    QVERIFY(tabs->count() == 2 && tabs->currentIndex() == 0);
    QTabBar* bar = tabs->tabBar();
    const QPointF at = bar->rect().center();
    QWheelEvent wheel(at, bar->mapToGlobal(at), {}, {0, -120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(bar, &wheel);
    QCOMPARE(tabs->currentIndex(), 0);
    QVERIFY(!wheel.isAccepted()); // the panel below scrolls
    bool listed = false;
    for (const auto* words : tip.findChildren<QLabel*>())
        listed = listed || words->text().contains("Here it is so.");
    QVERIFY(listed);
}

void FirstMinutesTest::theCloseQuestionDisappearsWithItsSubject()
{
    useScript("train");
    App app;
    app.bench.configuration.set(shortTraining(), "short");
    app.bench.training.start();
    QVERIFY(app.bench.jobs.isBusy());
    bool waited = false;
    QTimer::singleShot(kPatienceMs, &app.window, [&] {
        waited = true;
        if (auto* question = app.window.findChild<QMessageBox*>())
            question->reject();
    });
    app.window.close(); // asks and waits for the answer
    QVERIFY(!waited);
    QVERIFY(app.window.isVisible());
    QCOMPARE(app.bench.training.state(), RunState::Idle);
}

QTEST_MAIN(FirstMinutesTest)
#include "first_minutes_test.moc"
