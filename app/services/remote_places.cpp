#include "app/services/remote_places.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QSettings>
#include <QVariant>

namespace app {

namespace {

constexpr auto kRecentKey = "remote/recent";
constexpr int kMostRecent = 10;
constexpr qint64 kLargestConfiguration = 1 << 20;

} // namespace

QStringList hostsIn(const QString& configuration)
{
    static const QRegularExpression kLine(QStringLiteral(R"(^\s*Host(?:\s+|\s*=\s*)(.+)$)"),
                                          QRegularExpression::CaseInsensitiveOption);
    static const QRegularExpression kBlanks(QStringLiteral(R"(\s+)"));
    QStringList hosts;
    for (const QString& line : configuration.split('\n'))
        if (const auto found = kLine.match(line); found.hasMatch())
            for (QString name : found.captured(1).split(kBlanks, Qt::SkipEmptyParts)) {
                name.remove('"');
                if (name.startsWith('#'))
                    break;
                if (!name.contains('*') && !name.contains('?') && !name.contains('!') && !name.startsWith('-'))
                    hosts << name;
            }
    hosts.removeDuplicates();
    return hosts;
}

QStringList knownHosts()
{
    QFile file(QDir::home().filePath(QStringLiteral(".ssh/config")));
    if (file.size() > kLargestConfiguration || !file.open(QIODevice::ReadOnly))
        return {};
    return hostsIn(QString::fromUtf8(file.readAll()));
}

QList<RemotePlace> recentPlaces()
{
    QList<RemotePlace> places;
    for (const QVariant& entry : QSettings().value(kRecentKey).toList()) {
        const QStringList parts = entry.toStringList();
        if (parts.size() == 3)
            places << RemotePlace{parts[0] == QStringLiteral("command"), parts[1], parts[2]};
    }
    return places;
}

void addRecentPlace(const RemotePlace& place)
{
    QList<RemotePlace> places = recentPlaces();
    places.removeAll(place);
    places.prepend(place);
    QVariantList entries;
    for (const RemotePlace& one : places.mid(0, kMostRecent))
        entries << QVariant(
            QStringList{one.isCommand ? QStringLiteral("command") : QStringLiteral("ssh"), one.host, one.path});
    QSettings().setValue(kRecentKey, entries);
}

} // namespace app
