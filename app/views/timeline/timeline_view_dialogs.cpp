#include "app/look/number_format.h"
#include "app/look/save_dialog.h"
#include "app/tables/slice_details.h"
#include "app/timeline/timeline_canvas.h"
#include "app/timeline/timeline_minimap.h"
#include "app/views/timeline/go_to.h"
#include "app/views/timeline/key_sheet.h"
#include "app/views/timeline/timeline_view.h"

#include <QApplication>
#include <QClipboard>
#include <QInputDialog>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QSaveFile>
#include <algorithm>

// Dialogs of the view: notes of bookmarks, positions to go to, image files.
namespace app {

namespace {

constexpr double kPictureRatio = 2; ///< device pixels per logical pixel: sharp in a document
constexpr qsizetype kLongestNote = 500;

} // namespace

void TimelineView::connectMarks()
{
    connect(m_canvas, &TimelineCanvas::bookmarkWanted, this, &TimelineView::askNote);
    connect(m_canvas, &TimelineCanvas::goToWanted, this, &TimelineView::askDestination);
    connect(m_canvas, &TimelineCanvas::keysWanted, this, [this] { (new KeySheet(*m_canvas, this))->show(); });
    connect(m_canvas, &TimelineCanvas::copyWanted, this, &TimelineView::copyPicture);
    connect(m_canvas, &TimelineCanvas::saveWanted, this, &TimelineView::savePicture);
    connect(m_canvas, &TimelineCanvas::bookmarksChanged, this, [this] {
        std::vector<profiler::TraceTime> times;
        for (const TimelineMark& mark : m_canvas->scene().marks.bookmarks())
            times.push_back(mark.time);
        m_minimap->setBookmarks(std::move(times));
        if (!m_loading)
            keepBookmarks();
        emit bookmarksChanged(BookmarkStore::toText(m_canvas->scene().marks.bookmarks()));
    });
}

/// The user's own bookmarks have priority over those in the file.
void TimelineView::takeBookmarks(const profiler::Trace& trace)
{
    const auto& metadata = trace.metadata();
    const auto brought = metadata.find(kBookmarksKey);
    auto bookmarks = m_bookmarks.load(m_file);
    if (!bookmarks && brought != metadata.end())
        bookmarks = BookmarkStore::fromText(QByteArray::fromStdString(brought->second));
    m_loading = true;
    m_canvas->setBookmarks(bookmarks.value_or(std::vector<TimelineMark>{}));
    m_loading = false;
}

void TimelineView::keepBookmarks()
{
    if (m_file.empty())
        return;
    const profiler::Trace& trace = *m_canvas->scene().trace;
    const auto saved =
        m_bookmarks.save(m_file, m_canvas->scene().marks.bookmarks(), trace.metadata().contains(kBookmarksKey));
    // Bookmarks of a trace that is being written are stored again at its end.
    if (!saved && !trace.captureStats().live)
        emit noticed(tr("Could not save the bookmarks: %1.").arg(QString::fromStdString(saved.error().what.text)),
                     QString::fromStdString(saved.error().message()), true);
}

void TimelineView::askNote(profiler::TraceTime time, const QString& note)
{
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName("bookmarkNote");
    dialog->setWindowTitle(tr("Bookmark"));
    dialog->setLabelText(tr("Note for this position:"));
    dialog->setTextValue(note);
    connect(dialog, &QInputDialog::textValueSelected, m_canvas,
            [this, time](const QString& text) { m_canvas->setBookmark(time, text.trimmed().left(kLongestNote)); });
    dialog->open();
}

void TimelineView::listBookmarks()
{
    m_bookmarkMenu->clear();
    const auto bookmarks = m_canvas->scene().marks.bookmarks();
    if (bookmarks.empty())
        m_bookmarkMenu->addAction(tr("No bookmarks yet. Ctrl+B sets one at the pointer."))->setEnabled(false);
    const auto begin = m_canvas->scene().axis.bounds().begin;
    for (const TimelineMark& mark : bookmarks) {
        const QString place = formatPosition(mark.time - begin);
        QString text = mark.note.isEmpty() ? place : QStringLiteral("%1  –  %2").arg(mark.note, place);
        m_bookmarkMenu->addAction(text.replace('&', "&&"), m_canvas,
                                  [this, time = mark.time] { m_canvas->goToTime(time); });
    }
}

QString TimelineView::goTo(const QString& text)
{
    const auto destination = parseDestination(text);
    if (!destination)
        return tr("“%1” is neither a time (1.25 s, 340 ms) nor a step (step 12).").arg(text);
    const profiler::Trace& trace = *m_canvas->scene().trace;
    if (const auto* number = std::get_if<std::int64_t>(&*destination)) {
        const auto steps = m_canvas->scene().steps;
        if (!steps)
            return tr("The steps of this trace are not known yet. Try again in a moment.");
        const auto* step = findStep(*steps, *number);
        if (!step)
            return tr("This trace has no step %1.").arg(*number);
        if (!step->found && holds(trace, step->slice)) {
            m_canvas->selectAndShow(trace.slice(step->slice));
        } else { // the slice of an inferred step is only the first one in it
            m_selection->selectRange(step->range);
            m_canvas->bringIntoView(step->range);
        }
        return {};
    }
    const auto offset = std::get<profiler::Nanoseconds>(*destination);
    const profiler::TimeRange whole = m_canvas->scene().axis.bounds();
    if (offset > whole.duration())
        return tr("The trace ends at %1.").arg(formatPosition(whole.duration()));
    m_canvas->goToTime(whole.begin + offset);
    return {};
}

void TimelineView::askDestination()
{
    if (m_canvas->scene().axis.bounds().empty())
        return;
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName("goTo");
    dialog->setWindowTitle(tr("Go to"));
    dialog->setLabelText(tr("Time since the start, or a step: 1.25 s, 340 ms, step 12"));
    connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& text) {
        if (const QString error = goTo(text); !error.isEmpty()) {
            auto* box = new QMessageBox(QMessageBox::Information, tr("Go to"), error, QMessageBox::Ok, this);
            box->setAttribute(Qt::WA_DeleteOnClose);
            box->setTextFormat(Qt::PlainText);
            box->open();
        }
    });
    dialog->open();
}

void TimelineView::copyPicture() const
{
    auto* mime = new QMimeData;
    mime->setImageData(m_canvas->picture(kPictureRatio));
    mime->setData("image/svg+xml", m_canvas->svg());
    QApplication::clipboard()->setMimeData(mime);
}

void TimelineView::savePicture()
{
    const QString name = askWhereToSave(this, tr("Save image"), "timeline.png",
                                        {{tr("PNG image (*.png)"), ".png"}, {tr("SVG image (*.svg)"), ".svg"}});
    if (name.isEmpty())
        return;
    QSaveFile file(name);
    bool written = file.open(QIODevice::WriteOnly);
    if (written && name.endsWith(".svg", Qt::CaseInsensitive))
        written = file.write(m_canvas->svg()) > 0;
    else
        written = written && m_canvas->picture(kPictureRatio).save(&file, "PNG");
    if (!written || !file.commit())
        QMessageBox::warning(this, tr("Save image"), tr("Could not save %1: %2").arg(name, file.errorString()));
}

} // namespace app
