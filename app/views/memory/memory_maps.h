#pragma once

#include "app/timeline/label_cache.h"
#include "app/views/memory/memory_look.h"

#include <QAbstractScrollArea>
#include <QWidget>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

// What holds the memory at a moment, as areas: holders as a treemap, and the allocator's segments with their blocks.
namespace app {

/// Divides a rectangle among weights in proportion, in their order, so that the parts are as square as possible.
/// @param weights  largest first for the best shapes, not negative
/// Source: Bruls, Huizing and van Wijk, "Squarified Treemaps", 2000.
std::vector<QRectF> squarified(const std::vector<double>& weights, const QRectF& all);

/// The holders of a moment as rectangles whose areas are their bytes, coloured by category. The arrow keys move; a
/// click or Space chooses; a double click or Return opens.
class MemoryTreemap : public QWidget {
    Q_OBJECT
public:
    explicit MemoryTreemap(QWidget* parent = nullptr);

    /// In the order of MemoryState::holders.
    void setHolders(std::vector<profiler::analysis::LiveBlocks> holders);
    void setCurrent(std::optional<std::size_t> holder);
    [[nodiscard]] std::optional<std::size_t> current() const { return m_current; }
    /// The rectangle of a holder, by index; parts below a pixel are empty.
    [[nodiscard]] QRectF rectOf(std::size_t holder) const { return m_rects[holder]; }
    [[nodiscard]] std::optional<std::size_t> holderAt(QPointF point) const;

    void render(QPainter& painter, QSize size);

    [[nodiscard]] QSize sizeHint() const override { return {360, 180}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {120, 60}; }

signals:
    void chosen(std::size_t holder);
    void opened(std::size_t holder);
    void menuWanted(std::size_t holder, QPoint global);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    [[nodiscard]] std::vector<QRectF> layOut(QSize size) const;
    void paint(QPainter& painter, QSize size, const std::vector<QRectF>& rects, bool interactive);
    [[nodiscard]] std::optional<std::size_t> neighbour(int key) const;

    std::vector<profiler::analysis::LiveBlocks> m_holders;
    std::int64_t m_bytes = 0; ///< of all
    std::vector<QRectF> m_rects;
    std::optional<std::size_t> m_current, m_hovered;
    LabelCache m_labels;
};

/// The segments of an allocator, one per row, each across the whole width, with its blocks in the order of their
/// addresses. Free memory between blocks is fragmented. A click or Space chooses a block; a double click or Return
/// opens it; the arrow keys move.
class SegmentMap : public QAbstractScrollArea {
    Q_OBJECT
public:
    using Position = std::pair<std::size_t, std::size_t>; ///< indices of a segment and of its block

    explicit SegmentMap(QWidget* parent = nullptr);

    /// @param memory  null: empty
    void setMemory(std::shared_ptr<const profiler::analysis::DeviceMemory> memory);
    [[nodiscard]] std::optional<Position> current() const { return m_current; }
    /// The block at a point of the viewport.
    [[nodiscard]] std::optional<Position> blockAt(QPointF point) const;
    /// The rectangle of a block in the viewport.
    [[nodiscard]] QRectF rectOf(Position position) const;
    /// "3 segments, 20 MB; free: 9 MB in segments that hold blocks, 2 MB in others".
    [[nodiscard]] QString summary() const;

    [[nodiscard]] QSize sizeHint() const override { return {360, 180}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {120, 60}; }

signals:
    void chosen(const profiler::analysis::SegmentBlock& block);
    void opened(const profiler::analysis::SegmentBlock& block);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    [[nodiscard]] int rowHeight() const;
    [[nodiscard]] QRectF barOf(std::size_t segment) const;
    [[nodiscard]] QString describe(Position position) const;
    [[nodiscard]] const profiler::analysis::SegmentBlock& block(Position position) const;
    void setCurrent(std::optional<Position> position);
    void relayout();

    std::shared_ptr<const profiler::analysis::DeviceMemory> m_memory;
    std::optional<Position> m_current;
};

} // namespace app
