#include "app/services/origin.h"
#include "app/services/state_store.h"
#include "app/views/advisor/advisor.h"
#include "app/views/tune/tune.h"
#include "profiler/formats/format.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"
#include "tests/support/trace_text.h"

#include <QFile>
#include <QLabel>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <algorithm>

// A result belongs to what it was measured with. On any other trace it is listed with its origin, and never appears as
// that trace's verdict, journal or score.

using app_test::App;
using app_test::find;
using app_test::shortTraining;

namespace {

constexpr int kPatienceMs = 90'000;

std::unique_ptr<app_test::OwnFolders> folders;

config::TrainingConfig training(const char* batch)
{
    config::TrainingConfig configuration = shortTraining(40);
    static_cast<void>(configuration.set("batch.size", batch));
    return configuration;
}

advisor::RuleAdvice optimizerAdvice()
{
    advisor::RuleAdvice advice;
    advice.id = "optimizer.kind";
    advice.advice.title = "Another optimizer";
    advice.advice.toggle = advisor::Toggle{"optimizer.kind", "sgd", "adamw"};
    advice.advice.objective = advisor::Objective::LossAtEqualTime; // the fastest rule to measure here
    return advice;
}

/// A trace with the configuration of its run, or without one.
/// @param more  lines with further metadata
std::filesystem::path traceOf(const QTemporaryDir& folder, const char* name,
                              const config::TrainingConfig* configuration, const std::string& more = {})
{
    std::string text = "meta workload convnet\n" + more;
    if (configuration) {
        std::string json = configuration->toJson();
        std::erase(json, '\n');
        text += "meta config " + json + "\n";
    }
    text += "repeat 12 every 1000\nmain\nstep 0 0 1000\nphase \"data wait\" 0 500\nphase forward 500 400\nend\n";
    const std::filesystem::path path = folder.filePath(name).toStdString();
    if (!profiler::formats::saveTrace(*test_support::traceFromText(text), path, {}))
        qFatal("a test's trace cannot be written");
    return path;
}

void open(app::Workbench& bench, const std::filesystem::path& file)
{
    QSignalSpy opened(&bench.document, &app::TraceDocument::traceOpened);
    bench.document.openTrace(file);
    if (!QTest::qWaitFor([&] { return opened.count() == 1 && bench.document.advice(); }, kPatienceMs))
        qFatal("%s was not opened", file.c_str());
}

void measure(app::Workbench& bench, const advisor::RuleAdvice& advice)
{
    app_test::useScript("quick");
    QSignalSpy finished(&bench.experiments, &app::ExperimentService::finished);
    bench.experiments.start(advice);
    if (!QTest::qWaitFor([&] { return finished.count() == 1; }, kPatienceMs))
        qFatal("nothing was measured");
}

/// A change kept for `baseline` with a correct prediction.
app::KeptChange keptFor(const config::TrainingConfig& baseline)
{
    app::KeptChange change;
    change.ruleId = "loader.workers";
    change.title = "The step waits for data";
    change.toggle = {"loader.workers", "0", "2"};
    advisor::ExperimentResult& result = change.result;
    result.plan.baseline = baseline;
    result.plan.changes = {change.toggle};
    result.plan.measure = "steps";
    result.plan.predicted = advisor::Saving{advisor::SavingUnit::UsPerStep, 40'000, 44'000, 48'000};
    result.samplesPerSecond = {1.43, 1.40, 1.46};
    result.savedUs = {44'100, 42'000, 46'200};
    result.verdict = advisor::Verdict::Pays;
    return change;
}

QString elsewhereText(const app::AdvisorPanel& panel)
{
    const auto* list = find<QWidget>(&panel, "measuredElsewhere");
    if (!list->isVisibleTo(&panel))
        return {};
    QString text = list->findChild<QToolButton*>()->text();
    for (const auto* label : list->findChildren<QLabel*>())
        text += '\n' + label->text();
    return text;
}

QString reportOf(app::Workbench& bench, const QString& file)
{
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    bench.reports.saveReport(file.toStdString());
    if (!QTest::qWaitFor([&] { return told.count() == 1; }, kPatienceMs))
        qFatal("the report was not written");
    QFile read(file);
    return read.open(QIODevice::ReadOnly) ? QString::fromUtf8(read.readAll()) : QString();
}

} // namespace

class MeasuredElsewhereTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init()
    {
        QFile::remove(QString::fromStdString(app::stateFile().string()));
        QSettings().clear();
        app_test::useScript("train");
    }
    void anOriginIsTheTrainingWithoutItsRecording();
    void anEditedScriptHasAnotherOrigin();
    void aTraceOfAnotherMachineIsDistinguished();
    void measuredChangesDoNotMakeAnotherTraining();
    void aResultIsShownWithItsTrainingOnly();
    void anUnrelatedTraceHasNoResults();
    void aKeptChangeIsMeasuredElsewhereAfterARestart();
    void aKeptChangeOfAnotherMachineIsMeasuredElsewhere();
    void aLocalMeasurementIsNotAResultOfAnotherMachine();
    void resultsOfAnEditedScriptAreMeasuredElsewhere();
    void aReportContainsNoResultOfAnotherTraining();
    void tuningNamesItsSubject();
    void aMeasurementOfAnEarlierTraceIsNotOnTheCard();
};

void MeasuredElsewhereTest::anOriginIsTheTrainingWithoutItsRecording()
{
    const config::TrainingConfig plain;
    config::TrainingConfig recorded = plain;
    for (const auto& [key, value] :
         {std::pair{"capture.level", "full"}, {"capture.ops_every", "7"}, {"run.steps", "9"}})
        QVERIFY(recorded.set(key, value));
    QCOMPARE(app::originOf(recorded).id, app::originOf(plain).id);
    QVERIFY(app::originOf(training("48")).id != app::originOf(training("49")).id);
    QVERIFY2(app::originOf(training("48")).name.endsWith("Batch size = 48"),
             qPrintable(app::originOf(training("48")).name));
    // A program is identified by its command and folder; a trace without them by its file.
    const auto program = [](const char* folder, const char* command = "python train.py") {
        return app::originOf(*test_support::traceFromText(std::string("meta record.command ") + command +
                                                          "\nmeta record.directory " + folder + "\nmain\nop a 0 1\n"),
                             "/tmp/a.sstrace");
    };
    QCOMPARE(program("/home/a").name, QString("python train.py"));
    const app::Origin elsewhere = program("/home/a", "/opt/venv/bin/python train.py --name 'a b'");
    QCOMPARE(elsewhere.name, QString("python train.py --name 'a b'"));
    QVERIFY(elsewhere.id != program("/home/a", "/usr/bin/python train.py --name 'a b'").id);
    QCOMPARE(program("/home/a").id, program("/home/a").id);
    QVERIFY(program("/home/a").id != program("/home/b").id);
    QCOMPARE(app::originOf(*test_support::traceFromText("main\nop a 0 1\n"), "/tmp/a.json").name, QString("a.json"));
}

void MeasuredElsewhereTest::anEditedScriptHasAnotherOrigin()
{
    const auto idOf = [](const std::string& lines) {
        const auto trace = test_support::traceFromText(lines + "main\nop a 0 1\n");
        return app::originOf(*trace, "/tmp/a.sstrace").id;
    };
    const std::string program = "meta record.command python train.py\nmeta record.directory /home/a\n";
    const auto source = [&](const std::string& hash) {
        return program + R"(meta program {"files":[{"path":"/home/a/train.py","sha256":")" + hash + "\"}]}\n";
    };
    QCOMPARE(idOf(source("1")), idOf(source("1")));
    QVERIFY2(idOf(source("1")) != idOf(source("2")), "the script was edited");
    QCOMPARE(idOf(source("1")), idOf(source("1") + "meta host.cpu EPYC\n")); // the machine is compared separately
}

