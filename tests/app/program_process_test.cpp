#include "app/services/program_process.h"

#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>

using app::ProgramProcess;
using app::ProgramStart;

namespace {

constexpr int kPatienceMs = 30'000;

QString outputOf(const QSignalSpy& output)
{
    QString all;
    for (const auto& part : output)
        all += part.at(0).toString();
    return all;
}

ProgramStart shell(const QString& script)
{
    return {"/bin/sh", {"-c", script}, {}};
}

} // namespace

class ProgramProcessTest : public QObject {
    Q_OBJECT
private slots:
    void allOutputArrivesBeforeTheStatus();
    void errorsCanBeLeftOut();
    void aProgramGetsItsFolderItsEnvironmentAndNoInput();
    void aMissingProgramIsReported();
    void aSignalEndsIt();
    void oneThatIgnoresSigtermIsKilled();
};

void ProgramProcessTest::allOutputArrivesBeforeTheStatus()
{
    ProgramProcess process;
    QSignalSpy output(&process, &ProgramProcess::output);
    QString atEnd;
    int status = -1;
    connect(&process, &ProgramProcess::ended, this, [&](int how) {
        atEnd = outputOf(output);
        status = how;
    });
    process.start(shell("printf 'a\\303'; sleep 0.2; printf '\\244'; echo error >&2; exit 3"));
    QTRY_COMPARE_WITH_TIMEOUT(status, 3, kPatienceMs);
    QCOMPARE(atEnd, QString("aäerror\n"));
    QVERIFY(!process.isRunning());
}

void ProgramProcessTest::errorsCanBeLeftOut()
{
    ProgramProcess process;
    QSignalSpy output(&process, &ProgramProcess::output), ended(&process, &ProgramProcess::ended);
    ProgramStart start = shell("echo error >&2; echo text");
    start.errorsInOutput = false;
    process.start(start);
    QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, kPatienceMs);
    QCOMPARE(outputOf(output), QString("text\n"));
}

void ProgramProcessTest::aProgramGetsItsFolderItsEnvironmentAndNoInput()
{
    ProgramProcess process;
    QSignalSpy output(&process, &ProgramProcess::output), ended(&process, &ProgramProcess::ended);
    const QTemporaryDir folder;
    ProgramStart start = shell("pwd; echo $COLOUR; cat");
    start.folder = folder.path();
    start.environment = {"COLOUR=blue=green"};
    process.start(start);
    QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, kPatienceMs);
    QCOMPARE(outputOf(output), folder.path() + "\nblue=green\n");
}

void ProgramProcessTest::aMissingProgramIsReported()
{
    ProgramProcess process;
    QSignalSpy failed(&process, &ProgramProcess::failedToStart), ended(&process, &ProgramProcess::ended);
    process.start({"/nowhere/program", {}, {}});
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, kPatienceMs);
    QVERIFY(!failed.at(0).at(0).toString().isEmpty());
    QCOMPARE(ended.count(), 0);
}

void ProgramProcessTest::aSignalEndsIt()
{
    ProgramProcess process;
    QSignalSpy output(&process, &ProgramProcess::output), ended(&process, &ProgramProcess::ended);
    process.start(shell("trap 'exit 7' INT; echo ready; while :; do sleep 0.05; done"));
    QTRY_COMPARE_WITH_TIMEOUT(outputOf(output), QString("ready\n"), kPatienceMs);
    process.send(SIGINT);
    QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, kPatienceMs);
    QCOMPARE(ended.at(0).at(0).toInt(), 7);
}

void ProgramProcessTest::oneThatIgnoresSigtermIsKilled()
{
    ProgramProcess process;
    QSignalSpy output(&process, &ProgramProcess::output), ended(&process, &ProgramProcess::ended);
    process.start(shell("trap '' TERM; echo ready; while :; do sleep 0.05; done"));
    QTRY_COMPARE_WITH_TIMEOUT(outputOf(output), QString("ready\n"), kPatienceMs);
    process.endWithin(std::chrono::milliseconds(100));
    QVERIFY(!process.isRunning());
    QCOMPARE(ended.count(), 0);
}

QTEST_MAIN(ProgramProcessTest)
#include "program_process_test.moc"
