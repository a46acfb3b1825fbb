#pragma once

#include "app/tables/filter_text.h"
#include "app/timeline/timeline_groups.h"
#include "profiler/model/trace.h"

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

// The rows of a timeline: the groups and tracks of its trace, as the user has arranged them.
namespace app {

/// The user's arrangement of the timeline rows, by row key, so that it applies to every trace of the same kind. A value
/// type; other rows keep the default order.
struct RowLayout {
    std::map<QString, bool> open; ///< collapsed and expanded by the user
    std::set<QString> hidden, pinned;
    std::map<QString, int> sizes;         ///< height of a counter in logical pixels, or number of lanes of a track
    std::map<QString, QStringList> order; ///< keys of the children of a group; the top level has the empty key

    /// Text format for settings. Reading ignores malformed parts.
    [[nodiscard]] QByteArray toJson() const;
    static RowLayout fromJson(const QByteArray& text);

    friend bool operator==(const RowLayout&, const RowLayout&) = default;
};

/// One row of the timeline: a group heading, a track, or the line with the number of hidden rows.
struct TrackRow {
    enum class Kind { Group, Track, Counter, Hidden };

    Kind kind = Kind::Track;
    QString name;
    QString detail;                         ///< secondary text: "thread 4711", "NVIDIA H100"
    QString key;                            ///< the same in every snapshot of a run
    QString parent;                         ///< key of the parent group; empty at the top level
    profiler::TrackId track;                ///< Track, Counter
    std::vector<profiler::TrackId> members; ///< Group: all tracks below it
    bool foldable = false;
    bool open = true;
    bool pinned = false; ///< pinned at the top
    int indent = 0;
    int firstDepth = 0; ///< nesting depth of the first lane: a collapsed main thread shows its phases, not its steps
    int lanes = 0;      ///< number of visible nesting depths; 0 for groups and counters
    int depths = 0;     ///< total number of nesting depths
    int top = 0;        ///< y of the row within all rows, in pixels
    int height = 0;
    int laneHeight = 0; ///< of each lane; the last pixel stays empty

    /// y within all rows of the lane for a nesting depth.
    [[nodiscard]] int laneTop(int depth) const;
    [[nodiscard]] int bottom() const { return top + height; }
    [[nodiscard]] bool showsDepth(int depth) const { return depth >= firstDepth && depth < firstDepth + lanes; }
};

/// The fields that a filter of tracks can test. The name comes first: that of the track and of its groups.
std::vector<FilterField> trackFilterFields();

/// The rows of a trace, top to bottom: pinned ones, then the others in default or user order. Its layout (collapsed,
/// hidden, moved and resized rows) outlives the trace.
class TrackRows {
public:
    static constexpr int kLaneHeight = 19; ///< smallest height of a lane
    static constexpr int kPadding = 3;     ///< space above and below the lanes of a track
    static constexpr int kGroupHeight = 24;
    static constexpr int kCounterHeight = 44; ///< smallest height of a counter that the user has not resized
    static constexpr int kMostStretch = 3;    ///< times the smallest heights: a higher lane shows nothing more
    static constexpr int kLeastCounter = 24, kMostCounter = 400;

    /// Sets another trace or a later snapshot; the layout stays.
    void setTrace(const std::shared_ptr<const profiler::Trace>& trace);
    [[nodiscard]] const RowLayout& layout() const { return m_layout; }
    void setLayout(RowLayout layout);
    /// Shows only the tracks that match all conditions (trackFilterFields()), with their groups expanded. Pinned tracks
    /// stay. Not part of the layout.
    void setFilter(Filter filter);
    [[nodiscard]] const Filter& filter() const { return m_filter; }
    /// reveal() removed the filter, because it hid the track.
    [[nodiscard]] bool droppedFilter() const { return m_droppedFilter; }
    /// Stretches lanes and counters to fill this height if the rows are lower. Counters that the user has resized keep
    /// their height.
    void fill(int height);

    [[nodiscard]] const std::vector<TrackRow>& all() const { return m_rows; }
    [[nodiscard]] const TrackRow& at(int row) const { return m_rows[static_cast<std::size_t>(row)]; }
    [[nodiscard]] int count() const { return static_cast<int>(m_rows.size()); }
    [[nodiscard]] int height() const;
    /// Height of the pinned rows, which come first.
    [[nodiscard]] int pinnedHeight() const { return m_pinnedHeight; }
    /// Names of hidden rows, by key.
    [[nodiscard]] std::vector<std::pair<QString, QString>> hidden() const;
    /// Changes whenever the rows do.
    [[nodiscard]] int revision() const { return m_revision; }
    /// Row at a y within all rows; −1: none.
    [[nodiscard]] int rowAt(int y) const;
    /// Row that shows a track: its own, or its collapsed group's; −1: none.
    [[nodiscard]] int rowOf(profiler::TrackId track) const;
    [[nodiscard]] int rowOfKey(const QString& key) const;
    /// The track's lane at a y within all rows.
    struct Lane {
        profiler::TrackId track;
        int depth = 0;
    };
    [[nodiscard]] std::optional<Lane> laneAt(int y) const;
    /// True if nesting depth `depth` of a track has its own visible lane.
    [[nodiscard]] bool shows(profiler::TrackId track, int depth) const;

    /// Collapses or expands a row; does nothing if it is not collapsible.
    void setOpen(int row, bool open);
    void setAllOpen(bool open);
    /// Makes the track visible: expands its groups, unhides it, and makes it high enough for `depth`.
    void reveal(profiler::TrackId track, int depth);

    void hide(int row);
    void show(const QString& key);
    void showAll();
    void setPinned(int row, bool pinned);
    /// Moves a row by the given number of positions among its siblings; false at either end.
    bool move(int row, int by);
    /// Drop position of a row dragged to `y`.
    struct Drop {
        QString before; ///< the sibling below it; empty: last
        int y = 0;      ///< y of the line between
    };
    [[nodiscard]] std::optional<Drop> dropAt(int row, int y) const;
    void drop(int row, const Drop& where);
    /// Sets the height of a counter, or shows as many whole lanes of a track as fit into `height`.
    void resize(int row, int height);
    /// Whether resize() has an effect.
    [[nodiscard]] bool resizable(int row) const;

private:
    struct Place { ///< of a row being created
        QString parent;
        QString around; ///< name of the group that a pinned row belongs to
        int indent = 0;
        bool pinned = false;
    };
    void rebuild();
    void match(const std::vector<RowNode>& nodes, const QString& above);
    [[nodiscard]] bool shows(const RowNode& node, bool pinned) const;
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
    Filter m_filter;
    bool m_droppedFilter = false;
    std::set<QString> m_matching;        ///< keys of the tracks that match the filter, and of their groups
    std::map<QString, bool> m_firstOpen; ///< initial state of a group when it was first seen
    int m_revision = 0;
    int m_pinnedHeight = 0;
    int m_laneHeight = kLaneHeight, m_counterHeight = kCounterHeight; ///< see fill()
};

} // namespace app