void MeasuredElsewhereTest::aTraceOfAnotherMachineIsDistinguished()
{
    const auto isOf = [](const advisor::Machine& machine, const std::string& lines) {
        return app::isMachineOf(machine, *test_support::traceFromText(lines + "main\nop a 0 1\n"));
    };
    const advisor::Machine machine{"EPYC", "H100"};
    QVERIFY(isOf(machine, "meta host.cpu EPYC\ndevice 0 H100\n"));
    QVERIFY(isOf(machine, "meta host.cpu EPYC\ndevice 0 V100\ndevice 1 H100\n"));
    QVERIFY(isOf(machine, "meta host.cpu EPYC\nmeta device H100\n"));
    QVERIFY(!isOf(machine, "meta host.cpu Xeon\ndevice 0 H100\n"));
    QVERIFY(!isOf(machine, "meta host.cpu EPYC\ndevice 0 V100\n"));
    QVERIFY(!isOf(machine, "meta host.cpu EPYC\nmeta device cpu\n"));
    QVERIFY(!isOf({"EPYC", "cpu"}, "meta host.cpu EPYC\ndevice 0 H100\n"));
    // Missing information is ignored.
    QVERIFY(isOf(machine, ""));
    QVERIFY(isOf(machine, "meta host.cpu unknown\n"));
    QVERIFY(isOf({}, "meta host.cpu EPYC\ndevice 0 H100\n"));
    QVERIFY(isOf({"EPYC", {}}, "meta host.cpu EPYC\ndevice 0 H100\n"));
}

