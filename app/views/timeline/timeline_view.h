#pragma once

#include "app/document/device_gaps.h"
#include "app/document/selection.h"
#include "app/tables/table_field.h"
#include "app/views/timeline/bookmark_store.h"
#include "profiler/model/trace.h"

#include <QWidget>
#include <filesystem>
#include <memory>

class QLabel;
class QMenu;

namespace app {

class CaptureNotice;
class FindBar;
class TimelineCanvas;
class TimelineFinder;
class TimelineMinimap;

/// The timeline with a notice about missing data, the overview strip of the whole trace, and the search bar; linked to
/// the shared selection.
class TimelineView : public QWidget {
    Q_OBJECT
public:
    explicit TimelineView(Selection* selection, BookmarkStore bookmarks, QWidget* parent = nullptr);

    /// Shows a different trace.
    /// @param file  its file; empty: none
    void replaceTrace(std::shared_ptr<const profiler::Trace> trace, const std::filesystem::path& file = {});
    /// Sets a later snapshot of the same trace.
    void updateTrace(std::shared_ptr<const profiler::Trace> trace);
    /// The analysed steps of the trace on screen; null: unknown.
    void showSteps(std::shared_ptr<const Steps> steps);
    /// The analysed idle intervals of the devices; null: unknown.
    void showGaps(std::shared_ptr<const DeviceGaps> gaps);
    [[nodiscard]] TimelineCanvas* canvas() const { return m_canvas; }
    /// Shows the name of the trace above the timeline, to distinguish it from a second one; empty: hidden.
    void setName(const QString& name);

    /// Metadata key of bookmarks in a trace file, in the format of BookmarkStore::toText().
    static constexpr const char* kBookmarksKey = "timeline.bookmarks";

    /// Opens the search bar.
    void openFind();
    /// Goes to typed text: "1.25 s", "340 ms", "step 12". Otherwise returns an error message.
    QString goTo(const QString& text);

signals:
    /// @param text  bookmarks of the trace on screen, in the format of BookmarkStore::toText()
    void bookmarksChanged(const QByteArray& text);
    /// A notice for the user.
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
    QLabel* m_name;
    CaptureNotice* m_notice;
    FindBar* m_findBar;
    TimelineFinder* m_finder;
    TimelineMinimap* m_minimap;
    TimelineCanvas* m_canvas;
    QMenu* m_bookmarkMenu = nullptr;
    bool m_loading = false; ///< bookmarks are being loaded from the store and must not be saved again
    QString m_rowsKey;      ///< settings key for the row layout of this kind of trace
};

} // namespace app
