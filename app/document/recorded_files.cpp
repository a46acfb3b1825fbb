#include "app/document/recorded_files.h"

#include "advisor/change/apply.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <optional>

namespace app {

namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(RecordedFiles)
};

constexpr qint64 kLargest = 16 << 20; ///< bytes of a source file; larger ones are data

/// Returns nothing for a path that is not a regular file: a trace may name a pipe or a device.
std::optional<QByteArray> readSource(const QString& path)
{
    const QFileInfo info(path);
    QFile file(path);
    if (!info.isFile() || info.size() > kLargest || !file.open(QIODevice::ReadOnly))
        return std::nullopt;
    return file.readAll();
}

QString hashOf(const QByteArray& bytes)
{
    return QString::fromLatin1(QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex());
}

std::optional<QByteArray> originalOf(const QString& path)
{
    const auto originals = advisor::change::defaultOriginals();
    if (!originals)
        return std::nullopt;
    const auto applied = advisor::change::appliedFiles({path.toStdString()}, *originals);
    return applied.empty() ? std::nullopt : std::optional(QByteArray::fromStdString(applied.front().original));
}

QStringList linesOf(QByteArray bytes)
{
    if (bytes.startsWith("\xef\xbb\xbf"))
        bytes.remove(0, 3);
    QString text = QString::fromUtf8(bytes);
    text.replace("\r\n", "\n");
    text.replace('\r', '\n');
    if (text.endsWith('\n'))
        text.chop(1);
    return text.split('\n');
}

RecordedFile read(const QString& path, const QString& recordedHash)
{
    RecordedFile file{path, {}, {}};
    auto bytes = readSource(path);
    if (!bytes) {
        file.problem = Texts::tr("%1 does not exist on this machine or cannot be read.").arg(path);
        return file;
    }
    if (recordedHash.isEmpty() || hashOf(*bytes) != recordedHash)
        bytes = originalOf(path);
    if (!bytes || hashOf(*bytes) != recordedHash)
        file.problem = Texts::tr("%1 has changed since the recording. Record the program again to see its lines.")
                           .arg(QFileInfo(path).fileName());
    else
        file.lines = linesOf(*bytes);
    return file;
}

} // namespace

std::vector<RecordedFile> recordedFiles(const profiler::Trace& trace)
{
    std::vector<RecordedFile> files;
    const auto found = trace.metadata().find("program");
    if (found == trace.metadata().end())
        return files;
    const QJsonObject program = QJsonDocument::fromJson(QByteArray::fromStdString(found->second)).object();
    for (const QJsonValue entry : program["files"].toArray())
        if (const QString path = entry["path"].toString(); !path.isEmpty())
            files.push_back(read(path, entry["sha256"].toString()));
    const QString script = program["script"].toString();
    std::stable_partition(files.begin(), files.end(), [&](const RecordedFile& file) { return file.path == script; });
    return files;
}

const RecordedFile* findFile(const std::vector<RecordedFile>& files, const QString& path)
{
    const auto found =
        std::find_if(files.begin(), files.end(), [&](const RecordedFile& file) { return file.path == path; });
    return found == files.end() ? nullptr : &*found;
}

} // namespace app