void MeasuredElsewhereTest::measuredChangesDoNotMakeAnotherTraining()
{
    const std::vector<advisor::Toggle> workers = {{"loader.workers", "0", "2"}};
    config::TrainingConfig changed = training("32"), other = training("32");
    QVERIFY(changed.set("loader.workers", "2") && other.set("loader.workers", "3"));
    QVERIFY(app::belongsTo(changed, training("32"), workers));
    QVERIFY(app::belongsTo(training("32"), changed, workers));
    QVERIFY(!app::belongsTo(changed, training("32"), {}));
    QVERIFY(!app::belongsTo(other, training("32"), workers)); // three workers were not measured
    QVERIFY(!app::belongsTo(changed, training("48"), workers));
}

void MeasuredElsewhereTest::aResultIsShownWithItsTrainingOnly()
{
    const QTemporaryDir folder;
    const auto first = training("32"), second = training("48");
    const auto firstFile = traceOf(folder, "first.sspack", &first),
               secondFile = traceOf(folder, "second.sspack", &second);
    App app;
    app::Workbench& bench = app.bench;
    const auto* panel = app.window.findChild<app::AdvisorPanel*>();
    open(bench, firstFile);
    measure(bench, optimizerAdvice());
    QVERIFY(bench.journal.result("optimizer.kind"));
    QVERIFY(bench.journal.otherResults().empty());
    QVERIFY(elsewhereText(*panel).isEmpty());

    open(bench, secondFile);
    QVERIFY(!bench.journal.result("optimizer.kind"));
    QCOMPARE(bench.journal.otherResults().size(), std::size_t{1});
    const QString listed = elsewhereText(*panel);
    QVERIFY2(listed.startsWith("Measured elsewhere (1)") &&
                 listed.contains("Measured with " + app::originOf(first).name),
             qPrintable(listed));
    QVERIFY2(listed.contains("loss"), qPrintable(listed)); // its verdict
    bench.journal.keep(optimizerAdvice());                 // it cannot be kept here
    QCOMPARE(bench.configuration.get().text("optimizer.kind"), "sgd");
    QVERIFY(bench.journal.shown().changes.empty());
    for (const auto* label : panel->findChildren<QLabel*>("verdict"))
        QVERIFY(!label->isVisible());

    // With its own trace on screen it is a verdict again and can be kept.
    open(bench, firstFile);
    QVERIFY(bench.journal.result("optimizer.kind"));
    QVERIFY(bench.journal.otherResults().empty());
    bench.journal.keep(optimizerAdvice());
    QCOMPARE(bench.journal.shown().changes.size(), std::size_t{1});
    open(bench, secondFile);
    QVERIFY(bench.journal.shown().changes.empty());
    QCOMPARE(bench.journal.otherResults().size(), std::size_t{1}); // the kept one, once
    QVERIFY(bench.journal.otherResults()[0].kept);
    QVERIFY(!find<QWidget>(&app.window, "journal")->isVisible());
}

