#include "app/timeline/timeline_canvas.h"

#include "app/look/theme.h"
#include "app/tables/slice_details.h"
#include "app/timeline/timeline_actions.h"
#include "app/timeline/timeline_scene.h"

#include <QBuffer>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QSvgGenerator>
#include <QToolTip>
#include <QWheelEvent>

namespace app {

using profiler::Nanoseconds;
using profiler::Trace;

namespace {

constexpr Nanoseconds kReadingTime{3'000'000}; ///< part of a frame's 16 ms; the rest is for drawing

/// The scene without elements that follow the pointer.
TimelineScene still(const TimelineScene& scene, const QFont& font, double ratio)
{
    TimelineScene copy = scene;
    copy.hovered.reset();
    copy.pointerInside = false;
    copy.focused = false;
    copy.zooming = false;
    copy.ratio = ratio;
    copy.labels = LabelCache();
    copy.labels.setFont(font, ratio);
    return copy;
}

} // namespace

TimelineCanvas::TimelineCanvas(QWidget* parent)
    : QAbstractScrollArea(parent), m_navigation(m_scene, *this), m_selection(m_scene, m_navigation, *this),
      m_rows(m_scene, m_navigation, *this), m_marks(m_scene, m_navigation, *this), m_cards(m_scene, *this),
      m_mouse(m_scene, {m_navigation, m_selection, m_rows, m_cards}, *this), m_trackFilter(new QLineEdit(viewport()))
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    viewport()->setMouseTracking(true);
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
    setAccessibleName(tr("Timeline"));
    m_scene.theme = TimelineTheme::from(palette());
    m_painter.setReadingTime(kReadingTime);
    connect(&m_navigation, &TimelineNavigation::moved, this, &TimelineCanvas::showMove);
    connect(&m_navigation, &TimelineNavigation::scrolledAcross, this, &TimelineCanvas::viewChanged);
    connect(&m_selection, &TimelineSelection::sliceSelected, this, &TimelineCanvas::sliceSelected);
    connect(&m_selection, &TimelineSelection::slicesSelected, this, &TimelineCanvas::slicesSelected);
    connect(&m_selection, &TimelineSelection::rangeSelected, this, &TimelineCanvas::rangeSelected);
    connect(&m_selection, &TimelineSelection::cleared, this, &TimelineCanvas::selectionCleared);
    connect(&m_rows, &TimelineRowCommands::layoutChanged, this, &TimelineCanvas::rowLayoutChanged);
    connect(&m_marks, &TimelineMarkCommands::bookmarkWanted, this, &TimelineCanvas::bookmarkWanted);
    connect(&m_marks, &TimelineMarkCommands::bookmarksChanged, this, &TimelineCanvas::bookmarksChanged);
    addTimelineActions(*this);
    m_trackFilter->setObjectName("trackFilter");
    m_trackFilter->setPlaceholderText(tr("Filter tracks"));
    m_trackFilter->setAccessibleName(tr("Filter tracks"));
    m_trackFilter->setClearButtonEnabled(true);
    m_trackFilter->setFrame(false);
    m_trackFilter->setTextMargins(16, 0, 0, 0); // in line with the names below
    m_trackFilter->installEventFilter(this);
    m_trackFilter->hide();
    connect(m_trackFilter, &QLineEdit::textChanged, this, &TimelineCanvas::takeTrackFilter);
}

/// Shows the tracks that match the text, or what is wrong with it.
void TimelineCanvas::takeTrackFilter()
{
    const auto filter = parseFilter(m_trackFilter->text(), trackFilterFields());
    QStringList keywords;
    for (const FilterField& field : trackFilterFields())
        keywords << field.keyword;
    const QString problem = filter ? QString() : QString::fromStdString(filter.error().message());
    m_trackFilter->setToolTip(!filter ? problem
                                      : tr("Tracks and groups with these words: stream gpu:0 -annotations\nFields: %1")
                                            .arg(keywords.join(QStringLiteral(", "))));
    QPalette colors = palette();
    if (!filter) {
        colors.setColor(QPalette::Text, shades(palette()).bad);
        QToolTip::showText(m_trackFilter->mapToGlobal(QPoint(0, m_trackFilter->height())), problem, m_trackFilter);
    }
    m_trackFilter->setPalette(colors);
    m_rows.setFilter(filter ? *filter : Filter());
}

