#include "app/views/side_by_side/side_by_side_view.h"

#include "app/document/trace_pair.h"
#include "app/findings/capture_notice.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/labels.h"
#include "app/tables/slice_details.h"
#include "app/timeline/timeline_actions.h"
#include "app/timeline/timeline_canvas.h"
#include "app/timeline/viewport_link.h"
#include "app/timeline_tools/go_to.h"
#include "app/timeline_tools/timeline_bookmarks.h"
#include "app/timeline_tools/timeline_search.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

namespace app {

using Alignment = TracePair::Alignment;
using profiler::Nanoseconds;
using profiler::analysis::Step;

namespace {

constexpr double kNsPerMs = 1e6;
constexpr double kShiftStep = 0.01; ///< of the visible time

/// Actions of a timeline that belong to the window's document.
constexpr std::array kOnlyFirst = {"savePicture", "keys"};

QString signedDuration(Nanoseconds change)
{
    return (change.count() < 0 ? QString(QChar(0x2212)) : QStringLiteral("+")) +
           formatDuration(std::chrono::abs(change));
}

QToolButton* makeButton(const char* name, const char* iconName, const QString& text, QWidget* parent)
{
    auto* button = new QToolButton(parent);
    button->setObjectName(name);
    button->setIcon(icon(iconName));
    button->setAutoRaise(true);
    button->setToolTip(text);
    button->setAccessibleName(text);
    return button;
}

} // namespace

SideBySideView::SideBySideView(TracePair* pair, BookmarkStore bookmarks, QWidget* parent)
    : QWidget(parent), m_pair(pair), m_store(std::move(bookmarks)), m_notice(new CaptureNotice(this)),
      m_pages(new QStackedWidget(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeHeader());
    column->addWidget(m_notice);
    m_empty = makeEmptyLabel("secondTraceEmpty", m_pages);
    m_pages->addWidget(m_empty);
    column->addWidget(m_pages, 1);
    addActions();
    m_notice->setStats({}, Writer::Other);
    connect(pair, &TracePair::openChanged, this, &SideBySideView::takeOpen);
    connect(pair, &TracePair::changed, this, &SideBySideView::showState);
    connect(pair, &TracePair::activeSideChanged, this, &SideBySideView::showState);
    connect(pair->viewport(), &LinkedViewport::changed, this, &SideBySideView::showState);
    hide();
    if (pair->isOpen())
        takeOpen();
}

QWidget* SideBySideView::makeHeader()
{
    auto* header = new QWidget(this);
    auto* row = new QHBoxLayout(header);
    row->setContentsMargins(8, 2, 6, 2);
    row->setSpacing(4);
    m_name = new ElidedLabel(header);
    m_name->setObjectName("secondTraceName");
    row->addWidget(m_name, 2);
    addStepControls(row);
    addAlignmentControls(row);
    auto* close = makeButton("closeSecondTrace", "close", tr("Close the second trace"), header);
    connect(close, &QToolButton::clicked, m_pair, &TracePair::close);
    row->addWidget(close);
    return header;
}

void SideBySideView::addStepControls(QHBoxLayout* row)
{
    m_previous = makeButton("previousStep", "previous", tr("Previous step in both traces"), this);
    m_next = makeButton("nextStep", "next", tr("Next step in both traces"), this);
    m_step = new ElidedLabel(this);
    m_step->setObjectName("comparedStep");
    connect(m_previous, &QToolButton::clicked, this, [this] { m_pair->goToStep(-1); });
    connect(m_next, &QToolButton::clicked, this, [this] { m_pair->goToStep(1); });
    row->addWidget(m_previous);
    row->addWidget(m_next);
    row->addWidget(m_step, 3);
}

void SideBySideView::addAlignmentControls(QHBoxLayout* row)
{
    m_alignment = new QComboBox(this);
    m_alignment->setObjectName("alignment");
    m_alignment->setAccessibleName(tr("How the traces are aligned"));
    m_alignment->addItem(tr("Align steps"), int(Alignment::ByStep));
    m_alignment->addItem(tr("Align selection"), int(Alignment::BySelection));
    m_alignment->addItem(tr("Align marks"), int(Alignment::ByMark));
    m_alignment->addItem(tr("Fixed shift"), int(Alignment::ByShift));
    m_alignment->setToolTip(tr("What is at the same position in both timelines: the selected step, the selected slice "
                               "and its counterpart, or a mark in each (Shift+M at the pointer)"));
    connect(m_alignment, &QComboBox::activated, this, &SideBySideView::chooseAlignment);
    m_shift = new QDoubleSpinBox(this);
    m_shift->setObjectName("shift");
    m_shift->setAccessibleName(tr("Shift of the second trace"));
    m_shift->setToolTip(tr("Time by which the second trace is shifted, compared with equal starts of both traces. Drag "
                           "the second timeline with Ctrl to change it."));
    m_shift->setRange(-1e12, 1e12);
    m_shift->setDecimals(3);
    m_shift->setPrefix(tr("Shift "));
    m_shift->setSuffix(tr(" ms"));
    m_shift->setKeyboardTracking(false);
    m_shift->setAlignment(Qt::AlignRight);
    m_shift->setMinimumWidth(
        m_shift->fontMetrics().horizontalAdvance(m_shift->prefix() + QStringLiteral("-00,000.000 ms")) + 30);
    m_shift->setMaximumWidth(m_shift->minimumWidth());
    connect(m_shift, &QDoubleSpinBox::valueChanged, this,
            [this](double ms) { m_pair->alignByShift(equalStarts() + Nanoseconds{std::llround(ms * kNsPerMs)}); });
    m_lock = makeButton("lockTimelines", "lock", tr("Move both timelines together"), this);
    m_lock->setCheckable(true);
    connect(m_lock, &QToolButton::clicked, this, [this](bool on) { m_pair->viewport()->setLocked(on); });
    row->addWidget(m_alignment);
    row->addWidget(m_shift);
    row->addWidget(m_lock);
}

/// For the menu bar, the command palette and the keyboard.
void SideBySideView::addActions()
{
    const auto add = [this](const char* name, const QString& text, const QKeySequence& key, auto&& triggered) {
        auto* action = new QAction(text, this);
        action->setObjectName(name);
        action->setShortcut(key);
        action->setEnabled(false); // until there is a second trace
        connect(action, &QAction::triggered, this, triggered);
        addAction(action);
    };
    add("shiftLeft", tr("Shift second trace to the left"), Qt::CTRL | Qt::SHIFT | Qt::Key_Left,
        [this] { m_shift->stepDown(); });
    add("shiftRight", tr("Shift second trace to the right"), Qt::CTRL | Qt::SHIFT | Qt::Key_Right,
        [this] { m_shift->stepUp(); });
    add("toggleLock", tr("Move timelines together or independently"), Qt::CTRL | Qt::Key_L,
        [this] { m_lock->click(); });
    add("nextStepOfBoth", tr("Next step in both traces"), Qt::ALT | Qt::Key_PageDown, [this] { m_next->click(); });
    add("previousStepOfBoth", tr("Previous step in both traces"), Qt::ALT | Qt::Key_PageUp,
        [this] { m_previous->click(); });
}

void SideBySideView::makeTimeline()
{
    m_canvas = new TimelineCanvas(m_pages);
    m_canvas->setObjectName("secondTimeline");
    m_canvas->setAccessibleName(tr("Timeline of the second trace"));
    for (const char* name : kOnlyFirst)
        timelineAction(*m_canvas, name)->setVisible(false);
    m_pages->addWidget(m_canvas);
    setFocusProxy(m_canvas);
    m_search = new TimelineSearch(m_canvas, this);
    static_cast<QVBoxLayout*>(layout())->insertWidget(layout()->indexOf(m_pages), m_search->bar());
    m_bookmarks = new TimelineBookmarks(m_canvas, m_store, this);
    connect(m_bookmarks, &TimelineBookmarks::noticed, this, &SideBySideView::noticed);
    connect(m_canvas, &TimelineCanvas::goToWanted, this, [this] {
        if (const TraceDocument* second = m_pair->document(Side::Second))
            askDestination(m_canvas, second->selection());
    });
    connect(m_canvas, &TimelineCanvas::copyWanted, this,
            [this] { QApplication::clipboard()->setImage(m_canvas->picture(devicePixelRatioF())); });
    connect(m_canvas, &TimelineCanvas::viewChanged, this, [this] {
        const auto visible = m_canvas->scene().axis.visible().duration();
        m_shift->setSingleStep(std::max(0.001, static_cast<double>(visible.count()) * kShiftStep / kNsPerMs));
    });
    connect(m_pair, &TracePair::counterpartSelected, this, [this](Side side, profiler::SliceId id) {
        if (side == Side::Second && holds(*m_canvas->scene().trace, id))
            m_canvas->revealTrack(id.track, m_canvas->scene().trace->slice(id).depth);
    });
    m_link = new ViewportLink(m_canvas, m_pair, Side::Second, this);
}

void SideBySideView::takeOpen()
{
    for (QAction* action : actions())
        action->setEnabled(m_pair->isOpen());
    if (m_pair->isOpen()) {
        if (!m_canvas)
            makeTimeline();
        connectSecond();
    } else if (m_canvas) {
        m_canvas->setTrace(nullptr); // frees its memory
        m_search->replaceTrace(nullptr);
    }
    showState();
}

void SideBySideView::connectSecond()
{
    TraceDocument* second = m_pair->document(Side::Second);
    Selection* selection = second->selection();
    connect(second, &TraceDocument::traceReplaced, this, [this] {
        takeTrace();
        m_link->apply();
        showTrace();
    });
    connect(second, &TraceDocument::traceChanged, this, [this] {
        const auto trace = m_pair->document(Side::Second)->trace();
        m_canvas->updateTrace(trace);
        m_bookmarks->updateTrace(*trace);
        m_search->updateTrace(trace);
        showTrace();
    });
    connect(second, &TraceDocument::analysedChanged, this, &SideBySideView::showAnalysed);
    connect(second, &TraceDocument::loading, this, [this](const QString&, double share) {
        // Rounded down, so that unfinished work never reads 100 %.
        m_empty->setText(tr("Opening the second trace… %1").arg(formatShare(std::floor(100 * share) / 100)));
    });
    connect(m_canvas, &TimelineCanvas::sliceSelected, selection, &Selection::selectSlice);
    connect(m_canvas, &TimelineCanvas::slicesSelected, selection, &Selection::selectSlices);
    connect(m_canvas, &TimelineCanvas::rangeSelected, selection, &Selection::selectRange);
    connect(m_canvas, &TimelineCanvas::selectionCleared, selection, &Selection::clear);
    connect(m_canvas, &TimelineCanvas::sourceWanted, selection, &Selection::openInEditor);
    connect(selection, &Selection::changed, m_canvas, [this, selection] {
        m_canvas->setSelectedSlices(selection->slices());
        m_canvas->setSelectedRange(selection->range());
    });
    connect(selection, &Selection::showRequested, m_canvas, &TimelineCanvas::bringIntoView);
    takeTrace();
    m_empty->setText(tr("Opening the second trace…"));
    m_pages->setCurrentWidget(m_empty);
}

void SideBySideView::takeTrace()
{
    const TraceDocument* second = m_pair->document(Side::Second);
    m_canvas->setTrace(second->trace());
    m_bookmarks->replaceTrace(*second->trace(), second->path());
    m_search->replaceTrace(second->trace());
}

void SideBySideView::showTrace()
{
    const auto& trace = m_canvas->scene().trace;
    m_notice->setStats(trace->losses(), writerOf(*trace));
    m_pages->setCurrentWidget(trace->sliceCount() > 0 ? static_cast<QWidget*>(m_canvas) : m_empty);
    if (trace->sliceCount() == 0)
        m_empty->setText(tr("The second trace has no events."));
}

void SideBySideView::showAnalysed()
{
    const auto analysed = m_pair->isOpen() ? m_pair->document(Side::Second)->analysed() : nullptr;
    if (!analysed)
        return;
    m_canvas->setSteps({analysed, &analysed->facts.steps});
    m_canvas->setGaps(analysed->summary.gaps);
}

/// The shift with which both traces start at the same position.
Nanoseconds SideBySideView::equalStarts() const
{
    return m_pair->document(Side::First)->trace()->range().begin -
           m_pair->document(Side::Second)->trace()->range().begin;
}

QString SideBySideView::stepText() const
{
    if (m_pair->alignment() != Alignment::ByMark &&
        m_pair->mark(Side::First).has_value() != m_pair->mark(Side::Second).has_value())
        return m_pair->mark(Side::First) ? tr("Marked in A. Press Shift+M at a position in B.")
                                         : tr("Marked in B. Press Shift+M at a position in A.");
    const auto a = m_pair->step(Side::First), b = m_pair->step(Side::Second);
    if (!a && !b)
        return {};
    if (!a)
        return tr("Step %1 of B is not in A").arg(m_pair->steps(Side::Second)[*b].index);
    const Step& first = m_pair->steps(Side::First)[*a];
    if (!b)
        return tr("Step %1 of A is not in B").arg(first.index);
    const Step& second = m_pair->steps(Side::Second)[*b];
    const QString title = first.index == second.index
                              ? tr("Step %1").arg(first.index)
                              : tr("Step %1 of A, step %2 of B").arg(first.index).arg(second.index);
    const Nanoseconds inA = first.range.duration(), inB = second.range.duration();
    return QStringLiteral("%1:  %2 → %3  (%4)")
        .arg(title, formatDuration(inA), formatDuration(inB), signedDuration(inB - inA));
}

void SideBySideView::showState()
{
    if (!m_pair->isOpen())
        return;
    const TraceDocument* second = m_pair->document(Side::Second);
    showActive(*m_name, second->title().isEmpty() ? QStringLiteral("B") : QStringLiteral("B  ·  ") + second->title(),
               m_pair->activeSide() == Side::Second);
    m_name->setToolTip(QString::fromStdString(second->path().string()));
    m_step->setText(stepText());
    m_step->setToolTip(m_step->text());
    m_previous->setEnabled(m_pair->canGoToStep(-1));
    m_next->setEnabled(m_pair->canGoToStep(1));
    m_alignment->setCurrentIndex(m_alignment->findData(int(m_pair->alignment())));
    const bool locked = m_pair->viewport()->isLocked();
    m_lock->setChecked(locked);
    m_lock->setIcon(icon(locked ? "lock" : "unlock"));
    const QSignalBlocker blocked(m_shift);
    m_shift->setValue(static_cast<double>((m_pair->viewport()->shift() - equalStarts()).count()) / kNsPerMs);
}

void SideBySideView::chooseAlignment(int entry)
{
    switch (Alignment(m_alignment->itemData(entry).toInt())) {
    case Alignment::ByStep:
    case Alignment::BySelection:
        m_pair->alignBySteps(Alignment(m_alignment->itemData(entry).toInt()));
        break;
    case Alignment::ByMark: {
        const auto a = m_pair->mark(Side::First), b = m_pair->mark(Side::Second);
        if (a && b)
            m_pair->setMark(Side::First, *a);
        else if (!a && !b)
            m_step->setText(tr("Press Shift+M at a position in each timeline."));
        break;
    }
    case Alignment::ByShift:
        m_pair->alignByShift(m_pair->viewport()->shift());
        break;
    }
    m_alignment->setCurrentIndex(m_alignment->findData(int(m_pair->alignment())));
}

} // namespace app
