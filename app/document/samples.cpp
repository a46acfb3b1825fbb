#include "app/document/samples.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSaveFile>
#include <QStandardPaths>

namespace app {

namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(Sample)
};

QString folder()
{
    return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + "/samples";
}

/// Copies a sample's file out of the program, unless it is there already.
profiler::Result<void> copy(const QString& name)
{
    const QString path = folder() + '/' + name;
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

} // namespace

std::vector<Sample> allSamples()
{
    return {{"loader_stall", Texts::tr("A training that waits for data"),
             Texts::tr("A small image classifier without loader workers, recorded by the trainer on a CPU")},
            {"well_fed", Texts::tr("The same with two loader workers"),
             Texts::tr("No step waits for data. Open this trace, then choose the previous one under Compare")},
            {"launch_bound", Texts::tr("A launch-bound transformer"),
             Texts::tr("Short kernels, and a GPU that idles between them. Simulated by the project's generator")},
            {"late_rank", Texts::tr("Eight ranks, one of them late"),
             Texts::tr("The loader of rank 5 is slow, and all ranks wait for it. Simulated by the project's generator"),
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
        if (const auto copied = copy(file); !copied)
            return tl::unexpected(copied.error());
    return std::filesystem::path((folder() + '/' + name).toStdString());
}

bool isSampleFile(const std::filesystem::path& file)
{
    return QFileInfo(QString::fromStdString(file.string()))
        .absoluteFilePath()
        .startsWith(QFileInfo(folder()).absoluteFilePath() + '/');
}

} // namespace app
