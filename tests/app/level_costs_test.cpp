#include "app/services/level_costs.h"

#include "app/document/recording_cost_text.h"
#include "app/window/workbench.h"
#include "tests/app/app_support.h"

#include <QElapsedTimer>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>

using app::LevelCostMeasurer;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;
constexpr int kWait = 20'000;

config::TrainingConfig configured(const char* level, const char* workload = "convnet")
{
    config::TrainingConfig configuration;
    static_cast<void>(configuration.set(config::key::captureLevel.name, level));
    static_cast<void>(configuration.set(config::key::workload.name, workload));
    return configuration;
}

} // namespace

class LevelCostsTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init();
    void measurementsAreStoredByLevelAndWorkload();
    void invalidSettingsAreIgnored();
    void theFormShowsTheSourceOfEachCost();
    void aFigureNamesItsReferenceAndItsNoise();
    void theLoadOfOtherProcessesIsMeasured();
    void bothLevelsAreMeasured();
    void measuringCanBeCancelled();
    void aTrainerThatDiesIsReported();
};

void LevelCostsTest::init()
{
    QSettings().clear();
    qputenv("STEPSCOPE_TRAINER", STEPSCOPE_SCRIPTED_TRAINER);
    qputenv("STEPSCOPE_SCRIPT", "train");
}

void LevelCostsTest::measurementsAreStoredByLevelAndWorkload()
{
    QVERIFY(!app::levelCost(configured("full")));
    app::keepLevelCost(configured("full"), {1.25, 1.2, 1.3, 40, 360});
    const auto kept = app::levelCost(configured("full"));
    QVERIFY(kept);
    QCOMPARE(kept->cost.ratio, 1.25);
    QCOMPARE(kept->cost.low, 1.2);
    QCOMPARE(kept->cost.high, 1.3);
    QCOMPARE(kept->cost.with, 40);
    QCOMPARE(kept->cost.without, 360);
    QCOMPARE(kept->when.date(), QDate::currentDate());
    QVERIFY(app::levelCost(configured("standard"), "full"));
    QVERIFY(!app::levelCost(configured("standard")));
    QVERIFY(!app::levelCost(configured("full", "mlp")));
    app::keepLevelCost(configured("full"), {1.5, 1.4, 1.6, 10, 10});
    QCOMPARE(app::levelCost(configured("full"))->cost.ratio, 1.5);
    QVERIFY(!app::levelCost(configured("full"))->otherLoad);
    app::keepLevelCost(configured("full"), {1.5, 1.4, 1.6, 10, 10, 0.25}, 0.375);
    QCOMPARE(app::levelCost(configured("full"))->cost.spread, 0.25);
    QCOMPARE(app::levelCost(configured("full"))->otherLoad, std::optional(0.375));
}

void LevelCostsTest::aFigureNamesItsReferenceAndItsNoise()
{
    using profiler::analysis::RecordingCost;
    const RecordingCost quiet{1.031, 1.02, 1.042, 40, 360, 0.03};
    QCOMPARE(app::recordingCostFigure(quiet, {"full", 0.1, {}}),
             QString("Recording at level full adds 3.10 % to a step with operators and 0.31 % to the run"));
    QCOMPARE(app::recordingCostFigure(quiet, {"full", 1, {}}),
             QString("Recording at level full adds 3.10 % to a step"));
    QVERIFY(!app::recordingCostSentence(quiet, {"full", 0.1, 0.05}).contains("noisy"));
    // Both sources of noise: the spread of the steps and the load of other processes.
    RecordingCost wide = quiet;
    wide.low = 1.005;
    wide.high = 1.06;
    wide.spread = 0.2;
    QVERIFY(app::recordingCostFigure(wide, {"full", 0.1, {}}).endsWith("(noisy)"));
    QVERIFY2(app::recordingCostSentence(wide, {"full", 0.1, {}}).endsWith("The figure is noisy: steps vary by 20.0 %."),
             qPrintable(app::recordingCostSentence(wide, {"full", 0.1, {}})));
    QVERIFY2(app::recordingCostSentence(quiet, {"full", 0.1, 0.3})
                 .endsWith("steps vary by 3.00 %, other processes used 30.0 % of the CPU."),
             qPrintable(app::recordingCostSentence(quiet, {"full", 0.1, 0.3})));
    const RecordingCost none{0.99, 0.985, 1.004, 40, 360, 0.03};
    QVERIFY(app::recordingCostFigure(none, {"standard", 1, {}}).contains("adds at most 0.40 %"));
    const RecordingCost less{0.98, 0.97, 0.99, 40, 360, 0.03};
    QVERIFY(app::recordingCostFigure(less, {"standard", 1, {}}).contains("has no measurable cost"));
}

