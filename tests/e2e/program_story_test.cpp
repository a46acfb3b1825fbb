#include "app/document/analyser.h"
#include "app/findings/finding_card.h"
#include "app/findings/finding_details.h"
#include "app/findings/patch_box.h"
#include "app/record/record_dialog.h"
#include "app/views/tune/tune.h"
#include "app/window/main_window.h"
#include "app/window/window_dialogs.h"

#include <QApplication>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

// From "Record program" to the changed file and back, with a real program, recorder and experiment, in a real window.

namespace {

constexpr int kPatienceMs = 480'000; ///< torch is loaded twice in an experiment, on a possibly busy machine

// Reading a sample takes a millisecond, so the training waits for its data.
const QByteArray kScript = R"(import time
import torch
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __len__(self):
        return 100000

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.randn(64)


def main():
    torch.set_num_threads(1)
    model = torch.nn.Linear(64, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Slow(), batch_size=8)
    begin = time.monotonic()
    for batch in loader:
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        if time.monotonic() - begin > 6:
            break


if __name__ == "__main__":
    main()
)";

template <class T>
T* find(const QObject* parent, const QString& name)
{
    auto* found = parent->findChild<T*>(name);
    if (!found)
        qFatal("there is no %s", qPrintable(name));
    return found;
}

} // namespace

