#pragma once

#include "app/widgets/timeline_groups.h"
#include "app/widgets/timeline_layout.h"
#include "profiler/model/trace.h"

#include <QString>
#include <memory>
#include <optional>
#include <vector>

namespace app {

/// One row of the timeline: the heading of a group, a track, or the line that says how many are hidden.
struct TrackRow {
    enum class Kind { Group, Track, Counter, Hidden };

    Kind kind = Kind::Track;
    QString name;
    QString detail;                         ///< small print: "thread 4711", "NVIDIA H100"
    QString key;                            ///< the same in every snapshot of a run
    QString parent;                         ///< key of the group around it; empty at the top level
    profiler::TrackId track;                ///< Track, Counter
    std::vector<profiler::TrackId> members; ///< Group: all tracks below it
    bool foldable = false;
    bool open = true;
    bool pinned = false; ///< stays at the top
    int indent = 0;
    int firstDepth = 0; ///< nesting depth of the first lane: a folded main thread shows its phases, not its steps
    int lanes = 0;      ///< nesting depths shown; 0 for groups and counters
    int depths = 0;     ///< … of those that there are
    int top = 0;        ///< y of the row within all rows, in pixels
    int height = 0;

    /// y within all rows of the lane of a nesting depth.
    [[nodiscard]] int laneTop(int depth) const;
    [[nodiscard]] int bottom() const { return top + height; }
    [[nodiscard]] bool showsDepth(int depth) const { return depth >= firstDepth && depth < firstDepth + lanes; }
};

/// The rows of a trace, top to bottom: pinned ones, then the others in the tree's order or the user's. Knows which are
/// folded, hidden, moved and resized: its layout, which outlives the trace.
class TrackRows {
public:
    static constexpr int kLaneHeight = 19; ///< of which the last pixel stays empty
    static constexpr int kPadding = 3;     ///< above and below the lanes of a track
    static constexpr int kGroupHeight = 24;
    static constexpr int kCounterHeight = 44;
    static constexpr int kLeastCounter = 24, kMostCounter = 400;

    /// Takes another trace or a later snapshot; the layout stays.
    void setTrace(const std::shared_ptr<const profiler::Trace>& trace);
    [[nodiscard]] const RowLayout& layout() const { return m_layout; }
    void setLayout(RowLayout layout);

    [[nodiscard]] const std::vector<TrackRow>& all() const { return m_rows; }
    [[nodiscard]] const TrackRow& at(int row) const { return m_rows[static_cast<std::size_t>(row)]; }
    [[nodiscard]] int count() const { return static_cast<int>(m_rows.size()); }
    [[nodiscard]] int height() const;
    /// Height of the pinned rows, which come first.
    [[nodiscard]] int pinnedHeight() const { return m_pinnedHeight; }
    /// Names of what is hidden, by key.
    [[nodiscard]] std::vector<std::pair<QString, QString>> hidden() const;
    /// Changes whenever the rows do.
    [[nodiscard]] int revision() const { return m_revision; }
    /// Row at a y within all rows; −1: none.
    [[nodiscard]] int rowAt(int y) const;
    /// Row that shows a track: its own, or its folded group's; −1: none.
    [[nodiscard]] int rowOf(profiler::TrackId track) const;
    [[nodiscard]] int rowOfKey(const QString& key) const;
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
    /// Shows the track: opens its groups, takes it out of hiding, makes it high enough for `depth`.
    void reveal(profiler::TrackId track, int depth);

    void hide(int row);
    void show(const QString& key);
    void showAll();
    void setPinned(int row, bool pinned);
    /// Moves a row among its siblings by so many places; false at either end.
    bool move(int row, int by);
    /// Where a row that is dragged to `y` would come to stand.
    struct Drop {
        QString before; ///< the sibling below it; empty: last
        int y = 0;      ///< of the line between
    };
    [[nodiscard]] std::optional<Drop> dropAt(int row, int y) const;
    void drop(int row, const Drop& where);
    /// Makes a counter so high, or shows so many whole lanes of a track as fit into `height`.
    void resize(int row, int height);
    /// Whether resize() can do anything.
    [[nodiscard]] bool resizable(int row) const;

private:
    struct Place { ///< of a row that is made
        QString parent;
        QString around; ///< name of the group that a pinned row was taken out of
        int indent = 0;
        bool pinned = false;
    };
    void rebuild();
    void arrange(std::vector<RowNode>& nodes, const QString& parent);
    bool add(const RowNode& node, const Place& place);
    void addTrack(const RowNode& node, TrackRow& row) const;
    void addPinned(const std::vector<RowNode>& nodes, const RowNode& parent);
    void addHiddenLine();
    [[nodiscard]] bool isOpen(const RowNode& node) const;
    [[nodiscard]] int blockEnd(int row) const;
    [[nodiscard]] std::vector<int> siblings(int row) const;
    void place(int row, const QString& before);

    std::shared_ptr<const profiler::Trace> m_trace;
    std::vector<RowNode> m_tree;
    std::vector<TrackRow> m_rows;
    RowLayout m_layout;
    std::map<QString, bool> m_firstOpen; ///< what a group was when it was first seen
    int m_revision = 0;
    int m_pinnedHeight = 0;
};

} // namespace app
