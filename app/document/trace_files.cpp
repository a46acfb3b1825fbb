#include "app/document/trace_files.h"

#include "app/look/qstring.h"
#include "profiler_formats_formats_registry.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QSettings>

namespace app {

namespace {

constexpr auto kRecentKey = "traces/recent";
constexpr int kMostRecent = 10;
constexpr qint64 kLargestConfiguration = 1 << 20;

QString text(const char* source)
{
    return QCoreApplication::translate("TraceFiles", source);
}

QString globs(const profiler::formats::Format& format)
{
    QStringList all;
    for (const std::string_view extension : format.extensions)
        all << '*' + asQString(extension);
    return all.join(' ');
}

} // namespace

QString openTraceFilter()
{
    QStringList known, each;
    for (const auto& [stem, format] : profiler::formats::all()) {
        if (!format.read)
            continue;
        const QString patterns = globs(format);
        known << patterns;
        each << QStringLiteral("%1 (%2)").arg(asQString(format.title), patterns);
    }
    known.removeDuplicates();
    return text("Traces (%1)").arg(known.join(' ')) + ";;" + each.join(";;") + ";;" + text("All files (*)");
}

QList<TraceFileKind> writableTraceKinds()
{
    QList<TraceFileKind> kinds;
    for (const auto& [stem, format] : profiler::formats::all())
        for (const std::string_view extension : format.extensions)
            if (format.write)
                kinds << TraceFileKind{QStringLiteral("%1 (*%2)").arg(asQString(format.title), asQString(extension)),
                                       asQString(extension)};
    return kinds;
}

bool looksLikeConfiguration(const std::filesystem::path& path)
{
    QFile file(QString::fromStdString(path.string()));
    // Opening a FIFO without a writer would block.
    if (!QFileInfo(file).isFile() || !file.fileName().endsWith(".json", Qt::CaseInsensitive) ||
        file.size() > kLargestConfiguration || !file.open(QIODevice::ReadOnly))
        return false;
    const QByteArray content = file.readAll().trimmed();
    return content.startsWith('{') && !content.contains("\"traceEvents\"");
}

QStringList recentTraces()
{
    return QSettings().value(kRecentKey).toStringList();
}

void addRecentTrace(const QString& path)
{
    QStringList recent = recentTraces();
    const QString absolute = QFileInfo(path).absoluteFilePath();
    recent.removeAll(absolute);
    recent.prepend(absolute);
    while (recent.size() > kMostRecent)
        recent.removeLast();
    QSettings().setValue(kRecentKey, recent);
}

void forgetRecentTraces()
{
    QSettings().remove(kRecentKey);
}

} // namespace app
