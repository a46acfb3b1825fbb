#include "app/document/trace_files.h"
#include "app/tables/evidence_table.h"
#include "app/views/compare/compare.h"
#include "app/views/compare/distribution_chart.h"
#include "profiler/formats/format.h"
#include "tests/app/app_support.h"
#include "tests/support/trace_text.h"

#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <fmt/format.h>

using app_test::find;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

/// Twenty steps of about `us` µs, with a tenth of each waiting for data and the rest in the forward pass.
std::string training(int us, const char* workload = "convnet")
{
    std::string text = fmt::format("meta workload {}\nmain\n", workload);
    int begin = 0;
    for (int step = 0; step < 20; ++step) {
        const int length = us + step % 3;
        text += fmt::format("step {0} {1} {2}\nphase \"data wait\" {1} {3}\nphase forward {4} {5}\n", step, begin,
                            length, us / 10, begin + us / 10, length - us / 10);
        begin += length;
    }
    return text;
}

std::filesystem::path save(const QTemporaryDir& folder, const char* name, const std::string& text)
{
    const std::filesystem::path path = folder.filePath(name).toStdString();
    if (!profiler::formats::saveTrace(*test_support::traceFromText(text), path, {}))
        qFatal("a test's trace cannot be written");
    return path;
}

struct Compared {
    explicit Compared(const std::filesystem::path& shown) : panel(&bench.document, &bench.runs, &bench.pair, nullptr)
    {
        panel.resize(900, 300);
        panel.show();
        QSignalSpy opened(&bench.document, &app::TraceDocument::traceOpened);
        bench.document.openTrace(shown);
        if (!QTest::qWaitFor([&] { return !opened.isEmpty() && bench.document.analysed(); }, 10000))
            qFatal("the trace was not opened");
    }
    void with(const std::filesystem::path& other)
    {
        panel.compareWith(other, "other");
        if (!QTest::qWaitFor([&] { return verdict()->isVisible() || empty()->text().contains("cannot be opened"); },
                             10000))
            qFatal("nothing was compared");
    }
    [[nodiscard]] QLabel* verdict() const { return find<QLabel>(&panel, "compareVerdict"); }
    [[nodiscard]] QLabel* empty() const { return find<QLabel>(&panel, "compareEmpty"); }
    [[nodiscard]] QString why() const { return find<QLabel>(&panel, "compareWhy")->text(); }
    [[nodiscard]] const app::EvidenceModel* rows() const
    {
        return find<app::EvidenceTable>(&panel, "compareTable")->evidence();
    }

    app::Workbench bench;
    app::ComparePanel panel;
};

} // namespace

class CompareTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void theFasterRunIsNamedWithItsInterval();
    void theSlowerOneReadsAsASentenceThatAgreesWithTheMedians();
    void equalTracesShowNoDifference();
    void theStepsMatchTheRestOfTheApp();
    void reasonsAgainstAComparisonComeFirst();
    void aFileThatIsNotATraceIsReported();
    void aLoadingTraceIsNotCompared();
    void keptRunsCanBeChosen();
    void samplesCanBeCompared();
    void theListOfRunsRequestsIt();
    void theOtherTraceCanBeShownBeside();
    void histogramsCountEveryStep();
};

void CompareTest::theFasterRunIsNamedWithItsInterval()
{
    const QTemporaryDir folder;
    Compared compared(save(folder, "fast.sspack", training(1000)));
    QVERIFY(compared.empty()->isVisible());
    compared.with(save(folder, "slow.sspack", training(2000)));
    QCOMPARE(compared.verdict()->text(), QString("This run is 2.00 × as fast as other"));
    QVERIFY2(compared.why().contains("Ratio of median step times 1.999"), qPrintable(compared.why()));
    QVERIFY(compared.why().contains("Measure the change"));
    // The forward pass changed most, then the wait.
    const auto& moved = compared.rows()->row(0).cells;
    QCOMPARE(moved[0].text, QString("forward  ·  phase"));
    QVERIFY2(moved[3].text.startsWith(QChar(0x2212)), qPrintable(moved[3].text));
    const auto& wait = compared.rows()->row(1).cells;
    QCOMPARE(wait[0].text, QString("data wait  ·  phase"));
    QCOMPARE(wait[1].text, QString("200 µs"));
    QCOMPARE(wait[2].text, QString("100 µs"));
}

