#pragma once

#include "app/services/background.h"
#include "app/timeline/timeline_find.h"
#include "profiler/model/name_search.h"

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>
#include <memory>
#include <optional>

namespace app {

/// Searches the slice names of a trace on a separate thread: which names match, how many slices, and the next match
/// from a position. The newest request wins; the GUI thread never waits.
class TimelineFinder : public QObject {
    Q_OBJECT
public:
    explicit TimelineFinder(QObject* parent = nullptr);

    /// Sets another trace and searches it for the current pattern.
    void setTrace(std::shared_ptr<const profiler::Trace> trace);
    /// Sets a later snapshot of the same trace. A growing trace is searched at most once per second; until then the
    /// earlier matches are used.
    void updateTrace(std::shared_ptr<const profiler::Trace> trace);
    /// An empty text clears the search and its marks.
    void setPattern(const profiler::NamePattern& pattern);
    /// Finds the next or previous match, wrapping around at the end of the trace.
    /// @param from  slice to start from; if there is none, starts at `time`
    void step(bool forward, const std::optional<profiler::Slice>& from, profiler::TraceTime time);

    [[nodiscard]] std::shared_ptr<const FindHits> hits() const { return m_hits; }

signals:
    void hitsChanged(std::shared_ptr<const app::FindHits> hits); ///< null: no search
    void searching();                                            ///< for another pattern or trace
    void failed(const QString& message);                         ///< invalid regular expression
    /// @param number  its position among all matches, from 1
    void found(const profiler::Slice& slice, quint64 number);

private:
    struct Step {
        bool forward = true;
        std::optional<profiler::Slice> from;
        profiler::TraceTime time;
    };
    void startNext();
    void startSearch();
    void startStep(const Step& step);
    void giveUp(const profiler::Error& error);
    void finish();

    std::shared_ptr<const profiler::Trace> m_trace;
    profiler::NamePattern m_pattern;
    std::shared_ptr<const FindHits> m_hits;
    bool m_stale = false, m_busy = false;
    bool m_isNew = false;  ///< another pattern or trace (not a later snapshot): earlier matches are invalid
    bool m_behind = false; ///< m_hits belong to an earlier snapshot
    QElapsedTimer m_sinceSearch;
    QTimer m_later;
    std::optional<Step> m_step; ///< requested, not started
    Background m_thread;
};

} // namespace app
