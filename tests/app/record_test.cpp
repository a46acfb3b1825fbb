#include "app/document/trace_files.h"
#include "app/record/record_dialog.h"
#include "app/record/record_settings.h"
#include "app/window/window_dialogs.h"
#include "profiler/formats/format.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <csignal>
#include <unistd.h>

using app_test::App;
using app_test::find;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;
constexpr int kPatienceMs = 30'000;
constexpr const char* kKilledVariable = "STEPSCOPE_TEST_KILLED";

/// The record dialog, opened like a user does, with a command. The program is allowed.
app::RecordDialog* openDialog(App& app, const QString& line)
{
    find<QPushButton>(&app.window, "recordCard")->click();
    QObject::connect(
        &app.bench.trust, &app::TrustStore::codeAsked, &app.window,
        [&app] { find<QPushButton>(find<app::TrustQuestion>(&app.window, "trustQuestion"), "trust")->click(); },
        Qt::QueuedConnection);
    auto* dialog = find<app::RecordDialog>(&app.window, "recordDialog");
    find<QComboBox>(dialog, "command")->setCurrentText(line);
    return dialog;
}

void pressRecord(const app::RecordDialog* dialog)
{
    QSignalSpy changed(dialog, &app::RecordDialog::recordingChanged);
    find<QPushButton>(dialog, "record")->click();
    for (const char* error : {"commandError", "folderError", "environmentError"})
        if (find<QLabel>(dialog, error)->isVisible())
            return;
    if (!QTest::qWaitFor([&] { return !changed.isEmpty(); }, kPatienceMs))
        qFatal("the recording did not start in time");
}

QString textOf(const app::RecordDialog* dialog, const QString& label)
{
    return find<QLabel>(dialog, label)->text();
}

std::vector<std::string> words(const QString& line)
{
    const auto found = app::commandWords(line);
    return found ? *found : std::vector<std::string>{"refused: " + found.error().what.text};
}

QString output(const app::RecordDialog* dialog)
{
    return find<QPlainTextEdit>(dialog, "output")->toPlainText();
}

} // namespace

class RecordTest : public QObject {
    Q_OBJECT
public:
    static void initMain()
    {
        folders = std::make_unique<app_test::OwnFolders>();
        qputenv("STEPSCOPE_CLI", STEPSCOPE_CLI_PROGRAM);
    }

private slots:
    void init() { QSettings().clear(); }
    void wordsAreSplitLikeInAShell();
    void aProgramIsRecordedAndItsTraceOpened();
    void aProgramIsAskedAboutOnceForItsCommandAndContent();
    void returnStartsAndTheCommandIsRemembered();
    void aFailedStartIsReported();
    void eachFieldSaysWhatIsWrongWithItBeforeTheStart();
    void theEnvironmentReachesTheCommandAndIsRemembered();
    void twoWindowsThatRecordInTheSameSecondKeepTheirTraces();
    void theTraceNotesWhoEndedTheRecording();
    void aFailureIsReportedAndTheTraceStays();
    void stopEndsTheCommandAndKeepsItsTrace();
    void aPartOfARunIsRecorded();
    void operatorsOfSomeStepsAreRequested();
    void onlyOneAtATime();
    void aCharacterMayArriveInTwoParts();
    void theOptionsOfAProgramAreOffered();
    void theWindowWaitsForTheRecordingAndKeepsIt();
    void recordsAndIsKilled();
    void nothingIsLeftOfARecordingWhoseAppIsKilled();
};

void RecordTest::wordsAreSplitLikeInAShell()
{
    using Words = std::vector<std::string>;
    QCOMPARE(words("python 'my train.py' --name=\"a b\" c\\ d"), (Words{"python", "my train.py", "--name=a b", "c d"}));
    QCOMPARE(words("  LR=0.1 python x.py"), (Words{"env", "LR=0.1", "python", "x.py"}));
    qputenv("STEPSCOPE_TEST_WORD", "seen");
    QCOMPARE(words("echo $STEPSCOPE_TEST_WORD"), (Words{"echo", "seen"}));
    for (const char* line : {"a | b", "a; b", "a && b", "echo $(b)", "a > file"})
        QVERIFY2(words(line).front().starts_with("refused: Only a single command"), line);
    QVERIFY(words("echo 'open").front().starts_with("refused: The command has an unclosed quote"));
    QVERIFY(words("   ").front().starts_with("refused: The command is empty"));
}

