#include "app/timeline_tools/timeline_finder.h"

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

} // namespace app
