#pragma once

#include <QList>
#include <QString>
#include <QStringList>

namespace app {

/// A trace on another machine.
struct RemotePlace {
    bool isCommand = false; ///< `host` is a prefix for the commands that run there: "docker exec -i NAME"
    QString host;           ///< as for ssh
    QString path;           ///< of the trace there
    /// "gpu1:/data/run.sstrace"
    [[nodiscard]] QString text() const { return host + ':' + path; }
    friend bool operator==(const RemotePlace&, const RemotePlace&) = default;
};

/// The names in the Host lines of a configuration of OpenSSH and of the files that it includes, without patterns; see
/// ssh_config(5). Each file counts once, and files that cannot be read do not count.
/// @param folder  that of relative names in Include lines: ~/.ssh
QStringList hostsIn(const QString& configuration, const QString& folder);
/// Those of ~/.ssh/config.
QStringList knownHosts();

/// Recently opened places, newest first; stored in the user's settings.
QList<RemotePlace> recentPlaces();
void addRecentPlace(const RemotePlace& place);

} // namespace app
