#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <map>
#include <set>

namespace app {

/// How somebody arranged the rows of the timeline, by the rows' keys, so that it fits every trace of the same kind.
/// A value; rows that it does not name stand as they come.
struct RowLayout {
    std::map<QString, bool> open; ///< folded and unfolded by hand
    std::set<QString> hidden, pinned;
    std::map<QString, int> sizes;         ///< a counter's height in logical pixels, a track's number of lanes
    std::map<QString, QStringList> order; ///< keys of a group's children; the top level has the empty key

    /// As text for settings. Reading takes what is well formed and ignores the rest.
    [[nodiscard]] QByteArray toJson() const;
    static RowLayout fromJson(const QByteArray& text);

    friend bool operator==(const RowLayout&, const RowLayout&) = default;
};

} // namespace app
