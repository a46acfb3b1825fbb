#include "app/services/code_trust.h"

#include "advisor/change/tool.h"
#include "advisor/runner/shell_words.h"

#include <QCryptographicHash>
#include <QFile>
#include <QFileInfo>
#include <QSettings>
#include <algorithm>
#include <system_error>

namespace app {

namespace {

constexpr qint64 kBlock = 1 << 20;

/// Slashes in paths would create groups in the settings.
QString settingsKey(const CodeFile& code)
{
    QByteArray text = QByteArray::fromStdString(code.path.string());
    if (code.isProgram())
        text += '\0' + code.command.toUtf8() + '\0' + code.folder.toUtf8();
    return "trusted_code/" + QString::fromLatin1(QCryptographicHash::hash(text, QCryptographicHash::Sha256).toHex());
}

profiler::Error unreadable(const CodeFile& code, const QString& why)
{
    const std::filesystem::path& path = code.path;
    if (code.isProgram())
        return profiler::makeError<"code.program_unreadable", "the program cannot be read: {why}">(
            profiler::Error::Code::Io, path.string(), "check the command and its working directory",
            {{"why", why.toStdString()}});
    return profiler::makeError<"model.unreadable", "the model file cannot be read: {why}">(
        profiler::Error::Code::Io, path.string(), "under Model file, choose a file that you can read",
        {{"why", why.toStdString()}});
}

} // namespace

std::optional<CodeFile> codeOf(const config::TrainingConfig& configuration)
{
    const std::string& workload = configuration[config::key::workload];
    const std::string& path = configuration[config::key::modelPath];
    if ((workload != "torchscript" && workload != "plugin") || path.empty())
        return std::nullopt;
    CodeFile code;
    code.path = QFileInfo(QString::fromStdString(path)).absoluteFilePath().toStdString();
    code.workload = QString::fromStdString(workload);
    return code;
}

CodeFile codeOf(const std::vector<std::string>& command, const std::filesystem::path& folder)
{
    CodeFile code;
    code.command = QString::fromStdString(advisor::runner::commandLine(command));
    code.folder = QString::fromStdString(folder.string());
    std::error_code ignored;
    for (const std::string& word : command)
        if (word.ends_with(".py") || word.ends_with(".sh"))
            if (const auto script = (folder / word).lexically_normal();
                std::filesystem::is_regular_file(script, ignored)) {
                code.path = script;
                return code;
            }
    if (command.empty())
        return code;
    const std::string& program = command.front();
    const auto found = program.find('/') == std::string::npos
                           ? advisor::change::findTool(program)
                           : profiler::Result<std::filesystem::path>(folder / program);
    code.path = found ? found->lexically_normal() : folder / program;
    return code;
}

profiler::Result<CodeFile> readCode(CodeFile code, const std::stop_token& stop)
{
    QFile file(QString::fromStdString(code.path.string()));
    if (QFileInfo(file).isDir())
        return tl::unexpected(unreadable(code, "it is a folder"));
    if (!file.open(QIODevice::ReadOnly))
        return tl::unexpected(unreadable(code, file.errorString()));
    QCryptographicHash hash(QCryptographicHash::Sha256);
    QByteArray block(kBlock, Qt::Uninitialized);
    for (;;) {
        if (stop.stop_requested())
            return profiler::fail<"work.cancelled", "cancelled">(profiler::Error::Code::Cancelled);
        const qint64 got = file.read(block.data(), kBlock);
        if (got < 0)
            return tl::unexpected(unreadable(code, file.errorString()));
        if (got == 0)
            break;
        hash.addData(QByteArrayView(block.constData(), got));
        code.bytes += got;
    }
    code.sha256 = QString::fromLatin1(hash.result().toHex());
    const QStringList known = QSettings().value(settingsKey(code)).toStringList();
    if (known.size() == 2 && known[0] != code.sha256)
        code.changedSince = QDateTime::fromString(known[1], Qt::ISODate);
    return code;
}

bool isTrusted(const CodeFile& file)
{
    return QSettings().value(settingsKey(file)).toStringList().value(0) == file.sha256;
}

void trust(const CodeFile& file)
{
    QSettings().setValue(settingsKey(file),
                         QStringList{file.sha256, QDateTime::currentDateTime().toString(Qt::ISODate)});
}

} // namespace app
