#include "app/session/level_costs.h"

#include "app/session/level_cost_measurer.h"
#include "app/views/run/level_cost_text.h"
#include "tests/app/app_support.h"

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
    void whatWasMeasuredIsKeptByLevelAndWorkload();
    void settingsThatMakeNoSenseCountAsNone();
    void theFormSaysWhereEachCostIsFrom();
    void bothLevelsAreMeasured();
    void measuringCanBeCancelled();
    void aTrainerThatDiesIsSaid();
};

void LevelCostsTest::init()
{
    QSettings().clear();
    qputenv("STEPSCOPE_TRAINER", STEPSCOPE_SCRIPTED_TRAINER);
    qputenv("STEPSCOPE_SCRIPT", "train");
}

void LevelCostsTest::whatWasMeasuredIsKeptByLevelAndWorkload()
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
}

void LevelCostsTest::settingsThatMakeNoSenseCountAsNone()
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

void LevelCostsTest::theFormSaysWhereEachCostIsFrom()
{
    app::keepLevelCost(configured("full"), {1.25, 1.2, 1.3, 40, 360});
    const QStringList lines = app::levelCostText(configured("always")).split('\n');
    QCOMPARE(lines.size(), 4);
    QVERIFY(lines[0].contains("convnet"));
    QVERIFY(lines[2].startsWith("standard: not measured yet"));
    QVERIFY2(lines[3].startsWith("full: 1.25 × as long (95 %: 1.20 to 1.30), measured here on "), qPrintable(lines[3]));
}

void LevelCostsTest::bothLevelsAreMeasured()
{
    LevelCostMeasurer measurer;
    std::vector<std::string> levels;
    connect(&measurer, &LevelCostMeasurer::measured, this,
            [&](const config::TrainingConfig& run, const profiler::analysis::RecordingCost& cost) {
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
    LevelCostMeasurer measurer;
    QSignalSpy ended(&measurer, &LevelCostMeasurer::ended), measured(&measurer, &LevelCostMeasurer::measured),
        progressed(&measurer, &LevelCostMeasurer::progressed);
    measurer.start(configured("standard"), 1'000'000);
    QVERIFY(progressed.wait(kWait));
    measurer.cancel();
    QVERIFY(ended.wait(kWait));
    QCOMPARE(ended[0][0].toString(), QString());
    QCOMPARE(measured.count(), 0);
}

void LevelCostsTest::aTrainerThatDiesIsSaid()
{
    qputenv("STEPSCOPE_SCRIPT", "crash");
    LevelCostMeasurer measurer;
    QSignalSpy ended(&measurer, &LevelCostMeasurer::ended), measured(&measurer, &LevelCostMeasurer::measured);
    measurer.start(configured("standard"), 100);
    QVERIFY(ended.wait(kWait));
    QVERIFY2(ended[0][0].toString().contains("signal 6"), qPrintable(ended[0][0].toString()));
    QCOMPARE(measured.count(), 0);
}

QTEST_MAIN(LevelCostsTest)
#include "level_costs_test.moc"
