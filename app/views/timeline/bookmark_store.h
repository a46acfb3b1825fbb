#pragma once

#include "app/widgets/timeline_marks.h"

#include <QString>
#include <filesystem>
#include <vector>

namespace app {

/// Bookmarks of trace files, kept in a folder of the app, never beside the user's trace. A file is known by its path,
/// size and time of change: another recording at the same place has none of the old one's.
class BookmarkStore {
public:
    /// @param folder  made when first written
    explicit BookmarkStore(QString folder) : m_folder(std::move(folder)) {}
    /// In the app's data folder.
    static BookmarkStore standard();

    /// Empty for a file that is not there or has none.
    [[nodiscard]] std::vector<TimelineMark> load(const std::filesystem::path& trace) const;
    /// Replaces all of a file's; false when they could not be written.
    bool save(const std::filesystem::path& trace, const std::vector<TimelineMark>& bookmarks) const;

private:
    [[nodiscard]] QString fileFor(const std::filesystem::path& trace) const;

    QString m_folder;
};

} // namespace app
