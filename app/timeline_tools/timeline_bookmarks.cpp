#include "app/timeline_tools/timeline_bookmarks.h"

#include "app/look/display_text.h"
#include "app/timeline/timeline_canvas.h"

#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QInputDialog>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMenu>
#include <QSaveFile>
#include <QStandardPaths>
#include <utility>

namespace app {

namespace {

constexpr qint64 kLargestFile = 8'000'000;
constexpr qsizetype kLongestNote = 500;

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
    for (const QJsonValue entry : QJsonDocument::fromJson(text).array()) {
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

TimelineBookmarks::TimelineBookmarks(TimelineCanvas* canvas, BookmarkStore store, QWidget* parent)
    : QObject(parent), m_canvas(canvas), m_store(std::move(store)), m_parent(parent)
{
    auto* menu = new QMenu(tr("Bookmarks"), parent);
    menu->setObjectName("bookmarks");
    connect(menu, &QMenu::aboutToShow, this, [this, menu] { list(menu); });
    canvas->addAction(menu->menuAction());
    connect(canvas, &TimelineCanvas::bookmarkWanted, this, &TimelineBookmarks::askNote);
    connect(canvas, &TimelineCanvas::bookmarksChanged, this, [this] {
        if (!m_loading)
            this->store();
        emit changed(BookmarkStore::toText(m_canvas->scene().marks.bookmarks()));
    });
}

void TimelineBookmarks::replaceTrace(const profiler::Trace& trace, const std::filesystem::path& file)
{
    m_file = file;
    const auto& metadata = trace.metadata();
    const auto brought = metadata.find(kMetadataKey);
    auto bookmarks = m_store.load(m_file);
    if (!bookmarks && brought != metadata.end())
        bookmarks = BookmarkStore::fromText(QByteArray::fromStdString(brought->second));
    m_loading = true;
    m_canvas->setBookmarks(bookmarks.value_or(std::vector<TimelineMark>{}));
    m_loading = false;
}

void TimelineBookmarks::updateTrace(const profiler::Trace& trace)
{
    if (!trace.captureStats().live && !m_canvas->scene().marks.bookmarks().empty())
        store();
}

void TimelineBookmarks::store()
{
    if (m_file.empty())
        return;
    const profiler::Trace& trace = *m_canvas->scene().trace;
    const auto saved =
        m_store.save(m_file, m_canvas->scene().marks.bookmarks(), trace.metadata().contains(kMetadataKey));
    // Bookmarks of a trace that is being written are stored again at its end.
    if (!saved && !trace.captureStats().live)
        emit noticed(tr("Could not save the bookmarks: %1.").arg(QString::fromStdString(saved.error().what.text)),
                     QString::fromStdString(saved.error().message()), true);
}

void TimelineBookmarks::askNote(profiler::TraceTime time, const QString& note)
{
    auto* dialog = new QInputDialog(m_parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName("bookmarkNote");
    dialog->setWindowTitle(tr("Bookmark"));
    dialog->setLabelText(tr("Note for this position:"));
    dialog->setTextValue(note);
    connect(dialog, &QInputDialog::textValueSelected, m_canvas,
            [this, time](const QString& text) { m_canvas->setBookmark(time, text.trimmed().left(kLongestNote)); });
    dialog->open();
}

/// Fills the menu with entries that go to the bookmarks.
void TimelineBookmarks::list(QMenu* menu) const
{
    menu->clear();
    const auto bookmarks = m_canvas->scene().marks.bookmarks();
    if (bookmarks.empty())
        menu->addAction(tr("No bookmarks yet. Ctrl+B sets one at the pointer."))->setEnabled(false);
    const auto begin = m_canvas->scene().axis.bounds().begin;
    for (const TimelineMark& mark : bookmarks) {
        const QString place = formatPosition(mark.time - begin);
        QString text = mark.note.isEmpty() ? place : QStringLiteral("%1  –  %2").arg(mark.note, place);
        menu->addAction(text.replace('&', "&&"), m_canvas,
                        [canvas = m_canvas, time = mark.time] { canvas->goToTime(time); });
    }
}

} // namespace app
