#pragma once

#include "profiler/model/trace.h"

#include <QString>
#include <optional>
#include <vector>

namespace app {

/// A marked position in time.
struct TimelineMark {
    profiler::TraceTime time;
    bool bookmark = false; ///< saved with the trace; other marks are cleared with the next trace
    QString note;          ///< note of a bookmark
    friend bool operator==(const TimelineMark&, const TimelineMark&) = default;
};

/// Marks sorted by time, at most one per time. A value type.
class TimelineMarks {
public:
    [[nodiscard]] const std::vector<TimelineMark>& all() const { return m_marks; }
    [[nodiscard]] std::vector<TimelineMark> bookmarks() const;
    /// Replaces all bookmarks; other marks stay.
    void setBookmarks(const std::vector<TimelineMark>& bookmarks);
    /// The mark nearest to a time, within `reach` on either side.
    [[nodiscard]] const TimelineMark* near(profiler::TraceTime time, profiler::Nanoseconds reach) const;
    /// The last set mark that is not a bookmark: distances are measured from it.
    [[nodiscard]] std::optional<profiler::TraceTime> origin() const { return m_origin; }
    [[nodiscard]] const TimelineMark* nextBookmark(profiler::TraceTime after) const;
    [[nodiscard]] const TimelineMark* previousBookmark(profiler::TraceTime before) const;

    /// Sets a mark, replacing one at the same time.
    void set(const TimelineMark& mark);
    void remove(profiler::TraceTime time);
    /// Removes all marks that are not bookmarks; false if there were none.
    bool clearPlain();
    void clear();

private:
    std::vector<TimelineMark> m_marks;
    std::optional<profiler::TraceTime> m_origin;
};

} // namespace app
