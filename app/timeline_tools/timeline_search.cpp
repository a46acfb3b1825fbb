#include "app/timeline_tools/timeline_search.h"

#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/theme.h"
#include "app/tables/slice_details.h"
#include "app/timeline/timeline_actions.h"
#include "app/timeline/timeline_canvas.h"

#include <QAction>
#include <QApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <utility>
#include <vector>

namespace app {

using profiler::NameSearch;
using profiler::Slice;
using profiler::Trace;
using profiler::TrackId;

namespace {

constexpr std::size_t kMarks = 4096; ///< more spans than the overview has pixels
constexpr int kSearchAgainMs = 1000;

std::vector<TrackId> searched(const Trace& trace)
{
    std::vector<TrackId> tracks;
    for (const profiler::Track& track : trace.tracks())
        if (track.kind != profiler::TrackKind::Counter)
            tracks.push_back(track.id);
    return tracks;
}

/// Counts and marks the matches track by track, so that it can be stopped. Null if stopped.
std::shared_ptr<const FindHits> collect(NameSearch search, const std::stop_token& stop)
{
    auto hits = std::make_shared<FindHits>();
    hits->search = std::make_shared<const NameSearch>(std::move(search));
    const Trace& trace = *hits->search->trace();
    // The end belongs to the last span because a slice may start there.
    hits->range = {trace.range().begin, trace.range().end + profiler::Nanoseconds{1}};
    hits->marks.assign(kMarks, 0);
    if (hits->search->nameCount() == 0)
        return hits;
    std::vector<std::uint32_t> marks(kMarks);
    for (const TrackId track : searched(trace)) {
        if (stop.stop_requested())
            return nullptr;
        hits->search->marks(std::span(&track, 1), hits->range, marks);
        for (std::size_t i = 0; i < kMarks; ++i) {
            hits->marks[i] += marks[i];
            hits->count += marks[i];
        }
    }
    return hits;
}

} // namespace

FindBar::FindBar(QWidget* parent) : QWidget(parent), m_text(new QLineEdit(this)), m_place(new QLabel(this))
{
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(8, 4, 8, 4);
    row->setSpacing(4);
    m_text->setObjectName("timelineFind");
    m_text->setPlaceholderText(tr("Find a name on the timeline"));
    m_text->setAccessibleName(tr("Find a name on the timeline"));
    m_text->setClearButtonEnabled(true);
    m_text->addAction(icon("search"), QLineEdit::LeadingPosition);
    m_text->setMaximumWidth(420);
    m_text->installEventFilter(this);
    row->addWidget(m_text, 1);
    m_case = addButton(QStringLiteral("Aa"), tr("Match case (Alt+C)"));
    m_case->setShortcut(Qt::ALT | Qt::Key_C);
    m_regex = addButton(QStringLiteral(".*"), tr("Regular expression (Alt+X)"));
    m_regex->setShortcut(Qt::ALT | Qt::Key_X);
    for (QToolButton* toggle : {m_case, m_regex}) {
        toggle->setCheckable(true);
        connect(toggle, &QToolButton::toggled, this, &FindBar::patternChanged);
    }
    m_previous = addButton(QStringLiteral("‹"), tr("Previous (Shift+F3)"));
    m_next = addButton(QStringLiteral("›"), tr("Next (F3)"));
    connect(m_previous, &QToolButton::clicked, this, &FindBar::previous);
    connect(m_next, &QToolButton::clicked, this, &FindBar::next);
    m_place->setObjectName("timelineFindPlace");
    m_place->setTextFormat(Qt::PlainText);
    row->addWidget(m_place);
    row->addStretch(1);
    QToolButton* close = addButton({}, tr("Close (Esc)"));
    close->setIcon(icon("close"));
    connect(close, &QToolButton::clicked, this, &FindBar::closed);
    connect(m_text, &QLineEdit::textChanged, this, &FindBar::patternChanged);
    setAccessibleName(tr("Find"));
}

QToolButton* FindBar::addButton(const QString& text, const QString& tip)
{
    auto* button = new QToolButton(this);
    button->setText(text);
    button->setToolTip(tip);
    button->setAccessibleName(tip);
    button->setAutoRaise(true);
    layout()->addWidget(button);
    return button;
}

void FindBar::open()
{
    show();
    m_text->setFocus(Qt::ShortcutFocusReason);
    m_text->selectAll();
}

profiler::NamePattern FindBar::pattern() const
{
    return {m_text->text().toStdString(), m_regex->isChecked(), m_case->isChecked()};
}

void FindBar::say(const QString& text, bool error)
{
    m_place->setText(text);
    m_place->setToolTip(error ? text : QString());
    m_isError = error;
    colourPlace();
}

void FindBar::colourPlace()
{
    const Shades tones = shades(QApplication::palette());
    setTextColor(m_place, m_isError ? tones.bad : tones.muted);
}

void FindBar::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        colourPlace();
}

