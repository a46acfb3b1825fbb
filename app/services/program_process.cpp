#include "app/services/program_process.h"

#include "profiler/os/process.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QProcessEnvironment>
#include <QSettings>
#include <QStandardPaths>
#include <csignal>

namespace app {

ProgramProcess::ProgramProcess()
{
    m_process.setStandardInputFile(QProcess::nullDevice());
    m_process.setChildProcessModifier([] { profiler::os::receiveWhenParentEnds(SIGTERM); });
    connect(&m_process, &QProcess::started, this, &ProgramProcess::started);
    connect(&m_process, &QProcess::readyReadStandardOutput, this, &ProgramProcess::takeOutput);
    connect(&m_process, &QProcess::finished, this, [this](int status) {
        takeOutput();
        emit ended(status);
    });
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            emit failedToStart(m_process.errorString());
    });
}

ProgramProcess::~ProgramProcess()
{
    endWithin(std::chrono::milliseconds(0));
}

void ProgramProcess::start(const ProgramStart& what)
{
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const std::string& entry : what.environment)
        if (const auto equals = entry.find('='); equals != std::string::npos)
            environment.insert(QString::fromStdString(entry.substr(0, equals)),
                               QString::fromStdString(entry.substr(equals + 1)));
    m_decoder = QStringDecoder(QStringDecoder::System);
    m_process.setProcessEnvironment(environment);
    m_process.setWorkingDirectory(what.folder);
    m_process.setProcessChannelMode(what.errorsInOutput ? QProcess::MergedChannels : QProcess::SeparateChannels);
    m_process.setStandardErrorFile(what.errorsInOutput ? QString() : QProcess::nullDevice());
    m_process.start(what.program, what.arguments);
}

void ProgramProcess::send(int signal)
{
    if (isRunning())
        profiler::os::sendSignal(static_cast<profiler::os::ProcessId>(pid()), signal);
}

void ProgramProcess::endWithin(std::chrono::milliseconds patience)
{
    m_process.disconnect(this);
    if (!isRunning())
        return;
    if (patience.count() > 0) {
        m_process.terminate();
        m_process.waitForFinished(static_cast<int>(patience.count()));
    }
    if (isRunning()) {
        m_process.kill();
        m_process.waitForFinished();
    }
}

void ProgramProcess::takeOutput()
{
    if (const QByteArray bytes = m_process.readAllStandardOutput(); !bytes.isEmpty())
        emit output(m_decoder.decode(bytes));
}

namespace {

struct EditorText {
    Q_DECLARE_TR_FUNCTIONS(Editor)
};

struct Editor {
    const char* program;
    const char* arguments; ///< arguments separated by spaces
};
constexpr Editor kEditors[] = {
    {"code", "--goto {file}:{line}"},
    {"codium", "--goto {file}:{line}"},
    {"cursor", "--goto {file}:{line}"},
    {"pycharm", "--line {line} {file}"},
    {"zed", "{file}:{line}"},
    {"subl", "{file}:{line}"},
    {"kate", "--line {line} {file}"},
    {"gnome-text-editor", "+{line} {file}"},
    {"gedit", "+{line} {file}"},
    {"xed", "+{line} {file}"},
    {"geany", "+{line} {file}"},
    {"gvim", "+{line} {file}"},
    {"emacs", "+{line} {file}"},
    {"kwrite", "--line {line} {file}"},
    {"mousepad", "--line {line} {file}"},
};

/// Programs usually write their traces into their own folder, or into one of its subfolders.
constexpr int kFoldersAbove = 3;

QStringList filledIn(QStringList words, const QString& file, int line)
{
    for (QString& word : words)
        word.replace("{line}", QString::number(line)).replace("{file}", file);
    return words;
}

const Editor* knownEditor(const QString& program)
{
    const QString name = QFileInfo(program).fileName();
    for (const Editor& editor : kEditors)
        if (name == QLatin1String(editor.program))
            return &editor;
    return nullptr;
}

QStringList commandOf(const QString& program, const Editor& editor, const QString& file, int line)
{
    return filledIn(QStringList{program} + QString(editor.arguments).split(' '), file, line);
}

} // namespace

std::optional<QStringList> editorCommand(const QString& file, int line)
{
    const QString own = QSettings().value("editor/command").toString();
    if (QStringList words = QProcess::splitCommand(own); !words.isEmpty()) {
        if (!own.contains("{file}"))
            words << "{file}";
        return filledIn(words, file, line);
    }
    const QStringList visual = QProcess::splitCommand(qEnvironmentVariable("VISUAL"));
    if (const Editor* known = visual.isEmpty() ? nullptr : knownEditor(visual.first()))
        return commandOf(visual.first(), *known, file, line);
    for (const Editor& editor : kEditors)
        if (const QString found = QStandardPaths::findExecutable(editor.program); !found.isEmpty())
            return commandOf(found, editor, file, line);
    return std::nullopt;
}

QString openInEditor(const QString& file, int line)
{
    if (!QFileInfo(file).isAbsolute() || !QFileInfo(file).isFile())
        return EditorText::tr("%1 does not exist on this machine. The trace may have been recorded on another "
                              "one.")
            .arg(file);
    const auto command = editorCommand(file, line);
    if (!command)
        return EditorText::tr("No editor found. Set the environment variable VISUAL to a graphical editor, for example "
                              "VISUAL=code, and start Stepscope again.");
    if (!QProcess::startDetached(command->first(), command->mid(1))) // outlives the app
        return EditorText::tr("Could not start %1. Check the environment variable VISUAL.").arg(command->first());
    return {};
}

QString findSourceFile(const QString& file, const std::filesystem::path& trace)
{
    if (QFileInfo(file).isAbsolute())
        return QFileInfo(file).isFile() ? file : QString();
    QStringList folders;
    if (!trace.empty()) {
        QDir folder = QFileInfo(QString::fromStdString(trace.string())).absoluteDir();
        for (int level = 0; level <= kFoldersAbove && !folder.isRoot(); ++level) {
            folders << folder.path();
            folder = QFileInfo(folder.path()).dir();
        }
    }
    folders << QDir::currentPath();
    for (const QString& folder : folders)
        if (const QFileInfo found(QDir(folder), file); !file.isEmpty() && found.isFile())
            return QDir::cleanPath(found.absoluteFilePath());
    return {};
}

QString openSourceInEditor(const QString& file, int line, const std::filesystem::path& trace)
{
    const QString found = findSourceFile(file, trace);
    return openInEditor(found.isEmpty() ? file : found, line);
}

} // namespace app
