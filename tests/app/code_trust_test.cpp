#include "app/window/trust_question.h"
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
using app::CodeGate;
using app::RunState;
using app::Session;
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
std::optional<CodeFile> start(Session& session)
{
    QSignalSpy asked(&session, &Session::codeAsked);
    session.start();
    if (!QTest::qWaitFor([&] { return !asked.isEmpty() || session.runState() != RunState::Idle; }, 10000))
        return std::nullopt;
    return asked.isEmpty() ? std::nullopt : std::optional(asked.front().front().value<CodeFile>());
}

void finish(Session& session)
{
    if (!QTest::qWaitFor([&] { return session.runState() == RunState::Idle; }, 20000))
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
    Session session;
    session.setConfiguration(shortTraining(), "short");
    QVERIFY(!start(session));
    QCOMPARE(session.runState(), RunState::Starting);
    finish(session);
}

void CodeTrustTest::aModelFileIsAskedAboutBeforeAnythingStarts()
{
    Session session;
    session.setConfiguration(trainingOf(write(m_folder.filePath("a.pt"), "one")), "own");
    const auto asked = start(session);
    QVERIFY(asked);
    QCOMPARE(QString::fromStdString(asked->path.string()), m_folder.filePath("a.pt"));
    QCOMPARE(asked->sha256, sha256("one"));
    QCOMPARE(asked->bytes, 3);
    QVERIFY(!asked->changedSince);
    QCOMPARE(session.runState(), RunState::Idle);
    QVERIFY(session.runs().empty());
    session.answerCode(*asked, CodeGate::Answer::No);
    QTest::qWait(50);
    QCOMPARE(session.runState(), RunState::Idle);
    QVERIFY(session.runs().empty());
}

void CodeTrustTest::runOnceAllowsOneRun()
{
    Session session;
    session.setConfiguration(trainingOf(write(m_folder.filePath("a.so"), "one"), "plugin"), "own");
    for (int i = 0; i < 2; ++i) {
        const auto asked = start(session);
        QVERIFY(asked);
        QCOMPARE(asked->workload, QString("plugin"));
        session.answerCode(*asked, CodeGate::Answer::Once);
        QCOMPARE(session.runState(), RunState::Starting);
        finish(session);
    }
    QCOMPARE(session.runs().front().configuration.text("model.trusted_sha256"), sha256("one").toStdString());
}

void CodeTrustTest::trustIsRememberedUntilTheFileChanges()
{
    const QString path = write(m_folder.filePath("b.pt"), "one");
    {
        Session session;
        session.setConfiguration(trainingOf(path), "own");
        const auto asked = start(session);
        QVERIFY(asked);
        session.answerCode(*asked, CodeGate::Answer::Trust);
        finish(session);
    }
    Session later;
    later.setConfiguration(trainingOf(path), "own");
    QVERIFY(!start(later));
    QCOMPARE(later.runState(), RunState::Starting);
    finish(later);
    write(path, "two");
    const auto asked = start(later);
    QVERIFY(asked);
    QCOMPARE(asked->sha256, sha256("two"));
    QVERIFY(asked->changedSince);
}

void CodeTrustTest::trustIsForOnePath()
{
    Session session;
    session.setConfiguration(trainingOf(write(m_folder.filePath("c.pt"), "one")), "own");
    const auto first = start(session);
    QVERIFY(first);
    session.answerCode(*first, CodeGate::Answer::Trust);
    finish(session);
    session.setConfiguration(trainingOf(write(m_folder.filePath("d.pt"), "one")), "another");
    QVERIFY(start(session));
    session.answerCode(*first, CodeGate::Answer::Trust); // answers a question that is no longer pending
    QCOMPARE(session.runState(), RunState::Idle);
}

void CodeTrustTest::claimsInAConfigurationDoNotCount()
{
    Session session;
    auto configuration = trainingOf(write(m_folder.filePath("e.pt"), "one"));
    QVERIFY(configuration.set("model.trusted_sha256", sha256("one").toStdString()));
    session.setConfiguration(configuration, "from somewhere");
    QVERIFY(start(session));
    QCOMPARE(session.runState(), RunState::Idle);
}

