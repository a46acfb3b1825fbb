#include "app/findings/finding_card.h"
#include "app/services/state_store.h"
#include "tests/app/app_support.h"

#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

using app::KeptChange;
using app_test::find;
using app_test::shortTraining;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

KeptChange workers(const QString& name, const char* from, const char* to)
{
    KeptChange change;
    change.ruleId = name;
    change.toggle = {"loader.workers", from, to};
    change.result.plan.changes = {change.toggle};
    change.result.samplesPerSecond = {2, 1.9, 2.1};
    change.result.verdict = advisor::Verdict::Pays;
    return change;
}

advisor::RuleAdvice adviceOf(const char* key, const char* from, const char* to)
{
    advisor::RuleAdvice advice;
    advice.id = key;
    advice.advice.toggle = advisor::Toggle{key, from, to};
    advice.advice.objective = advisor::Objective::LossAtEqualTime; // the fastest rule to measure here
    return advice;
}

/// A saved session with changes that were kept one after another.
void write(const std::vector<KeptChange>& changes)
{
    app::SavedState kept;
    QVERIFY(kept.configuration.set("loader.workers", changes.back().toggle.to));
    kept.journal.changes = changes;
    QVERIFY(app::saveState(kept, app::stateFile()));
}

QStringList names(const app::Workbench& bench)
{
    QStringList all;
    for (const KeptChange& change : bench.journal.shown().changes)
        all << change.ruleId;
    return all;
}

} // namespace

class JournalTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init() { QFile::remove(QString::fromStdString(app::stateFile().string())); }
    void containsTheActiveChanges();
    void isOfTheModelThatWasMeasured();
    void aCardShowsKeptOnlyForKeptChanges();
    void aNewMeasurementCanBeKept();
    void undoRestoresTheMeasuredBaselineOfManualSettings();
};

void JournalTest::containsTheActiveChanges()
{
    write({workers("loader.workers", "0", "2"), workers("loader.workers #2", "2", "4")});
    app::Workbench bench;
    bench.state.restore();
    QCOMPARE(names(bench), QStringList({"loader.workers", "loader.workers #2"}));
    QCOMPARE(bench.journal.shown().factorAfter(2), 4.0);
    QSignalSpy changed(&bench.journal, &app::JournalStore::changed);
    QVERIFY(!bench.configuration.setKnob("loader.workers", "2"));
    QCOMPARE(names(bench), QStringList({"loader.workers"}));
    QVERIFY(!bench.configuration.setKnob("loader.workers", "3"));
    QCOMPARE(names(bench), QStringList());
    QVERIFY(!bench.configuration.setKnob("loader.workers", "4"));
    QCOMPARE(names(bench).size(), 2);
    QCOMPARE(changed.count(), 3);
    // Undoing the first change removes the basis of the second.
    bench.journal.undo("loader.workers");
    QCOMPARE(bench.configuration.get().text("loader.workers"), "0");
    QCOMPARE(names(bench), QStringList());
    bench.configuration.undoStack()->undo();
    QCOMPARE(names(bench).size(), 2);
}

void JournalTest::isOfTheModelThatWasMeasured()
{
    write({workers("loader.workers", "0", "2")});
    app::Workbench bench;
    bench.state.restore();
    const std::string model = bench.configuration.get().text("workload");
    QVERIFY(!bench.configuration.setKnob("workload", model == "resnet18" ? "convnet" : "resnet18"));
    QVERIFY(bench.journal.shown().changes.empty());
    QVERIFY(!bench.configuration.setKnob("workload", QString::fromStdString(model)));
    QCOMPARE(names(bench), QStringList({"loader.workers"}));
}

void JournalTest::aCardShowsKeptOnlyForKeptChanges()
{
    write({workers("loader.workers", "0", "2")});
    app::Workbench bench;
    bench.state.restore();
    app::FindingCard card(app_test::cardServices(bench), adviceOf("loader.workers", "0", "2"), nullptr);
    card.refresh();
    QVERIFY(find<QLabel>(&card, "verdict")->text().startsWith("Kept."));
    QVERIFY(!bench.configuration.setKnob("loader.workers", "0"));
    card.refresh();
    QVERIFY(!find<QLabel>(&card, "verdict")->isVisibleTo(&card));
    QVERIFY(find<QPushButton>(&card, "apply")->isEnabled());
}

void JournalTest::aNewMeasurementCanBeKept()
{
    app_test::useScript("quick");
    app::Workbench bench;
    bench.configuration.set(shortTraining(60), "short");
    const auto measure = [&](const char* from, const char* to) {
        QSignalSpy finished(&bench.experiments, &app::ExperimentService::finished);
        bench.experiments.start(adviceOf("gradient.accumulation", from, to));
        QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, 90'000);
    };
    measure("1", "2");
    bench.journal.keep(adviceOf("gradient.accumulation", "1", "2"));
    QCOMPARE(names(bench), QStringList({"gradient.accumulation"}));
    const advisor::RuleAdvice next = adviceOf("gradient.accumulation", "2", "4");
    measure("2", "4");
    app::FindingCard card(app_test::cardServices(bench), next, nullptr);
    card.refresh();
    QVERIFY(find<QPushButton>(&card, "keep")->isVisibleTo(&card));
    find<QPushButton>(&card, "keep")->click();
    QCOMPARE(bench.configuration.get().text("gradient.accumulation"), "4");
    QCOMPARE(names(bench), QStringList({"gradient.accumulation", "gradient.accumulation #2"}));
    bench.journal.keep(next); // it is
    QCOMPARE(names(bench).size(), 2);
    card.refresh();
    QVERIFY(!find<QPushButton>(&card, "keep")->isVisibleTo(&card));
    find<QPushButton>(&card, "undo")->click();
    QCOMPARE(bench.configuration.get().text("gradient.accumulation"), "2");
    QCOMPARE(names(bench), QStringList({"gradient.accumulation"}));
}

void JournalTest::undoRestoresTheMeasuredBaselineOfManualSettings()
{
    app_test::useScript("quick");
    app::Workbench bench;
    bench.configuration.set(shortTraining(60), "short");
    const advisor::RuleAdvice advice = adviceOf("optimizer.kind", "sgd", "adamw");
    QSignalSpy finished(&bench.experiments, &app::ExperimentService::finished);
    bench.experiments.start(advice);
    QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, 90'000);
    QVERIFY(!bench.configuration.setKnob("optimizer.kind", "adamw"));
    bench.journal.keep(advice);
    QCOMPARE(names(bench), QStringList({"optimizer.kind"}));
    bench.journal.undo("optimizer.kind");
    QCOMPARE(bench.configuration.get().text("optimizer.kind"), "sgd");
    QCOMPARE(names(bench), QStringList());
    bench.configuration.undoStack()->undo();
    QCOMPARE(bench.configuration.get().text("optimizer.kind"), "adamw");
}

QTEST_MAIN(JournalTest)
#include "journal_test.moc"
