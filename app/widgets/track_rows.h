#pragma once

#include "profiler/model/trace.h"

#include <QString>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace app {

/// One row of the timeline: the heading of a group, or a track.
struct TrackRow {
    enum class Kind { Group, Track, Counter };

    Kind kind = Kind::Track;
    QString name;
    QString detail;                         ///< small print: "thread 4711", "NVIDIA H100"
    QString key;                            ///< the same in every snapshot of a run
    profiler::TrackId track;                ///< Track, Counter
    std::vector<profiler::TrackId> members; ///< Group
    bool foldable = false;
    bool open = true;
    int indent = 0;     ///< 0 or 1
    int firstDepth = 0; ///< nesting depth of the first lane: a folded main thread shows its phases, not its steps
    int lanes = 0;      ///< nesting depths shown; 0 for groups and counters
    int top = 0;        ///< y of the row within all rows, in pixels
    int height = 0;

    /// y within all rows of the lane of a nesting depth.
    [[nodiscard]] int laneTop(int depth) const;
    [[nodiscard]] bool showsDepth(int depth) const { return depth >= firstDepth && depth < firstDepth + lanes; }
};

/// The rows of a trace, top to bottom: loader workers, main thread, other threads, each device's streams, counters;
/// once for each process. Knows which are folded. Rows without any slice or sample are left out.
class TrackRows {
public:
    static constexpr int kLaneHeight = 19; ///< of which the last pixel stays empty
    static constexpr int kPadding = 3;     ///< above and below the lanes of a track
    static constexpr int kGroupHeight = 24;
    static constexpr int kCounterHeight = 44;

    /// Takes another trace or a later snapshot; folds stay by key.
    void setTrace(const std::shared_ptr<const profiler::Trace>& trace);

    [[nodiscard]] const std::vector<TrackRow>& all() const { return m_rows; }
    [[nodiscard]] int height() const;
    /// Changes whenever the rows do.
    [[nodiscard]] int revision() const { return m_revision; }
    /// Row at a y within all rows; −1: none.
    [[nodiscard]] int rowAt(int y) const;
    /// Row that shows a track: its own, or its folded group's; −1: none.
    [[nodiscard]] int rowOf(profiler::TrackId track) const;
    /// The track's lane at a y within all rows.
    struct Lane {
        profiler::TrackId track;
        int depth = 0;
    };
    [[nodiscard]] std::optional<Lane> laneAt(int y) const;
    /// Nesting depth `depth` of a track is on a lane of its own now.
    [[nodiscard]] bool shows(profiler::TrackId track, int depth) const;

    /// Folds or unfolds a row; nothing where it is not foldable.
    void setOpen(int row, bool open);
    void setAllOpen(bool open);
    /// Opens the group of a track, and the track where `depth` is folded away.
    void reveal(profiler::TrackId track, int depth);

private:
    struct Group;
    [[nodiscard]] std::vector<Group> groups() const;
    void addGroup(Group group);
    void addTrack(profiler::TrackId track, int indent);
    [[nodiscard]] bool isOpen(const QString& key) const { return !m_folded.contains(key); }
    void rebuild();

    std::shared_ptr<const profiler::Trace> m_trace;
    std::vector<TrackRow> m_rows;
    int m_revision = 0;
    std::set<QString> m_folded;
    std::set<QString> m_seen; ///< groups that were given their first fold
};

} // namespace app
