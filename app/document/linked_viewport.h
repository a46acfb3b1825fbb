#pragma once

#include "profiler/model/clock.h"

#include <QObject>
#include <array>

namespace app {

/// One of two traces that are shown side by side.
enum class Side { First, Second };
constexpr Side otherSide(Side side)
{
    return side == Side::First ? Side::Second : Side::First;
}

/// The common time axis of two timelines: a shift between their times, and whether they move together. The timelines
/// report their movements and follow the signals. GUI thread.
class LinkedViewport : public QObject {
    Q_OBJECT
public:
    /// What a timeline shows.
    struct View {
        profiler::TimeRange visible; ///< in the time of its own trace
        int headerWidth = 0;         ///< width of the track names in pixels, so that equal times are at equal positions
        friend bool operator==(const View&, const View&) = default;
    };

    using QObject::QObject;

    /// Sets the time ranges of the traces. Without a second one, there is nothing to link.
    void setRanges(profiler::TimeRange first, profiler::TimeRange second);
    [[nodiscard]] bool isLinked() const { return !m_ranges[1].empty(); }

    /// The time that is added to a time of the second trace to get the time of the first at the same position.
    [[nodiscard]] profiler::Nanoseconds shift() const { return m_shift; }
    void setShift(profiler::Nanoseconds shift);
    /// Whether the timelines move together. Locking moves the second one to the first.
    [[nodiscard]] bool isLocked() const { return m_locked; }
    void setLocked(bool locked);

    /// The user moved or zoomed one of the timelines; the other one follows.
    void move(Side side, const View& view);
    [[nodiscard]] const View& view(Side side) const { return m_views[index(side)]; }
    /// The range within which a timeline may move: both traces while they move together, so that the longer one can be
    /// seen completely. In the time of that side; empty: its own trace.
    [[nodiscard]] profiler::TimeRange limits(Side side) const;

    /// The time of the other trace at the same position.
    [[nodiscard]] profiler::TraceTime toOther(Side from, profiler::TraceTime time) const;
    [[nodiscard]] profiler::TimeRange toOther(Side from, profiler::TimeRange range) const;

signals:
    /// The timeline of this side must show view(side).
    void viewWanted(app::Side side);
    void limitsChanged();
    /// The shift or the lock changed.
    void changed();

private:
    static constexpr std::size_t index(Side side) { return side == Side::First ? 0 : 1; }
    void follow(Side moved);

    std::array<profiler::TimeRange, 2> m_ranges;
    std::array<View, 2> m_views;
    profiler::Nanoseconds m_shift{};
    bool m_locked = true;
};

} // namespace app
