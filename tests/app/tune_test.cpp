#include "app/tables/evidence_table.h"
#include "app/views/tune/tune_panel.h"
#include "app/views/tune/tune_rows.h"
#include "app/window/notice_strip.h"
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

using app::Session;
using app_test::find;
using app_test::shortTraining;
using app_test::useScript;
using std::chrono::minutes;

namespace {

constexpr int kPatienceMs = 60'000;

std::unique_ptr<app_test::OwnFolders> folders;

/// A session whose training waits for data, and its Tune view.
struct Tuned {
    explicit Tuned(const char* script) : panel(&session, nullptr)
    {
        useScript(script);
        session.setConfiguration(shortTraining(), "short");
        panel.show();
    }
    void toTheEnd()
    {
        QSignalSpy ended(&session, &Session::tuningEnded);
        find<QPushButton>(&panel, "startTuning")->click();
        QVERIFY(session.tuningRunning());
        QVERIFY(ended.wait(kPatienceMs));
        QVERIFY(!session.tuningRunning());
    }
    [[nodiscard]] QString text(const char* label) const { return find<QLabel>(&panel, label)->text(); }
    [[nodiscard]] bool isShown(const char* button) const { return find<QWidget>(&panel, button)->isVisibleTo(&panel); }

    Session session;
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
    const auto& result = tuned.session.tuning().result();
    QVERIFY(result);
    QCOMPARE(result->start[config::key::workers], 0);
    QVERIFY(result->best[config::key::workers] > 0);
    auto* table = find<app::EvidenceTable>(&tuned.panel, "tuneTable");
    QCOMPARE(table->evidence()->rowCount(), static_cast<int>(result->trials.size()));
    QCOMPARE(table->evidence()->row(0).cells.back().text, "✓ kept");
    QVERIFY(tuned.text("tuneSummary").contains("the samples per second"));

    // Nothing changes before Apply; then everything is one undo step.
    QCOMPARE(tuned.session.configuration().text("loader.workers"), "0");
    find<QPushButton>(&tuned.panel, "applyTuning")->click();
    QCOMPARE(tuned.session.configuration(), result->best);
    QVERIFY(!tuned.session.journal().changes.empty());
    QCOMPARE(tuned.session.journal().changes[0].ruleId, "loader.workers");
    QCOMPARE(find<QPushButton>(&tuned.panel, "applyTuning")->isEnabled(), false);
    tuned.session.undoStack()->undo();
    QCOMPARE(tuned.session.configuration(), result->start);
    QVERIFY(tuned.session.journal().changes.empty());
    QVERIFY(find<QPushButton>(&tuned.panel, "applyTuning")->isEnabled());
    // When applied again after a manual change, it is in the journal only once.
    find<QPushButton>(&tuned.panel, "applyTuning")->click();
    const std::size_t kept = tuned.session.journal().changes.size();
    const double factor = tuned.session.journal().factorAfter(kept);
    QVERIFY(!tuned.session.setKnob("loader.workers", "0"));
    find<QPushButton>(&tuned.panel, "applyTuning")->click();
    QCOMPARE(tuned.session.journal().changes.size(), kept);
    QCOMPARE(tuned.session.journal().factorAfter(kept), factor);
    // The cause may be anything.
    QVERIFY(!tuned.session.setKnob("loader.workers", "0"));
    tuned.session.setRecording(true);
    QVERIFY(!find<QPushButton>(&tuned.panel, "applyTuning")->isEnabled());
    tuned.session.setRecording(false);
    QVERIFY(find<QPushButton>(&tuned.panel, "applyTuning")->isEnabled());
    // A result for one model is not applied to another.
    QVERIFY(!tuned.session.setKnob("workload", "mlp"));
    const config::TrainingConfig other = tuned.session.configuration();
    QSignalSpy noticed(&tuned.session, &Session::noticed);
    find<QPushButton>(&tuned.panel, "applyTuning")->click();
    QCOMPARE(noticed.count(), 1);
    QVERIFY(noticed[0][0].toString().contains("another model"));
    QCOMPARE(tuned.session.configuration(), other);
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
    const auto& result = tuned.session.tuning().result();
    QVERIFY(result);
    find<QAction>(&tuned.panel, "copyPython")->trigger();
    QVERIFY(QApplication::clipboard()->text().contains("num_workers"));
    find<QAction>(&tuned.panel, "copyCpp")->trigger();
    QVERIFY(QApplication::clipboard()->text().contains("DataLoaderOptions"));

    const QTemporaryDir folder;
    tuned.session.saveTuned(folder.filePath("tuned.json").toStdString());
    const auto loaded = config::TrainingConfig::load(folder.filePath("tuned.json").toStdString());
    QVERIFY(loaded && *loaded == result->best);