void TimelineCanvas::filterTracks()
{
    m_trackFilter->setFocus(Qt::ShortcutFocusReason);
    m_trackFilter->selectAll();
}

/// In the corner above the headers of the tracks.
void TimelineCanvas::placeTrackFilter()
{
    m_trackFilter->setGeometry(2, 1, m_scene.headerWidth - 4, TimelineScene::kAxisHeight - 1);
    m_trackFilter->setVisible(!m_scene.isEmpty());
}

bool TimelineCanvas::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_trackFilter && (event->type() == QEvent::ShortcutOverride || event->type() == QEvent::KeyPress)) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Escape || key == Qt::Key_Return || key == Qt::Key_Enter) {
            event->accept(); // the timeline has actions with these keys
            if (event->type() == QEvent::KeyPress) {
                if (key == Qt::Key_Escape)
                    m_trackFilter->clear();
                setFocus(Qt::OtherFocusReason);
            }
            return true;
        }
    }
    return QAbstractScrollArea::eventFilter(watched, event);
}

void TimelineCanvas::setTrace(std::shared_ptr<const Trace> trace)
{
    m_scene.axis = TimeAxis();
    m_scene.axis.setWidth(m_scene.lanesRect().width());
    m_scene.marks.clear();
    m_scene.gaps.reset();
    m_scene.steps.reset();
    m_steps.clear();
    m_scene.hits.reset();
    m_scene.range.reset();
    m_scene.hovered.reset();
    m_scene.currentRow = -1;
    m_cards.closeAll();
    m_trackFilter->clear();
    m_mouse.forgetRow(); // it has a different index now, or none
    m_scene.trace = nullptr;
    setSelectedSlice({});
    updateTrace(std::move(trace));
    if (!m_scene.isEmpty())
        m_scene.axis.fit();
    m_navigation.syncScrollBars();
}

void TimelineCanvas::reread()
{
    m_scene.counters.clear();
    m_painter.reread();
    viewport()->update();
}

void TimelineCanvas::updateTrace(std::shared_ptr<const Trace> trace)
{
    if (m_scene.isEmpty()) // first slices of a run: the user cannot have moved yet
        m_navigation.setFollow(trace && trace->captureStats().live);
    const auto isLive = [](const auto& snapshot) { return snapshot && snapshot->captureStats().live; };
    // A live trace only grows, but each preview of a file may have other counters.
    if (!isLive(m_scene.trace) || !isLive(trace))
        m_scene.counters.clear();
    m_scene.trace = std::move(trace);
    m_scene.colors = SliceColors(m_scene.trace, m_scene.colors.scheme());
    m_scene.rows.setTrace(m_scene.trace);
    m_navigation.takeSnapshot();
    if (m_scene.trace)
        m_steps.follow(*m_scene.trace);
    m_scene.steps = m_steps.steps();
    if (m_scene.selected) { // an open slice may have grown
        setSelectedSlice(m_scene.selected->id);
    } else if (!m_scene.several.empty()) {
        std::vector<profiler::SliceId> ids;
        for (const profiler::Slice& slice : m_scene.several)
            ids.push_back(slice.id);
        setSelectedSlices(ids);
    }
    m_navigation.update();
}

void TimelineCanvas::setHits(std::shared_ptr<const FindHits> hits)
{
    m_scene.hits = std::move(hits);
    viewport()->update();
}

void TimelineCanvas::setMarked(std::shared_ptr<const MarkedItems> marked)
{
    m_scene.marked = std::move(marked);
    viewport()->update();
}

void TimelineCanvas::setGaps(std::shared_ptr<const DeviceGaps> gaps)
{
    m_scene.gaps = std::move(gaps);
    viewport()->update();
}

void TimelineCanvas::setSteps(std::shared_ptr<const Steps> steps)
{
    if (m_scene.trace)
        m_steps.take(*m_scene.trace, std::move(steps));
    m_scene.steps = m_steps.steps();
    viewport()->update();
}

