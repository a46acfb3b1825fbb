#include "app/look/save_dialog.h"
#include "app/timeline/timeline_canvas.h"
#include "app/timeline/timeline_minimap.h"
#include "app/timeline_tools/go_to.h"
#include "app/timeline_tools/timeline_bookmarks.h"
#include "app/views/timeline/key_sheet.h"
#include "app/views/timeline/timeline_view.h"

#include <QApplication>
#include <QClipboard>
#include <QMessageBox>
#include <QMimeData>
#include <QSaveFile>
#include <utility>
#include <vector>

// Marks, positions to go to, and image files of the view.
namespace app {

namespace {

constexpr double kPictureRatio = 2; ///< device pixels per logical pixel: sharp in a document

} // namespace

void TimelineView::connectMarks()
{
    connect(m_canvas, &TimelineCanvas::goToWanted, this, [this] { askDestination(m_canvas, m_selection); });
    connect(m_canvas, &TimelineCanvas::keysWanted, this, [this] { (new KeySheet(*m_canvas, this))->show(); });
    connect(m_canvas, &TimelineCanvas::copyWanted, this, &TimelineView::copyPicture);
    connect(m_canvas, &TimelineCanvas::saveWanted, this, &TimelineView::savePicture);
    connect(m_canvas, &TimelineCanvas::bookmarksChanged, this, [this] {
        std::vector<profiler::TraceTime> times;
        for (const TimelineMark& mark : m_canvas->scene().marks.bookmarks())
            times.push_back(mark.time);
        m_minimap->setBookmarks(std::move(times));
    });
    connect(m_bookmarks, &TimelineBookmarks::changed, this, &TimelineView::bookmarksChanged);
    connect(m_bookmarks, &TimelineBookmarks::noticed, this, &TimelineView::noticed);
}

QString TimelineView::goTo(const QString& text)
{
    return app::goTo(*m_canvas, *m_selection, text);
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
