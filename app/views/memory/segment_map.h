#pragma once

#include "app/views/memory/memory_look.h"

#include <QAbstractScrollArea>
#include <memory>
#include <optional>
#include <utility>

namespace app {

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