void MeasuredElsewhereTest::anUnrelatedTraceHasNoResults()
{
    const QTemporaryDir folder;
    app::Workbench bench;
    bench.configuration.set(training("32"), "mine");
    measure(bench, optimizerAdvice());
    QVERIFY(bench.journal.result("optimizer.kind"));
    open(bench, traceOf(folder, "foreign.json", nullptr));
    QVERIFY(!bench.journal.training());
    QVERIFY(!bench.journal.result("optimizer.kind"));
    QVERIFY(bench.journal.shown().changes.empty() && bench.journal.shown().predictions.empty());
    QCOMPARE(bench.journal.otherResults().size(), std::size_t{1});
}

void MeasuredElsewhereTest::aKeptChangeIsMeasuredElsewhereAfterARestart()
{
    const QTemporaryDir folder;
    app::SavedState kept;
    kept.configuration = training("32");
    QVERIFY(kept.configuration.set("loader.workers", "2"));
    kept.journal.changes = {keptFor(training("32"))};
    kept.journal.predictions = {*app::measuredPrediction(kept.journal.changes[0].result)};
    QVERIFY(app::saveState(kept, app::stateFile()));
    App app;
    app::Workbench& bench = app.bench;
    bench.state.restore();
    const auto* panel = app.window.findChild<app::AdvisorPanel*>();
    QCOMPARE(bench.journal.shown().changes.size(), std::size_t{1});
    QCOMPARE(bench.journal.shown().score().made, 1);
    QVERIFY(bench.journal.otherResults().empty());

    // Another configuration has neither its journal nor its score.
    auto other = training("64");
    QVERIFY(other.set("loader.workers", "2"));
    open(bench, traceOf(folder, "other.sspack", &other));
    QVERIFY(bench.journal.shown().changes.empty());
    QCOMPARE(bench.journal.shown().score().made, 0);
    QVERIFY(!find<QWidget>(&app.window, "journal")->isVisible());
    QVERIFY2(elsewhereText(*panel).contains("Kept there. Pays: 1.43 ×"), qPrintable(elsewhereText(*panel)));
    open(bench, traceOf(folder, "foreign.json", nullptr));
    QVERIFY(bench.journal.shown().changes.empty());
    QCOMPARE(bench.journal.otherResults().size(), std::size_t{1});
    // A run of the configuration with the change, and one without it.
    open(bench, traceOf(folder, "own.sspack", &kept.configuration));
    QCOMPARE(bench.journal.shown().changes.size(), std::size_t{1});
    QCOMPARE(bench.journal.shown().score().made, 1);
    QVERIFY(bench.journal.otherResults().empty());
    QVERIFY(find<QWidget>(&app.window, "journal")->isVisible());
}