void FindBar::showSearching()
{
    m_number = 0;
    say(tr("searching…"));
}

void FindBar::showHits(const std::shared_ptr<const FindHits>& hits)
{
    m_count = hits ? hits->count : 0;
    for (QToolButton* button : {m_previous, m_next})
        button->setEnabled(m_count > 0);
    // New events of a growing trace come after the existing ones, so positions stay valid.
    if (hits && hits->search->trace()->captureStats().live && m_number > 0 && m_number <= m_count)
        return showPlace(m_number);
    m_number = 0;
    say(!hits          ? QString()
        : m_count == 0 ? tr("not found")
                       : tr("%1 found").arg(formatCount(static_cast<qint64>(m_count))));
}

void FindBar::showPlace(quint64 number)
{
    m_number = number;
    say(tr("%1 of %2").arg(formatCount(static_cast<qint64>(number)), formatCount(static_cast<qint64>(m_count))));
}

void FindBar::showError(const QString& message)
{
    say(message, true);
}

bool FindBar::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_text && event->type() == QEvent::ShortcutOverride) {
        // The timeline has actions with these keys, and the bar is inside its view.
        const int pressed = static_cast<QKeyEvent*>(event)->key();
        if (pressed == Qt::Key_Return || pressed == Qt::Key_Enter || pressed == Qt::Key_Escape) {
            event->accept();
            return true;
        }
    }
    if (watched == m_text && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            key->modifiers().testFlag(Qt::ShiftModifier) ? emit previous() : emit next();
            return true;
        }
        if (key->key() == Qt::Key_Escape) {
            emit closed();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

TimelineFinder::TimelineFinder(QObject* parent) : QObject(parent), m_thread(this)
{
    m_later.setSingleShot(true);
    connect(&m_later, &QTimer::timeout, this, &TimelineFinder::startNext);
}

void TimelineFinder::setTrace(std::shared_ptr<const Trace> trace)
{
    m_trace = std::move(trace);
    m_stale = m_isNew = !m_pattern.text.empty();
    m_step.reset();
    startNext();
}

void TimelineFinder::updateTrace(std::shared_ptr<const Trace> trace)
{
    m_trace = std::move(trace);
    const bool sought = !m_pattern.text.empty();
    // Slice ids change with the next preview of a file.
    if (m_trace && m_trace->captureStats().live)
        m_behind = sought;
    else
        m_stale = sought;
    startNext();
}

void TimelineFinder::setPattern(const profiler::NamePattern& pattern)
{
    m_pattern = pattern;
    m_step.reset();
    m_stale = m_isNew = true;
    if (m_busy)
        m_thread.requestStop();
    startNext();
}

void TimelineFinder::step(bool forward, const std::optional<Slice>& from, profiler::TraceTime time)
{
    m_step = Step{forward, from, time};
    startNext();
}

void TimelineFinder::startNext()
{
    if (m_busy || !m_trace)
        return;
    if (m_stale)
        return startSearch();
    if (const auto step = std::exchange(m_step, std::nullopt); step && m_hits && m_hits->count > 0)
        return startStep(*step);
    if (!m_behind)
        return;
    if (const qint64 since = m_sinceSearch.isValid() ? m_sinceSearch.elapsed() : kSearchAgainMs; since < kSearchAgainMs)
        m_later.start(static_cast<int>(kSearchAgainMs - since));
    else
        startSearch();
}

void TimelineFinder::startSearch()
{
    m_stale = m_behind = false;
    m_later.stop();
    if (m_pattern.text.empty()) {
        m_hits = nullptr;
        emit hitsChanged(m_hits);
        return startNext();
    }
    m_busy = true;
    if (std::exchange(m_isNew, false))
        emit searching();
    m_thread.start(
        [this, trace = m_trace, pattern = m_pattern](const std::stop_token& stop, const Background::Post& post) {
            auto search = NameSearch::make(trace, pattern);
            const QString error = search ? QString() : QString::fromStdString(search.error().message());
            auto hits = search ? collect(std::move(*search), stop) : nullptr;
            post([this, hits, error] {
                m_sinceSearch.start();
                if (!m_stale) {
                    m_hits = hits;
                    emit hitsChanged(m_hits);
                    if (!error.isEmpty())
                        emit failed(error);
                }
                finish();
            });
        },
        [this](const profiler::Error& error) { giveUp(error); });
}

void TimelineFinder::startStep(const Step& step)
{
    m_busy = true;
    m_thread.start(
        [this, hits = m_hits, step](const std::stop_token&, const Background::Post& post) {
            const NameSearch& search = *hits->search;
            const auto tracks = searched(*search.trace());
            std::optional<Slice> slice;
            if (step.from)
                slice = step.forward ? search.next(tracks, *step.from) : search.previous(tracks, *step.from);
            else
                slice = step.forward ? search.next(tracks, step.time) : search.previous(tracks, step.time);
            if (!slice) // wraps around at the end
                slice =
                    step.forward ? search.next(tracks, hits->range.begin) : search.previous(tracks, hits->range.end);
            const std::uint64_t number = slice ? search.rank(tracks, *slice) + 1 : 0;
            post([this, hits, slice, number] {
                if (slice && hits == m_hits)
                    emit found(*slice, number);
                finish();
            });
        },
        [this](const profiler::Error& error) { giveUp(error); });
}

/// The search or step ended without a result.
void TimelineFinder::giveUp(const profiler::Error& error)
{
    m_hits = nullptr;
    emit hitsChanged(m_hits);
    emit failed(QString::fromStdString(error.message()));
    finish();
}

void TimelineFinder::finish()
{
    m_busy = false;
    startNext();
}

TimelineSearch::TimelineSearch(TimelineCanvas* canvas, QWidget* parent)
    : QObject(parent), m_canvas(canvas), m_bar(new FindBar(parent)), m_finder(new TimelineFinder(this))
{
    m_bar->hide();
    m_bar->addActions(canvas->actions()); // their shortcuts work in the bar, too
    connect(canvas, &TimelineCanvas::findWanted, this, &TimelineSearch::open);
    connect(canvas, &TimelineCanvas::findNextWanted, this, [this] { step(true); });
    connect(canvas, &TimelineCanvas::findPreviousWanted, this, [this] { step(false); });
    connect(m_bar, &FindBar::next, this, [this] { step(true); });
    connect(m_bar, &FindBar::previous, this, [this] { step(false); });
    connect(m_bar, &FindBar::closed, this, &TimelineSearch::close);
    connect(m_bar, &FindBar::patternChanged, this, [this] { m_finder->setPattern(m_bar->pattern()); });
    connect(m_finder, &TimelineFinder::searching, m_bar, &FindBar::showSearching);
    connect(m_finder, &TimelineFinder::failed, m_bar, &FindBar::showError);
    connect(m_finder, &TimelineFinder::hitsChanged, this, [this](const std::shared_ptr<const FindHits>& hits) {
        m_bar->showHits(hits);
        m_canvas->setHits(hits);
        emit hitsChanged(hits);
    });
    connect(m_finder, &TimelineFinder::found, this, [this](const profiler::Slice& slice, quint64 number) {
        m_bar->showPlace(number);
        if (holds(*m_canvas->scene().trace, slice.id))
            m_canvas->selectAndShow(slice);
    });
    // The shortcuts also work in the search bar.
    for (const char* name : {"find", "findNext", "findPrevious", "goTo"})
        m_bar->addAction(timelineAction(*canvas, name));
}

void TimelineSearch::open()
{
    m_bar->open();
    if (!m_finder->hits())
        m_finder->setPattern(m_bar->pattern());
}

void TimelineSearch::close()
{
    m_bar->hide();
    m_finder->setPattern({});
    m_canvas->setFocus(Qt::OtherFocusReason);
}

void TimelineSearch::step(bool forward)
{
    if (!m_bar->isVisible())
        return open();
    const TimelineScene& scene = m_canvas->scene();
    m_finder->step(forward, scene.selected, scene.axis.visible().begin);
}

void TimelineSearch::replaceTrace(std::shared_ptr<const profiler::Trace> trace)
{
    if (!trace) {
        m_bar->hide();
        m_finder->setPattern({});
    }
    m_finder->setTrace(std::move(trace));
}

void TimelineSearch::updateTrace(std::shared_ptr<const profiler::Trace> trace)
{
    m_finder->updateTrace(std::move(trace));
}

} // namespace app
