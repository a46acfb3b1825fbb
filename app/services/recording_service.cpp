#include "app/services/recording_service.h"

#include "advisor/experiment/trainer_process.h"
#include "app/document/trace_document.h"
#include "app/document/trace_files.h"
#include "app/services/job_guard.h"
#include "profiler/os/shell_expansion.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QStandardPaths>
#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <csignal>

namespace app {

using profiler::Error;
using profiler::Result;

namespace {

// Gives the command's signal handlers time before the next signal.
constexpr std::chrono::milliseconds kPatience{8'000};
constexpr std::array kAskings = {SIGINT, SIGTERM, SIGQUIT};

bool setsVariable(const std::string& word)
{
    const std::size_t equals = word.find('=');
    return equals != std::string::npos && equals > 0 && std::isdigit(static_cast<unsigned char>(word[0])) == 0 &&
           std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                       [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; });
}

/// The name of the script, or of the program if there is no script.
QString titleOf(const std::vector<std::string>& command)
{
    const auto script = std::find_if(command.begin(), command.end(), [](const std::string& word) {
        return word.ends_with(".py") || word.ends_with(".sh");
    });
    return QFileInfo(QString::fromStdString(script == command.end() ? command.front() : *script)).fileName();
}

Error refused(profiler::os::ShellExpansionError reason)
{
    if (reason == profiler::os::ShellExpansionError::Syntax)
        return profiler::makeError<"record.command.quote", "The command has an unclosed quote.">(
            Error::Code::Invalid, {}, "Close it, or write \\ before a literal quote.");
    if (reason == profiler::os::ShellExpansionError::TooLong)
        return profiler::makeError<"record.command.long", "The command is too long.">(Error::Code::Invalid, {},
                                                                                      "Put it into a script.");
    return profiler::makeError<"record.command.several", "Only a single command can be recorded, without "
                                                         "{characters} between commands.">(
        Error::Code::Invalid, {}, "Put such characters in quotes, or record a script: bash train.sh",
        {{"characters", "| & ; < > ( ) { } $(…)"}});
}

/// Creates an empty file "20260131-142503-train.sstrace" in the user's recordings, so that two windows that start a
/// recording in the same second get different files.
Result<std::filesystem::path> newTrace(const std::vector<std::string>& command)
{
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + "/recordings";
    if (!QDir().mkpath(folder))
        return profiler::fail<"record.folder.not_made", "Cannot create the folder for recordings">(
            Error::Code::Permission, folder.toStdString(), "free disk space, or make the folder writable");
    QString name;
    for (const std::string& word : command) // a script's name is more informative than its interpreter's
        if (const QString stem = QFileInfo(QString::fromStdString(word)).completeBaseName();
            name.isEmpty() || word.ends_with(".py") || word.ends_with(".sh"))
            name = stem;
    name.replace(QRegularExpression("[^\\w.-]"), "_");
    const QString first = folder + '/' + QDateTime::currentDateTime().toString("yyyyMMdd-HHmmss-") + name.left(40);
    for (int number = 1; number < 1000; ++number) {
        QFile file(number == 1 ? first + ".sstrace" : first + '-' + QString::number(number) + ".sstrace");
        if (file.open(QIODevice::WriteOnly | QIODevice::NewOnly))
            return std::filesystem::path(file.fileName().toStdString());
        if (!QFileInfo::exists(file.fileName()))
            return profiler::fail<"record.folder.not_stored", "The recording cannot be stored: {why}">(
                Error::Code::Permission, folder.toStdString(), "free disk space, or make the folder writable",
                {{"why", file.errorString().toStdString()}});
    }
    return profiler::fail<"record.folder.no_name", "The folder for recordings has no free name">(
        Error::Code::Unavailable, folder.toStdString(), "delete recordings that you no longer need");
}

QStringList argumentsOf(const RecordRequest& request, const std::filesystem::path& trace, const QString& report)
{
    QStringList arguments{"record",   "-o",  QString::fromStdString(trace.string()), "--level", request.level,
                          "--report", report};
    if (request.operators)
        arguments << "--ops";
    if (request.operators && request.operatorsEvery > 0)
        arguments << "--ops-every" << QString::number(request.operatorsEvery) << "--ops-window"
                  << QString::number(request.operatorsWindow);
    if (!request.python)
        arguments << "--no-python";
    if (request.after > 0)
        arguments << "--after" << QString::number(request.after);
    if (request.seconds > 0)
        arguments << "--for" << QString::number(request.seconds);
    for (const std::string& assignment : request.environment)
        arguments << "--env" << QString::fromStdString(assignment);
    arguments << "--";
    for (const std::string& word : request.command)
        arguments << QString::fromStdString(word);
    return arguments;
}

} // namespace

Result<std::vector<std::string>> commandWords(const QString& line)
{
    auto expanded = profiler::os::expandShellWords(line.trimmed().toStdString());
    if (const auto* reason = std::get_if<profiler::os::ShellExpansionError>(&expanded))
        return tl::unexpected(refused(*reason));
    std::vector<std::string> words = std::get<std::vector<std::string>>(std::move(expanded));
    if (words.empty())
        return profiler::fail<"record.command.none", "The command is empty.">(Error::Code::Invalid, {},
                                                                              "Enter a command, for example: python "
                                                                              "train.py");
    if (setsVariable(words.front()))
        words.insert(words.begin(), "env");
    return words;
}

RecordingService::RecordingService(JobGuard* jobs, TraceDocument* document) : m_jobs(jobs), m_document(document)
{
    m_patience.setInterval(kPatience);
    m_patience.setSingleShot(true);
    connect(&m_patience, &QTimer::timeout, this, &RecordingService::stop);
    connect(&m_process, &ProgramProcess::started, this, [this] {
        m_document->followRecording(m_trace, m_process.pid(), m_title);
        emit started();
    });
    connect(&m_process, &ProgramProcess::output, this, &RecordingService::output);
    connect(&m_process, &ProgramProcess::ended, this, &RecordingService::finish);
    connect(&m_process, &ProgramProcess::failedToStart, this, [this](const QString& why) {
        removeEmptyTrace();
        endWith({{}, true, tr("The recording was not started: %1.").arg(why), {}});
    });
}

RecordingService::~RecordingService()
{
    if (!isRunning())
        return;
    m_process.endWithin(kPatience); // the recorder forwards the signal, and keeps the trace
    removeEmptyTrace();
    if (std::error_code ignored; std::filesystem::exists(m_trace, ignored))
        addRecentTrace(QString::fromStdString(m_trace.string()));
}

Result<void> RecordingService::start(const RecordRequest& request)
{
    const auto program = advisor::findCommandLineProgram();
    if (!program)
        return tl::unexpected(program.error());
    auto trace = newTrace(request.command);
    if (!trace)
        return tl::unexpected(trace.error());
    m_folder = std::make_unique<QTemporaryDir>();
    if (!m_folder->isValid())
        return profiler::fail<"files.no_temporary", "No space for temporary files">(
            Error::Code::NoSpace, QDir::tempPath().toStdString(), "free disk space there");
    m_trace = std::move(*trace);
    m_asked = 0;
    m_title = titleOf(request.command);
    m_jobs->begin(Job::Recording);
    m_process.start({QString::fromStdString(program->string()),
                     argumentsOf(request, m_trace, m_folder->filePath("report.json")), request.folder});
    return {};
}

void RecordingService::stop()
{
    if (!isRunning())
        return;
    m_process.send(kAskings[std::min(m_asked, kAskings.size() - 1)]);
    ++m_asked;
    m_patience.start();
}

void RecordingService::finish(int status)
{
    m_patience.stop();
    const RecordEnd end = readReport(status);
    m_folder.reset();
    removeEmptyTrace();
    if (!end.trace.empty())
        addRecentTrace(QString::fromStdString(end.trace.string()));
    endWith(end);
}

void RecordingService::endWith(const RecordEnd& end)
{
    m_document->leaveRecording();
    m_jobs->end(Job::Recording);
    emit ended(end);
}

void RecordingService::removeEmptyTrace()
{
    if (const QFileInfo info(QString::fromStdString(m_trace.string())); info.exists() && info.size() == 0)
        QFile::remove(info.filePath());
}

RecordEnd RecordingService::readReport(int status) const
{
    QFile file(m_folder->filePath("report.json"));
    const QJsonObject report =
        file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
    if (report.isEmpty())
        return {{},
                true,
                tr("The recorder exited without an error message (exit code %1).").arg(status),
                tr("Its output is below. Traces of individual processes may be next to %1.")
                    .arg(QString::fromStdString(m_trace.string()))};
    const QString how = report["ended"].toString();
    RecordEnd end;
    QStringList lines;
    if (report.contains("error")) {
        const QJsonObject error = report["error"].toObject();
        QString what = error["what"].toString();
        if (!what.isEmpty())
            what[0] = what[0].toUpper();
        end.failed = true;
        end.message = how.isEmpty() ? tr("%1.").arg(what) : tr("%1. The command %2.").arg(what, how);
        lines << error["where"].toString() << error["hint"].toString();
    } else {
        end.trace = m_trace;
        end.failed = report["exit_status"].toInt() != 0 && m_asked == 0;
        end.message = tr("The command %1. Its events were recorded.").arg(how);
        for (const QJsonValue note : report["notes"].toArray())
            lines << note.toString();
    }
    lines.removeAll(QString());
    end.detail = lines.join('\n');
    return end;
}

} // namespace app