void RecordTest::aProgramIsRecordedAndItsTraceOpened()
{
    App app;
    auto* dialog = openDialog(app, QString(NVTX_PROGRAM) + " ranges");
    QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
    pressRecord(dialog);
    QVERIFY(dialog->isRecording());
    QVERIFY(!find<QComboBox>(dialog, "command")->isEnabled());
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
    QCOMPARE(output(dialog), QString("level 0\nlevel 1\nlevel 1\nlevel 0\n"));
    QVERIFY(!dialog->isVisible());
    QCOMPARE(app.bench.document.trace()->ofKind(profiler::ActivityKind::Nvtx).size(), 4U);
    QVERIFY(app.bench.document.trace()->metadata().at("record.command").ends_with("nvtx_program ranges"));
    QCOMPARE(app::recentTraces().size(), 1);
}

void RecordTest::aProgramIsAskedAboutOnceForItsCommandAndContent()
{
    const QTemporaryDir folder;
    const auto write = [&](const char* text) {
        QFile script(folder.filePath("train.sh"));
        QVERIFY(script.open(QIODevice::WriteOnly));
        script.write(text);
    };
    write("echo ran >> trace-of-it\n");
    const auto ran = [&] {
        QFile trace(folder.filePath("trace-of-it"));
        return trace.open(QIODevice::ReadOnly) ? trace.readAll().count("ran") : 0;
    };
    App app;
    find<QPushButton>(&app.window, "recordCard")->click();
    auto* dialog = find<app::RecordDialog>(&app.window, "recordDialog");
    find<QComboBox>(dialog, "command")->setCurrentText("sh train.sh");
    find<QLineEdit>(dialog, "folder")->setText(folder.path());
    QSignalSpy asked(&app.bench.trust, &app::TrustStore::codeAsked),
        changed(dialog, &app::RecordDialog::recordingChanged);
    auto* record = find<QPushButton>(dialog, "record");
    const auto answer = [&](const char* button) {
        auto* question = find<app::TrustQuestion>(&app.window, "trustQuestion");
        QCOMPARE(find<QLabel>(question, "command")->accessibleName(), QString("sh train.sh"));
        QCOMPARE(find<QLabel>(question, "path")->accessibleName(), folder.filePath("train.sh"));
        find<QPushButton>(question, button)->click();
        QTRY_VERIFY(!app.window.findChild<app::TrustQuestion*>());
    };
    const auto finish = [&](int signalled) {
        QTRY_COMPARE_WITH_TIMEOUT(changed.count(), signalled, kPatienceMs); // started and ended
    };
    record->click();
    QTRY_COMPARE(asked.count(), 1);
    record->click(); // the form stays usable; the question is already open
    QTRY_COMPARE(asked.count(), 2);
    QCOMPARE(app.window.findChildren<app::TrustQuestion*>().size(), 1);
    answer("cancel");
    QCOMPARE(changed.count(), 0);
    record->click();
    QTRY_COMPARE(asked.count(), 3);
    answer("trust");
    finish(2);
    QCOMPARE(ran(), 1);
    record->click();
    finish(4);
    QCOMPARE(asked.count(), 3);
    write("echo ran twice >> trace-of-it\n");
    record->click();
    QTRY_COMPARE(asked.count(), 4);
    QVERIFY(asked.last().front().value<app::CodeFile>().changedSince);
    answer("runOnce");
    finish(6);
    find<QComboBox>(dialog, "command")->setCurrentText("sh train.sh again");
    record->click();
    QTRY_COMPARE(asked.count(), 5);
    QCOMPARE(ran(), 3);
}

