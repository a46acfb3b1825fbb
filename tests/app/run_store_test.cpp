#include "app/document/analyser.h"
#include "app/services/run_store.h"
#include "app/window/workbench.h"
#include "profiler/formats/format.h"
#include "tests/app/app_support.h"
#include "tests/support/trace_text.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <algorithm>

// File work must never block the GUI thread, and stops when it is superseded.

using app_test::shortTraining;

namespace {

constexpr int kPatienceMs = 60'000;
constexpr int kRuns = 300;

std::unique_ptr<app_test::OwnFolders> folders;

/// The longest time in ms for which the GUI thread was blocked.
class Heartbeat {
public:
    Heartbeat()
    {
        m_timer.setInterval(1);
        QObject::connect(&m_timer, &QTimer::timeout, [this] { beat(); });
        m_since.start();
        m_timer.start();
    }
    qint64 longest()
    {
        beat();
        return m_longest;
    }

private:
    void beat() { m_longest = std::max(m_longest, m_since.restart()); }

    QTimer m_timer;
    QElapsedTimer m_since;
    qint64 m_longest = 0;
};

void makeRuns(const std::filesystem::path& root, int count)
{
    for (int i = 0; i < count; ++i)
        if (!app::makeRun(root, shortTraining(i + 1)))
            qFatal("a run's folder cannot be created");
}

qint64 msOf(const std::function<void()>& work)
{
    QElapsedTimer timer;
    timer.start();
    work();
    return timer.elapsed();
}

} // namespace

class RunStoreTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void cleanup() { std::filesystem::remove_all(app::runsRoot()); }
    void aLongListOfRunsIsReadInTheBackground();
    void aLargeRunIsRemovedInTheBackground();
    void severalRunsAreRemovedOneAfterAnother();
    void aRunThatStartsWhileTheListIsReadStays();
    void aTraceThatCannotBeSealedIsReportedAndStays();
    void aFifoInARunFolderIsSkipped();
    void aFifoThatIsOpenedAsATraceIsRefused();
    void aDroppedFileIsReadInTheBackground();
    void ofTwentyTracesOpenedAtMostTwoAreAnalysedAtOnce();
};

void RunStoreTest::aLongListOfRunsIsReadInTheBackground()
{
    makeRuns(app::runsRoot(), kRuns);
    const qint64 reading = msOf([] { QCOMPARE(app::readRuns(app::runsRoot()).size(), std::size_t{kRuns}); });
    app::Workbench bench;
    Heartbeat heart;
    const qint64 calling = msOf([&] { bench.runs.reload(); });
    QVERIFY(bench.runs.all().empty());
    QVERIFY2(calling < std::max<qint64>(10, reading / 5), qPrintable(QString("%1 of %2 ms").arg(calling).arg(reading)));
    QTRY_COMPARE_WITH_TIMEOUT(bench.runs.all().size(), std::size_t{kRuns}, kPatienceMs);
    qInfo("reading takes %lld ms; the GUI thread was busy for at most %lld ms", static_cast<long long>(reading),
          static_cast<long long>(heart.longest()));
    QVERIFY(std::is_sorted(bench.runs.all().begin(), bench.runs.all().end(),
                           [](const auto& a, const auto& b) { return a.name > b.name; }));
}

void RunStoreTest::aLargeRunIsRemovedInTheBackground()
{
    makeRuns(app::runsRoot(), 2);
    app::Workbench bench;
    bench.runs.reload();
    QTRY_COMPARE_WITH_TIMEOUT(bench.runs.all().size(), std::size_t{2}, kPatienceMs);
    const app::RunRecord run = bench.runs.all().front();
    for (int i = 0; i < 5000; ++i) {
        QFile file(QString::fromStdString((run.folder / ("part" + std::to_string(i))).string()));
        QVERIFY(file.open(QIODevice::WriteOnly));
    }
    QSignalSpy changed(&bench.runs, &app::RunStore::changed);
    const qint64 calling = msOf([&] { bench.runs.remove(run); });
    QVERIFY(changed.isEmpty()); // it is asynchronous
    QVERIFY2(calling < 50, qPrintable(QString::number(calling)));
    QTRY_COMPARE_WITH_TIMEOUT(bench.runs.all().size(), std::size_t{1}, kPatienceMs);
    QVERIFY(!std::filesystem::exists(run.folder));
}

void RunStoreTest::severalRunsAreRemovedOneAfterAnother()
{
    makeRuns(app::runsRoot(), 10);
    app::Workbench bench;
    bench.runs.reload();
    QTRY_COMPARE_WITH_TIMEOUT(bench.runs.all().size(), std::size_t{10}, kPatienceMs);
    for (const app::RunRecord& run :
         std::vector<app::RunRecord>(bench.runs.all().begin(), bench.runs.all().begin() + 9))
        bench.runs.remove(run);
    QTRY_COMPARE_WITH_TIMEOUT(bench.runs.all().size(), std::size_t{1}, kPatienceMs);
    QCOMPARE(app::readRuns(app::runsRoot()).size(), std::size_t{1});
}

