#pragma once

#include "app/timeline/timeline_marks.h"

#include <QObject>
#include <QString>
#include <vector>

class QAbstractScrollArea;

namespace app {

class TimelineNavigation;
struct TimelineScene;

/// The user's actions on the marks and bookmarks of a timeline.
class TimelineMarkCommands : public QObject {
    Q_OBJECT
public:
    /// @param area  the canvas, whose viewport is repainted
    TimelineMarkCommands(TimelineScene& scene, TimelineNavigation& navigation, QAbstractScrollArea& area);

    /// Adds a bookmark, or changes the note of an existing one at that time.
    void setBookmark(profiler::TraceTime time, const QString& note);
    void setBookmarks(const std::vector<TimelineMark>& bookmarks);
    /// Removes all marks that are not bookmarks; false if there were none.
    bool clearPlain();

    void toggleMark();   ///< at the pointer; removes an existing one
    void editBookmark(); ///< the one at the pointer, or a new one
    void removeBookmark();
    void nextBookmark();
    void previousBookmark();

signals:
    /// The user wants a bookmark: ask for its note, then call setBookmark().
    void bookmarkWanted(profiler::TraceTime time, const QString& note);
    void bookmarksChanged();

private:
    [[nodiscard]] profiler::TraceTime placeMeant() const;
    [[nodiscard]] const TimelineMark* markMeant() const;

    TimelineScene& m_scene;
    TimelineNavigation& m_navigation;
    QAbstractScrollArea& m_area;
};

} // namespace app
