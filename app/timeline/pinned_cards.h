#pragma once

#include "profiler/model/trace.h"

#include <QFrame>
#include <QObject>
#include <QPointer>
#include <vector>

class QAbstractScrollArea;

namespace app {

struct TimelineScene;
struct SliceDetail;

/// The content of the tooltip of a slice: its facts and the step in which it starts.
std::vector<SliceDetail> tooltipFacts(const TimelineScene& scene, const profiler::Slice& slice);

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