void RunStoreTest::aRunThatStartsWhileTheListIsReadStays()
{
    makeRuns(app::runsRoot(), 50);
    app::Workbench bench;
    bench.configuration.set(shortTraining(100'000), "long");
    bench.runs.reload();
    bench.training.start(); // before the list has been read
    QTRY_COMPARE_WITH_TIMEOUT(bench.runs.all().size(), std::size_t{51}, kPatienceMs);
    QVERIFY(bench.runs.all().front().isRunning());
    QCOMPARE(bench.runs.all().front().configuration, bench.configuration.get());
    bench.training.stop();
    QTRY_VERIFY_WITH_TIMEOUT(!bench.training.isOpen(), kPatienceMs);
    QCOMPARE(bench.runs.all().front().outcome.state, QString("stopped"));
}

void RunStoreTest::aFifoInARunFolderIsSkipped()
{
    makeRuns(app::runsRoot(), 2);
    for (const char* folder : {"2026-01-01_00-00-00-fifo", "2026-01-02_00-00-00-fifo"}) {
        const QString path = QString::fromStdString((app::runsRoot() / folder).string());
        QVERIFY(QDir().mkpath(path));
        QCOMPARE(QProcess::execute("mkfifo", {path + "/config.json"}), 0);
    }
    QCOMPARE(QProcess::execute(
                 "mkfifo",
                 {QString::fromStdString((app::readRuns(app::runsRoot()).front().folder / "result.json").string())}),
             0);
    app::Workbench bench;
    bench.runs.reload();
    QTRY_COMPARE_WITH_TIMEOUT(bench.runs.all().size(), std::size_t{2}, kPatienceMs);
}

void RunStoreTest::aFifoThatIsOpenedAsATraceIsRefused()
{
    const QTemporaryDir folder;
    for (const char* name : {"pipe.json", "pipe.sstrace"}) {
        const QString path = folder.filePath(name);
        QCOMPARE(QProcess::execute("mkfifo", {path}), 0);
        app::Workbench bench;
        QSignalSpy told(&bench.notices, &app::Notices::noticed);
        const qint64 calling = msOf([&] { bench.document.openFile(path.toStdString()); });
        QVERIFY2(calling < 1000, qPrintable(QString::number(calling)));
        QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, kPatienceMs);
        QVERIFY2(told[0][0].toString().contains(name), qPrintable(told[0][0].toString()));
    }
}

void RunStoreTest::aDroppedFileIsReadInTheBackground()
{
    const QTemporaryDir folder;
    config::TrainingConfig configuration;
    QVERIFY(configuration.set("batch.size", "48"));
    const std::filesystem::path good = folder.filePath("training.json").toStdString();
    QVERIFY(configuration.save(good));
    QFile bad(folder.filePath("bad.json"));
    QVERIFY(bad.open(QIODevice::WriteOnly) && bad.write("{\"batch\": {\"size\": 4,,}}") > 0);
    bad.close();
    app::Workbench bench;
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    bench.document.openFile(good);
    QCOMPARE(bench.configuration.get().text("batch.size"), "32"); // not read yet
    QTRY_COMPARE_WITH_TIMEOUT(bench.configuration.get().text("batch.size"), "48", kPatienceMs);
    bench.document.openFile(bad.fileName().toStdString());
    QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, kPatienceMs);
    QVERIFY2(told[0][1].toString().contains("bad.json"), qPrintable(told[0][1].toString()));
    QCOMPARE(bench.configuration.get().text("batch.size"), "48");
    QVERIFY(!bench.document.isLoading());
}

void RunStoreTest::ofTwentyTracesOpenedAtMostTwoAreAnalysedAtOnce()
{
    app::Analyser analyser;
    std::shared_ptr<const app::Analysed> analysed;
    connect(&analyser, &app::Analyser::analysed, this, [&](const auto& now) { analysed = now; });
    std::shared_ptr<const profiler::Trace> last;
    std::size_t most = 0;
    for (int i = 0; i < 20; ++i) {
        last = test_support::traceFromText("repeat 300 every 1000\nmain\nstep 0 0 1000\nphase \"data wait\" 0 500\nop "
                                           "aten::mm 500 300\nstream 0 7\nkernel gemm 500 200\nend\n");
        analyser.reset(); // like opening another trace
        analyser.request(last, std::nullopt);
        most = std::max(most, analyser.running());
        QTest::qWait(i % 2);
        most = std::max(most, analyser.running());
    }
    QTRY_VERIFY_WITH_TIMEOUT(analysed && analysed->trace == last, kPatienceMs);
    QVERIFY2(most <= 2, qPrintable(QString::number(most)));
    QTRY_COMPARE_WITH_TIMEOUT(analyser.running(), std::size_t{0}, kPatienceMs);
}

void RunStoreTest::aTraceThatCannotBeSealedIsReportedAndStays()
{
    app::Notices notices;
    app::RunStore runs(&notices);
    QSignalSpy told(&notices, &app::Notices::noticed);
    QTemporaryDir folder;
    QFile file(folder.filePath("trace.sstrace"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("no trace");
    file.close();
    runs.seal(folder.filePath("missing.sstrace").toStdString(), nullptr); // not reported
    runs.seal(file.fileName().toStdString(), nullptr);
    QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, kPatienceMs);
    QVERIFY2(told.at(0).at(1).toString().contains("trace.sstrace"), qPrintable(told.at(0).at(1).toString()));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), QByteArray("no trace"));
}

QTEST_MAIN(RunStoreTest)
#include "run_store_test.moc"
