#pragma once

#include "app/timeline_tools/bookmark_store.h"
#include "profiler/model/trace.h"

#include <QObject>
#include <filesystem>

class QMenu;
class QWidget;

namespace app {

class TimelineCanvas;

/// The bookmarks of one timeline: their notes, their list, and their place in the store. Each timeline of the window
/// has its own.
class TimelineBookmarks : public QObject {
    Q_OBJECT
public:
    /// @param parent  of the dialogs
    TimelineBookmarks(TimelineCanvas* canvas, BookmarkStore store, QWidget* parent);

    /// Metadata key of bookmarks in a trace file, in the format of BookmarkStore::toText().
    static constexpr const char* kMetadataKey = "timeline.bookmarks";

    /// Shows the bookmarks of another trace. The user's own have priority over those in the file.
    /// @param file  its file; empty: none
    void replaceTrace(const profiler::Trace& trace, const std::filesystem::path& file);
    /// A later snapshot of the same trace. Its file may have its final size now, for which they are stored again.
    void updateTrace(const profiler::Trace& trace);
    /// Fills a menu with entries that go to them.
    void list(QMenu* menu) const;

signals:
    /// @param text  bookmarks of the trace, in the format of BookmarkStore::toText()
    void changed(const QByteArray& text);
    /// A notice for the user.
    void noticed(const QString& what, const QString& detail, bool isError);

private:
    void askNote(profiler::TraceTime time, const QString& note);
    void store();

    TimelineCanvas* m_canvas;
    BookmarkStore m_store;
    QWidget* m_parent;
    std::filesystem::path m_file;
    bool m_loading = false; ///< they are being loaded from the store and must not be saved again
};

} // namespace app
