#pragma once

#include "app/services/background.h"
#include "app/timeline/slice_search.h"
#include "profiler/model/name_search.h"
#include "profiler/model/trace.h"

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>
#include <QWidget>
#include <memory>
#include <optional>

class QLabel;
class QLineEdit;
class QToolButton;

// The search for names on a timeline: its bar, the search on its own thread, and their connection with the canvas.
namespace app {

class TimelineCanvas;

/// The search bar above the timeline: a text or regular expression, the number of matches, and buttons to go from one
/// to the next.
class FindBar : public QWidget {
    Q_OBJECT
public:
    explicit FindBar(QWidget* parent = nullptr);

    /// Takes the focus and selects the text.
    void open();
    [[nodiscard]] profiler::NamePattern pattern() const;

    void showSearching();
    void showHits(const std::shared_ptr<const FindHits>& hits);
    void showPlace(quint64 number);
    void showError(const QString& message);

signals:
    void patternChanged();
    void next();
    void previous();
    void closed();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QToolButton* addButton(const QString& text, const QString& tip);
    void say(const QString& text, bool error = false);
    void colourPlace();

    QLineEdit* m_text;
    QToolButton *m_case, *m_regex, *m_previous, *m_next;
    QLabel* m_place;
    bool m_isError = false; ///< content of m_place
    quint64 m_count = 0;
    quint64 m_number = 0; ///< number of the current match; 0: none
};

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

/// The search of one timeline: its search bar, and the marks of the matches. Each timeline of the window has its own.
class TimelineSearch : public QObject {
    Q_OBJECT
public:
    /// Creates the search bar, hidden, as a child of `parent`, which puts it into a layout.
    TimelineSearch(TimelineCanvas* canvas, QWidget* parent);

    [[nodiscard]] FindBar* bar() const { return m_bar; }
    void open();
    /// @param trace  null: none; closes the search
    void replaceTrace(std::shared_ptr<const profiler::Trace> trace);
    /// A later snapshot of the same trace.
    void updateTrace(std::shared_ptr<const profiler::Trace> trace);

signals:
    void hitsChanged(std::shared_ptr<const app::FindHits> hits); ///< null: no search

private:
    void close();
    void step(bool forward);

    TimelineCanvas* m_canvas;
    FindBar* m_bar;
    TimelineFinder* m_finder;
};

} // namespace app
