#include "app/window/window_dialogs.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"

#include <QCryptographicHash>
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>

using app::CodeFile;
using app::RunState;
using app::TrustStore;
using app_test::find;
using app_test::shortTraining;
using app_test::useScript;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

QString write(const QString& path, const QByteArray& content)
{
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
        qFatal("a test's file cannot be written");
    return path;
}

QString sha256(const QByteArray& content)
{
    return QString::fromLatin1(QCryptographicHash::hash(content, QCryptographicHash::Sha256).toHex());
}

config::TrainingConfig trainingOf(const QString& model, const char* workload = "torchscript")
{
    config::TrainingConfig configuration = shortTraining();
    if (!configuration.set("workload", workload) || !configuration.set("model.path", model.toStdString()))
        qFatal("no such workload");
    return configuration;
}

/// Starts, and waits for the question or the run.
std::optional<CodeFile> start(app::Workbench& bench)
{
    QSignalSpy asked(&bench.trust, &app::TrustStore::codeAsked);
    bench.training.start();
    if (!QTest::qWaitFor([&] { return !asked.isEmpty() || bench.training.state() != RunState::Idle; }, 10000))
        return std::nullopt;
    return asked.isEmpty() ? std::nullopt : std::optional(asked.front().front().value<CodeFile>());
}

void finish(app::Workbench& bench)
{
    if (!QTest::qWaitFor([&] { return bench.training.state() == RunState::Idle; }, 20000))
        qFatal("the training never ended");
}

} // namespace

class CodeTrustTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init()
    {
        useScript("train");
        QSettings().clear();
    }
    void builtInCodeNeedsNoPermission();
    void aModelFileIsAskedAboutBeforeAnythingStarts();
    void runOnceAllowsOneRun();
    void trustIsRememberedUntilTheFileChanges();
    void trustIsForOnePath();
    void claimsInAConfigurationDoNotCount();
    void anExperimentAsksToo();
    void aCompiledModelIsAskedAboutToo();
    void anUnreadableFileIsReported();
    void theDialogShowsWhatAndWhere();
    void closingTheDialogStartsNothing();

private:
    QTemporaryDir m_folder;
};

void CodeTrustTest::builtInCodeNeedsNoPermission()
{
    app::Workbench bench;
    bench.configuration.set(shortTraining(), "short");
    QVERIFY(!start(bench));
    QCOMPARE(bench.training.state(), RunState::Starting);
    finish(bench);
}

void CodeTrustTest::aModelFileIsAskedAboutBeforeAnythingStarts()
{
    app::Workbench bench;
    bench.configuration.set(trainingOf(write(m_folder.filePath("a.pt"), "one")), "own");
    const auto asked = start(bench);
    QVERIFY(asked);
    QCOMPARE(QString::fromStdString(asked->path.string()), m_folder.filePath("a.pt"));
    QCOMPARE(asked->sha256, sha256("one"));
    QCOMPARE(asked->bytes, 3);
    QVERIFY(!asked->changedSince);
    QCOMPARE(bench.training.state(), RunState::Idle);
    QVERIFY(bench.runs.all().empty());
    bench.trust.answerCode(*asked, TrustStore::Answer::No);
    QTest::qWait(50);
    QCOMPARE(bench.training.state(), RunState::Idle);
    QVERIFY(bench.runs.all().empty());
}

void CodeTrustTest::runOnceAllowsOneRun()
{
    app::Workbench bench;
    bench.configuration.set(trainingOf(write(m_folder.filePath("a.so"), "one"), "plugin"), "own");
    for (int i = 0; i < 2; ++i) {
        const auto asked = start(bench);
        QVERIFY(asked);
        QCOMPARE(asked->workload, QString("plugin"));
        bench.trust.answerCode(*asked, TrustStore::Answer::Once);
        QCOMPARE(bench.training.state(), RunState::Starting);
        finish(bench);
    }
    QCOMPARE(bench.runs.all().front().configuration.text("model.trusted_sha256"), sha256("one").toStdString());
}

void CodeTrustTest::trustIsRememberedUntilTheFileChanges()
{
    const QString path = write(m_folder.filePath("b.pt"), "one");
    {
        app::Workbench bench;
        bench.configuration.set(trainingOf(path), "own");
        const auto asked = start(bench);
        QVERIFY(asked);
        bench.trust.answerCode(*asked, TrustStore::Answer::Trust);
        finish(bench);
    }
    app::Workbench later;
    later.configuration.set(trainingOf(path), "own");
    QVERIFY(!start(later));
    QCOMPARE(later.training.state(), RunState::Starting);
    finish(later);
    write(path, "two");
    const auto asked = start(later);
    QVERIFY(asked);
    QCOMPARE(asked->sha256, sha256("two"));
    QVERIFY(asked->changedSince);
}

void CodeTrustTest::trustIsForOnePath()
{
    app::Workbench bench;
    bench.configuration.set(trainingOf(write(m_folder.filePath("c.pt"), "one")), "own");
    const auto first = start(bench);
    QVERIFY(first);
    bench.trust.answerCode(*first, TrustStore::Answer::Trust);
    finish(bench);
    bench.configuration.set(trainingOf(write(m_folder.filePath("d.pt"), "one")), "another");
    QVERIFY(start(bench));
    bench.trust.answerCode(*first, TrustStore::Answer::Trust); // answers a question that is no longer pending
    QCOMPARE(bench.training.state(), RunState::Idle);
}