void RecordTest::returnStartsAndTheCommandIsRemembered()
{
    const QTemporaryDir folder;
    QSignalSpy* opened = nullptr;
    {
        App app;
        opened = new QSignalSpy(&app.bench.document, &app::TraceDocument::traceOpened);
        auto* dialog = openDialog(app, {});
        QTest::keyClicks(find<QComboBox>(dialog, "command")->lineEdit(), QString(NVTX_PROGRAM) + " ranges");
        find<QLineEdit>(dialog, "folder")->setText(folder.path());
        find<QComboBox>(dialog, "level")->setCurrentIndex(2);
        QTest::keyClick(find<QComboBox>(dialog, "command")->lineEdit(), Qt::Key_Return);
        QTRY_COMPARE_WITH_TIMEOUT(opened->count(), 1, kPatienceMs);
        QCOMPARE(QString::fromStdString(app.bench.document.trace()->metadata().at("capture.level")), QString("full"));
        delete opened;
    }
    App app;
    auto* dialog = openDialog(app, {});
    auto* command = find<QComboBox>(dialog, "command");
    QCOMPARE(command->count(), 1);
    QVERIFY(command->itemText(0).endsWith("nvtx_program ranges"));
    QCOMPARE(find<QLineEdit>(dialog, "folder")->text(), folder.path());
    QCOMPARE(find<QComboBox>(dialog, "level")->currentData().toString(), QString("full"));
}

void RecordTest::aFailedStartIsReported()
{
    App app;
    auto* dialog = openDialog(app, "no-such-command-here --fast");
    auto* commandError = find<QLabel>(dialog, "commandError");
    QVERIFY(!commandError->isVisible());
    pressRecord(dialog);
    QVERIFY(!dialog->isRecording()); // nothing was started
    QVERIFY(commandError->isVisible());
    QVERIFY2(commandError->text().startsWith("Command not found: no-such-command-here."),
             qPrintable(commandError->text()));
    QVERIFY(dialog->isVisible());

    find<QComboBox>(dialog, "command")->setCurrentText("true");
    pressRecord(dialog);
    QTRY_VERIFY_WITH_TIMEOUT(textOf(dialog, "state").startsWith("Nothing was recorded"), kPatienceMs);

    QVERIFY(!commandError->isVisible());
    find<QLineEdit>(dialog, "folder")->setText("/no/such/folder");
    pressRecord(dialog);
    auto* folderError = find<QLabel>(dialog, "folderError");
    QVERIFY2(folderError->isVisible() && folderError->text().startsWith("The working directory does not exist."),
             qPrintable(folderError->text()));
    QVERIFY(!dialog->isRecording());
    QVERIFY(!commandError->isVisible());
}

void RecordTest::eachFieldSaysWhatIsWrongWithItBeforeTheStart()
{
    App app;
    const QTemporaryDir folder;
    auto* dialog = openDialog(app, "sh no-script.sh");
    find<QLineEdit>(dialog, "folder")->setText(folder.path());
    auto* environment = find<QPlainTextEdit>(dialog, "environment");
    auto* environmentError = find<QLabel>(dialog, "environmentError");
    auto* commandError = find<QLabel>(dialog, "commandError");
    // Checked while typing, without pressing Record.
    QTRY_VERIFY2(commandError->isVisible() && commandError->text().startsWith("The script does not exist"),
                 qPrintable(commandError->text()));
    QVERIFY(QFile(folder.filePath("no-script.sh")).open(QIODevice::WriteOnly));
    environment->setPlainText("A=1\n\nTHREADS");
    QTRY_VERIFY(environmentError->isVisible() && !commandError->isVisible());
    QVERIFY2(environmentError->text().contains("THREADS is not of the form NAME=VALUE"),
             qPrintable(environmentError->text()));
    environment->setPlainText("A=1\nA=2");
    QTRY_VERIFY2(environmentError->text().contains("A is set twice"), qPrintable(environmentError->text()));
    pressRecord(dialog);
    QVERIFY(!dialog->isRecording());
    environment->setPlainText("A=1\nB=2");
    QTRY_VERIFY(!environmentError->isVisible());
    find<QComboBox>(dialog, "command")->setCurrentText("echo 'open");
    QTRY_VERIFY2(commandError->isVisible() && commandError->text().contains("an unclosed quote"),
                 qPrintable(commandError->text()));
    find<QComboBox>(dialog, "command")->setCurrentText({});
    QTRY_VERIFY(!commandError->isVisible()); // an empty field is an error only at the start
    pressRecord(dialog);
    QVERIFY2(commandError->text().startsWith("The command is empty"), qPrintable(commandError->text()));
}

