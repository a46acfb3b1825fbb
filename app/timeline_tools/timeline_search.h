#pragma once

#include "app/timeline/timeline_find.h"
#include "profiler/model/trace.h"

#include <QObject>
#include <memory>

namespace app {

class FindBar;
class TimelineCanvas;
class TimelineFinder;

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
