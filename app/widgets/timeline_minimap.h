#pragma once

#include "app/widgets/slice_colors.h"
#include "app/widgets/timeline_find.h"
#include "app/widgets/timeline_theme.h"
#include "profiler/model/trace.h"

#include <QImage>
#include <QWidget>
#include <memory>
#include <vector>

namespace app {

/// A strip of the whole trace: what the training and the device do, where the timeline looks, what a search found and
/// where bookmarks are. The frame is dragged and resized; a press beside it brings it there.
class TimelineMinimap : public QWidget {
    Q_OBJECT
public:
    static constexpr int kHeight = 38;

    explicit TimelineMinimap(QWidget* parent = nullptr);

    void setTrace(std::shared_ptr<const profiler::Trace> trace);
    /// What the timeline shows. @param left  where its lanes begin: the strip begins there too
    void setView(profiler::TimeRange visible, int left);
    void setHits(std::shared_ptr<const FindHits> hits);
    void setBookmarks(std::vector<profiler::TraceTime> times);

    /// Place of a time, in pixels of the widget.
    [[nodiscard]] double xOf(profiler::TraceTime time) const;
    [[nodiscard]] profiler::TraceTime timeAt(double x) const;
    /// The frame around what is shown; at least so wide that a hand can hold it.
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
    profiler::TimeRange m_range; ///< all that there is to show
    std::shared_ptr<const FindHits> m_hits;
    std::vector<profiler::TraceTime> m_bookmarks;
    profiler::TimeRange m_visible;
    SliceColors m_colors;
    TimelineTheme m_theme;
    QImage m_activity; ///< null: to be drawn
    int m_left = 0;
    Hand m_hand = Hand::None;
    QPointF m_last;
};

} // namespace app
