#include "app/session/code_trust.h"

#include <QCryptographicHash>
#include <QFile>
#include <QFileInfo>
#include <QSettings>

namespace app {

namespace {

constexpr qint64 kBlock = 1 << 20;

/// Paths have slashes, which would be groups of the settings.
QString settingsKey(const std::filesystem::path& path)
{
    const QByteArray text = QByteArray::fromStdString(path.string());
    return "trusted_code/" + QString::fromLatin1(QCryptographicHash::hash(text, QCryptographicHash::Sha256).toHex());
}

profiler::Error unreadable(const std::filesystem::path& path, const QString& why)
{
    return profiler::makeError<"model.unreadable", "the model file cannot be read: {why}">(
        profiler::Error::Code::Io, path.string(), "choose a file that exists and that you may read under Model file",
        {{"why", why.toStdString()}});
}

} // namespace

std::optional<std::filesystem::path> codePath(const config::TrainingConfig& configuration)
{
    const std::string& workload = configuration[config::key::workload];
    const std::string& path = configuration[config::key::modelPath];
    if ((workload != "torchscript" && workload != "plugin") || path.empty())
        return std::nullopt;
    return std::filesystem::path(QFileInfo(QString::fromStdString(path)).absoluteFilePath().toStdString());
}

profiler::Result<CodeFile> readCode(const config::TrainingConfig& configuration, const std::stop_token& stop)
{
    CodeFile code;
    code.path = codePath(configuration).value_or(std::filesystem::path());
    code.workload = QString::fromStdString(configuration[config::key::workload]);
    QFile file(QString::fromStdString(code.path.string()));
    if (QFileInfo(file).isDir())
        return tl::unexpected(unreadable(code.path, "it is a folder"));
    if (!file.open(QIODevice::ReadOnly))
        return tl::unexpected(unreadable(code.path, file.errorString()));
    QCryptographicHash hash(QCryptographicHash::Sha256);
    QByteArray block(kBlock, Qt::Uninitialized);
    for (;;) {
        if (stop.stop_requested())
            return profiler::fail<"work.cancelled", "cancelled">(profiler::Error::Code::Cancelled);
        const qint64 got = file.read(block.data(), kBlock);
        if (got < 0)
            return tl::unexpected(unreadable(code.path, file.errorString()));
        if (got == 0)
            break;
        hash.addData(QByteArrayView(block.constData(), got));
        code.bytes += got;
    }
    code.sha256 = QString::fromLatin1(hash.result().toHex());
    const QStringList known = QSettings().value(settingsKey(code.path)).toStringList();
    if (known.size() == 2 && known[0] != code.sha256)
        code.changedSince = QDateTime::fromString(known[1], Qt::ISODate);
    return code;
}

bool isTrusted(const CodeFile& file)
{
    return QSettings().value(settingsKey(file.path)).toStringList().value(0) == file.sha256;
}

void trust(const CodeFile& file)
{
    QSettings().setValue(settingsKey(file.path),
                         QStringList{file.sha256, QDateTime::currentDateTime().toString(Qt::ISODate)});
}

} // namespace app
