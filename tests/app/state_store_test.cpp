#include "app/services/state_store.h"
#include "app/views/advisor/advisor.h"
#include "tests/app/app_support.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <cmath>
#include <limits>

using app_test::find;
using app_test::shortTraining;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

app::KeptChange keptChange()
{
    app::KeptChange change;
    change.ruleId = "loader.workers";
    change.title = "The step waits for data";
    change.toggle = {"loader.workers", "0", "2"};
    advisor::ExperimentResult& result = change.result;
    result.plan.baseline = shortTraining(77);
    result.plan.changes = {change.toggle};
    result.plan.objective = advisor::Objective::Memory;
    result.plan.measure = "epoch";
    result.plan.predicted = advisor::Saving{advisor::SavingUnit::Bytes, 1, 2, 3};
    result.pairs = {{100, 143, 0.357}, {101, 144, 0.354}};
    result.samplesPerSecond = {1.43, 1.40, std::numeric_limits<double>::infinity()};
    result.samplesPerSecondA = 100;
    result.samplesPerSecondB = 143;
    result.unitUsA = 5;
    result.unitUsB = 4;
    result.savedUs = {44'100, 42'000, 46'200};
    result.judgedRatio = {1.5, 1.25, 1.75};
    result.loss = {.kind = advisor::LossKind::Worse,
                   .at = advisor::LossCheck::At::EqualTime,
                   .a = std::numeric_limits<double>::quiet_NaN(),
                   .b = 0.25,
                   .margin = 0.125,
                   .highest = std::numeric_limits<double>::infinity(),
                   .steps = 400,
                   .seeds = 3};
    result.peakBytesA = 1LL << 40;
    result.peakBytesB = 3;
    result.savedBytes = {7, 6, 8};
    advisor::LossAtEqualTime& losses = result.lossAtEqualTime.emplace();
    losses.validation = true;
    losses.seconds = 20;
    losses.seeds = {{2.0, 1.9, 0.05}, {2.1, 1.97, 0.06}};
    losses.a = 2.05;
    losses.b = 1.93;
    losses.ratio = {1.06, 1.05, std::numeric_limits<double>::infinity()};
    losses.saved = {0.12, 0.08, 0.16};
    losses.diverged = {1, 2};
    result.verdict = advisor::Verdict::Pays;
    result.why = {"experiment.example",
                  {{"ratio", 1.43, "1.43 ×"}, {"pairs", 6, "6"}, {"key", "a.b"}},
                  "The interval excludes 1."};
    result.notes = {{"experiment.note.example", {}, "A note."}};
    result.noise.repeatedPairs = 2;
    result.noise.turns.otherCores = 0.5;
    result.secondsSpent = 12.5;
    return change;
}

QString sessionPath()
{
    return QString::fromStdString(app::stateFile().string());
}

void write(const QString& path, const QByteArray& text)
{
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
        qFatal("a test's file cannot be written");
}

/// A saved session with a measured change in its journal.
void writeJournal()
{
    app::SavedState kept;
    QVERIFY(kept.configuration.set("loader.workers", "2"));
    kept.journal.changes = {keptChange()};
    app::UndoStep step;
    step.text = "keep loader.workers = 2";
    step.kept = {keptChange()};
    step.knobs = {{"loader.workers", "0", "2"}};
    kept.undo = {step};
    QVERIFY(app::saveState(kept, app::stateFile()));
}

/// Gradient accumulation in two parts, kept for a batch size of 64.
app::KeptChange keptInParts()
{
    app::KeptChange change = keptChange();
    change.ruleId = "gradient.accumulation";
    change.toggle = {"gradient.accumulation", "1", "2"};
    change.result.plan.changes = {change.toggle, {"batch.size", "64", "32"}};
    return change;
}

/// A saved session with that change.
void writeKeptInParts(const app::KeptChange& change)
{
    app::SavedState kept;
    QVERIFY(kept.configuration.set("gradient.accumulation", "2"));
    QVERIFY(kept.configuration.set("batch.size", "32"));
    kept.journal.changes = {change};
    QVERIFY(app::saveState(kept, app::stateFile()));
}

/// "2 x 32"
std::string parts(const app::Workbench& bench)
{
    return bench.configuration.get().text("gradient.accumulation") + " x " +
           bench.configuration.get().text("batch.size");
}

} // namespace

class StateStoreTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init() { QFile::remove(sessionPath()); }
    void aKeptChangeIsRestoredCompletely();
    void configurationAndUndoSurviveARestart();
    void aKeptChangeIsUndoneAfterARestart();
    void aTuningResultIsUndoneAsOneStepAfterARestart();
    void aStepOfAnOlderVersionIsRead();
    void aProgramChangeDoesNotBelongToAConfiguration();
    void theJournalUndoesAChange();
    void bothKeysOfAChangeAreUndone();
    void undoingAChangeKeepsLaterEdits();
    void measurementsWithOtherSettingsCannotBeKept();
    void aKeptChangeOfAnUnknownKeyIsRefused();
    void aSessionThatWasNotRestoredSavesNothing();
    void theSecondWindowSavesNothing();
    void anUnreadableSessionIsMovedAside_data();
    void anUnreadableSessionIsMovedAside();
};

void StateStoreTest::aKeptChangeIsRestoredCompletely()
{
    app::SavedState kept;
    kept.journal.changes = {keptChange()};
    kept.journal.changes[0].result.plan.predicted->ofUs = 30;
    kept.journal.predictions = {{shortTraining(7), {{"loader.workers", "0", "4"}}, true},
                                {shortTraining(8), {}, false}};
    QVERIFY(app::saveState(kept, app::stateFile()));
    const auto loaded = app::loadState(app::stateFile());
    QVERIFY(loaded && *loaded);
    QVERIFY((*loaded)->journal.changes.size() == 1 && (*loaded)->journal.predictions.size() == 2);
    const app::MeasuredPrediction& prediction = (*loaded)->journal.predictions[0];
    QVERIFY(prediction.held && !(*loaded)->journal.predictions[1].held);
    QCOMPARE(prediction.baseline, shortTraining(7));
    QVERIFY(prediction.changes == kept.journal.predictions[0].changes);
    const app::KeptChange &was = kept.journal.changes[0], &is = (*loaded)->journal.changes[0];
    QCOMPARE(std::pair(is.ruleId, is.title), std::pair(was.ruleId, was.title));
    QCOMPARE(is.toggle.to, was.toggle.to);
    const advisor::ExperimentResult &a = was.result, &b = is.result;
    QCOMPARE(b.plan.baseline, a.plan.baseline);
    QCOMPARE(b.plan.changes.size(), std::size_t{1});
    QVERIFY(b.plan.objective == a.plan.objective && b.plan.measure == a.plan.measure);
    QVERIFY(b.plan.predicted && b.plan.predicted->unit == a.plan.predicted->unit && b.plan.predicted->ofUs == 30);
    QVERIFY(b.pairs.size() == 2 && b.pairs[1].b == 144 && b.pairs[1].logRatio == 0.354);
    QVERIFY(a.lossAtEqualTime && b.lossAtEqualTime);
    const advisor::LossAtEqualTime &learnt = *a.lossAtEqualTime, &again = *b.lossAtEqualTime;
    QVERIFY(again.validation && again.seconds == 20 && again.a == learnt.a && again.b == learnt.b);
    QVERIFY(again.seeds.size() == 2 && again.seeds[1].a == 2.1 && again.seeds[1].logRatio == 0.06);
    QVERIFY(again.ratio.low == 1.05 && again.ratio.high == learnt.ratio.high && again.saved.high == 0.16);
    QVERIFY(again.diverged == learnt.diverged);
    QVERIFY(b.samplesPerSecond.low == 1.40 && b.samplesPerSecond.high == a.samplesPerSecond.high);
    QVERIFY(b.samplesPerSecondA == 100 && b.samplesPerSecondB == 143 && b.unitUsA == 5 && b.unitUsB == 4);
    QVERIFY(b.savedUs.value == 44'100 && b.savedBytes.high == 8);
    QVERIFY(std::isnan(b.loss.a) && b.loss.b == 0.25 && b.loss.margin == 0.125 && b.loss.highest == a.loss.highest);
    QVERIFY(b.loss.kind == a.loss.kind && b.loss.at == a.loss.at && b.loss.steps == 400 && b.loss.seeds == 3);
    QVERIFY(b.judgedRatio.low == 1.25 && b.noise.repeatedPairs == 2 && b.noise.turns.otherCores == 0.5);
    QVERIFY(b.notes == a.notes);
    QVERIFY(b.peakBytesA == a.peakBytesA && b.peakBytesB == 3);
    QVERIFY(b.verdict == a.verdict && b.why == a.why && b.secondsSpent == 12.5);
}

void StateStoreTest::aProgramChangeDoesNotBelongToAConfiguration()
{
    app::SavedState kept;
    app::KeptChange ofProgram = keptChange();
    ofProgram.result.plan.baseline = {};
    ofProgram.program = {"a1b2", "python train.py"};
    kept.journal.changes = {ofProgram};
    kept.journal.predictions = {{{}, {ofProgram.toggle}, true, "a1b2"}};
    QVERIFY(kept.configuration.set("loader.workers", "2"));
    QVERIFY(app::saveState(kept, app::stateFile()));
    const auto loaded = app::loadState(app::stateFile());
    QVERIFY(loaded && *loaded);
    const app::Journal& journal = (*loaded)->journal;
    QCOMPARE(journal.changes.front().program.id, QString("a1b2"));
    QCOMPARE(journal.changes.front().program.name, QString("python train.py"));
    QCOMPARE(journal.ofProgram({"a1b2", {}}).changes.size(), std::size_t{1});
    QCOMPARE(journal.ofProgram({"a1b2", {}}).score().held, 1);
    QVERIFY(journal.ofProgram({"other", {}}).changes.empty() && journal.ofProgram({}).predictions.empty());
    QVERIFY(journal.inForce((*loaded)->configuration).changes.empty()); // although the setting is the same
    app::Workbench bench;
    bench.state.restore();
    QVERIFY(bench.journal.shown().changes.empty());
    const auto others = bench.journal.otherResults();
    QCOMPARE(others.size(), std::size_t{1});
    QCOMPARE(others.front().origin.name, QString("python train.py"));
    bench.journal.undo("loader.workers"); // "Discard" of another measurement of that rule
    QCOMPARE(bench.journal.otherResults().size(), std::size_t{1});
}

void StateStoreTest::configurationAndUndoSurviveARestart()
{
    {
        app::Workbench bench;
        bench.state.restore();
        QVERIFY(!bench.configuration.setKnob("loader.workers", "2"));
        QVERIFY(!bench.configuration.setKnob("optimizer.learning_rate", "0.013"));
        bench.configuration.set(shortTraining(44), "short");
        bench.configuration.undoStack()->undo();
    }
    app::Workbench bench;
    QSignalSpy changed(&bench.configuration, &app::ConfigurationModel::changed);
    bench.state.restore();
    QVERIFY(!changed.isEmpty());
    QCOMPARE(bench.configuration.get().text("loader.workers"), "2");
    QCOMPARE(bench.configuration.get().text("optimizer.learning_rate"), "0.013");
    bench.configuration.undoStack()->redo();
    QCOMPARE(bench.configuration.get(), shortTraining(44));
    for (int i = 0; i < 3; ++i)
        bench.configuration.undoStack()->undo();
    QCOMPARE(bench.configuration.get(), config::TrainingConfig());
    QVERIFY(!bench.configuration.undoStack()->canUndo());
}

void StateStoreTest::aKeptChangeIsUndoneAfterARestart()
{
    writeJournal();
    app::Workbench bench;
    bench.state.restore();
    QCOMPARE(bench.journal.shown().changes.size(), std::size_t{1});
    QVERIFY(bench.configuration.undoStack()->undoText().contains("loader.workers"));
    bench.configuration.undoStack()->undo();
    QVERIFY(bench.journal.shown().changes.empty());
    QCOMPARE(bench.configuration.get().text("loader.workers"), "0");
    bench.configuration.undoStack()->redo();
    QCOMPARE(bench.journal.shown().changes.size(), std::size_t{1});
    QCOMPARE(bench.configuration.get().text("loader.workers"), "2");
}

void StateStoreTest::aTuningResultIsUndoneAsOneStepAfterARestart()
{
    app::KeptChange second = keptChange();
    second.ruleId = "loader.workers #2";
    second.toggle = {"loader.workers", "2", "4"};
    app::UndoStep step;
    step.kept = {keptChange(), second};
    step.knobs = {{"loader.workers", "0", "4"}};
    app::SavedState kept;
    QVERIFY(kept.configuration.set("loader.workers", "4"));
    kept.journal.changes = step.kept;
    kept.undo = {step};
    QVERIFY(app::saveState(kept, app::stateFile()));
    app::Workbench bench;
    bench.state.restore();
    QCOMPARE(bench.journal.shown().changes.size(), std::size_t{2});
    bench.configuration.undoStack()->undo();
    QVERIFY(bench.journal.shown().changes.empty());
    QCOMPARE(bench.configuration.get().text("loader.workers"), "0");
    bench.configuration.undoStack()->redo();
    QCOMPARE(bench.journal.shown().changes.size(), std::size_t{2});
    QCOMPARE(bench.journal.shown().changes[1].toggle.to, "4");
}

void StateStoreTest::aStepOfAnOlderVersionIsRead()
{
    writeJournal();
    QFile file(sessionPath());
    QVERIFY(file.open(QIODevice::ReadOnly));
    QJsonObject json = QJsonDocument::fromJson(file.readAll()).object();
    QJsonObject step = json["undo"].toArray().at(0).toObject();
    step["kept"] = step["kept"].toArray().at(0); // a step had a single change without a list
    json["undo"] = QJsonArray{step};
    QVERIFY(!json.take("measured_predictions").isUndefined());
    json["predictions"] = QJsonObject{{"held", 5}, {"made", 9}}; // without the trainings they belong to
    write(sessionPath(), QJsonDocument(json).toJson());
    app::Workbench bench;
    bench.state.restore();
    const app::Predictions read = bench.journal.shown().score();
    QCOMPARE(std::pair(read.made, read.held), std::pair(1, 0)); // recounted from the kept changes
    bench.configuration.undoStack()->undo();
    QVERIFY(bench.journal.shown().changes.empty());
}

void StateStoreTest::theJournalUndoesAChange()
{
    writeJournal();
    app::Workbench bench;
    app::JournalList list(&bench.journal, nullptr);
    QVERIFY(!list.isVisibleTo(nullptr));
    bench.state.restore();
    list.show();
    find<QToolButton>(&list, "undo:loader.workers")->click();
    QVERIFY(bench.journal.shown().changes.empty());
    QCOMPARE(bench.configuration.get().text("loader.workers"), "0");
    bench.configuration.undoStack()->undo();
    QCOMPARE(bench.journal.shown().changes.size(), std::size_t{1});
    QCOMPARE(bench.configuration.get().text("loader.workers"), "2");
}

void StateStoreTest::bothKeysOfAChangeAreUndone()
{
    writeKeptInParts(keptInParts());
    {
        app::Workbench bench;
        bench.state.restore();
        bench.journal.undo("gradient.accumulation");
        QCOMPARE(parts(bench), "1 x 64");
        QVERIFY(bench.configuration.undoStack()->undoText().contains("gradient.accumulation = 2, batch.size = 32"));
    }
    app::Workbench bench;
    bench.state.restore();
    QCOMPARE(parts(bench), "1 x 64");
    QVERIFY(bench.journal.shown().changes.empty());
    bench.configuration.undoStack()->undo();
    QCOMPARE(parts(bench), "2 x 32");
    QCOMPARE(bench.journal.shown().changes.size(), std::size_t{1});
}

void StateStoreTest::undoingAChangeKeepsLaterEdits()
{
    writeKeptInParts(keptInParts());
    app::Workbench bench;
    bench.state.restore();
    QVERIFY(!bench.configuration.setKnob("batch.size", "48"));
    bench.journal.undo("gradient.accumulation");
    QCOMPARE(parts(bench), "1 x 48");
    QVERIFY(!bench.configuration.undoStack()->undoText().contains("batch.size"));
}

void StateStoreTest::measurementsWithOtherSettingsCannotBeKept()
{
    app_test::useScript("train");
    advisor::RuleAdvice advice;
    advice.id = "gradient.accumulation";
    advice.advice.toggle = advisor::Toggle{"gradient.accumulation", "1", "2"};
    advice.advice.objective = advisor::Objective::LossAtEqualTime; // the fastest rule to measure here
    {
        app::Workbench bench;
        bench.state.restore();
        bench.configuration.set(shortTraining(60), "short");
        QVERIFY(!bench.configuration.setKnob("batch.size", "64"));
        QSignalSpy finished(&bench.experiments, &app::ExperimentService::finished);
        bench.experiments.start(advice);
        QTRY_VERIFY_WITH_TIMEOUT(finished.count() == 1, 90000);
        QVERIFY(!bench.configuration.setKnob("batch.size", "128"));
        QSignalSpy noticed(&bench.notices, &app::Notices::noticed);
        bench.journal.keep(advice);
        QCOMPARE(noticed.count(), 1);
        QVERIFY2(noticed[0][1].toString().contains("Batch size = 128"), qPrintable(noticed[0][1].toString()));
        QCOMPARE(parts(bench), "1 x 128");
        QVERIFY(bench.journal.shown().changes.empty());
        QCOMPARE(bench.journal.otherResults().size(), std::size_t{1});
        QVERIFY(!bench.configuration.setKnob("batch.size", "64"));
        QVERIFY(bench.journal.otherResults().empty());
        bench.journal.keep(advice);
        QCOMPARE(parts(bench), "2 x 32");
        QVERIFY(bench.configuration.undoStack()->undoText().contains("gradient.accumulation = 2, batch.size = 32"));
    }
    app::Workbench bench;
    bench.state.restore();
    QCOMPARE(parts(bench), "2 x 32");
    bench.journal.undo("gradient.accumulation");
    QCOMPARE(parts(bench), "1 x 64");
}

void StateStoreTest::aKeptChangeOfAnUnknownKeyIsRefused()
{
    app::KeptChange change = keptInParts();
    change.result.plan.changes.back().key = "batch.sise";
    writeKeptInParts(change);
    app::Workbench bench;
    QSignalSpy noticed(&bench.notices, &app::Notices::noticed);
    bench.state.restore();
    QCOMPARE(noticed.count(), 1);
    QVERIFY(noticed[0][1].toString().contains("unknown settings"));
}

void StateStoreTest::aSessionThatWasNotRestoredSavesNothing()
{
    {
        app::Workbench bench;
        QVERIFY(!bench.configuration.setKnob("loader.workers", "2"));
    }
    QVERIFY(!QFile::exists(sessionPath()));
}

void StateStoreTest::theSecondWindowSavesNothing()
{
    app::Workbench first;
    first.state.restore();
    {
        app::Workbench second;
        QSignalSpy noticed(&second.notices, &app::Notices::noticed);
        second.state.restore();
        QCOMPARE(noticed.count(), 1);
        QVERIFY(!second.configuration.setKnob("loader.workers", "7"));
    }
    QVERIFY(!first.configuration.setKnob("loader.workers", "2"));
    QTRY_VERIFY(QFile::exists(sessionPath()));
    const auto kept = app::loadState(app::stateFile());
    QVERIFY(kept && *kept);
    QCOMPARE((*kept)->configuration.text("loader.workers"), "2");
}

void StateStoreTest::anUnreadableSessionIsMovedAside_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("why");
    QTest::newRow("cut") << QByteArray("{\"version\": 1, \"journal\"") << "byte";
    QTest::newRow("newer") << QByteArray("{\"version\": 2}") << "another version";
    QTest::newRow("knob") << QByteArray(R"({"version": 1, "configuration": {"loader": {"wrkers": 2}}})") << "wrkers";
    QTest::newRow("step") << QByteArray(R"({"version": 1, "undo": [{"knobs": [["loader.workers", "0", "many"]]}]})")
                          << "unknown settings";
}

void StateStoreTest::anUnreadableSessionIsMovedAside()
{
    QFETCH(QByteArray, text);
    QFETCH(QString, why);
    write(sessionPath(), text);
    QFile::remove(sessionPath() + ".unreadable");
    app::Workbench bench;
    QSignalSpy noticed(&bench.notices, &app::Notices::noticed);
    bench.state.restore();
    QCOMPARE(noticed.count(), 1);
    QVERIFY2(noticed[0][1].toString().contains(why), qPrintable(noticed[0][1].toString()));
    QFile aside(sessionPath() + ".unreadable");
    QVERIFY(aside.open(QIODevice::ReadOnly));
    QCOMPARE(aside.readAll(), text);
    QCOMPARE(bench.configuration.get(), config::TrainingConfig());
    QVERIFY(!bench.configuration.setKnob("loader.workers", "2")); // and it is saved from now on
    QTRY_VERIFY(QFile::exists(sessionPath()));
}

QTEST_MAIN(StateStoreTest)
#include "state_store_test.moc"