void TimelineCanvas::setComing(const EmptyText& what)
{
    m_coming = what;
    if (m_scene.isEmpty())
        viewport()->update();
}

void TimelineCanvas::setColorBy(ColorBy by)
{
    m_scene.colors = SliceColors(m_scene.trace, by);
    viewport()->update();
}

/// After a change of the visible range, the rows or the size.
void TimelineCanvas::showMove()
{
    if (m_scene.pointerInside)
        m_mouse.hover(m_scene.pointer);
    placeTrackFilter();
    if (m_scene.rows.droppedFilter())
        m_trackFilter->clear(); // a track that it hid was to be shown
    viewport()->update();
    emit viewChanged();
}

void TimelineCanvas::letGo()
{
    if (!m_cards.closeLast() && !m_marks.clearPlain())
        m_selection.clear();
}

void TimelineCanvas::resizeEvent(QResizeEvent*)
{
    m_navigation.layOut();
}

void TimelineCanvas::scrollContentsBy(int dx, int)
{
    m_navigation.scrolled(dx);
}

void TimelineCanvas::mousePressEvent(QMouseEvent* event)
{
    m_mouse.press(*event);
}
void TimelineCanvas::mouseMoveEvent(QMouseEvent* event)
{
    m_mouse.move(*event);
}
void TimelineCanvas::mouseReleaseEvent(QMouseEvent* event)
{
    m_mouse.release(*event);
}
void TimelineCanvas::mouseDoubleClickEvent(QMouseEvent* event)
{
    m_mouse.doubleClick(*event);
}
void TimelineCanvas::wheelEvent(QWheelEvent* event)
{
    m_mouse.wheel(*event);
}

bool TimelineCanvas::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::Leave)
        m_mouse.leave();
    if (event->type() == QEvent::NativeGesture && m_mouse.gesture(*static_cast<QNativeGestureEvent*>(event)))
        return true;
    return QAbstractScrollArea::viewportEvent(event);
}

void TimelineCanvas::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) {
        m_scene.theme = TimelineTheme::from(palette());
        takeTrackFilter();
        viewport()->update();
    }
    QAbstractScrollArea::changeEvent(event);
}

void TimelineCanvas::focusInEvent(QFocusEvent* event)
{
    m_scene.focused = true;
    if (m_scene.currentRow < 0 && !m_scene.rows.all().empty())
        m_scene.currentRow = 0;
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void TimelineCanvas::focusOutEvent(QFocusEvent* event)
{
    m_scene.focused = false;
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

void TimelineCanvas::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    if (m_scene.isEmpty()) {
        paintEmpty(painter);
        return;
    }
    m_scene.ratio = devicePixelRatioF();
    m_scene.labels.setFont(font(), m_scene.ratio);
    m_painter.paint(painter, m_scene);
    if (!m_painter.isSettled())
        viewport()->update();
}

TimelineCanvas::EmptyText TimelineCanvas::emptyText() const
{
    if (m_scene.trace && m_scene.trace->captureStats().live)
        return {tr("Waiting for the first events"),
                tr("The training is starting. Its threads appear here when they start to work.")};
    if (!m_coming.title.isEmpty())
        return m_coming;
    const bool file = m_scene.trace && !m_scene.trace->format().empty(); // a complete file
    return {file ? tr("This trace has no events") : tr("Nothing recorded yet"),
            tr("Press Start to run the training and watch it here, or open a trace. You can also drop a trace file "
               "anywhere in the window.")};
}

void TimelineCanvas::paintEmpty(QPainter& painter) const
{
    const QRect all = viewport()->rect();
    const auto [title, below] = emptyText();
    painter.fillRect(all, m_scene.theme.background);
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.5);
    painter.setFont(large);
    painter.setPen(m_scene.theme.text);
    const QRect upper(all.left() + 20, all.top(), all.width() - 40, all.height() / 2 - 4);
    painter.drawText(upper, Qt::AlignHCenter | Qt::AlignBottom | Qt::TextWordWrap, title);
    painter.setFont(font());
    painter.setPen(m_scene.theme.dimText);
    const QRect lower(all.left() + 20, upper.bottom() + 10, all.width() - 40, all.height() / 2 - 10);
    painter.drawText(lower, Qt::AlignHCenter | Qt::AlignTop | Qt::TextWordWrap, below);
}