void MeasuredElsewhereTest::aKeptChangeOfAnotherMachineIsMeasuredElsewhere()
{
    const QTemporaryDir folder;
    app::SavedState kept;
    kept.configuration = training("32");
    QVERIFY(kept.configuration.set("loader.workers", "2"));
    kept.journal.changes = {keptFor(training("32"))};
    kept.journal.changes[0].result.machine = {"EPYC", "H100"};
    kept.journal.predictions = {*app::measuredPrediction(kept.journal.changes[0].result)};
    QVERIFY(app::saveState(kept, app::stateFile()));
    App app;
    app::Workbench& bench = app.bench;
    bench.state.restore();
    const auto* panel = app.window.findChild<app::AdvisorPanel*>();
    QVERIFY(bench.journal.shown().changes.empty()); // no trace is on screen, and this is a different machine
    QCOMPARE(bench.journal.otherResults().size(), std::size_t{1});
    QCOMPARE(bench.journal.otherResults()[0].result.machine.processor, "EPYC");

    const auto open = [&](const char* name, const std::string& machine) {
        ::open(bench, traceOf(folder, name, &kept.configuration, machine));
    };
    for (const auto& [name, machine] : {std::pair{"processor.sspack", "meta host.cpu Xeon\nmeta device H100\n"},
                                        {"device.sspack", "meta host.cpu EPYC\nmeta device V100\n"}}) {
        open(name, machine);
        QVERIFY(bench.journal.shown().changes.empty());
        QCOMPARE(bench.journal.shown().score().made, 0);
        QVERIFY2(elsewhereText(*panel).contains("on another machine: EPYC, H100"), qPrintable(elsewhereText(*panel)));
        bench.journal.undo("loader.workers"); // this trace cannot undo it
        QCOMPARE(bench.journal.otherResults().size(), std::size_t{1});
    }
    open("own.sspack", "meta host.cpu EPYC\nmeta device H100\n");
    QCOMPARE(bench.journal.shown().changes.size(), std::size_t{1});
    QCOMPARE(bench.journal.shown().score().made, 1);
    QVERIFY(bench.journal.otherResults().empty());
    // A trace without a machine name keeps the result: only its configuration is compared.
    open("unnamed.sspack", {});
    QCOMPARE(bench.journal.shown().changes.size(), std::size_t{1});
}

void MeasuredElsewhereTest::aLocalMeasurementIsNotAResultOfAnotherMachine()
{
    const QTemporaryDir folder;
    const auto configuration = training("32");
    app::Workbench bench;
    open(bench, traceOf(folder, "other.sspack", &configuration, "meta host.cpu Another Processor\n"));
    QVERIFY(!bench.document.isMachine(app::thisMachine()));
    measure(bench, optimizerAdvice());
    QVERIFY(!bench.journal.result("optimizer.kind"));
    QCOMPARE(bench.journal.otherResults().size(), std::size_t{1});
    QCOMPARE(bench.journal.otherResults()[0].result.machine.processor, app::thisMachine().processor);
    QVERIFY(!bench.journal.otherResults()[0].result.machine.device.empty());
    QSignalSpy told(&bench.notices, &app::Notices::noticed);
    bench.journal.keep(optimizerAdvice());
    QCOMPARE(told.count(), 1);
    QCOMPARE(bench.configuration.get().text("optimizer.kind"), "sgd");

    open(bench, traceOf(folder, "own.sspack", &configuration, "meta host.cpu " + app::thisMachine().processor + "\n"));
    QVERIFY(bench.journal.result("optimizer.kind"));
    QVERIFY(bench.journal.otherResults().empty());
}

