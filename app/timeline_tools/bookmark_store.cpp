#include "app/timeline_tools/bookmark_store.h"

#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <QStandardPaths>

namespace app {

namespace {

constexpr qint64 kLargestFile = 8'000'000;

} // namespace

BookmarkStore BookmarkStore::standard()
{
    return BookmarkStore(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + "/bookmarks");
}

QString BookmarkStore::fileFor(const std::filesystem::path& trace) const
{
    const QFileInfo info(QString::fromStdString(trace.string()));
    std::error_code failed;
    const auto modified = std::filesystem::last_write_time(trace, failed);
    if (!info.isFile() || failed)
        return {};
    return fileOf(QStringLiteral("%1\n%2").arg(info.canonicalFilePath()).arg(modified.time_since_epoch().count()));
}

QString BookmarkStore::olderFileFor(const std::filesystem::path& trace) const
{
    const QFileInfo info(QString::fromStdString(trace.string()));
    return fileOf(QStringLiteral("%1\n%2\n%3")
                      .arg(info.canonicalFilePath())
                      .arg(info.size())
                      .arg(info.lastModified().toMSecsSinceEpoch()));
}

QString BookmarkStore::fileOf(const QString& identity) const
{
    const QByteArray hash = QCryptographicHash::hash(identity.toUtf8(), QCryptographicHash::Sha256).toHex().left(32);
    return m_folder + '/' + QString::fromLatin1(hash) + ".json";
}

QByteArray BookmarkStore::toText(const std::vector<TimelineMark>& bookmarks)
{
    QJsonArray list;
    // Times are stored as text because JSON numbers cannot represent 64 bits.
    for (const TimelineMark& mark : bookmarks)
        list.append(QJsonObject{{"ns", QString::number(profiler::toNs(mark.time))}, {"note", mark.note}});
    return list.isEmpty() ? QByteArray() : QJsonDocument(list).toJson(QJsonDocument::Compact);
}

std::vector<TimelineMark> BookmarkStore::fromText(const QByteArray& text)
{
    std::vector<TimelineMark> found;
    for (const QJsonValue& entry : QJsonDocument::fromJson(text).array()) {
        bool valid = false;
        const qint64 ns = entry["ns"].toString().toLongLong(&valid);
        if (valid)
            found.push_back({profiler::traceTime(ns), true, entry["note"].toString()});
    }
    return found;
}

std::optional<std::vector<TimelineMark>> BookmarkStore::load(const std::filesystem::path& trace) const
{
    QFile file(fileFor(trace));
    if (!file.fileName().isEmpty() && !file.exists())
        file.setFileName(olderFileFor(trace));
    if (file.fileName().isEmpty() || file.size() > kLargestFile || !file.open(QIODevice::ReadOnly))
        return std::nullopt;
    const QJsonValue list = QJsonDocument::fromJson(file.readAll()).object()["bookmarks"];
    return fromText(QJsonDocument(list.toArray()).toJson());
}

profiler::Result<void> BookmarkStore::save(const std::filesystem::path& trace,
                                           const std::vector<TimelineMark>& bookmarks, bool evenNone) const
{
    const QString name = fileFor(trace);
    if (name.isEmpty())
        return profiler::fail<"bookmarks.no_trace", "the trace file no longer exists">(
            profiler::Error::Code::NotFound, trace.string(), "export the trace: the copy includes them");
    const auto failed = [&](const QString& why) {
        return profiler::fail<"bookmarks.unwritten", "{why}">(profiler::Error::Code::Io, name.toStdString(),
                                                              "free disk space, or make the folder writable",
                                                              {{"why", why.toStdString()}});
    };
    if (bookmarks.empty() && !evenNone) {
        QFile old(name);
        if (old.exists() && !old.remove())
            return failed(old.errorString());
        return {};
    }
    QDir().mkpath(m_folder);
    QSaveFile file(name);
    if (!file.open(QIODevice::WriteOnly))
        return failed(file.errorString());
    const QJsonArray list = QJsonDocument::fromJson(toText(bookmarks)).array();
    file.write(
        QJsonDocument(QJsonObject{{"trace", QString::fromStdString(trace.string())}, {"bookmarks", list}}).toJson());
    if (!file.commit())
        return failed(file.errorString());
    return {};
}

} // namespace app
