#include "app/window/application.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"

#include <QAbstractButton>
#include <QDir>
#include <QFile>
#include <QMessageBox>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>
#include <unistd.h>

using app::RunState;
using app_test::App;
using app_test::shortTraining;
using app_test::useScript;

namespace {

constexpr int kPatienceMs = 30'000;

std::unique_ptr<app_test::OwnFolders> folders;

/// Presses a button of the question when it appears, and returns its text.
class Answer : public QObject {
public:
    explicit Answer(QMessageBox::ButtonRole role) : m_role(role)
    {
        m_look.setInterval(20);
        connect(&m_look, &QTimer::timeout, this, &Answer::look);
        m_look.start();
    }
    [[nodiscard]] const QString& asked() const { return m_asked; }

private:
    void look()
    {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (!box)
            return;
        m_look.stop();
        m_asked = box->text() + ' ' + box->informativeText();
        for (QAbstractButton* button : box->buttons())
            if (box->buttonRole(button) == m_role)
                return button->click();
    }

    QMessageBox::ButtonRole m_role;
    QString m_asked;
    QTimer m_look;
};

/// Child processes that are still running.
QStringList childProcesses()
{
    QStringList all;
    for (const QString& thread : QDir("/proc/self/task").entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
        QFile file("/proc/self/task/" + thread + "/children");
        if (file.open(QIODevice::ReadOnly))
            all += QString::fromUtf8(file.readAll()).split(' ', Qt::SkipEmptyParts);
    }
    return all;
}

/// A trace that takes a moment to export.
QString largeTrace(const QTemporaryDir& folder)
{
    const QString path = folder.filePath("large.json");
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        qFatal("cannot write the test trace");
    file.write("[");
    for (int i = 0; i < 150'000; ++i)
        file.write(QString(R"({"name":"op %1","ph":"X","ts":%2,"dur":5,"pid":1,"tid":1},)")
                       .arg(i % 1000)
                       .arg(10 * i)
                       .toUtf8());
    file.write(R"({"name":"end","ph":"X","ts":1500000,"dur":5,"pid":1,"tid":1}])");
    return path;
}

QStringList filesIn(const QTemporaryDir& folder)
{
    return QDir(folder.path()).entryList(QDir::Files | QDir::Hidden);
}

advisor::RuleAdvice moreWorkers()
{
    advisor::RuleAdvice advice;
    advice.id = "loader.workers";
    advice.advice.toggle = advisor::Toggle{"loader.workers", "0", "2"};
    return advice;
}

} // namespace

class ClosingTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init();
    void anExportIsAskedAboutAndLeavesNoPart();
    void aMeasurementNeedsConfirmationAndItsTrainersEnd();
    void loadingIsStoppedWithoutAQuestion();
    void aSignalClosesAsAUserDoes();
    void anOpenQuestionDoesNotBlockASignal();
};

void ClosingTest::init()
{
    useScript("train");
    QSettings().clear();
}

void ClosingTest::anExportIsAskedAboutAndLeavesNoPart()
{
    const QTemporaryDir from, to;
    const std::string trace = largeTrace(from).toStdString();
    {
        App app;
        QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
        app.bench.document.openTrace(trace);
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
        app.bench.document.exportTrace(to.filePath("copy.json.gz").toStdString());
        QVERIFY(app.bench.document.isExporting());
        {
            const Answer cancel(QMessageBox::RejectRole);
            QVERIFY(!app.window.close());
            QVERIFY2(cancel.asked().contains("being exported will not be written"), qPrintable(cancel.asked()));
        }
        QVERIFY(app.window.isVisible());
        QTRY_VERIFY_WITH_TIMEOUT(!app.bench.document.isExporting(), kPatienceMs);
        QCOMPARE(filesIn(to), QStringList("copy.json.gz"));

        app.bench.document.exportTrace(to.filePath("other.json.gz").toStdString());
        const Answer stop(QMessageBox::AcceptRole);
        QVERIFY(app.window.close());
        QVERIFY(!stop.asked().isEmpty() && !app.window.isVisible());
    }
    QCOMPARE(filesIn(to), QStringList("copy.json.gz"));
}

void ClosingTest::aMeasurementNeedsConfirmationAndItsTrainersEnd()
{
    for (const bool tune : {true, false}) {
        useScript(tune ? "stuck" : "train");
        {
            App app;
            app.bench.configuration.set(shortTraining(100'000), "long");
            if (tune)
                app.bench.tuning.start(std::chrono::minutes(10));
            else
                app.bench.experiments.start(moreWorkers());
            QTRY_VERIFY_WITH_TIMEOUT(!childProcesses().isEmpty(), kPatienceMs);
            {
                const Answer cancel(QMessageBox::RejectRole);
                QVERIFY(!app.window.close());
                QVERIFY2(cancel.asked().contains("lost"), qPrintable(cancel.asked()));
            }
            QVERIFY(app.bench.jobs.isBusy() && app.window.isVisible());
            const Answer stop(QMessageBox::AcceptRole);
            QVERIFY(app.window.close());
            QVERIFY(!stop.asked().isEmpty() && !app.window.isVisible());
        }
        QCOMPARE(childProcesses(), QStringList());
    }
}

void ClosingTest::loadingIsStoppedWithoutAQuestion()
{
    const QTemporaryDir from;
    const std::string trace = largeTrace(from).toStdString();
    App app;
    QSignalSpy told(&app.bench.document, &app::TraceDocument::loading);
    app.bench.document.openTrace(trace);
    QTRY_VERIFY_WITH_TIMEOUT(told.count() > 3, kPatienceMs);
    QVERIFY(app.window.close()); // the file exists as before, so there is no question
    QVERIFY(!app.window.isVisible());
}

void ClosingTest::aSignalClosesAsAUserDoes()
{
    {
        App app;
        const app::EndSignals outside;
        connect(&outside, &app::EndSignals::asked, &app.window, &app::MainWindow::closeUnasked);
        app.bench.configuration.set(shortTraining(100'000), "long");
        app.bench.training.start();
        QTRY_COMPARE_WITH_TIMEOUT(app.bench.training.state(), RunState::Running, kPatienceMs);
        ::kill(::getpid(), SIGTERM);
        QTRY_VERIFY_WITH_TIMEOUT(!app.window.isVisible(), kPatienceMs);
        QCOMPARE(app.bench.runs.all().front().outcome.state, QString("stopped"));
        QVERIFY(QFile::exists(QString::fromStdString(app.bench.runs.all().front().trace().string())));
    }
    QCOMPARE(childProcesses(), QStringList());
}

void ClosingTest::anOpenQuestionDoesNotBlockASignal()
{
    App app;
    const app::EndSignals outside;
    connect(&outside, &app::EndSignals::asked, &app.window, &app::MainWindow::closeUnasked);
    app.bench.configuration.set(shortTraining(100'000), "long");
    app.bench.training.start();
    QTRY_COMPARE_WITH_TIMEOUT(app.bench.training.state(), RunState::Running, kPatienceMs);
    QTimer::singleShot(200, qApp, [] { ::kill(::getpid(), SIGINT); });
    app.window.close(); // asks, but there is no answer
    QTRY_VERIFY_WITH_TIMEOUT(!app.window.isVisible(), kPatienceMs);
    QVERIFY(!QApplication::activeModalWidget());
}

QTEST_MAIN(ClosingTest)
#include "closing_test.moc"