class ProgramStoryTest : public QObject {
    Q_OBJECT
public:
    static void initMain()
    {
        static const QTemporaryDir s_home;
        QCoreApplication::setApplicationName("stepscope-test");
        for (const char* variable : {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"})
            qputenv(variable, s_home.filePath(variable).toUtf8());
    }

private slots:
    void fromTheRecordingToTheChangedFileAndBack();

private:
    [[nodiscard]] QByteArray content() const
    {
        QFile file(m_folder.filePath("train.py"));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    /// The Advisor's card of the finding that the loader has no workers.
    static app::FindingCard* card(const app::MainWindow& window)
    {
        return find<app::FindingCard>(find<QWidget>(&window, "dock:advisor"), "card:loader.workers");
    }
    static app::PatchBox* showDiff(app::FindingCard* card)
    {
        find<QPushButton>(card, "showDiff")->click();
        auto* box = find<app::PatchBox>(card, "patchBox");
        const auto* diff = find<QPlainTextEdit>(box, "diff");
        if (!QTest::qWaitFor([&] { return diff->isVisibleTo(box); }, kPatienceMs))
            qFatal("the diff was not made in time");
        return box;
    }

    QTemporaryDir m_folder;
};

void ProgramStoryTest::fromTheRecordingToTheChangedFileAndBack()
{
    QFile script(m_folder.filePath("train.py"));
    QVERIFY(script.open(QIODevice::WriteOnly) && script.write(kScript) == kScript.size());
    script.close();
    app::Appearance appearance;
    app::Workbench bench;
    app::MainWindow window(&bench, &appearance);
    window.resize(1920, 1080);
    window.show();
    QVERIFY(QTest::qWaitFor([&] { return window.isComplete(); }, kPatienceMs));

    // Record.
    find<QPushButton>(&window, "recordCard")->click();
    auto* dialog = find<app::RecordDialog>(&window, "recordDialog");
    find<QComboBox>(dialog, "command")->setCurrentText(QString(PYTHON_WITH_TORCH) + " train.py");
    find<QLineEdit>(dialog, "folder")->setText(m_folder.path());
    QSignalSpy asked(&bench.trust, &app::TrustStore::codeAsked),
        opened(&bench.document, &app::TraceDocument::traceOpened);
    bool sawItGrow = false;
    connect(&bench.document, &app::TraceDocument::traceChanged, this, [&] {
        sawItGrow = sawItGrow || (bench.document.trace()->captureStats().live &&
                                  !bench.document.trace()->ofKind(profiler::ActivityKind::Step).empty());
    });
    find<QPushButton>(dialog, "record")->click();
    QTRY_COMPARE_WITH_TIMEOUT(asked.count(), 1, kPatienceMs);
    find<QPushButton>(find<app::TrustQuestion>(&window, "trustQuestion"), "trust")->click();
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
    QVERIFY(sawItGrow);
    QVERIFY(QTest::qWaitFor([&] { return bench.document.advice() && !bench.document.advice()->live; }, kPatienceMs));

    // The finding, with its line.
    app::FindingCard* finding = card(window);
    const auto* snippet = find<app::SourceSnippet>(finding, "snippet");
    QVERIFY(snippet->isVisibleTo(finding));
    QVERIFY(snippet->lines().join('\n').contains("loader = DataLoader(Slow(), batch_size=8)"));

    // Measure: the program is allowed, and its files are not changed.
    QSignalSpy finished(&bench.experiments, &app::ExperimentService::finished),
        failed(&bench.experiments, &app::ExperimentService::failed);
    find<QPushButton>(finding, "apply")->click();
    QVERIFY(QTest::qWaitFor([&] { return !finished.isEmpty() || !failed.isEmpty(); }, kPatienceMs));
    QVERIFY2(failed.isEmpty(), failed.isEmpty() ? "" : qPrintable(failed[0][1].toString()));
    QCOMPARE(asked.count(), 1);
    QCOMPARE(content(), kScript);
    const auto result = finished[0][1].value<advisor::ExperimentResult>();
    QVERIFY2(result.verdict == advisor::Verdict::Pays, result.whyText().c_str());

    // Keep.
    find<QPushButton>(finding, "keep")->click();
    QCOMPARE(bench.journal.shown().changes.size(), std::size_t{1});
    QCOMPARE(bench.journal.shown().changes.front().program, bench.document.program());
    QCOMPARE(content(), kScript);

    // Show the diff, and apply it.
    app::PatchBox* box = showDiff(finding);
    QVERIFY(find<QPlainTextEdit>(box, "diff")->toPlainText().contains("num_workers="));
    QSignalSpy changed(box, &app::PatchBox::filesChanged);
    find<QPushButton>(box, "applyPatch")->click();
    QTRY_COMPARE_WITH_TIMEOUT(changed.count(), 1, kPatienceMs);
    QVERIFY(content().contains("loader = DataLoader(Slow(), batch_size=8, num_workers="));

    // Undo after the trace was opened again.
    bench.document.openTrace(bench.document.path());
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 2, kPatienceMs);
    QVERIFY(QTest::qWaitFor([&] { return bench.document.advice() && !bench.document.advice()->live; }, kPatienceMs));
    QCOMPARE(bench.journal.shown().changes.size(), std::size_t{1}); // it is the same program
    box = showDiff(card(window));
    auto* revert = find<QPushButton>(box, "revertPatch");
    QVERIFY(revert->isVisibleTo(box));
    revert->click();
    QTRY_COMPARE_WITH_TIMEOUT(content(), kScript, kPatienceMs);

    // Tune until the workers pay: the program is allowed, Stop keeps the best result, and the result is one diff of the
    // file.
    const auto isWorkers = [](const advisor::Toggle& change) { return change.key == "loader.workers"; };
    connect(&bench.tuning, &app::TuningService::progressed, this, [&](const advisor::TuneProgress& progress) {
        for (const advisor::TuneTrial& trial : progress.trials)
            if (isWorkers(trial.change) && trial.outcome == advisor::TuneTrial::Outcome::Kept)
                bench.tuning.stop();
    });
    QSignalSpy ended(&bench.tuning, &app::TuningService::ended);
    bench.tuning.start(std::chrono::minutes(3));
    QTRY_VERIFY_WITH_TIMEOUT(bench.tuning.isRunning(), kPatienceMs);
    QCOMPARE(asked.count(), 1);
    QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, kPatienceMs);
    const auto tuned = bench.tuning.programResult();
    QVERIFY2(tuned, qPrintable(bench.tuning.trouble()));
    QCOMPARE(content(), kScript);
    QVERIFY(bench.tuning.isOfDocument());
    QVERIFY(tuned->result.stopped);
    QVERIFY(std::any_of(tuned->result.kept.begin(), tuned->result.kept.end(), isWorkers));
    QVERIFY(tuned->result.ratio.low > 1);
    auto* panel = find<app::TunePanel>(&window, {});
    QVERIFY(find<QLabel>(panel, "tuneSummary")->text().contains(QString::fromStdString(tuned->result.why.text)));
    QVERIFY(!find<QPushButton>(panel, "applyTuning")->isVisibleTo(panel));
    bench.tuning.savePatch(m_folder.filePath("changes.patch").toStdString());
    QFile saved(m_folder.filePath("changes.patch"));
    QVERIFY(saved.open(QIODevice::ReadOnly) && saved.readAll().contains("+++ b/train.py"));
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    bench.reports.saveTuneReport(m_folder.filePath("report.html").toStdString());
    QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, kPatienceMs);
    QFile report(m_folder.filePath("report.html"));
    QVERIFY(report.open(QIODevice::ReadOnly) && report.readAll().contains("num_workers="));
    find<QPushButton>(panel, "showTunedDiff")->click();
    box = find<app::PatchBox>(panel, "patchBox");
    auto* apply = find<QPushButton>(box, "applyPatch");
    QTRY_VERIFY_WITH_TIMEOUT(apply->isVisibleTo(box) && apply->isEnabled(), kPatienceMs);
    apply->click();
    QTRY_VERIFY_WITH_TIMEOUT(content().contains("num_workers="), kPatienceMs);
    revert = find<QPushButton>(box, "revertPatch");
    QTRY_VERIFY_WITH_TIMEOUT(revert->isVisibleTo(box) && revert->isEnabled(), kPatienceMs);
    revert->click();
    QTRY_COMPARE_WITH_TIMEOUT(content(), kScript, kPatienceMs);
}

QTEST_MAIN(ProgramStoryTest)
#include "program_story_test.moc"
