#pragma once

#include "app/timeline/timeline_marks.h"
#include "profiler/model/result.h"

#include <QByteArray>
#include <QString>
#include <filesystem>
#include <optional>
#include <vector>

namespace app {

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

} // namespace app
