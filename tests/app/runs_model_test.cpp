#include "app/views/runs/runs.h"

#include "tests/app/app_support.h"

#include <QAbstractItemModelTester>
#include <QTest>
#include <cmath>
#include <limits>

using app::RunRecord;
using app::RunsModel;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

RunRecord run(const QString& name, std::string_view assignment, double rate)
{
    RunRecord record;
    record.name = name;
    if (!assignment.empty() && !record.configuration.setAssignment(assignment))
        qFatal("not an assignment");
    record.outcome.state = "finished";
    record.outcome.samplesPerSecond = rate;
    return record;
}

QString cell(const RunsModel& model, int row, int column)
{
    return model.index(row, column).data().toString();
}

} // namespace

class RunsModelTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void changesAreAgainstTheOldestRunOfTheSameModel();
    void anotherBaselineMayBeChosen();
    void aFailedRunHasNoRate();
    void aRunWithoutAResultSaysWhy();
    void theMetricIsThatOfTheWorkload();
    void itFollowsTheRulesOfItemModels();
    void runsSurviveOnDisk();
    void twoRunsInOneSecondHaveSeparateFolders();
};

void RunsModelTest::changesAreAgainstTheOldestRunOfTheSameModel()
{
    RunsModel model;
    model.setRuns({run("3", "loader.workers=2", 200), run("2", "workload=resnet18", 10), run("1", "", 100)});
    QCOMPARE(cell(model, 0, RunsModel::Changes), QString("Workers = 2"));
    QCOMPARE(cell(model, 0, RunsModel::Against), QString("2.00 ×"));
    QCOMPARE(cell(model, 1, RunsModel::Changes), QString("baseline"));
    QCOMPARE(cell(model, 1, RunsModel::Against), QString());
    QCOMPARE(cell(model, 2, RunsModel::Changes), QString("baseline"));
}

void RunsModelTest::anotherBaselineMayBeChosen()
{
    RunsModel model;
    model.setRuns({run("2", "loader.workers=2", 200), run("1", "", 100)});
    model.setBaseline("2");
    QCOMPARE(cell(model, 0, RunsModel::Changes), QString("baseline"));
    QCOMPARE(cell(model, 1, RunsModel::Changes), QString("Workers = 0"));
    QCOMPARE(cell(model, 1, RunsModel::Against), QString("0.500 ×"));
    // A run of another model is not the baseline.
    model.setRuns({run("3", "workload=resnet18", 10), run("2", "loader.workers=2", 200), run("1", "", 100)});
    QCOMPARE(cell(model, 0, RunsModel::Changes), QString("baseline"));
    QCOMPARE(cell(model, 0, RunsModel::Against), QString());
}

void RunsModelTest::aFailedRunHasNoRate()
{
    RunsModel model;
    RunRecord failed = run("1", "", 100);
    failed.outcome.state = "failed";
    failed.outcome.message = "The trainer was killed.";
    model.setRuns({failed});
    QCOMPARE(cell(model, 0, RunsModel::Rate), QString("failed"));
    QVERIFY(model.index(0, 0).data(Qt::ToolTipRole).toString().contains("The trainer was killed."));
}

