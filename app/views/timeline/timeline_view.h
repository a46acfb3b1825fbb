#pragma once

#include "app/models/device_gaps.h"
#include "app/models/table_field.h"
#include "app/session/selection.h"
#include "app/views/timeline/bookmark_store.h"
#include "profiler/model/trace.h"

#include <QWidget>
#include <filesystem>
#include <memory>

class QMenu;

namespace app {

class CaptureNotice;
class FindBar;
class TimelineCanvas;
class TimelineFinder;
class TimelineMinimap;

/// The timeline with what its trace lacks above it, the whole trace as a strip, and the bar that finds names; tied to
/// the selection of all views.
class TimelineView : public QWidget {
    Q_OBJECT
public:
    explicit TimelineView(Selection* selection, BookmarkStore bookmarks, QWidget* parent = nullptr);

    /// Another trace altogether. @param file  that it comes from; empty for none
    void replaceTrace(std::shared_ptr<const profiler::Trace> trace, const std::filesystem::path& file = {});
    /// A later snapshot of the same one.
    void updateTrace(std::shared_ptr<const profiler::Trace> trace);
    /// The steps that an analysis of the trace on screen has found; null: not known.
    void showSteps(std::shared_ptr<const Steps> steps);
    /// When and why devices were idle, as an analysis of the trace on screen has told it; null: not known.
    void showGaps(std::shared_ptr<const DeviceGaps> gaps);
    [[nodiscard]] TimelineCanvas* canvas() const { return m_canvas; }

    /// Key of a trace's metadata for the bookmarks that it brings, as BookmarkStore::toText() has them.
    static constexpr const char* kBookmarksKey = "timeline.bookmarks";

    /// Opens the bar that finds names.
    void openFind();
    /// Goes to what somebody typed: "1.25 s", "340 ms", "step 12". An error in words otherwise.
    QString goTo(const QString& text);

signals:
    /// @param text  those of the trace on screen, as BookmarkStore::toText() has them
    void bookmarksChanged(const QByteArray& text);
    /// Something for the user to know.
    void noticed(const QString& what, const QString& detail, bool isError);

private:
    void connectSelection();
    void connectFind();
    void connectMarks();
    void watchReading();
    void makeMenus();
    void takeSelection();
    void takeRowLayout(const profiler::Trace& trace);
    void keepRowLayout() const;
    void closeFind();
    void step(bool forward);
    void askDestination();
    void askNote(profiler::TraceTime time, const QString& note);
    void takeBookmarks(const profiler::Trace& trace);
    void keepBookmarks();
    void listBookmarks();
    void copyPicture() const;
    void savePicture();

    Selection* m_selection;
    BookmarkStore m_bookmarks;
    std::filesystem::path m_file;
    CaptureNotice* m_notice;
    FindBar* m_findBar;
    TimelineFinder* m_finder;
    TimelineMinimap* m_minimap;
    TimelineCanvas* m_canvas;
    QMenu* m_bookmarkMenu = nullptr;
    bool m_loading = false; ///< bookmarks come from the store: they need not go back there
    QString m_rowsKey;      ///< of the settings that keep how the rows of this kind of trace stand
};

} // namespace app
