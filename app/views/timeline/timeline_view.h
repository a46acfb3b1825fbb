#pragma once

#include "app/session/selection.h"
#include "profiler/model/trace.h"

#include <QWidget>
#include <memory>

namespace app {

class CaptureNotice;
class TimelineCanvas;

/// The timeline with what its trace lacks above it, tied to the selection of all views.
class TimelineView : public QWidget {
    Q_OBJECT
public:
    explicit TimelineView(Selection* selection, QWidget* parent = nullptr);

    /// Another trace altogether.
    void replaceTrace(std::shared_ptr<const profiler::Trace> trace);
    /// A later snapshot of the same one.
    void updateTrace(std::shared_ptr<const profiler::Trace> trace);
    [[nodiscard]] TimelineCanvas* canvas() const { return m_canvas; }

private:
    void takeSelection();
    void takeRowLayout(const profiler::Trace& trace);
    void keepRowLayout() const;

    Selection* m_selection;
    CaptureNotice* m_notice;
    TimelineCanvas* m_canvas;
    QString m_rowsKey; ///< of the settings that keep how the rows of this kind of trace stand
};

} // namespace app
