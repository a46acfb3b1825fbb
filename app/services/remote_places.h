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

/// The names in the Host lines of OpenSSH's configuration, without patterns; see ssh_config(5). Files that it includes
/// are not read.
QStringList hostsIn(const QString& configuration);
/// Those of ~/.ssh/config.
QStringList knownHosts();

/// Recently opened places, newest first; stored in the user's settings.
QList<RemotePlace> recentPlaces();
void addRecentPlace(const RemotePlace& place);

} // namespace app