void CodeTrustTest::anExperimentAsksToo()
{
    Session session;
    session.setConfiguration(trainingOf(write(m_folder.filePath("f.pt"), "one")), "own");
    advisor::RuleAdvice advice;
    advice.id = "loader.workers";
    advice.advice.toggle = {"loader.workers", "0", "2"};
    QSignalSpy asked(&session, &Session::codeAsked), started(&session, &Session::experimentStarted);
    session.startExperiment(advice);
    QTRY_COMPARE(asked.count(), 1);
    QVERIFY(!session.experimentRunning());
    session.answerCode(asked.front().front().value<CodeFile>(), CodeGate::Answer::Once);
    QCOMPARE(started.count(), 1);
    QVERIFY(session.experimentRunning());
    session.cancelExperiment();
    QTRY_VERIFY_WITH_TIMEOUT(!session.experimentRunning(), 20000);
}

void CodeTrustTest::aCompiledModelIsAskedAboutToo()
{
    const QString path = write(m_folder.filePath("model.pt2"), "compiled");
    config::TrainingConfig configuration = shortTraining();
    // Claims in the configuration do not count.
    QVERIFY(configuration.set("eval.package", path.toStdString()));
    QVERIFY(configuration.set("eval.package_sha256", sha256("compiled").toStdString()));
    Session session;
    session.setConfiguration(configuration, "own");
    const auto asked = start(session);
    QVERIFY(asked);
    QCOMPARE(QString::fromStdString(asked->path.string()), path);
    QCOMPARE(session.runState(), RunState::Idle);
    session.answerCode(*asked, CodeGate::Answer::Once);
    QCOMPARE(session.runState(), RunState::Starting);
    finish(session);
    QCOMPARE(session.runs().front().configuration.text("eval.package_sha256"), sha256("compiled").toStdString());
}

void CodeTrustTest::anUnreadableFileIsReported()
{
    Session session;
    session.setConfiguration(trainingOf(m_folder.filePath("gone.pt")), "own");
    QSignalSpy noticed(&session, &Session::noticed);
    session.start();
    QTRY_COMPARE(noticed.count(), 1);
    QVERIFY(noticed.front()[1].toString().contains("gone.pt"));
    QVERIFY(noticed.front()[2].toBool());
    QCOMPARE(session.runState(), RunState::Idle);
}

void CodeTrustTest::theDialogShowsWhatAndWhere()
{
    app_test::App app;
    app.session.setConfiguration(trainingOf(write(m_folder.filePath("shown.pt"), "one")), "own");
    app.session.start();
    QTRY_VERIFY(app.window.findChild<app::TrustQuestion*>());
    auto* question = app.window.findChild<app::TrustQuestion*>();
    QTRY_VERIFY(question->isVisible());
    QCOMPARE(find<QLabel>(question, "path")->accessibleName(), m_folder.filePath("shown.pt"));
    QCOMPARE(find<QLabel>(question, "sha256")->accessibleName(), sha256("one"));
    QVERIFY(find<QLabel>(question, "what")->text().contains("TorchScript"));
    QVERIFY(find<QPushButton>(question, "cancel")->isDefault());
    find<QPushButton>(question, "trust")->click();
    QCOMPARE(app.session.runState(), RunState::Starting);
    QTRY_COMPARE_WITH_TIMEOUT(app.session.runState(), RunState::Idle, 20000);
    QTRY_VERIFY(!app.window.findChild<app::TrustQuestion*>());
    QSignalSpy states(&app.session, &Session::runStateChanged);
    app.session.start();
    QTRY_VERIFY(!states.isEmpty()); // it may already be past Starting
    QVERIFY(!app.window.findChild<app::TrustQuestion*>());
    finish(app.session);
}

void CodeTrustTest::closingTheDialogStartsNothing()
{
    app_test::App app;
    app.session.setConfiguration(trainingOf(write(m_folder.filePath("closed.pt"), "one")), "own");
    app.session.start();
    QTRY_VERIFY(app.window.findChild<app::TrustQuestion*>());
    auto* question = app.window.findChild<app::TrustQuestion*>();
    QTRY_VERIFY(question->isVisible());
    QTest::keyClick(question, Qt::Key_Escape);
    QTRY_VERIFY(!app.window.findChild<app::TrustQuestion*>());
    QCOMPARE(app.session.runState(), RunState::Idle);
    QVERIFY(app.session.runs().empty() || app.session.runs().front().configuration.text("model.path") !=
                                              m_folder.filePath("closed.pt").toStdString());
}

QTEST_MAIN(CodeTrustTest)
#include "code_trust_test.moc"