void TimelineCanvas::contextMenuEvent(QContextMenuEvent* event)
{
    if (m_scene.isEmpty())
        return;
    const int row =
        event->reason() == QContextMenuEvent::Keyboard ? m_scene.currentRow : rowAt(m_scene, event->pos().y());
    QMenu menu(this);
    addSourceEntry(menu,
                   event->reason() == QContextMenuEvent::Keyboard ? m_scene.selected : sliceAt(m_scene, event->pos()));
    if (row >= 0 && row < m_scene.rows.count() && m_scene.rows.at(row).kind != TrackRow::Kind::Hidden) {
        m_scene.currentRow = row;
        viewport()->update();
        addRowEntries(menu, row);
        menu.addSeparator();
    }
    for (QMenu* group : timelineMenus(*this, &menu))
        menu.addMenu(group);
    menu.exec(event->globalPos());
}

/// Opens the Python function of a slice.
void TimelineCanvas::addSourceEntry(QMenu& menu, const std::optional<profiler::Slice>& slice)
{
    const auto place = slice ? pythonFunctionOf(*m_scene.trace, *slice) : std::nullopt;
    if (!place)
        return;
    const QString file = QString::fromStdString(place->file);
    QAction* open = menu.addAction(tr("Open %1 in the editor").arg(sourceLink(*place).value).replace('&', "&&"), this,
                                   [this, file, line = place->line] { emit sourceWanted(file, line); });
    open->setObjectName("openSource");
    menu.addSeparator();
}

/// Actions for one row.
void TimelineCanvas::addRowEntries(QMenu& menu, int index)
{
    const TrackRow& row = m_scene.rows.at(index);
    menu.addSection(row.name);
    const auto add = [&](const char* name, const QString& text) {
        QAction* action = timelineAction(*this, name);
        QAction* entry = menu.addAction(text);
        entry->setObjectName(name);
        entry->setShortcut(action->shortcut());
        entry->setShortcutVisibleInContextMenu(true);
        connect(entry, &QAction::triggered, action, &QAction::trigger);
    };
    if (row.foldable)
        add("toggleRow", row.open ? tr("Collapse") : tr("Expand"));
    add("togglePin", row.pinned ? tr("Unpin") : tr("Pin"));
    add("moveRowUp", tr("Move up"));
    add("moveRowDown", tr("Move down"));
    add("hideRow", tr("Hide"));
    if (const auto hidden = m_scene.rows.hidden(); !hidden.empty()) {
        QMenu* back = menu.addMenu(tr("Show hidden track"));
        for (const auto& [key, name] : hidden)
            back->addAction(QString(name).replace('&', "&&"), this, [this, key = key] { m_rows.showRow(key); });
        back->addSeparator();
        back->addAction(tr("All"), &m_rows, &TimelineRowCommands::showAllRows);
    }
}

QImage TimelineCanvas::picture(double ratio) const
{
    QImage image((QSizeF(m_scene.size) * ratio).toSize(), QImage::Format_RGB32);
    image.setDevicePixelRatio(ratio);
    image.fill(m_scene.theme.background);
    if (m_scene.isEmpty())
        return image;
    TimelineScene scene = still(m_scene, font(), ratio);
    QPainter painter(&image);
    TimelinePainter().paint(painter, scene);
    return image;
}

QByteArray TimelineCanvas::svg() const
{
    QBuffer buffer;
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(m_scene.size);
    generator.setViewBox(QRect(QPoint(0, 0), m_scene.size));
    generator.setTitle(tr("Timeline"));
    QPainter painter(&generator);
    if (!m_scene.isEmpty()) {
        TimelineScene scene = still(m_scene, font(), 1);
        scene.labels.setVector(true);
        TimelinePainter().paintVector(painter, scene);
    }
    painter.end();
    return buffer.data();
}

} // namespace app
