#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <map>
#include <set>

namespace app {

/// The user's arrangement of the timeline rows, by row key, so that it applies to every trace of the same kind. A value
/// type; other rows keep the default order.
struct RowLayout {
    std::map<QString, bool> open; ///< collapsed and expanded by the user
    std::set<QString> hidden, pinned;
    std::map<QString, int> sizes;         ///< height of a counter in logical pixels, or number of lanes of a track
    std::map<QString, QStringList> order; ///< keys of the children of a group; the top level has the empty key

    /// Text format for settings. Reading ignores malformed parts.
    [[nodiscard]] QByteArray toJson() const;
    static RowLayout fromJson(const QByteArray& text);

    friend bool operator==(const RowLayout&, const RowLayout&) = default;
};

} // namespace app