void LevelCostsTest::theLoadOfOtherProcessesIsMeasured()
{
    const app::OtherLoad load;
    QElapsedTimer timer;
    timer.start();
    volatile double sum = 0;
    while (timer.elapsed() < 300) // the work of this process does not count as other load
        sum = sum + 1;
    const auto share = load.share();
    QVERIFY(share && *share >= 0 && *share <= 1);
}

void LevelCostsTest::invalidSettingsAreIgnored()
{
    app::keepLevelCost(configured("full"), {1.25, 1.2, 1.3, 40, 360});
    const QString key = QSettings().allKeys().constFirst();
    for (const QStringList& bad : {QStringList{}, QStringList{"yesterday", "1", "1", "1", "5", "5"},
                                   QStringList{"2026-11-21T10:00:00", "nan", "1", "1", "5", "5"},
                                   QStringList{"2026-11-21T10:00:00", "1", "2", "1", "5", "5"}}) {
        QSettings().setValue(key, bad);
        QVERIFY(!app::levelCost(configured("full")));
    }
}

void LevelCostsTest::theFormShowsTheSourceOfEachCost()
{
    app::keepLevelCost(configured("full"), {1.25, 1.2, 1.3, 40, 360});
    const QStringList lines = app::levelCostText(configured("always")).split('\n');
    QCOMPARE(lines.size(), 4);
    QVERIFY(lines[0].contains("convnet"));
    QVERIFY(lines[2].startsWith("standard: not measured yet"));
    // Operators are recorded in 5 of 50 steps.
    QVERIFY2(lines[3].startsWith("Recording at level full adds 25.0 % to a step with operators and 2.50 % to the "
                                 "run. "),
             qPrintable(lines[3]));
    QVERIFY2(lines[3].contains("95 % interval 1.20–1.30; 40 steps against 360"), qPrintable(lines[3]));
    QVERIFY2(lines[3].contains("Measured here on "), qPrintable(lines[3]));
}

void LevelCostsTest::bothLevelsAreMeasured()
{
    app::Workbench bench;
    LevelCostMeasurer& measurer = bench.levelCosts;
    std::vector<std::string> levels;
    connect(&measurer, &LevelCostMeasurer::measured, this,
            [&](const config::TrainingConfig& run, const profiler::analysis::RecordingCost& cost,
                std::optional<double> otherLoad) {
                QVERIFY(otherLoad && *otherLoad >= 0 && *otherLoad <= 1);
                levels.push_back(run[config::key::captureLevel]);
                QVERIFY(cost.with >= 5 && cost.without >= 5 && cost.low <= cost.ratio && cost.ratio <= cost.high);
            });
    QSignalSpy ended(&measurer, &LevelCostMeasurer::ended), progressed(&measurer, &LevelCostMeasurer::progressed);
    measurer.start(configured("always"), 30);
    QVERIFY(measurer.isMeasuring());
    QVERIFY(ended.wait(kWait));
    QCOMPARE(ended[0][0].toString(), QString());
    QVERIFY(!measurer.isMeasuring());
    QCOMPARE(levels, LevelCostMeasurer::levels());
    QVERIFY(progressed.count() >= 2);
}

void LevelCostsTest::measuringCanBeCancelled()
{
    app::Workbench bench;
    LevelCostMeasurer& measurer = bench.levelCosts;
    QSignalSpy ended(&measurer, &LevelCostMeasurer::ended), measured(&measurer, &LevelCostMeasurer::measured),
        progressed(&measurer, &LevelCostMeasurer::progressed);
    measurer.start(configured("standard"), 1'000'000);
    QVERIFY(progressed.wait(kWait));
    measurer.cancel();
    QVERIFY(ended.wait(kWait));
    QCOMPARE(ended[0][0].toString(), QString());
    QCOMPARE(measured.count(), 0);
}

void LevelCostsTest::aTrainerThatDiesIsReported()
{
    qputenv("STEPSCOPE_SCRIPT", "crash");
    app::Workbench bench;
    LevelCostMeasurer& measurer = bench.levelCosts;
    QSignalSpy ended(&measurer, &LevelCostMeasurer::ended), measured(&measurer, &LevelCostMeasurer::measured);
    measurer.start(configured("standard"), 100);
    QVERIFY(ended.wait(kWait));
    QVERIFY2(ended[0][0].toString().contains("signal 6"), qPrintable(ended[0][0].toString()));
    QCOMPARE(measured.count(), 0);
}

QTEST_MAIN(LevelCostsTest)
#include "level_costs_test.moc"