void RecordTest::theEnvironmentReachesTheCommandAndIsRemembered()
{
    {
        App app;
        auto* dialog = openDialog(app, "printenv FIRST SECOND");
        find<QPlainTextEdit>(dialog, "environment")->setPlainText("FIRST=one\nSECOND=a b");
        pressRecord(dialog);
        QVERIFY(QTest::qWaitFor([&] { return !dialog->isRecording(); }, kPatienceMs));
        QCOMPARE(output(dialog), QString("one\na b\n"));
    }
    App app;
    QCOMPARE(find<QPlainTextEdit>(openDialog(app, {}), "environment")->toPlainText(), QString("FIRST=one\nSECOND=a b"));
}

void RecordTest::twoWindowsThatRecordInTheSameSecondKeepTheirTraces()
{
    app::Workbench firstBench, secondBench;
    app::RecordingService &first = firstBench.recording, &second = secondBench.recording;
    QSignalSpy firstEnded(&first, &app::RecordingService::ended), secondEnded(&second, &app::RecordingService::ended);
    const auto request = [](const char* what) {
        return app::RecordRequest{.command = {NVTX_PROGRAM, what}, .folder = QDir::tempPath(), .environment = {}};
    };
    QVERIFY(first.start(request("ranges")));
    QVERIFY(second.start(request("ranges")));
    QTRY_VERIFY_WITH_TIMEOUT(!firstEnded.isEmpty() && !secondEnded.isEmpty(), kPatienceMs);
    const auto a = firstEnded[0][0].value<app::RecordEnd>(), b = secondEnded[0][0].value<app::RecordEnd>();
    QVERIFY2(!a.failed && !b.failed, qPrintable(a.message + b.message));
    QVERIFY(a.trace != b.trace);
    for (const auto& path : {a.trace, b.trace}) {
        const auto trace = profiler::formats::openTrace(path, {});
        QVERIFY(trace);
        QCOMPARE((*trace)->ofKind(profiler::ActivityKind::Nvtx).size(), 4U);
    }
    // A failed recording leaves no file behind.
    const auto files = [&] {
        return QDir(QString::fromStdString(a.trace.parent_path().string())).entryList(QDir::Files);
    };
    const auto before = files();
    QSignalSpy ended(&first, &app::RecordingService::ended);
    QVERIFY(first.start({.command = {"true"}, .folder = QDir::tempPath(), .environment = {}}));
    QTRY_VERIFY_WITH_TIMEOUT(!ended.isEmpty(), kPatienceMs);
    QCOMPARE(files(), before);
}

void RecordTest::theTraceNotesWhoEndedTheRecording()
{
    App app;
    auto* dialog = openDialog(app, QString("sh -c '%1 ranges; kill -TERM $$'").arg(NVTX_PROGRAM));
    QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
    pressRecord(dialog);
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
    const auto notes = app.bench.document.trace()->captureStats().notes;
    QVERIFY(std::any_of(notes.begin(), notes.end(),
                        [](const auto& note) { return note.id == "record.ended.program_killed"; }));
}

void RecordTest::aFailureIsReportedAndTheTraceStays()
{
    App app;
    auto* dialog = openDialog(app, QString(NVTX_PROGRAM) + " crash");
    QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
    pressRecord(dialog);
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
    QVERIFY2(textOf(dialog, "state").contains("was killed by signal 11"), qPrintable(textOf(dialog, "state")));
    QVERIFY(dialog->isVisible());
    QVERIFY(app.bench.document.trace()->ofKind(profiler::ActivityKind::Nvtx).size() > 0);
}

void RecordTest::stopEndsTheCommandAndKeepsItsTrace()
{
    App app;
    auto* dialog = openDialog(app, QString("sh -c '%1 ranges; echo ready; exec sleep 600'").arg(NVTX_PROGRAM));
    QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
    pressRecord(dialog);
    QTRY_VERIFY_WITH_TIMEOUT(output(dialog).contains("ready"), kPatienceMs);
    find<QPushButton>(dialog, "stopRecording")->click();
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
    QVERIFY(!dialog->isRecording());
    QCOMPARE(app.bench.document.trace()->ofKind(profiler::ActivityKind::Nvtx).size(), 4U);
}

