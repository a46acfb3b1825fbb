#include "app/tables/evidence_table.h"
#include "app/views/tune/tune.h"
#include "app/views/tune/tune_trials.h"
#include "app/window/window_strips.h"
#include "profiler/formats/format.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"
#include "tests/support/trace_text.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using app_test::find;
using app_test::shortTraining;
using app_test::useScript;
using std::chrono::minutes;

namespace {

constexpr int kPatienceMs = 60'000;

std::unique_ptr<app_test::OwnFolders> folders;

/// A workbench whose training waits for data, and its Tune view.
struct Tuned {
    explicit Tuned(const char* script)
        : panel(&bench.tuning, &bench.configuration, &bench.document, &bench.journal, &bench.jobs, &bench.reports,
                &bench.runs, nullptr)
    {
        useScript(script);
        bench.configuration.set(shortTraining(), "short");
        panel.show();
    }
    void toTheEnd()
    {
        QSignalSpy ended(&bench.tuning, &app::TuningService::ended);
        find<QPushButton>(&panel, "startTuning")->click();
        QVERIFY(bench.tuning.isRunning());
        QVERIFY(ended.wait(kPatienceMs));
        QVERIFY(!bench.tuning.isRunning());
    }
    [[nodiscard]] QString text(const char* label) const { return find<QLabel>(&panel, label)->text(); }
    [[nodiscard]] bool isShown(const char* button) const { return find<QWidget>(&panel, button)->isVisibleTo(&panel); }

    app::Workbench bench;
    app::TunePanel panel;
};

QByteArray contentOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

class TuneTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void withoutATuningItSaysWhatToDo();
    void keepsWhatPaysAndAppliesItAsOneStep();
    void aLowDockScrolls();
    void aTrialWithoutPairsHasNoValue();
    void theResultIsSavedAndCopied();
    void stopKeepsTheBestResult();
    void aTrainingThatCannotRunIsReported();
    void aRecordedProgramIsTunedOnceItIsAllowed();
    void nothingElseRunsAtTheSameTime();
    void theWindowOpensIt();
    void anUnseenEndIsReported();
};

void TuneTest::withoutATuningItSaysWhatToDo()
{
    const Tuned tuned("quick");
    QVERIFY(tuned.text("tuneEmpty").contains("press Tune"));
    QVERIFY(tuned.isShown("startTuning") && !tuned.isShown("stopTuning"));
    QVERIFY(!tuned.isShown("applyTuning"));
}

void TuneTest::keepsWhatPaysAndAppliesItAsOneStep()
{
    Tuned tuned("quick");
    tuned.toTheEnd();
    const auto& result = tuned.bench.tuning.result();
    QVERIFY(result);
    QCOMPARE(result->start[config::key::workers], 0);
    QVERIFY(result->best[config::key::workers] > 0);
    auto* table = find<app::EvidenceTable>(&tuned.panel, "tuneTable");
    QCOMPARE(table->evidence()->rowCount(), static_cast<int>(result->trials.size()));
    QCOMPARE(table->evidence()->row(0).cells.back().text, "✓ kept");
    QVERIFY(tuned.text("tuneSummary").contains("the samples per second"));

    // Nothing changes before Apply; then everything is one undo step.
    QCOMPARE(tuned.bench.configuration.get().text("loader.workers"), "0");
    find<QPushButton>(&tuned.panel, "applyTuning")->click();
    QCOMPARE(tuned.bench.configuration.get(), result->best);
    QVERIFY(!tuned.bench.journal.shown().changes.empty());
    QCOMPARE(tuned.bench.journal.shown().changes[0].ruleId, "loader.workers");
    QCOMPARE(find<QPushButton>(&tuned.panel, "applyTuning")->isEnabled(), false);
    tuned.bench.configuration.undoStack()->undo();
    QCOMPARE(tuned.bench.configuration.get(), result->start);
    QVERIFY(tuned.bench.journal.shown().changes.empty());
    QVERIFY(find<QPushButton>(&tuned.panel, "applyTuning")->isEnabled());
    // When applied again after a manual change, it is in the journal only once.
    find<QPushButton>(&tuned.panel, "applyTuning")->click();
    const std::size_t kept = tuned.bench.journal.shown().changes.size();
    const double factor = tuned.bench.journal.shown().factorAfter(kept);
    QVERIFY(!tuned.bench.configuration.setKnob("loader.workers", "0"));
    find<QPushButton>(&tuned.panel, "applyTuning")->click();
    QCOMPARE(tuned.bench.journal.shown().changes.size(), kept);
    QCOMPARE(tuned.bench.journal.shown().factorAfter(kept), factor);
    // The cause may be anything.
    QVERIFY(!tuned.bench.configuration.setKnob("loader.workers", "0"));
    tuned.bench.jobs.begin(app::Job::Recording);
    QVERIFY(!find<QPushButton>(&tuned.panel, "applyTuning")->isEnabled());
    tuned.bench.jobs.end(app::Job::Recording);
    QVERIFY(find<QPushButton>(&tuned.panel, "applyTuning")->isEnabled());
    // A result for one model is not applied to another.
    QVERIFY(!tuned.bench.configuration.setKnob("workload", "mlp"));
    const config::TrainingConfig other = tuned.bench.configuration.get();
    QSignalSpy noticed(&tuned.bench.notices, &app::Notices::noticed);
    find<QPushButton>(&tuned.panel, "applyTuning")->click();
    QCOMPARE(noticed.count(), 1);
    QVERIFY(noticed[0][0].toString().contains("another model"));
    QCOMPARE(tuned.bench.configuration.get(), other);
}

