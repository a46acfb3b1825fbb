#pragma once

#include "app/widgets/timeline_marks.h"
#include "profiler/model/result.h"

#include <QByteArray>
#include <QString>
#include <filesystem>
#include <optional>
#include <vector>

namespace app {

/// Bookmarks of trace files, kept in a folder of the app, never beside the user's trace. A file is known by its path,
/// size and time of change: another recording at the same place has none of the old one's. A copy that the app exports
/// in its own format takes them along in its metadata, and a file that brings some has these until they are changed.
class BookmarkStore {
public:
    /// @param folder  made when first written
    explicit BookmarkStore(QString folder) : m_folder(std::move(folder)) {}
    /// In the app's data folder.
    static BookmarkStore standard();

    /// As text, JSON; empty where there are none.
    [[nodiscard]] static QByteArray toText(const std::vector<TimelineMark>& bookmarks);
    /// What cannot be read is left out.
    [[nodiscard]] static std::vector<TimelineMark> fromText(const QByteArray& text);

    /// None for a file that is not there or of which nothing is kept.
    [[nodiscard]] std::optional<std::vector<TimelineMark>> load(const std::filesystem::path& trace) const;
    /// Replaces all of a file's. Fails when the trace's file is gone, or the folder cannot be written.
    /// @param evenNone  that it has none is kept, too: the file brings some of its own
    profiler::Result<void> save(const std::filesystem::path& trace, const std::vector<TimelineMark>& bookmarks,
                                bool evenNone = false) const;

private:
    [[nodiscard]] QString fileFor(const std::filesystem::path& trace) const;

    QString m_folder;
};

} // namespace app
