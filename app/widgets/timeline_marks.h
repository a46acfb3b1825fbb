#pragma once

#include "profiler/model/trace.h"

#include <QString>
#include <optional>
#include <vector>

namespace app {

/// A place in time that somebody marked.
struct TimelineMark {
    profiler::TraceTime time;
    bool bookmark = false; ///< kept with the trace; others go with the next one
    QString note;          ///< of a bookmark
    friend bool operator==(const TimelineMark&, const TimelineMark&) = default;
};

/// Marks by time, one at a time. Values.
class TimelineMarks {
public:
    [[nodiscard]] const std::vector<TimelineMark>& all() const { return m_marks; }
    [[nodiscard]] std::vector<TimelineMark> bookmarks() const;
    /// Replaces all bookmarks; other marks stay.
    void setBookmarks(const std::vector<TimelineMark>& bookmarks);
    /// The mark nearest to a time, within `reach` on either side.
    [[nodiscard]] const TimelineMark* near(profiler::TraceTime time, profiler::Nanoseconds reach) const;
    /// The one that was set last and is no bookmark: the pointer is measured from it.
    [[nodiscard]] std::optional<profiler::TraceTime> origin() const { return m_origin; }
    [[nodiscard]] const TimelineMark* nextBookmark(profiler::TraceTime after) const;
    [[nodiscard]] const TimelineMark* previousBookmark(profiler::TraceTime before) const;

    /// Sets a mark, in place of one at the same time.
    void set(const TimelineMark& mark);
    void remove(profiler::TraceTime time);
    /// Takes away what is no bookmark; false when there was nothing.
    bool clearPlain();
    void clear();

private:
    std::vector<TimelineMark> m_marks;
    std::optional<profiler::TraceTime> m_origin;
};

} // namespace app
