#pragma once

#include "app/timeline/label_cache.h"
#include "app/views/flame/call_frames.h"

#include <QAbstractScrollArea>
#include <QString>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace app {

/// A flame graph: one row per depth, and frames as wide as their time. Paints only frames that are visible and at least
/// one pixel wide; narrower neighbours are one grey frame. A click zooms to a frame, Esc zooms out again, the wheel
/// zooms at the pointer, Shift and the wheel scroll; arrows move the current frame, Enter zooms to it.
class FlameGraph : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit FlameGraph(QWidget* parent);

    /// Shows other frames, zoomed out.
    void setFrames(std::shared_ptr<const CallFrames> frames);
    [[nodiscard]] const std::shared_ptr<const CallFrames>& frames() const { return m_frames; }
    /// Callers are above their callees, with the root at the bottom.
    void setUpsideDown(bool upsideDown);
    /// Highlights frames whose name contains the text, regardless of case; an empty text highlights nothing.
    void setSearch(const QString& text);
    /// The share of time within frames that match the search, [0, 1], and their number.
    [[nodiscard]] std::pair<double, std::size_t> found() const { return {m_foundShare, m_foundCount}; }
    /// Moves to the next or previous match.
    void goToMatch(int direction);

    [[nodiscard]] std::uint32_t current() const { return m_current; } ///< 0: the root
    /// Makes a frame current and scrolls to it, without a signal.
    void setCurrent(std::uint32_t frame);
    void zoomTo(std::uint32_t frame);
    void zoomOut(); ///< to the part that was visible before the last zoom
    /// The visible part, in units of weight.
    [[nodiscard]] std::pair<double, double> visiblePart() const { return {m_left, m_right}; }
    /// The frame at a point of the viewport.
    [[nodiscard]] std::optional<std::uint32_t> frameAt(QPointF point) const;

    /// Paints the visible part without scrolling, for export.
    void render(QPainter& painter, QSize size, bool vector);
    [[nodiscard]] QSize fullSize() const; ///< of the visible part with all rows

signals:
    void chosen(std::uint32_t frame); ///< by click, Enter or an arrow key
    void searchWanted();
    void menuWanted(std::uint32_t frame, QPoint global);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Visible {
        QRectF rect;
        std::uint32_t frame = 0;
        bool rest = false; ///< stands for frames narrower than a pixel
    };
    [[nodiscard]] std::vector<Visible> layOut(QSize size, double scrolled) const;
    void paint(QPainter& painter, QSize size, double scrolled, bool interactive);
    void paintLegend(QPainter& painter, QSize size);
    void relayout();
    void setPart(double left, double right);
    void makeCurrent(std::uint32_t frame);
    void move(int key);
    [[nodiscard]] double rowHeight() const;
    [[nodiscard]] double legendHeight() const;
    [[nodiscard]] double rowTop(std::uint32_t depth, QSize size, double scrolled) const;
    [[nodiscard]] QString describe(std::uint32_t frame) const;

    std::shared_ptr<const CallFrames> m_frames;
    std::uint32_t m_deepest = 0;
    bool m_upsideDown = false;
    double m_left = 0, m_right = 1;
    std::vector<std::pair<double, double>> m_before; ///< parts that Esc returns to
    std::uint32_t m_current = 0;
    std::optional<std::uint32_t> m_hovered;
    std::vector<Visible> m_visible; ///< as painted last
    QString m_search;
    std::vector<bool> m_matches; ///< by name; empty: no search
    double m_foundShare = 0;
    std::size_t m_foundCount = 0;
    LabelCache m_labels;
    QPointF m_pressed, m_dragged;
    bool m_dragging = false;
};

} // namespace app