void RecordTest::aPartOfARunIsRecorded()
{
    App app;
    auto* dialog = openDialog(app, QString(NVTX_PROGRAM) + " slowly 10");
    QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
    find<QCheckBox>(dialog, "part")->setChecked(true);
    find<QDoubleSpinBox>(dialog, "after")->setValue(0.3);
    find<QDoubleSpinBox>(dialog, "seconds")->setValue(0.3);
    pressRecord(dialog);
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
    const auto ranges = app.bench.document.trace()->ofKind(profiler::ActivityKind::Nvtx).size();
    QVERIFY(ranges > 0 && ranges < 10);
}

void RecordTest::operatorsOfSomeStepsAreRequested()
{
    const auto press = [](app::RecordDialog* dialog) {
        pressRecord(dialog);
        QVERIFY(QTest::qWaitFor([&] { return !dialog->isRecording(); }, kPatienceMs));
    };
    {
        App app;
        auto* dialog = openDialog(app, "printenv STEPSCOPE_OPS_EVERY STEPSCOPE_OPS_WINDOW");
        auto* windows = find<QCheckBox>(dialog, "windows");
        QVERIFY(!windows->isEnabled());
        find<QCheckBox>(dialog, "operators")->setChecked(true);
        QVERIFY(windows->isEnabled() && !find<QSpinBox>(dialog, "every")->isEnabled());
        press(dialog);
        QCOMPARE(output(dialog).trimmed(), QString());
        windows->setChecked(true);
        find<QSpinBox>(dialog, "every")->setValue(200);
        find<QSpinBox>(dialog, "window")->setValue(3);
        press(dialog);
        QCOMPARE(output(dialog), QString("200\n3\n"));
    }
    App app;
    auto* dialog = openDialog(app, {});
    QVERIFY(find<QCheckBox>(dialog, "windows")->isChecked());
    QCOMPARE(find<QSpinBox>(dialog, "every")->value(), 200);
    find<QCheckBox>(dialog, "python")->setChecked(false);
    QVERIFY(!find<QCheckBox>(dialog, "windows")->isEnabled() && !find<QSpinBox>(dialog, "every")->isEnabled());
}

void RecordTest::onlyOneAtATime()
{
    App app;
    auto* dialog = openDialog(app, QString(NVTX_PROGRAM) + " ranges");
    app_test::useScript("train");
    app.bench.configuration.set(app_test::shortTraining(), "short");
    app.bench.training.start();
    QVERIFY(!find<QPushButton>(dialog, "record")->isEnabled());
    QTRY_COMPARE_WITH_TIMEOUT(app.bench.training.state(), app::RunState::Idle, kPatienceMs);
    QVERIFY(find<QPushButton>(dialog, "record")->isEnabled());
    // And vice versa.
    QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
    pressRecord(dialog);
    QVERIFY(!find<QAction>(&app.window, "start")->isEnabled());
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
    QVERIFY(find<QAction>(&app.window, "start")->isEnabled());
}

void RecordTest::aCharacterMayArriveInTwoParts()
{
    App app;
    auto* dialog = openDialog(app, R"(sh -c 'printf "caf\303"; sleep 0.4; printf "\251!"')");
    pressRecord(dialog);
    QTRY_VERIFY_WITH_TIMEOUT(output(dialog).contains("!"), kPatienceMs);
    QVERIFY2(output(dialog).startsWith("café!"), qPrintable(output(dialog)));
    QTRY_VERIFY_WITH_TIMEOUT(!dialog->isRecording(), kPatienceMs);
}

