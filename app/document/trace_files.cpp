#include "app/document/trace_files.h"

#include "app/look/display_text.h"
#include "profiler/formats/format.h"
#include "profiler_formats_formats_registry.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSaveFile>
#include <QSettings>
#include <QStandardPaths>
#include <QTimer>
#include <atomic>
#include <chrono>
#include <semaphore>
#include <utility>

namespace app {

namespace {

constexpr auto kPreviewAfter = "loading/previewAfterMs"; // milliseconds
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

struct SampleTexts {
    Q_DECLARE_TR_FUNCTIONS(Sample)
};

QString sampleFolder()
{
    return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + "/samples";
}

/// Copies a sample's file out of the program, unless it is there already.
profiler::Result<void> copySample(const QString& name)
{
    const QString path = sampleFolder() + '/' + name;
    QFile resource(":/samples/" + name);
    if (!resource.open(QIODevice::ReadOnly))
        return profiler::fail<"sample.missing", "this sample is not installed">(profiler::Error::Code::NotFound,
                                                                                name.toStdString());
    if (QFileInfo(path).size() == resource.size())
        return {};
    QDir().mkpath(QFileInfo(path).absolutePath());
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(resource.readAll()) != resource.size() || !file.commit())
        return profiler::fail<"sample.unwritten", "the sample cannot be copied to the app's folder: {why}">(
            profiler::Error::Code::Io, path.toStdString(), "free disk space, or make the folder writable",
            {{"why", file.errorString().toStdString()}});
    return {};
}

/// Time for the GUI thread to lay out and paint a preview.
constexpr std::chrono::milliseconds kPainting{20};
constexpr int kMostTurns = 20; ///< in units of 10 ms: maximum time that reading waits for this

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

std::chrono::milliseconds previewDelay(std::chrono::milliseconds usually)
{
    return std::chrono::milliseconds(QSettings().value(kPreviewAfter, qlonglong{usually.count()}).toLongLong());
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

std::vector<Sample> allSamples()
{
    return {{"loader_stall", SampleTexts::tr("A training that waits for data"),
             SampleTexts::tr("A small image classifier without loader workers, recorded by the trainer on a CPU")},
            {"well_fed", SampleTexts::tr("The same with two loader workers"),
             SampleTexts::tr("No step waits for data. Open this trace, then choose the previous one under Compare")},
            {"launch_bound", SampleTexts::tr("A launch-bound transformer"),
             SampleTexts::tr("Short kernels, and a GPU that idles between them. Simulated by the project's generator")},
            {"late_rank", SampleTexts::tr("Eight ranks, one of them late"),
             SampleTexts::tr(
                 "The loader of rank 5 is slow, and all ranks wait for it. Simulated by the project's generator"),
             true}};
}

profiler::Result<std::filesystem::path> sampleFile(const Sample& sample)
{
    const QString name = sample.isJob ? sample.id : sample.id + ".sstrace";
    QStringList files{name};
    if (sample.isJob) {
        files.clear();
        for (const QString& rank : QDir(":/samples/" + name).entryList(QDir::Files))
            files << name + '/' + rank;
        if (files.isEmpty())
            files << name; // is reported as missing
    }
    for (const QString& file : files)
        if (const auto copied = copySample(file); !copied)
            return tl::unexpected(copied.error());
    return std::filesystem::path((sampleFolder() + '/' + name).toStdString());
}

bool isSampleFile(const std::filesystem::path& file)
{
    return QFileInfo(QString::fromStdString(file.string()))
        .absoluteFilePath()
        .startsWith(QFileInfo(sampleFolder()).absoluteFilePath() + '/');
}

void TraceLoader::load(const std::filesystem::path& path, Expect expect)
{
    m_running = true;
    const std::chrono::milliseconds previewAfter = previewDelay(profiler::formats::ReadOptions().previewAfter);
    m_thread.start(
        [this, path, previewAfter, expect](const std::stop_token& stop, const Background::Post& post) {
            if (expect == Expect::TraceOrConfiguration && looksLikeConfiguration(path)) {
                post([this, path, read = config::TrainingConfig::load(path)] {
                    m_running = false;
                    if (read)
                        emit configurationRead(path, *read);
                    else
                        emit configurationRefused(path, QString::fromStdString(read.error().message()));
                });
                return;
            }
            double reported = 0;
            const auto unseen = std::make_shared<std::atomic<bool>>(false); // a preview is waiting for the GUI thread
            profiler::formats::ReadOptions options;
            options.stop = stop;
            options.previewAfter = previewAfter;
            options.progress = [&](double share) {
                if (share - reported < 0.01)
                    return;
                reported = share;
                post([this, share] { emit progressed(share); });
            };
            const auto painted = std::make_shared<std::binary_semaphore>(0);
            options.preview = [&, first = true](std::shared_ptr<const profiler::Trace> trace) mutable {
                if (unseen->exchange(true))
                    return;
                post([this, path, unseen, painted, first, trace = std::move(trace)] {
                    *unseen = false;
                    emit previewed(path, trace);
                    if (first)
                        QTimer::singleShot(kPainting, this, [painted] { painted->release(); });
                });
                // Reading uses all cores; it pauses so that the first picture can be painted.
                if (!std::exchange(first, false))
                    return;
                for (int turn = 0; turn < kMostTurns && !stop.stop_requested(); ++turn)
                    if (painted->try_acquire_for(std::chrono::milliseconds(10)))
                        return;
            };
            auto trace = profiler::formats::openTrace(path, options);
            post([this, path, trace] {
                m_running = false;
                if (trace)
                    emit loaded(path, *trace);
                else
                    emit failed(path, trace.error());
            });
        },
        [this, path](const profiler::Error& error) {
            m_running = false;
            emit failed(path, error);
        });
}

void TraceLoader::cancel()
{
    m_running = false;
    m_thread.cancel();
}

TraceSaver::~TraceSaver()
{
    m_thread.cancelAndWait(); // signals of the posted results come from this object
}

void TraceSaver::save(std::shared_ptr<const profiler::Trace> trace, const std::filesystem::path& path,
                      std::map<std::string, std::string> metadata)
{
    m_running = true;
    m_thread.start(
        [this, trace = std::move(trace), path, metadata = std::move(metadata)](const std::stop_token& stop,
                                                                               const Background::Post& post) {
            double reported = 0;
            profiler::formats::WriteOptions options;
            options.stop = stop;
            options.metadata = metadata;
            options.progress = [&](double share) {
                if (share - reported < 0.01)
                    return;
                reported = share;
                post([this, share] { emit progressed(share); });
            };
            const auto written = profiler::formats::saveTrace(*trace, path, options);
            post([this, path, written] {
                m_running = false;
                if (written)
                    emit saved(path);
                else
                    emit failed(path, written.error());
            });
        },
        [this, path](const profiler::Error& error) {
            m_running = false;
            emit failed(path, error);
        });
}

void TraceSaver::cancel()
{
    m_running = false;
    m_thread.cancelAndWait();
}

} // namespace app