void CompareTest::theSlowerOneReadsAsASentenceThatAgreesWithTheMedians()
{
    const QTemporaryDir folder;
    Compared compared(save(folder, "slow.sspack", training(1333)));
    compared.with(save(folder, "fast.sspack", training(1000)));
    QCOMPARE(compared.verdict()->text(), QString("This run is 25 % slower than other"));
    const auto description = find<app::DistributionChart>(&compared.panel, "compareChart")->accessibleDescription();
    QVERIFY2(description.contains("other: median 1.00 ms"), qPrintable(description));
    QVERIFY2(description.contains("median 1.33 ms"), qPrintable(description));
}

void CompareTest::equalTracesShowNoDifference()
{
    const QTemporaryDir folder;
    Compared compared(save(folder, "a.sspack", training(1000)));
    compared.with(save(folder, "b.sspack", training(1000)));
    QCOMPARE(compared.verdict()->text(), QString("No difference shown between This run and other"));
    QVERIFY2(compared.why().contains("1.000"), qPrintable(compared.why()));
}

void CompareTest::theStepsMatchTheRestOfTheApp()
{
    // No step marks; a range that occurs once per step defines the steps.
    const auto unmarked = [](int us) {
        std::string text = "meta workload convnet\nmain\n";
        for (int step = 0; step < 20; ++step)
            text += fmt::format("nvtx lap {} {}\n", step * us, us - us / 10);
        return text;
    };
    const QTemporaryDir folder;
    Compared compared(save(folder, "fast.sspack", unmarked(1000)));
    compared.with(save(folder, "slow.sspack", unmarked(2000)));
    QVERIFY2(!compared.verdict()->text().contains("faster") && !compared.verdict()->text().contains("as fast"),
             qPrintable(compared.verdict()->text()));
    compared.bench.document.setStepRange("lap");
    QTRY_VERIFY2_WITH_TIMEOUT(compared.verdict()->text().contains(" × as fast as"),
                              qPrintable(compared.verdict()->text() + ": " + compared.why()), 20000);
}

void CompareTest::reasonsAgainstAComparisonComeFirst()
{
    const QTemporaryDir folder;
    Compared compared(save(folder, "a.sspack", training(1000, "resnet18")));
    compared.with(save(folder, "b.sspack", training(2000, "convnet")));
    QCOMPARE(compared.verdict()->text(), QString("This run is not comparable with other"));
    QVERIFY2(compared.why().contains("convnet and resnet18"), qPrintable(compared.why()));
}

void CompareTest::aFileThatIsNotATraceIsReported()
{
    const QTemporaryDir folder;
    QFile file(folder.filePath("holiday.jpg"));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("no trace") > 0);
    file.close();
    Compared compared(save(folder, "a.sspack", training(1000)));
    compared.with(file.fileName().toStdString());
    QVERIFY2(compared.empty()->text().contains("holiday.jpg"), qPrintable(compared.empty()->text()));
    compared.with(save(folder, "b.sspack", training(2000))); // and it continues
    QVERIFY(compared.verdict()->isVisible());
}

void CompareTest::aLoadingTraceIsNotCompared()
{
    const QTemporaryDir folder;
    const auto other = save(folder, "b.sspack", training(2000));
    Compared compared(save(folder, "a.sspack", training(1000)));
    compared.with(other);
    // When a trace appears on screen, it is not known yet that it is complete.
    QString said;
    connect(&compared.bench.document, &app::TraceDocument::traceReplaced, &compared.panel,
            [&] { said = compared.empty()->text(); });
    compared.bench.document.openTrace(other);
    QTRY_VERIFY(!said.isEmpty());
    QVERIFY2(said.contains("still loading"), qPrintable(said));
    QTRY_VERIFY(compared.verdict()->isVisible() && compared.verdict()->text().startsWith("No difference shown"));
}