void RunsModelTest::aRunWithoutAResultSaysWhy()
{
    QTemporaryDir root;
    auto made = app::makeRun(root.path().toStdString(), {});
    QVERIFY(made.has_value());
    RunsModel model;
    const auto said = [&] {
        model.setRuns(app::readRuns(root.path().toStdString()));
        return cell(model, 0, RunsModel::Rate);
    };
    auto lock = app::lockRun(*made);
    QVERIFY(lock != nullptr);
    QCOMPARE(said(), QString("running")); // in this window or another
    const auto refused = app::removeRun(*made);
    QVERIFY(!refused);
    QVERIFY2(refused.error().message().find("stop it first") != std::string::npos, refused.error().message().c_str());
    QVERIFY(std::filesystem::exists(made->folder / "config.json"));
    lock.reset(); // the app exited without writing a result
    QCOMPARE(said(), QString("interrupted"));
    QVERIFY(model.index(0, RunsModel::Rate).data(Qt::ToolTipRole).toString().contains("You can open"));
    // A crashed app leaves its lock file behind.
    QFile left(QString::fromStdString((made->folder / "training.lock").string()));
    QVERIFY(left.open(QIODevice::WriteOnly));
    left.write("2147483646\nstepscope\n" + QSysInfo::machineHostName().toUtf8() + "\n");
    left.close();
    QCOMPARE(said(), QString("interrupted"));
    // Its process id may have been reused by another window, which does not hold the lock.
    QVERIFY(left.open(QIODevice::WriteOnly | QIODevice::Truncate));
    left.write(QByteArray::number(QCoreApplication::applicationPid()) + "\nstepscope\n" +
               QSysInfo::machineHostName().toUtf8() + "\n");
    left.close();
    QCOMPARE(said(), QString("interrupted"));
    made->outcome.state = "stopped";
    QVERIFY(app::saveOutcome(*made).has_value());
    QCOMPARE(said(), QString("stopped"));
    QVERIFY(app::removeRun(*made).has_value());
}

void RunsModelTest::theMetricIsThatOfTheWorkload()
{
    RunRecord text = run("2", "workload=gpt", 100), images = run("1", "", 100);
    text.outcome.validationMetric = 4.25;
    text.outcome.metric = "perplexity";
    images.outcome.validationMetric = 0.871;
    RunsModel model;
    model.setRuns({text, images});
    const auto said = [&](int row) { return model.index(row, 0).data(Qt::ToolTipRole).toString(); };
    QVERIFY2(said(0).contains("validation perplexity 4.25"), qPrintable(said(0)));
    QVERIFY2(said(1).contains("validation accuracy 87.1 %"), qPrintable(said(1)));
}

void RunsModelTest::itFollowsTheRulesOfItemModels()
{
    RunsModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setRuns({run("2", "loader.workers=2", 200), run("1", "", 100)});
    model.setBaseline("2");
    model.setRuns({});
    QCOMPARE(model.rowCount(), 0);
}

void RunsModelTest::runsSurviveOnDisk()
{
    QTemporaryDir root;
    config::TrainingConfig configuration;
    QVERIFY(configuration.set("batch.size", "48"));
    auto made = app::makeRun(root.path().toStdString(), configuration);
    QVERIFY(made.has_value());
    made->outcome.state = "finished";
    made->outcome.steps = 12;
    made->outcome.samplesPerSecond = 812.5;
    made->outcome.validationMetric = 4.25;
    made->outcome.metric = "perplexity";
    made->outcome.finalLoss = std::numeric_limits<double>::quiet_NaN(); // it diverged
    QVERIFY(app::saveOutcome(*made).has_value());
    const auto runs = app::readRuns(root.path().toStdString());
    QCOMPARE(runs.size(), std::size_t{1});
    QCOMPARE(runs[0].configuration, configuration);
    QCOMPARE(runs[0].outcome.steps, 12);
    QCOMPARE(runs[0].outcome.samplesPerSecond, 812.5);
    QCOMPARE(runs[0].outcome.validationMetric, 4.25);
    QCOMPARE(runs[0].outcome.metric, QString("perplexity"));
    QVERIFY(std::isnan(runs[0].outcome.finalLoss));
    QVERIFY(runs[0].started.isValid());
    QVERIFY(app::removeRun(runs[0]).has_value());
    QVERIFY(app::readRuns(root.path().toStdString()).empty());
}

void RunsModelTest::twoRunsInOneSecondHaveSeparateFolders()
{
    QTemporaryDir root;
    const auto first = app::makeRun(root.path().toStdString(), {});
    const auto second = app::makeRun(root.path().toStdString(), {});
    QVERIFY(first && second);
    QVERIFY(first->folder != second->folder);
    QCOMPARE(app::readRuns(root.path().toStdString()).size(), std::size_t{2});
}

QTEST_MAIN(RunsModelTest)
#include "runs_model_test.moc"
