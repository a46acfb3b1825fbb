#include "app/services/machine_state.h"

#include "tests/app/app_support.h"
#include "tests/app/app_window.h"

#include <QFile>
#include <QLabel>
#include <QTemporaryDir>
#include <QTest>
#include <memory>

namespace {

constexpr int kPatienceMs = 20'000;

std::unique_ptr<app_test::OwnFolders> folders;

constexpr const char* kAnswer = R"({"schema": 1, "checks": [
    {"id": "program", "state": "works", "message": {"text": "complete"}, "fix": null},
    {"id": "trainer", "state": "limited", "message": {"text": "no trainer"}, "fix": "pip install 'stepscope[trainer]'"},
    {"id": "gpu", "state": "limited", "message": {"text": "no GPU"}, "fix": null},
    {"id": "display", "state": "limited", "message": {"text": "no display"}, "fix": "ssh -X"}]})";

} // namespace

/// What the machine lacks, on the start page.
class MachineStateTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void cleanup() { qunsetenv("STEPSCOPE_CLI"); }

    void onlyWhatACommandWouldAddIsShown()
    {
        answerWith(QString("cat <<'END'\n%1\nEND\n").arg(kAnswer));
        app_test::App app;
        auto* label = app.window.findChild<QLabel*>("machineProblems");
        QVERIFY(label);
        QVERIFY(label->isHidden());
        app.bench.machine.refresh();
        QTRY_COMPARE_WITH_TIMEOUT(app.bench.machine.problems().size(), std::size_t{1}, kPatienceMs);
        QCOMPARE(app.bench.machine.problems()[0].id, "trainer");
        QVERIFY(!label->isHidden());
        QCOMPARE(label->text(), "no trainer: pip install 'stepscope[trainer]'");
    }

    void anAnswerThatCannotBeReadChangesNothing()
    {
        answerWith("echo oops\n");
        app::MachineState machine;
        bool isChanged = false;
        connect(&machine, &app::MachineState::changed, this, [&] { isChanged = true; });
        machine.refresh();
        QTest::qWait(500);
        QVERIFY(!isChanged);
        QVERIFY(machine.problems().empty());
    }

    void aCheckThatHangsDoesNotDelayTheEnd()
    {
        answerWith("exec sleep 600\n");
        auto machine = std::make_unique<app::MachineState>();
        machine->refresh();
        QTest::qWait(200);
        QElapsedTimer time;
        time.start();
        machine.reset();
        QVERIFY(time.elapsed() < 5000);
    }

private:
    /// The answer of a terminal program that is a shell script.
    void answerWith(const QString& script)
    {
        QFile file(m_folder.filePath("stepscope-cli"));
        QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
        file.write("#!/bin/sh\n" + script.toUtf8());
        file.close();
        QVERIFY(file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        qputenv("STEPSCOPE_CLI", file.fileName().toUtf8());
    }

    QTemporaryDir m_folder;
};

QTEST_MAIN(MachineStateTest)
#include "machine_state_test.moc"