    QSignalSpy noticed(&tuned.session, &Session::noticed);
    for (const char* name : {"report.html", "report.pdf"}) {
        tuned.session.saveReport(folder.filePath(name).toStdString());
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
    QSignalSpy opened(&tuned.session, &Session::traceOpened);
    tuned.session.openTrace(trace.fileName().toStdString());
    QVERIFY(opened.wait(20'000));
    tuned.session.saveReport(folder.filePath("other.html").toStdString());
    QVERIFY(noticed.wait(20'000));
    QCOMPARE(noticed.takeFirst().at(2).toBool(), false);
    QVERIFY(!contentOf(folder.filePath("other.html")).contains("Result of tuning"));
    // A tuning report contains only the tuning, not that trace.
    tuned.session.saveTuneReport(folder.filePath("tuning.html").toStdString());
    QVERIFY(noticed.wait(20'000));
    QCOMPARE(noticed.takeFirst().at(2).toBool(), false);
    QVERIFY(contentOf(folder.filePath("tuning.html")).contains("Result of tuning"));
    QVERIFY(!contentOf(folder.filePath("tuning.html")).contains("other.json"));
    tuned.session.saveReport(folder.filePath("no/such/report.pdf").toStdString());
    QVERIFY(noticed.wait(20'000));
    QCOMPARE(noticed.takeFirst().at(2).toBool(), true);
}

void TuneTest::stopKeepsTheBestResult()
{
    Tuned tuned("stuck"); // two workers pay; the trial of one never ends
    QSignalSpy ended(&tuned.session, &Session::tuningEnded);
    find<QPushButton>(&tuned.panel, "startTuning")->click();
    const auto isStuck = [&] {
        const auto& progress = tuned.session.tuning().progress();
        return progress && !progress->trials.empty() && progress->trying && progress->trying->to == "1";
    };
    QTRY_VERIFY_WITH_TIMEOUT(isStuck(), kPatienceMs);
    QVERIFY(tuned.text("tuneDoing").startsWith("Round "));
    QVERIFY(find<QPushButton>(&tuned.panel, "stopTuning")->isEnabled());
    find<QPushButton>(&tuned.panel, "stopTuning")->click();
    QVERIFY(!ended.isEmpty() || ended.wait(kPatienceMs));
    const auto& result = tuned.session.tuning().result();
    QVERIFY(result && result->stopped);
    QCOMPARE(result->best[config::key::workers], 2);
    QVERIFY(tuned.isShown("applyTuning"));
}

void TuneTest::aTrainingThatCannotRunIsReported()
{
    Tuned tuned("refuse");
    tuned.toTheEnd();
    QVERIFY(!tuned.session.tuning().result());
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
    QSignalSpy opened(&tuned.session, &Session::traceOpened), asked(&tuned.session, &Session::codeAsked);
    tuned.session.openTrace(file);
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
    QVERIFY(!tuned.session.programOnScreen().id.isEmpty());
    QVERIFY2(tuned.text("tuneEmpty").contains("recorded program"), qPrintable(tuned.text("tuneEmpty")));

    find<QPushButton>(&tuned.panel, "startTuning")->click();
    QTRY_COMPARE_WITH_TIMEOUT(asked.count(), 1, kPatienceMs);
    QVERIFY(!tuned.session.tuningRunning());
    connect(&tuned.session, &Session::copyAsked, &tuned.session, [&] { tuned.session.answerCopy(true); });
    QSignalSpy ended(&tuned.session, &Session::tuningEnded);
    tuned.session.answerCode(asked[0][0].value<app::CodeFile>(), app::CodeGate::Answer::Once);
    QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, kPatienceMs);
    QVERIFY(tuned.session.tuning().isOfProgram());
    QVERIFY(!tuned.session.tuning().outcome());
    QVERIFY2(tuned.text("tuneEmpty").contains("The program cannot be tuned."), qPrintable(tuned.text("tuneEmpty")));
    QVERIFY(!QFile::exists(folder.filePath("ran")));
}

void TuneTest::nothingElseRunsAtTheSameTime()
{
    Tuned tuned("stuck");
    find<QPushButton>(&tuned.panel, "startTuning")->click();
    QVERIFY(tuned.session.tuningRunning());
    tuned.session.start();
    QCOMPARE(tuned.session.runState(), app::RunState::Idle);
    QSignalSpy ended(&tuned.session, &Session::tuningEnded);
    tuned.session.stopTuning();
    QVERIFY(ended.wait(kPatienceMs));

    useScript("train");
    tuned.session.setConfiguration(shortTraining(100'000), "endless");
    tuned.session.start();
    QVERIFY(tuned.session.isBusy());
    QVERIFY(!find<QPushButton>(&tuned.panel, "startTuning")->isEnabled());
    tuned.session.startTuning(minutes(1));
    QVERIFY(!tuned.session.tuningRunning());
    tuned.session.stop();
    QTRY_VERIFY_WITH_TIMEOUT(!tuned.session.isBusy(), kPatienceMs);
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
    app.session.setConfiguration(shortTraining(), "short");
    auto* dock = find<QDockWidget>(&app.window, "dock:tune");
    auto* strip = app.window.findChild<app::NoticeStrip*>();
    const QString title = dock->windowTitle();
    const auto tuneBehind = [&](bool behind) {
        QSignalSpy ended(&app.session, &Session::tuningEnded);
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
