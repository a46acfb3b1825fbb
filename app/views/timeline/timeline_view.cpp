#include "app/views/timeline/timeline_view.h"

#include "app/findings/capture_notice.h"
#include "app/look/display_text.h"
#include "app/look/labels.h"
#include "app/look/save_dialog.h"
#include "app/tables/slice_details.h"
#include "app/timeline/timeline_actions.h"
#include "app/timeline/timeline_canvas.h"
#include "app/timeline/timeline_minimap.h"
#include "app/timeline_tools/go_to.h"
#include "app/timeline_tools/timeline_bookmarks.h"
#include "app/timeline_tools/timeline_search.h"

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QMessageBox>
#include <QMimeData>
#include <QSaveFile>
#include <QScreen>
#include <QScrollArea>
#include <QSettings>
#include <QTimer>
#include <QVBoxLayout>
#include <chrono>
#include <utility>
#include <vector>

namespace app {

namespace {

constexpr std::chrono::seconds kBetweenLooks{1};
constexpr double kPictureRatio = 2; ///< device pixels per logical pixel: sharp in a document
constexpr int kColumns = 3;         ///< of topics on the sheet of shortcuts

QWidget* topicBox(const KeyTopic& topic, QWidget* parent)
{
    auto* box = new QWidget(parent);
    auto* grid = new QGridLayout(box);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setVerticalSpacing(3);
    grid->setHorizontalSpacing(14);
    auto* title = new QLabel(topic.title, box);
    QFont bold = title->font();
    bold.setWeight(QFont::DemiBold);
    title->setFont(bold);
    grid->addWidget(title, 0, 0, 1, 2);
    int row = 1;
    for (const auto& [keys, what] : topic.keys) {
        auto* key = new QLabel(keys, box);
        key->setFont(bold);
        key->setTextFormat(Qt::PlainText);
        grid->addWidget(key, row, 0, Qt::AlignTop);
        auto* text = new QLabel(what, box);
        text->setWordWrap(true);
        text->setTextFormat(Qt::PlainText);
        grid->addWidget(text, row++, 1, Qt::AlignTop);
    }
    grid->setColumnStretch(1, 1);
    grid->setRowStretch(row, 1);
    return box;
}

} // namespace

TimelineView::TimelineView(Selection* selection, BookmarkStore bookmarks, QWidget* parent)
    : QWidget(parent), m_selection(selection), m_name(new ElidedLabel(this)), m_notice(new CaptureNotice(this)),
      m_minimap(new TimelineMinimap(this)), m_canvas(new TimelineCanvas(this)),
      m_search(new TimelineSearch(m_canvas, this)),
      m_bookmarks(new TimelineBookmarks(m_canvas, std::move(bookmarks), this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_name->setObjectName("firstTraceName");
    m_name->setContentsMargins(8, 3, 8, 3);
    m_name->hide();
    column->addWidget(m_name);
    column->addWidget(m_notice);
    column->addWidget(m_search->bar());
    column->addWidget(m_minimap);
    column->addWidget(m_canvas, 1);
    setFocusProxy(m_canvas);
    connectSelection();
    connectMarks();
    connect(m_search, &TimelineSearch::hitsChanged, m_minimap, &TimelineMinimap::setHits);
    watchReading();
    connect(m_canvas, &TimelineCanvas::rowLayoutChanged, this, &TimelineView::keepRowLayout);
    connect(m_canvas, &TimelineCanvas::viewChanged, this,
            [this] { m_minimap->setView(m_canvas->scene().axis.visible(), m_canvas->scene().headerWidth); });
    connect(m_minimap, &TimelineMinimap::rangeWanted, m_canvas, &TimelineCanvas::showRange);
}

void TimelineView::connectSelection()
{
    connect(m_canvas, &TimelineCanvas::sliceSelected, m_selection, &Selection::selectSlice);
    connect(m_canvas, &TimelineCanvas::slicesSelected, m_selection, &Selection::selectSlices);
    connect(m_canvas, &TimelineCanvas::slicesSelected, m_selection, &Selection::showDetails);
    connect(m_canvas, &TimelineCanvas::rangeSelected, m_selection, &Selection::selectRange);
    connect(m_canvas, &TimelineCanvas::sliceSelected, m_selection, &Selection::showDetails);
    connect(m_canvas, &TimelineCanvas::rangeSelected, m_selection, &Selection::showDetails);
    connect(m_canvas, &TimelineCanvas::selectionCleared, m_selection, &Selection::clear);
    connect(m_canvas, &TimelineCanvas::sourceWanted, m_selection, &Selection::openInEditor);
    connect(m_selection, &Selection::changed, this, &TimelineView::takeSelection);
    connect(m_selection, &Selection::markedChanged, this, [this] {
        m_canvas->setMarked(m_selection->marked());
        m_minimap->setMarked(m_selection->marked());
    });
    connect(m_selection, &Selection::showRequested, m_canvas, &TimelineCanvas::bringIntoView);
}

/// A disk may be removed while its trace is on screen; missing data is reported then, too.
void TimelineView::watchReading()
{
    auto* look = new QTimer(this);
    look->setInterval(kBetweenLooks);
    connect(look, &QTimer::timeout, this, [this] {
        if (const auto& trace = m_canvas->scene().trace)
            m_notice->setStats(trace->losses(), writerOf(*trace));
    });
    look->start();
}

void TimelineView::replaceTrace(std::shared_ptr<const profiler::Trace> trace, const std::filesystem::path& file)
{
    m_selection->clear(); // its ids are invalid in another trace
    m_selection->mark(nullptr);
    m_notice->setStats(trace->losses(), writerOf(*trace));
    takeRowLayout(*trace);
    m_minimap->setTrace(trace);
    m_canvas->setTrace(trace);
    m_bookmarks->replaceTrace(*trace, file);
    m_search->replaceTrace(std::move(trace));
}

void TimelineView::updateTrace(std::shared_ptr<const profiler::Trace> trace)
{
    m_notice->setStats(trace->losses(), writerOf(*trace));
    m_minimap->setTrace(trace);
    m_canvas->updateTrace(trace);
    if (!m_selection->slices().empty()) // the canvas may have dropped slices beyond the end of the earlier snapshot
        m_canvas->setSelectedSlices(m_selection->slices());
    m_bookmarks->updateTrace(*trace);
    m_search->updateTrace(std::move(trace));
}

void TimelineView::showSteps(std::shared_ptr<const Steps> steps)
{
    m_canvas->setSteps(std::move(steps));
}

void TimelineView::showGaps(std::shared_ptr<const DeviceGaps> gaps)
{
    m_canvas->setGaps(std::move(gaps));
}

/// Traces of one format have the same kinds of rows, so the user's layout of the last one is restored.
void TimelineView::takeRowLayout(const profiler::Trace& trace)
{
    const QString format = asQString(trace.format());
    m_rowsKey = QStringLiteral("timeline/rows/") + (format.isEmpty() ? QStringLiteral("none") : format);
    m_canvas->setRowLayout(RowLayout::fromJson(QSettings().value(m_rowsKey).toByteArray()));
}

void TimelineView::keepRowLayout() const
{
    QSettings settings;
    if (m_canvas->rowLayout() == RowLayout{})
        settings.remove(m_rowsKey);
    else
        settings.setValue(m_rowsKey, m_canvas->rowLayout().toJson());
}

void TimelineView::takeSelection()
{
    m_canvas->setSelectedSlices(m_selection->slices());
    m_canvas->setSelectedRange(m_selection->range());
}

void TimelineView::setName(const QString& name, bool isActive)
{
    showActive(*m_name, name, isActive);
    m_name->setVisible(!name.isEmpty());
}

void TimelineView::openFind()
{
    m_search->open();
}

// Marks, positions to go to, and image files of the view.

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

KeySheet::KeySheet(const TimelineCanvas& canvas, QWidget* parent) : QDialog(parent)
{
    setWindowTitle(tr("Keyboard shortcuts"));
    setAttribute(Qt::WA_DeleteOnClose);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(20, 16, 20, 12);
    auto* scroll = new QScrollArea(this); // for a low screen
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    auto* sheet = new QWidget(scroll);
    scroll->setWidget(sheet);
    auto* grid = new QGridLayout(sheet);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(36);
    grid->setVerticalSpacing(18);
    int place = 0;
    const QList<KeyTopic> topics = timelineKeys(canvas);
    for (const KeyTopic& topic : topics) {
        // The last topic, the mouse, has the longest texts and takes the rest of its row.
        const bool isLast = place + 1 == topics.size();
        grid->addWidget(topicBox(topic, sheet), place / kColumns, place % kColumns, 1,
                        isLast ? kColumns - place % kColumns : 1);
        ++place;
    }
    for (int i = 0; i < kColumns; ++i)
        grid->setColumnStretch(i, 1);
    column->addWidget(scroll);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
    // The window frame needs some of the screen.
    resize(QSize(1080, 760).boundedTo(screen()->availableSize() - QSize(20, 40)));
}

} // namespace app
