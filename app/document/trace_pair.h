#pragma once

#include "app/document/trace_document.h"
#include "app/services/background.h"
#include "profiler/analysis/difference/step_difference.h"
#include "profiler/model/clock.h"

#include <QObject>
#include <QString>
#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

/// Two traces side by side: their documents, their matching steps, and their common time axis.
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

/// The document of the window and a second one beside it: which steps correspond, how the traces are aligned in time,
/// and the difference of the current step. A selection in one trace selects its counterpart in the other. The second
/// document is closed when the first one shows another trace. GUI thread.
class TracePair : public QObject {
    Q_OBJECT
public:
    enum class Alignment {
        ByStep,      ///< the current step starts at the same position in both; without steps, the traces do
        BySelection, ///< the selected slice and its counterpart start at the same position; otherwise like ByStep
        ByMark,      ///< a mark in each trace is at the same position; the steps with the marks correspond
        ByShift,     ///< a shift that the user chose
    };

    /// All must outlive the pair.
    TracePair(Notices* notices, const RunStore* runs, TraceDocument* first);
    ~TracePair() override;

    /// Opens a trace beside the one on screen, instead of an earlier second trace. If it cannot be opened, a notice
    /// says why, and the pair is closed.
    void open(const std::filesystem::path& file);
    void close();
    [[nodiscard]] bool isOpen() const { return m_second != nullptr; }
    /// Null for the second one if the pair is closed.
    [[nodiscard]] TraceDocument* document(Side side) const { return side == Side::First ? m_first : m_second.get(); }
    [[nodiscard]] LinkedViewport* viewport() { return &m_viewport; }
    /// The trace whose timeline the user used last: commands of the menus act on it. The first one if the pair is
    /// closed.
    [[nodiscard]] Side activeSide() const { return m_active; }
    void setActiveSide(Side side);

    [[nodiscard]] Alignment alignment() const { return m_alignment; }
    /// @param how  ByStep or BySelection
    void alignBySteps(Alignment how = Alignment::ByStep);
    /// Sets the mark of one trace. As soon as both have one, they are aligned by their marks.
    void setMark(Side side, profiler::TraceTime time);
    [[nodiscard]] std::optional<profiler::TraceTime> mark(Side side) const { return m_marks[index(side)]; }
    void alignByShift(profiler::Nanoseconds shift);

    /// The analysed steps of a trace; empty while they are unknown.
    [[nodiscard]] const std::vector<profiler::analysis::Step>& steps(Side side) const;
    [[nodiscard]] const profiler::analysis::StepMatch& match() const { return m_match; }
    /// Position of the current step in steps(side); empty: none, or it has no counterpart.
    [[nodiscard]] std::optional<std::size_t> step(Side side) const { return m_step[index(side)]; }
    /// Selects the next or previous step of the first trace that has a counterpart, and shows it.
    /// @param by  1 or −1
    void goToStep(int by);
    [[nodiscard]] bool canGoToStep(int by) const { return stepBeside(by).has_value(); }

    /// Of the current step; null: not computed, or the step has no counterpart.
    [[nodiscard]] const std::shared_ptr<const profiler::analysis::StepDifference>& difference() const
    {
        return m_difference;
    }
    /// The counterpart of the selection and the difference belong to the current selection.
    [[nodiscard]] bool isUpToDate() const { return !m_busy; }

signals:
    /// The pair was opened or closed.
    void openChanged();
    void activeSideChanged();
    /// The alignment, the current step, the steps, or a title changed.
    void changed();
    void differenceChanged();
    /// This slice was selected because its counterpart in the other trace was.
    void counterpartSelected(app::Side side, profiler::SliceId slice);

private:
    static constexpr std::size_t index(Side side) { return side == Side::First ? 0 : 1; }
    void connectDocument(Side side);
    void takeRanges();
    void takeSteps();
    void takeSelection(Side side);
    void setStep(Side side, std::optional<std::size_t> position);
    void align();
    void alignCounterparts(Side from, const profiler::Slice& slice, const std::optional<profiler::Slice>& other);
    void compute(Side from, std::optional<profiler::Slice> slice);
    [[nodiscard]] std::optional<std::size_t> stepBeside(int by) const;
    [[nodiscard]] std::optional<std::size_t> matched(Side from, std::size_t position) const;

    Notices* m_notices;
    const RunStore* m_runs;
    TraceDocument* m_first;
    std::unique_ptr<TraceDocument> m_second;
    LinkedViewport m_viewport;
    Side m_active = Side::First;
    Alignment m_alignment = Alignment::ByStep;
    std::array<std::optional<profiler::TraceTime>, 2> m_marks;
    profiler::analysis::StepMatch m_match;
    std::array<std::optional<std::size_t>, 2> m_step;
    std::shared_ptr<const profiler::analysis::StepDifference> m_difference;
    std::array<std::shared_ptr<const profiler::Trace>, 2> m_compared; ///< the traces of m_difference
    bool m_selecting = false;                                         ///< the pair selects the counterpart
    bool m_busy = false;
    Background m_work{this};
};

} // namespace app
