#include "app/document/selection.h"
#include "app/document/session_file.h"
#include "app/findings/finding_card.h"
#include "tests/app/app_support.h"

#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

using app::KeptChange;
using app::Session;
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
    advice.advice.judgedBy = advisor::JudgedBy::LossAtEqualTime; // the fastest rule to measure here
    return advice;
}

/// A saved session with changes that were kept one after another.
void write(const std::vector<KeptChange>& changes)
{
    app::KeptSession kept;
    QVERIFY(kept.configuration.set("loader.workers", changes.back().toggle.to));
    kept.journal.changes = changes;
    QVERIFY(app::saveSession(kept, app::sessionFile()));
}

QStringList names(const Session& session)
{
    QStringList all;
    for (const KeptChange& change : session.journal().changes)
        all << change.ruleId;
    return all;
}

} // namespace

class JournalTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init() { QFile::remove(QString::fromStdString(app::sessionFile().string())); }
    void containsTheActiveChanges();
    void isOfTheModelThatWasMeasured();
    void aCardShowsKeptOnlyForKeptChanges();
    void aNewMeasurementCanBeKept();
    void undoRestoresTheMeasuredBaselineOfManualSettings();
};

void JournalTest::containsTheActiveChanges()
{
    write({workers("loader.workers", "0", "2"), workers("loader.workers #2", "2", "4")});
    Session session;
    session.restore();
    QCOMPARE(names(session), QStringList({"loader.workers", "loader.workers #2"}));
    QCOMPARE(session.journal().factorAfter(2), 4.0);
    QSignalSpy changed(&session, &Session::journalChanged);
    QVERIFY(!session.setKnob("loader.workers", "2"));
    QCOMPARE(names(session), QStringList({"loader.workers"}));
    QVERIFY(!session.setKnob("loader.workers", "3"));
    QCOMPARE(names(session), QStringList());
    QVERIFY(!session.setKnob("loader.workers", "4"));
    QCOMPARE(names(session).size(), 2);
    QCOMPARE(changed.count(), 3);
    // Undoing the first change removes the basis of the second.
    session.undoChange("loader.workers");
    QCOMPARE(session.configuration().text("loader.workers"), "0");
    QCOMPARE(names(session), QStringList());
    session.undoStack()->undo();
    QCOMPARE(names(session).size(), 2);
}

void JournalTest::isOfTheModelThatWasMeasured()
{
    write({workers("loader.workers", "0", "2")});
    Session session;
    session.restore();
    const std::string model = session.configuration().text("workload");
    QVERIFY(!session.setKnob("workload", model == "resnet18" ? "convnet" : "resnet18"));
    QVERIFY(session.journal().changes.empty());
    QVERIFY(!session.setKnob("workload", QString::fromStdString(model)));
    QCOMPARE(names(session), QStringList({"loader.workers"}));
}

void JournalTest::aCardShowsKeptOnlyForKeptChanges()
{
    write({workers("loader.workers", "0", "2")});
    Session session;
    session.restore();
    app::Selection selection;
    app::FindingCard card({&session, &selection}, adviceOf("loader.workers", "0", "2"), nullptr);
    card.refresh();
    QVERIFY(find<QLabel>(&card, "verdict")->text().startsWith("Kept."));
    QVERIFY(!session.setKnob("loader.workers", "0"));
    card.refresh();
    QVERIFY(!find<QLabel>(&card, "verdict")->isVisibleTo(&card));
    QVERIFY(find<QPushButton>(&card, "apply")->isEnabled());
}

void JournalTest::aNewMeasurementCanBeKept()
{
    app_test::useScript("quick");
    Session session;
    session.setConfiguration(shortTraining(60), "short");
    app::Selection selection;
    const auto measure = [&](const char* from, const char* to) {
        QSignalSpy finished(&session, &Session::experimentFinished);
        session.startExperiment(adviceOf("gradient.accumulation", from, to));
        QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, 90'000);
    };
    measure("1", "2");
    session.keepChange(adviceOf("gradient.accumulation", "1", "2"));
    QCOMPARE(names(session), QStringList({"gradient.accumulation"}));
    const advisor::RuleAdvice next = adviceOf("gradient.accumulation", "2", "4");
    measure("2", "4");
    app::FindingCard card({&session, &selection}, next, nullptr);
    card.refresh();
    QVERIFY(find<QPushButton>(&card, "keep")->isVisibleTo(&card));
    find<QPushButton>(&card, "keep")->click();
    QCOMPARE(session.configuration().text("gradient.accumulation"), "4");
    QCOMPARE(names(session), QStringList({"gradient.accumulation", "gradient.accumulation #2"}));
    session.keepChange(next); // it is
    QCOMPARE(names(session).size(), 2);
    card.refresh();
    QVERIFY(!find<QPushButton>(&card, "keep")->isVisibleTo(&card));
    find<QPushButton>(&card, "undo")->click();
    QCOMPARE(session.configuration().text("gradient.accumulation"), "2");
    QCOMPARE(names(session), QStringList({"gradient.accumulation"}));
}

void JournalTest::undoRestoresTheMeasuredBaselineOfManualSettings()
{
    app_test::useScript("quick");
    Session session;
    session.setConfiguration(shortTraining(60), "short");
    const advisor::RuleAdvice advice = adviceOf("optimizer.kind", "sgd", "adamw");
    QSignalSpy finished(&session, &Session::experimentFinished);
    session.startExperiment(advice);
    QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, 90'000);
    QVERIFY(!session.setKnob("optimizer.kind", "adamw"));
    session.keepChange(advice);
    QCOMPARE(names(session), QStringList({"optimizer.kind"}));
    session.undoChange("optimizer.kind");
    QCOMPARE(session.configuration().text("optimizer.kind"), "sgd");
    QCOMPARE(names(session), QStringList());
    session.undoStack()->undo();
    QCOMPARE(session.configuration().text("optimizer.kind"), "adamw");
}

QTEST_MAIN(JournalTest)
#include "journal_test.moc"
