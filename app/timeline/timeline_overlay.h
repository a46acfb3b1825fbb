#pragma once

#include "profiler/model/trace.h"

#include <QColor>
#include <QFrame>
#include <QObject>
#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainter>
#include <QPointer>
#include <QRectF>
#include <algorithm>
#include <cmath>
#include <vector>

class QAbstractScrollArea;

// What the timeline shows above its lanes: the selection, arrows of flows, marks, and tooltips, which can be pinned.
namespace app {

struct FlowsInView;
struct SliceDetail;
struct TimelineScene;

/// Calls `draw()` with the painter clipped to one strip of `area` after another. Qt's raster engine passes a
/// translucent shape of 96 or more spans of pixels to a thread pool and waits for it, so that on a busy machine a frame
/// waits for each such shape. It draws smaller and opaque shapes itself. Other engines (SVG) get the whole area.
template <class Draw>
void drawInStrips(QPainter& painter, const QRectF& area, Draw&& draw)
{
    constexpr double kRows = 64;
    if (painter.paintEngine()->type() != QPaintEngine::Raster) {
        draw();
        return;
    }
    const double ratio = painter.device()->devicePixelRatio();
    // Strips end between pixel rows, so that no row is drawn twice.
    for (double row = std::floor(area.top() * ratio), end = std::ceil(area.bottom() * ratio); row < end; row += kRows) {
        painter.save();
        painter.setClipRect(QRectF(area.left(), row / ratio, area.width(), std::min(kRows, end - row) / ratio),
                            Qt::IntersectClip);
        draw();
        painter.restore();
    }
}

/// Fills a rectangle with a translucent colour.
inline void fillInStrips(QPainter& painter, const QRectF& area, const QColor& color)
{
    drawInStrips(painter, area, [&] { painter.fillRect(area, color); });
}

/// Selection, flows, range, marks and the pointer line.
void paintOverlay(QPainter& painter, TimelineScene& scene, const FlowsInView& inView);
/// Marks on the ruler, bookmarks with their notes.
void paintMarkFlags(QPainter& painter, TimelineScene& scene);
/// Tooltip card of the item under the pointer.
void paintHoverCard(QPainter& painter, TimelineScene& scene);

/// A tooltip that stays: its text can be selected and copied, and it can be moved with the mouse. Esc closes it.
class PinnedCard : public QFrame {
    Q_OBJECT
public:
    PinnedCard(const QString& title, const std::vector<SliceDetail>& facts, const QColor& edge, QWidget* parent);

    /// Title and facts, one per line.
    [[nodiscard]] const QString& text() const { return m_text; }

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    QString m_text;
    QPoint m_grip; ///< position in the card at which it is dragged
};

/// The pinned tooltips of a timeline.
class PinnedCards : public QObject {
    Q_OBJECT
public:
    static constexpr std::size_t kMost = 12; ///< another one replaces the oldest

    /// @param area  the canvas: the cards are children of its viewport
    PinnedCards(TimelineScene& scene, QAbstractScrollArea& area) : m_scene(scene), m_area(area) {}

    /// Pins the tooltip of the slice under the pointer, or of the selected slice.
    void pin();
    /// Closes the last pinned tooltip; false if there is none.
    bool closeLast();
    void closeAll();

private:
    TimelineScene& m_scene;
    QAbstractScrollArea& m_area;
    std::vector<QPointer<PinnedCard>> m_cards; ///< the oldest first
};

} // namespace app
