#pragma once

#include "app/timeline/timeline_marks.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <QByteArray>
#include <QObject>
#include <QString>
#include <filesystem>
#include <optional>
#include <vector>

class QMenu;
class QWidget;

// The bookmarks of a timeline, and where they are stored.
namespace app {

class TimelineCanvas;

/// Bookmarks of trace files, stored in a folder of the app and never next to the user's trace. A file is identified by
/// its path and modification time, so a new recording at the same path does not inherit bookmarks. A copy
/// exported in the app's own format contains them in its metadata, and they are used until the user changes them.
class BookmarkStore {
public:
    /// @param folder  created on the first write
    explicit BookmarkStore(QString folder) : m_folder(std::move(folder)) {}
    /// In the app's data folder.
    static BookmarkStore standard();

    /// JSON text; empty if there are none.
    [[nodiscard]] static QByteArray toText(const std::vector<TimelineMark>& bookmarks);
    /// Ignores unreadable entries.
    [[nodiscard]] static std::vector<TimelineMark> fromText(const QByteArray& text);

    /// None if the file does not exist or has no stored bookmarks.
    [[nodiscard]] std::optional<std::vector<TimelineMark>> load(const std::filesystem::path& trace) const;
    /// Replaces all bookmarks of a file. Fails if the trace file does not exist or the folder is not writable.
    /// @param evenNone  also store an empty list, because the file contains its own bookmarks
    profiler::Result<void> save(const std::filesystem::path& trace, const std::vector<TimelineMark>& bookmarks,
                                bool evenNone = false) const;

private:
    [[nodiscard]] QString fileFor(const std::filesystem::path& trace) const;
    /// The name under which version 0.1 stored them, when the size also identified a trace.
    [[nodiscard]] QString olderFileFor(const std::filesystem::path& trace) const;
    [[nodiscard]] QString fileOf(const QString& identity) const;

    QString m_folder;
};

/// The bookmarks of one timeline: their notes, their list, and their place in the store. Each timeline of the window
/// has its own.
class TimelineBookmarks : public QObject {
    Q_OBJECT
public:
    /// Adds the menu of the bookmarks to the actions of the canvas.
    /// @param parent  of the dialogs and of the menu
    TimelineBookmarks(TimelineCanvas* canvas, BookmarkStore store, QWidget* parent);

    /// Metadata key of bookmarks in a trace file, in the format of BookmarkStore::toText().
    static constexpr const char* kMetadataKey = "timeline.bookmarks";

    /// Shows the bookmarks of another trace. The user's own have priority over those in the file.
    /// @param file  its file; empty: none
    void replaceTrace(const profiler::Trace& trace, const std::filesystem::path& file);
    /// A later snapshot of the same trace. Its file may have its final size now, for which they are stored again.
    void updateTrace(const profiler::Trace& trace);
signals:
    /// @param text  bookmarks of the trace, in the format of BookmarkStore::toText()
    void changed(const QByteArray& text);
    /// A notice for the user.
    void noticed(const QString& what, const QString& detail, bool isError);

private:
    void list(QMenu* menu) const;
    void askNote(profiler::TraceTime time, const QString& note);
    void store();

    TimelineCanvas* m_canvas;
    BookmarkStore m_store;
    QWidget* m_parent;
    std::filesystem::path m_file;
    bool m_loading = false; ///< they are being loaded from the store and must not be saved again
};

} // namespace app