void CompareTest::keptRunsCanBeChosen()
{
    app::Workbench bench;
    for (const char* workers : {"0", "2"}) {
        auto configuration = app_test::shortTraining(40);
        QVERIFY(configuration.set("loader.workers", workers));
        bench.configuration.set(configuration, "training");
        bench.training.start();
        QTRY_COMPARE_WITH_TIMEOUT(bench.training.state(), app::RunState::Idle, 20000);
    }
    QTRY_VERIFY(bench.document.analysed() && bench.document.analysed()->trace == bench.document.trace());
    app::ComparePanel panel(&bench.document, &bench.runs, &bench.pair, nullptr);
    panel.resize(900, 300);
    panel.show();
    auto* choice = find<QComboBox>(&panel, "compareWith");
    QCOMPARE(choice->count(), 2); // the other run, and a file
    choice->setCurrentIndex(0);
    emit choice->activated(0);
    QTRY_VERIFY(find<QLabel>(&panel, "compareVerdict")->isVisible());
    const QString why = find<QLabel>(&panel, "compareWhy")->text();
    QVERIFY2(why.contains("Settings: Workers 0 → 2."), qPrintable(why));
}

void CompareTest::samplesCanBeCompared()
{
    const auto samples = app::allSamples();
    app::Workbench bench;
    app::ComparePanel panel(&bench.document, &bench.runs, &bench.pair, nullptr);
    panel.resize(900, 300);
    panel.show();
    auto* choice = find<QComboBox>(&panel, "compareWith");
    QCOMPARE(choice->findText(samples[0].title), -1);
    bench.document.openTrace(*app::sampleFile(samples[1]));
    QTRY_VERIFY_WITH_TIMEOUT(choice->findText(samples[0].title) >= 0, 20'000);
    QCOMPARE(choice->findText(samples[1].title), -1);
    emit choice->activated(choice->findText(samples[0].title));
    QTRY_VERIFY_WITH_TIMEOUT(find<QLabel>(&panel, "compareVerdict")->isVisible(), 20'000);
}

void CompareTest::theListOfRunsRequestsIt()
{
    const QTemporaryDir folder;
    Compared compared(save(folder, "a.sspack", training(1000)));
    app::RunRecord run;
    run.folder = folder.path().toStdString();
    QDockWidget dock;
    dock.setWidget(&compared.panel);
    // Its trace no longer exists.
    compared.bench.runs.compare(run);
    QVERIFY(dock.isVisible());
    QTRY_VERIFY2(compared.empty()->text().contains("trace.sstrace"), qPrintable(compared.empty()->text()));
    dock.setWidget(nullptr);
    compared.panel.setParent(nullptr);
}

void CompareTest::theOtherTraceCanBeShownBeside()
{
    const QTemporaryDir folder;
    Compared compared(save(folder, "fast.sspack", training(1000)));
    auto* beside = find<QToolButton>(&compared.panel, "showBeside");
    QVERIFY(!beside->isEnabled());
    const auto other = save(folder, "slow.sspack", training(2000));
    compared.with(other);
    QVERIFY(beside->isEnabled());
    beside->click();
    QTRY_VERIFY(compared.bench.pair.isOpen() && compared.bench.pair.document(app::Side::Second)->path() == other);
}

void CompareTest::histogramsCountEveryStep()
{
    QCOMPARE(app::histogram({1, 2, 2, 9, 100, 0}, 1, 11, 5), (std::vector<int>{4, 0, 0, 0, 2}));
    QCOMPARE(app::histogram({}, 1, 11, 2), (std::vector<int>{0, 0}));
    QCOMPARE(app::histogram({5, 5}, 5, 5, 3), (std::vector<int>{2, 0, 0}));
}

QTEST_MAIN(CompareTest)
#include "compare_test.moc"
