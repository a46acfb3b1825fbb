#include "app/timeline_tools/timeline_bookmarks.h"

#include "app/look/number_format.h"
#include "app/timeline/timeline_canvas.h"

#include <QInputDialog>
#include <QMenu>
#include <utility>

namespace app {

namespace {
constexpr qsizetype kLongestNote = 500;
} // namespace

TimelineBookmarks::TimelineBookmarks(TimelineCanvas* canvas, BookmarkStore store, QWidget* parent)
    : QObject(parent), m_canvas(canvas), m_store(std::move(store)), m_parent(parent)
{
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
