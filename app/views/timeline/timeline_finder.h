#pragma once

#include "app/session/background.h"
#include "app/widgets/timeline_find.h"
#include "profiler/model/name_search.h"

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>
#include <memory>
#include <optional>

namespace app {

/// Searches the names of a trace on a thread of its own: what matches, how much of it, the next one from a place. The
/// newest request wins; the GUI thread never waits for one.
class TimelineFinder : public QObject {
    Q_OBJECT
public:
    explicit TimelineFinder(QObject* parent = nullptr);

    /// Another trace; a pattern is looked for in it too.
    void setTrace(std::shared_ptr<const profiler::Trace> trace);
    /// A later snapshot of the same. While the trace grows, it is searched anew once a second at most, and what was
    /// found in the one before counts until then.
    void updateTrace(std::shared_ptr<const profiler::Trace> trace);
    /// An empty text finds nothing and takes the marks away.
    void setPattern(const profiler::NamePattern& pattern);
    /// Looks for the next or previous match. Goes on at the other end of the trace when there is none on this side.
    /// @param from  a slice to go on from; without one, matches from `time` on (or before it) count
    void step(bool forward, const std::optional<profiler::Slice>& from, profiler::TraceTime time);

    [[nodiscard]] std::shared_ptr<const FindHits> hits() const { return m_hits; }

signals:
    void hitsChanged(std::shared_ptr<const app::FindHits> hits); ///< null: no search
    void searching();                                            ///< for another pattern, or in another trace
    void failed(const QString& message);                         ///< a regular expression that is none
    /// @param number  its place among all matches, from 1
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
    bool m_isNew = false;  ///< another pattern or trace, not a later snapshot: what was found counts no more
    bool m_behind = false; ///< m_hits are of an earlier snapshot
    QElapsedTimer m_sinceSearch;
    QTimer m_later;
    std::optional<Step> m_step; ///< asked for, not begun
    Background m_thread;
};

} // namespace app
