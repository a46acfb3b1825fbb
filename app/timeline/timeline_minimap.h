#pragma once

#include "app/document/selection.h"
#include "app/look/theme.h"
#include "app/timeline/slice_colors.h"
#include "app/timeline/slice_search.h"
#include "profiler/model/trace.h"

#include <QImage>
#include <QWidget>
#include <memory>
#include <vector>

namespace app {

/// An overview strip of the whole trace: activity of the training and the device, the visible range of the timeline,
/// search matches and bookmarks. The frame can be dragged and resized; a press outside moves it there.
class TimelineMinimap : public QWidget {
    Q_OBJECT
public:
    static constexpr int kHeight = 38;

    explicit TimelineMinimap(QWidget* parent = nullptr);

    void setTrace(std::shared_ptr<const profiler::Trace> trace);
    /// Sets the visible range of the timeline.
    /// @param left  left edge of its tracks, where the strip starts, too
    void setView(profiler::TimeRange visible, int left);
    void setHits(std::shared_ptr<const FindHits> hits);
    void setMarked(std::shared_ptr<const MarkedItems> marked);
    void setBookmarks(std::vector<profiler::TraceTime> times);

    /// Position of a time in pixels of the widget.
    [[nodiscard]] double xOf(profiler::TraceTime time) const;
    [[nodiscard]] profiler::TraceTime timeAt(double x) const;
    /// The frame around the visible range, wide enough to be grabbed.
    [[nodiscard]] QRectF frame() const;

signals:
    void rangeWanted(profiler::TimeRange range);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    enum class Hand { None, Move, Left, Right };

    [[nodiscard]] Hand handAt(QPointF at) const;
    [[nodiscard]] QRect strip() const;
    void want(profiler::TraceTime begin, profiler::TraceTime end);
    void drawActivity();
    void drawHost(int top, int bottom);
    void drawDevices(int top, int bottom);
    void paintFrame(QPainter& painter) const;
    void paintMarks(QPainter& painter) const;

    std::shared_ptr<const profiler::Trace> m_trace;
    profiler::TimeRange m_range; ///< range of the whole trace
    std::shared_ptr<const FindHits> m_hits;
    std::shared_ptr<const MarkedItems> m_marked;
    std::vector<profiler::TraceTime> m_bookmarks;
    profiler::TimeRange m_visible;
    SliceColors m_colors;
    TimelineTheme m_theme;
    QImage m_activity; ///< null: must be drawn
    int m_left = 0;
    Hand m_hand = Hand::None;
    QPointF m_last;
};

} // namespace app