void RecordTest::theOptionsOfAProgramAreOffered()
{
    const auto listed = app::optionsOfHelp("usage: train.py [-h] [--lr LR]\n\noptions:\n"
                                           "  -h, --help            show this help message and exit\n"
                                           "  --lr LR               learning rate\n"
                                           "  -w N, --workers N     how many\n"
                                           "  --a-long-name-without-room NAME\n"
                                           "                        on the next line\n"
                                           "  --amp                 mixed precision\n");
    using Options = std::vector<app::CommandOption>;
    QCOMPARE(listed, (Options{{"--lr", "LR", "learning rate"},
                              {"--workers", "N", "how many"},
                              {"--a-long-name-without-room", "NAME", "on the next line"},
                              {"--amp", "", "mixed precision"}}));
    QVERIFY(app::optionsOfHelp("--lr 0.1 is used\n").empty());

    const QTemporaryDir folder;
    QFile script(folder.filePath("train.py"));
    QVERIFY(script.open(QIODevice::WriteOnly));
    script.write("import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--epochs', type=int)\n"
                 "parser.parse_args()\nopen('trained', 'w')\n");
    script.close();
    App app;
    auto* dialog = openDialog(app, "python3 train.py");
    find<QLineEdit>(dialog, "folder")->setText(folder.path());
    auto* menu = find<QMenu>(dialog, "optionsMenu");
    const auto entries = [&] {
        emit menu->aboutToShow();
        return menu->actions();
    };
    QCOMPARE(entries().size(), 1); // to query the program's options
    entries().front()->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(entries().size() > 1, kPatienceMs);
    menu->close();
    QCOMPARE(entries().front()->text(), QString("--epochs EPOCHS"));
    entries().front()->trigger();
    QCOMPARE(find<QComboBox>(dialog, "command")->currentText(), QString("python3 train.py --epochs EPOCHS"));
    QCOMPARE(find<QComboBox>(dialog, "command")->lineEdit()->selectedText(), QString("EPOCHS"));
    QVERIFY(!QFile::exists(folder.filePath("trained")));
}

void RecordTest::theWindowWaitsForTheRecordingAndKeepsIt()
{
    App app;
    auto* dialog = openDialog(app, QString("sh -c '%1 ranges; echo ready; exec sleep 600'").arg(NVTX_PROGRAM));
    pressRecord(dialog);
    QTRY_VERIFY_WITH_TIMEOUT(output(dialog).contains("ready"), kPatienceMs);
    QTimer::singleShot(100, qApp, [] {
        if (auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget()))
            for (QAbstractButton* button : box->buttons())
                if (box->buttonRole(button) == QMessageBox::AcceptRole)
                    return button->click();
    });
    QVERIFY(!app.window.close());
    QVERIFY(dialog->isRecording() && app.window.isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(!app.window.isVisible(), kPatienceMs);
    QVERIFY(!dialog->isRecording());
    QCOMPARE(app::recentTraces().size(), 1);
    QVERIFY(QFile::exists(app::recentTraces().front()));
}

/// Started by the test below as a separate process; does nothing when run as a test.
void RecordTest::recordsAndIsKilled()
{
    const QString told = qEnvironmentVariable(kKilledVariable);
    if (told.isEmpty())
        return;
    app::Workbench bench;
    QVERIFY(bench.recording.start({.command = {"sh", "-c", "echo $$ > " + told.toStdString() + "; exec sleep 600"},
                                   .folder = QDir::tempPath(),
                                   .environment = {}}));
    QTRY_VERIFY_WITH_TIMEOUT(QFileInfo(told).size() > 0, kPatienceMs);
    ::kill(::getpid(), SIGKILL);
}

void RecordTest::nothingIsLeftOfARecordingWhoseAppIsKilled()
{
    const QTemporaryDir folder;
    QProcess process;
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert(kKilledVariable, folder.filePath("pid"));
    process.setProcessEnvironment(environment);
    process.start(QCoreApplication::applicationFilePath(), {"recordsAndIsKilled"});
    QVERIFY(process.waitForFinished(kPatienceMs));
    QCOMPARE(process.exitStatus(), QProcess::CrashExit);
    QFile file(folder.filePath("pid"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const auto command = static_cast<pid_t>(file.readAll().trimmed().toInt());
    QVERIFY(command > 0);
    QTRY_VERIFY_WITH_TIMEOUT(::kill(command, 0) != 0, kPatienceMs);
}

QTEST_MAIN(RecordTest)
#include "record_test.moc"
