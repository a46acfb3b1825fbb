#include "app/services/remote_places.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QSet>
#include <QSettings>
#include <QVariant>
#include <utility>

namespace app {

namespace {

constexpr auto kRecentKey = "remote/recent";
constexpr int kMostRecent = 10;
constexpr qint64 kLargestConfiguration = 1 << 20;
constexpr int kMostDepth = 16; ///< of included files, as in OpenSSH's readconf.c
constexpr int kMostFiles = 1000;

bool isPattern(const QString& part)
{
    return part.contains('*') || part.contains('?') || part.contains('[');
}

/// The files that a pattern of glob(7) names, in the order of their names.
/// @param pattern  an absolute path
QStringList filesOf(const QString& pattern)
{
    QStringList found{QStringLiteral("/")};
    for (const QString& part : pattern.split('/', Qt::SkipEmptyParts)) {
        QStringList next;
        for (const QString& folder : std::as_const(found)) {
            const QDir in(folder);
            if (!isPattern(part)) {
                next << in.filePath(part);
                continue;
            }
            QDir::Filters kinds = QDir::AllEntries | QDir::NoDotAndDotDot | QDir::CaseSensitive;
            if (part.startsWith('.'))
                kinds |= QDir::Hidden;
            for (const QString& name : in.entryList({part}, kinds, QDir::Name))
                next << in.filePath(name);
        }
        found = next.mid(0, kMostFiles);
    }
    return found;
}

/// The arguments of a line: words, or texts in double quotes. A comment ends them.
QStringList argumentsOf(const QString& text)
{
    static const QRegularExpression kArgument(QStringLiteral(R"x("([^"]*)"|([^\s"]+))x"));
    QStringList arguments;
    for (auto found = kArgument.globalMatch(text); found.hasNext();) {
        const auto one = found.next();
        if (one.captured(2).startsWith('#'))
            break;
        arguments << (one.hasCaptured(2) ? one.captured(2) : one.captured(1));
    }
    return arguments;
}

/// Collects the hosts of a configuration and of the files that it includes.
class Hosts {
public:
    explicit Hosts(QString folder) : m_folder(std::move(folder)) {}

    void read(const QString& path, int depth)
    {
        const QFileInfo info(path);
        QFile file(path);
        if (m_read.size() >= kMostFiles || !info.isFile() || info.size() > kLargestConfiguration ||
            m_read.contains(info.canonicalFilePath()) || !file.open(QIODevice::ReadOnly))
            return;
        m_read << info.canonicalFilePath();
        static const QRegularExpression kLine(QStringLiteral(R"(^\s*(Host|Include)(?:\s*=\s*|\s+)(.+)$)"),
                                              QRegularExpression::CaseInsensitiveOption);
        for (const QString& line : QString::fromUtf8(file.readAll()).split('\n')) {
            const auto found = kLine.match(line);
            if (!found.hasMatch())
                continue;
            const bool isHost = found.captured(1).compare(QStringLiteral("host"), Qt::CaseInsensitive) == 0;
            for (const QString& argument : argumentsOf(found.captured(2)))
                if (isHost)
                    add(argument);
                else if (depth < kMostDepth)
                    include(argument, depth + 1);
        }
    }
    [[nodiscard]] const QStringList& names() const { return m_names; }

private:
    void add(const QString& name)
    {
        if (!isPattern(name) && !name.contains('!') && !name.startsWith('-') && !m_names.contains(name))
            m_names << name;
    }
    void include(const QString& pattern, int depth)
    {
        const QString path = pattern.startsWith(QStringLiteral("~/")) ? QDir::home().filePath(pattern.mid(2))
                                                                      : QDir(m_folder).absoluteFilePath(pattern);
        for (const QString& file : filesOf(path))
            read(file, depth);
    }

    QString m_folder;
    QStringList m_names;
    QSet<QString> m_read; ///< canonical paths
};

} // namespace

QStringList hostsIn(const QString& configuration, const QString& folder)
{
    Hosts hosts(folder);
    hosts.read(configuration, 0);
    return hosts.names();
}

QStringList knownHosts()
{
    const QDir folder(QDir::home().filePath(QStringLiteral(".ssh")));
    return hostsIn(folder.filePath(QStringLiteral("config")), folder.path());
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