void TuneTest::aLowDockScrolls()
{
    Tuned tuned("quick");
    tuned.toTheEnd();
    tuned.panel.resize(600, 170);
    const auto* scroll = find<QScrollArea>(&tuned.panel, "tuneScroll");
    const auto* summary = find<QLabel>(&tuned.panel, "tuneSummary");
    QTRY_VERIFY(scroll->verticalScrollBar()->maximum() > 0);
    QVERIFY(summary->height() >= summary->heightForWidth(summary->width())); // not cut
    QVERIFY(find<app::EvidenceTable>(&tuned.panel, "tuneTable")->height() >= 3 * summary->fontMetrics().height());
    tuned.panel.resize(600, 900);
    QTRY_COMPARE(scroll->verticalScrollBar()->maximum(), 0);
}

void TuneTest::aTrialWithoutPairsHasNoValue()
{
    advisor::TuneTrial trial;
    trial.change = {"loader.workers", "0", "2"};
    trial.title = "The step waits for data";
    trial.result.emplace();
    const QString text = app::trialText(trial);
    QVERIFY2(text.endsWith("(The step waits for data)."), qPrintable(text));
}

void TuneTest::theResultIsSavedAndCopied()
{
    Tuned tuned("quick");
    tuned.toTheEnd();
    const auto& result = tuned.bench.tuning.result();
    QVERIFY(result);
    find<QAction>(&tuned.panel, "copyPython")->trigger();
    QVERIFY(QApplication::clipboard()->text().contains("num_workers"));
    find<QAction>(&tuned.panel, "copyCpp")->trigger();
    QVERIFY(QApplication::clipboard()->text().contains("DataLoaderOptions"));

    const QTemporaryDir folder;
    tuned.bench.tuning.saveConfiguration(folder.filePath("tuned.json").toStdString());
    const auto loaded = config::TrainingConfig::load(folder.filePath("tuned.json").toStdString());
    QVERIFY(loaded && *loaded == result->best);

    QSignalSpy noticed(&tuned.bench.notices, &app::Notices::noticed);
    for (const char* name : {"report.html", "report.pdf"}) {
        tuned.bench.reports.saveReport(folder.filePath(name).toStdString());
        QVERIFY(noticed.wait(20'000));
        QCOMPARE(noticed.takeFirst().at(2).toBool(), false);
    }
    QVERIFY(contentOf(folder.filePath("report.html")).contains("Result of tuning"));
    QVERIFY(contentOf(folder.filePath("report.pdf")).startsWith("%PDF-"));
    // The report of an unrelated trace does not contain it.
    QFile trace(folder.filePath("other.json"));
    QVERIFY(trace.open(QIODevice::WriteOnly));
    trace.write(R"([{"name":"a","ph":"X","ts":1,"dur":5,"pid":1,"tid":1}])");
    trace.close();
    QSignalSpy opened(&tuned.bench.document, &app::TraceDocument::traceOpened);
    tuned.bench.document.openTrace(trace.fileName().toStdString());
    QVERIFY(opened.wait(20'000));
    tuned.bench.reports.saveReport(folder.filePath("other.html").toStdString());
    QVERIFY(noticed.wait(20'000));
    QCOMPARE(noticed.takeFirst().at(2).toBool(), false);
    QVERIFY(!contentOf(folder.filePath("other.html")).contains("Result of tuning"));
    // A tuning report contains only the tuning, not that trace.
    tuned.bench.reports.saveTuneReport(folder.filePath("tuning.html").toStdString());
    QVERIFY(noticed.wait(20'000));
    QCOMPARE(noticed.takeFirst().at(2).toBool(), false);
    QVERIFY(contentOf(folder.filePath("tuning.html")).contains("Result of tuning"));
    QVERIFY(!contentOf(folder.filePath("tuning.html")).contains("other.json"));
    tuned.bench.reports.saveReport(folder.filePath("no/such/report.pdf").toStdString());
    QVERIFY(noticed.wait(20'000));
    QCOMPARE(noticed.takeFirst().at(2).toBool(), true);
}

void TuneTest::stopKeepsTheBestResult()
{
    Tuned tuned("stuck"); // two workers pay; the trial of one never ends
    QSignalSpy ended(&tuned.bench.tuning, &app::TuningService::ended);
    find<QPushButton>(&tuned.panel, "startTuning")->click();
    const auto isStuck = [&] {
        const auto& progress = tuned.bench.tuning.progress();
        return progress && !progress->trials.empty() && progress->trying && progress->trying->to == "1";
    };
    QTRY_VERIFY_WITH_TIMEOUT(isStuck(), kPatienceMs);
    QVERIFY(tuned.text("tuneDoing").startsWith("Round "));
    QVERIFY(find<QPushButton>(&tuned.panel, "stopTuning")->isEnabled());
    find<QPushButton>(&tuned.panel, "stopTuning")->click();
    QVERIFY(!ended.isEmpty() || ended.wait(kPatienceMs));
    const auto& result = tuned.bench.tuning.result();
    QVERIFY(result && result->stopped);
    QCOMPARE(result->best[config::key::workers], 2);
    QVERIFY(tuned.isShown("applyTuning"));
}

void TuneTest::aTrainingThatCannotRunIsReported()
{
    Tuned tuned("refuse");
    tuned.toTheEnd();
    QVERIFY(!tuned.bench.tuning.result());
    QVERIFY(tuned.text("tuneEmpty").contains("cannot be tuned"));
    QVERIFY(tuned.text("tuneEmpty").contains("no such folder"));
    QVERIFY(find<QPushButton>(&tuned.panel, "startTuning")->isEnabled());
}

// Tunes the program of the trace on screen, not the current configuration. This program is not a Python program, so it
// cannot be tuned.
void TuneTest::aRecordedProgramIsTunedOnceItIsAllowed()
{
    const QTemporaryDir folder;
    QFile script(folder.filePath("train.sh"));
    QVERIFY(script.open(QIODevice::WriteOnly) && script.write("touch ran\n") > 0);
    script.close();
    const std::string text = "meta record.command no-such-program train.sh\nmeta record.directory " +
                             folder.path().toStdString() + "\nmeta program {\"files\":[]}\nmain\nop a 0 1\n";
    const std::filesystem::path file = folder.filePath("program.sspack").toStdString();
    QVERIFY(profiler::formats::saveTrace(*test_support::traceFromText(text), file, {}));
    Tuned tuned("quick");
    QSignalSpy opened(&tuned.bench.document, &app::TraceDocument::traceOpened),
        asked(&tuned.bench.trust, &app::TrustStore::codeAsked);
    tuned.bench.document.openTrace(file);
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
    QVERIFY(!tuned.bench.document.program().id.isEmpty());
    QVERIFY2(tuned.text("tuneEmpty").contains("recorded program"), qPrintable(tuned.text("tuneEmpty")));

    find<QPushButton>(&tuned.panel, "startTuning")->click();
    QTRY_COMPARE_WITH_TIMEOUT(asked.count(), 1, kPatienceMs);
    QVERIFY(!tuned.bench.tuning.isRunning());
    connect(&tuned.bench.trust, &app::TrustStore::copyAsked, &tuned.bench.trust,
            [&] { tuned.bench.trust.answerCopy(true); });
    QSignalSpy ended(&tuned.bench.tuning, &app::TuningService::ended);
    tuned.bench.trust.answerCode(asked[0][0].value<app::CodeFile>(), app::TrustStore::Answer::Once);
    QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, kPatienceMs);
    QVERIFY(tuned.bench.tuning.isOfProgram());
    QVERIFY(!tuned.bench.tuning.outcome());
    QVERIFY2(tuned.text("tuneEmpty").contains("The program cannot be tuned."), qPrintable(tuned.text("tuneEmpty")));
    QVERIFY(!QFile::exists(folder.filePath("ran")));
}

void TuneTest::nothingElseRunsAtTheSameTime()
{
    Tuned tuned("stuck");
    find<QPushButton>(&tuned.panel, "startTuning")->click();
    QVERIFY(tuned.bench.tuning.isRunning());
    tuned.bench.training.start();
    QCOMPARE(tuned.bench.training.state(), app::RunState::Idle);
    QSignalSpy ended(&tuned.bench.tuning, &app::TuningService::ended);
    tuned.bench.tuning.stop();
    QVERIFY(ended.wait(kPatienceMs));

    useScript("train");
    tuned.bench.configuration.set(shortTraining(100'000), "endless");
    tuned.bench.training.start();
    QVERIFY(tuned.bench.jobs.isBusy());
    QVERIFY(!find<QPushButton>(&tuned.panel, "startTuning")->isEnabled());
    tuned.bench.tuning.start(minutes(1));
    QVERIFY(!tuned.bench.tuning.isRunning());
    tuned.bench.training.stop();
    QTRY_VERIFY_WITH_TIMEOUT(!tuned.bench.jobs.isBusy(), kPatienceMs);
    QVERIFY(find<QPushButton>(&tuned.panel, "startTuning")->isEnabled());
}

void TuneTest::theWindowOpensIt()
{
    const app_test::App app;
    auto* dock = find<QDockWidget>(&app.window, "dock:tune");
    QVERIFY(!dock->isVisible()); // on the start page
    find<QAction>(&app.window, "tuneTraining")->trigger();
    QVERIFY(dock->isVisible());
    QVERIFY(find<QPushButton>(dock, "startTuning")->isVisible());
}

void TuneTest::anUnseenEndIsReported()
{
    useScript("quick");
    app_test::App app;
    app.bench.configuration.set(shortTraining(), "short");
    auto* dock = find<QDockWidget>(&app.window, "dock:tune");
    auto* strip = app.window.findChild<app::NoticeStrip*>();
    const QString title = dock->windowTitle();
    const auto tuneBehind = [&](bool behind) {
        QSignalSpy ended(&app.bench.tuning, &app::TuningService::ended);
        find<QAction>(&app.window, "tuneTraining")->trigger();
        find<QPushButton>(dock, "startTuning")->click();
        if (behind)
            find<QDockWidget>(&app.window, "dock:kernels")->raise();
        QCoreApplication::processEvents();
        return !ended.isEmpty() || ended.wait(kPatienceMs);
    };
    QVERIFY(tuneBehind(true));
    QVERIFY(strip->isVisible());
    QVERIFY2(strip->text().startsWith("Tuning is done. ") && strip->text().contains("samples per second"),
             qPrintable(strip->text()));
    QVERIFY(dock->windowTitle() != title && dock->windowTitle().startsWith(title));
    // A visible result needs no mark.
    dock->raise();
    QTRY_COMPARE(dock->windowTitle(), title);
    QVERIFY(find<QPushButton>(dock, "applyTuning")->isVisible());
    // A visible result needs no notice.
    strip->dismiss();
    QVERIFY(tuneBehind(false));
    QCOMPARE(dock->windowTitle(), title);
    QVERIFY(!strip->isVisible());
    // A failure is reported.
    useScript("refuse");
    QVERIFY(tuneBehind(true));
    QVERIFY(strip->isVisible());
    QVERIFY2(strip->text().contains("cannot be tuned"), qPrintable(strip->text()));
}

QTEST_MAIN(TuneTest)
#include "tune_test.moc"
