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

} // namespace

std::vector<Sample> allSamples()
{
    return {{"waits_for_data", Texts::tr("A training run that waits for data"),
             Texts::tr("A small image classifier on a CPU, without loader workers")},
            {"two_workers", Texts::tr("The same with two loader workers"),
             Texts::tr("For comparison: open this trace, then choose the previous one under Compare")}};
}

profiler::Result<std::filesystem::path> sampleFile(const Sample& sample)
{
    const QString path = folder() + '/' + sample.id + ".sspack";
    QFile resource(":/samples/" + sample.id + ".sspack");
    if (!resource.open(QIODevice::ReadOnly))
        return profiler::fail<"sample.missing", "this sample is not installed">(profiler::Error::Code::NotFound,
                                                                                sample.id.toStdString());
    if (QFileInfo(path).size() == resource.size())
        return std::filesystem::path(path.toStdString());
    QDir().mkpath(folder());
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(resource.readAll()) != resource.size() || !file.commit())
        return profiler::fail<"sample.unwritten", "the sample cannot be copied to the app's folder: {why}">(
            profiler::Error::Code::Io, path.toStdString(), "free disk space, or make the folder writable",
            {{"why", file.errorString().toStdString()}});
    return std::filesystem::path(path.toStdString());
}

bool isSampleFile(const std::filesystem::path& file)
{
    return QFileInfo(QString::fromStdString(file.string())).absolutePath() == QFileInfo(folder()).absoluteFilePath();
}

} // namespace app