void CodeTrustTest::claimsInAConfigurationDoNotCount()
{
    app::Workbench bench;
    auto configuration = trainingOf(write(m_folder.filePath("e.pt"), "one"));
    QVERIFY(configuration.set("model.trusted_sha256", sha256("one").toStdString()));
    bench.configuration.set(configuration, "from somewhere");
    QVERIFY(start(bench));
    QCOMPARE(bench.training.state(), RunState::Idle);
}

void CodeTrustTest::anExperimentAsksToo()
{
    app::Workbench bench;
    bench.configuration.set(trainingOf(write(m_folder.filePath("f.pt"), "one")), "own");
    advisor::RuleAdvice advice;
    advice.id = "loader.workers";
    advice.advice.toggle = {"loader.workers", "0", "2"};
    QSignalSpy asked(&bench.trust, &app::TrustStore::codeAsked),
        started(&bench.experiments, &app::ExperimentService::started);
    bench.experiments.start(advice);
    QTRY_COMPARE(asked.count(), 1);
    QVERIFY(!bench.experiments.isRunning());
    bench.trust.answerCode(asked.front().front().value<CodeFile>(), TrustStore::Answer::Once);
    QCOMPARE(started.count(), 1);
    QVERIFY(bench.experiments.isRunning());
    bench.experiments.cancel();
    QTRY_VERIFY_WITH_TIMEOUT(!bench.experiments.isRunning(), 20000);
}

void CodeTrustTest::aCompiledModelIsAskedAboutToo()
{
    const QString path = write(m_folder.filePath("model.pt2"), "compiled");
    config::TrainingConfig configuration = shortTraining();
    // Claims in the configuration do not count.
    QVERIFY(configuration.set("eval.package", path.toStdString()));
    QVERIFY(configuration.set("eval.package_sha256", sha256("compiled").toStdString()));
    app::Workbench bench;
    bench.configuration.set(configuration, "own");
    const auto asked = start(bench);
    QVERIFY(asked);
    QCOMPARE(QString::fromStdString(asked->path.string()), path);
    QCOMPARE(bench.training.state(), RunState::Idle);
    bench.trust.answerCode(*asked, TrustStore::Answer::Once);
    QCOMPARE(bench.training.state(), RunState::Starting);
    finish(bench);
    QCOMPARE(bench.runs.all().front().configuration.text("eval.package_sha256"), sha256("compiled").toStdString());
}

void CodeTrustTest::anUnreadableFileIsReported()
{
    app::Workbench bench;
    bench.configuration.set(trainingOf(m_folder.filePath("gone.pt")), "own");
    QSignalSpy noticed(&bench.notices, &app::Notices::noticed);
    bench.training.start();
    QTRY_COMPARE(noticed.count(), 1);
    QVERIFY(noticed.front()[1].toString().contains("gone.pt"));
    QVERIFY(noticed.front()[2].toBool());
    QCOMPARE(bench.training.state(), RunState::Idle);
}

void CodeTrustTest::theDialogShowsWhatAndWhere()
{
    app_test::App app;
    app.bench.configuration.set(trainingOf(write(m_folder.filePath("shown.pt"), "one")), "own");
    app.bench.training.start();
    QTRY_VERIFY(app.window.findChild<app::TrustQuestion*>());
    auto* question = app.window.findChild<app::TrustQuestion*>();
    QTRY_VERIFY(question->isVisible());
    QCOMPARE(find<QLabel>(question, "path")->accessibleName(), m_folder.filePath("shown.pt"));
    QCOMPARE(find<QLabel>(question, "sha256")->accessibleName(), sha256("one"));
    QVERIFY(find<QLabel>(question, "what")->text().contains("TorchScript"));
    QVERIFY(find<QPushButton>(question, "cancel")->isDefault());
    find<QPushButton>(question, "trust")->click();
    QCOMPARE(app.bench.training.state(), RunState::Starting);
    QTRY_COMPARE_WITH_TIMEOUT(app.bench.training.state(), RunState::Idle, 20000);
    QTRY_VERIFY(!app.window.findChild<app::TrustQuestion*>());
    QSignalSpy states(&app.bench.training, &app::TrainingService::stateChanged);
    app.bench.training.start();
    QTRY_VERIFY(!states.isEmpty()); // it may already be past Starting
    QVERIFY(!app.window.findChild<app::TrustQuestion*>());
    finish(app.bench);
}

void CodeTrustTest::closingTheDialogStartsNothing()
{
    app_test::App app;
    app.bench.configuration.set(trainingOf(write(m_folder.filePath("closed.pt"), "one")), "own");
    app.bench.training.start();
    QTRY_VERIFY(app.window.findChild<app::TrustQuestion*>());
    auto* question = app.window.findChild<app::TrustQuestion*>();
    QTRY_VERIFY(question->isVisible());
    QTest::keyClick(question, Qt::Key_Escape);
    QTRY_VERIFY(!app.window.findChild<app::TrustQuestion*>());
    QCOMPARE(app.bench.training.state(), RunState::Idle);
    QVERIFY(app.bench.runs.all().empty() || app.bench.runs.all().front().configuration.text("model.path") !=
                                                m_folder.filePath("closed.pt").toStdString());
}

QTEST_MAIN(CodeTrustTest)
#include "code_trust_test.moc"