void MeasuredElsewhereTest::resultsOfAnEditedScriptAreMeasuredElsewhere()
{
    const QTemporaryDir folder;
    const auto program = [](const char* hash) {
        return std::string(R"(meta program {"files":[{"path":"/home/a/train.py","sha256":")") + hash +
               "\"}]}\nmeta record.command python train.py\nmeta record.directory /home/a\n";
    };
    const auto file = traceOf(folder, "first.sspack", nullptr, program("1"));
    const auto trace = profiler::formats::openTrace(file);
    QVERIFY(trace);
    app::SavedState kept;
    kept.journal.changes = {keptFor({})};
    kept.journal.changes[0].program = app::originOf(**trace, file);
    QVERIFY(app::saveState(kept, app::stateFile()));
    App app;
    app::Workbench& bench = app.bench;
    bench.state.restore();
    const auto* panel = app.window.findChild<app::AdvisorPanel*>();
    open(bench, file);
    QCOMPARE(bench.journal.shown().changes.size(), std::size_t{1});
    QVERIFY(bench.journal.otherResults().empty());
    open(bench, traceOf(folder, "edited.sspack", nullptr, program("2")));
    QVERIFY(bench.journal.shown().changes.empty());
    QCOMPARE(bench.journal.otherResults().size(), std::size_t{1});
    QVERIFY2(elsewhereText(*panel).contains("Its files have changed since"), qPrintable(elsewhereText(*panel)));
}

void MeasuredElsewhereTest::aReportContainsNoResultOfAnotherTraining()
{
    const QTemporaryDir folder;
    const auto first = training("32"), second = training("48");
    app::Workbench bench;
    open(bench, traceOf(folder, "first.sspack", &first));
    measure(bench, optimizerAdvice());
    QVERIFY(reportOf(bench, folder.filePath("first.html")).contains("adamw"));
    open(bench, traceOf(folder, "second.sspack", &second));
    const QString report = reportOf(bench, folder.filePath("second.html"));
    QVERIFY(!report.isEmpty() && !report.contains("adamw"));
    open(bench, traceOf(folder, "foreign.json", nullptr));
    QVERIFY(!reportOf(bench, folder.filePath("foreign.html")).contains("adamw"));
}

void MeasuredElsewhereTest::tuningNamesItsSubject()
{
    const QTemporaryDir folder;
    const auto other = training("48");
    app::Workbench bench;
    app_test::useScript("quick");
    bench.configuration.set(training("32"), "mine");
    app::TunePanel panel(&bench.tuning, &bench.configuration, &bench.document, &bench.journal, &bench.jobs,
                         &bench.reports, &bench.runs, nullptr);
    panel.show();
    QSignalSpy ended(&bench.tuning, &app::TuningService::ended);
    bench.tuning.start(std::chrono::minutes(1));
    QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, kPatienceMs);
    QVERIFY2(bench.tuning.result(), qPrintable(bench.tuning.trouble()));
    const auto* origin = find<QLabel>(&panel, "tuneOrigin");
    QVERIFY2(origin->isVisible() && origin->text() == "Tuning of " + app::originOf(training("32")).name,
             qPrintable(origin->text()));
    QVERIFY(bench.tuning.isOfDocument());
    open(bench, traceOf(folder, "other.sspack", &other));
    QVERIFY(!bench.tuning.isOfDocument());
    QVERIFY2(origin->text().startsWith("Measured elsewhere: tuning of "), qPrintable(origin->text()));
}

void MeasuredElsewhereTest::aMeasurementOfAnEarlierTraceIsNotOnTheCard()
{
    const QTemporaryDir folder;
    const auto first = training("32"), second = training("48");
    const auto secondFile = traceOf(folder, "second.sspack", &second);
    app::Workbench bench;
    open(bench, traceOf(folder, "first.sspack", &first));
    bench.experiments.start(optimizerAdvice());
    QCOMPARE(bench.experiments.rule(), QString("optimizer.kind"));
    QSignalSpy failed(&bench.experiments, &app::ExperimentService::failed);
    QString duringStop = "not seen";
    connect(&bench.document, &app::TraceDocument::traceReplaced, this, [&] { duringStop = bench.experiments.rule(); });
    open(bench, secondFile);
    QCOMPARE(duringStop, QString());
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, kPatienceMs);
    QVERIFY(bench.journal.otherResults().empty()); // a stopped measurement has no result
}

QTEST_MAIN(MeasuredElsewhereTest)
#include "measured_elsewhere_test.moc"
