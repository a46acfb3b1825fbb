#include "app/services/run_folder.h"

#include "app/services/json_number.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <QStandardPaths>
#include <algorithm>

namespace app {

namespace {

constexpr auto kNameFormat = "yyyy-MM-dd_HH-mm-ss";
constexpr auto kLockName = "training.lock";

QString toQString(const std::filesystem::path& path)
{
    return QString::fromStdString(path.string());
}

/// @tparam Text  message that ends with the reason: "the run cannot be removed: {why}"
template <profiler::detail::Literal Id, profiler::detail::Literal Text>
tl::unexpected<profiler::Error> ioError(const std::string& why, const std::filesystem::path& where)
{
    return profiler::fail<Id, Text>(profiler::Error::Code::Io, where.string(),
                                    "check that the disk has free space and the folder is writable", {{"why", why}});
}

/// The run is being trained by this or another window, which holds the lock. An app that crashed does not hold it.
bool isBeingTrained(const std::filesystem::path& folder)
{
    return profiler::os::lockHolder(folder / kLockName) == profiler::os::LockHolder::Somebody;
}

RunOutcome readOutcome(const std::filesystem::path& folder)
{
    RunOutcome outcome;
    QFile in(toQString(folder / "result.json"));
    if (!QFileInfo(in).isFile() || !in.open(QIODevice::ReadOnly)) {
        outcome.state = isBeingTrained(folder) ? "running" : "interrupted";
        return outcome;
    }
    const QJsonObject json = QJsonDocument::fromJson(in.readAll()).object();
    outcome.state = json["state"].toString();
    outcome.message = json["message"].toString();
    outcome.steps = json["steps"].toInteger();
    outcome.seconds = numberFrom(json["seconds"]);
    outcome.samplesPerSecond = numberFrom(json["samples_per_second"]);
    outcome.finalLoss = numberFrom(json["final_loss"]);
    outcome.validationMetric = numberFrom(json["validation_accuracy"]);
    outcome.metric = json["metric"].toString(outcome.metric);
    return outcome;
}

} // namespace

std::filesystem::path runsRoot()
{
    return std::filesystem::path(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation).toStdString()) /
           "runs";
}

profiler::Result<RunRecord> makeRun(const std::filesystem::path& root, const config::TrainingConfig& configuration)
{
    RunRecord run;
    run.started = QDateTime::currentDateTime();
    run.configuration = configuration;
    run.outcome.state = "running";
    const QString stem =
        run.started.toString(kNameFormat) + "-" + QString::fromStdString(configuration.text("workload"));
    std::error_code failed;
    std::filesystem::create_directories(root, failed);
    // Two runs may start within one second.
    for (int n = 1; !failed; ++n) {
        run.name = n == 1 ? stem : stem + QString("-%1").arg(n);
        run.folder = root / run.name.toStdString();
        if (std::filesystem::create_directory(run.folder, failed))
            break;
    }
    if (failed)
        return ioError<"run.not_made", "the folder of the run cannot be created: {why}">(failed.message(), root);
    if (const auto saved = configuration.save(run.folder / "config.json"); !saved)
        return ioError<"run.no_configuration", "{why}">(saved.error().message(), run.folder);
    return run;
}

std::unique_ptr<profiler::os::LockFile> lockRun(const RunRecord& run)
{
    auto lock = profiler::os::LockFile::acquire(run.folder / kLockName);
    return lock ? std::make_unique<profiler::os::LockFile>(std::move(*lock)) : nullptr;
}

profiler::Result<void> saveOutcome(const RunRecord& run)
{
    const RunOutcome& outcome = run.outcome;
    const QJsonObject json{{"state", outcome.state},
                           {"message", outcome.message},
                           {"steps", outcome.steps},
                           {"seconds", jsonNumber(outcome.seconds)},
                           {"samples_per_second", jsonNumber(outcome.samplesPerSecond)},
                           {"final_loss", jsonNumber(outcome.finalLoss)},
                           {"validation_accuracy", jsonNumber(outcome.validationMetric)},
                           {"metric", outcome.metric}};
    const auto path = run.folder / "result.json";
    QSaveFile out(toQString(path));
    if (!out.open(QIODevice::WriteOnly) || out.write(QJsonDocument(json).toJson()) < 0 || !out.commit())
        return ioError<"run.no_result", "the result of the run cannot be written: {why}">(
            out.errorString().toStdString(), path);
    return {};
}

std::vector<RunRecord> readRuns(const std::filesystem::path& root, const std::stop_token& stop)
{
    std::vector<RunRecord> runs;
    const QDir dir(toQString(root));
    for (const QString& name : dir.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name | QDir::Reversed)) {
        if (stop.stop_requested())
            break;
        RunRecord run;
        run.name = name;
        run.folder = root / name.toStdString();
        const std::filesystem::path file = run.folder / "config.json";
        if (!QFileInfo(toQString(file)).isFile()) // opening a FIFO would block
            continue;
        auto configuration = config::TrainingConfig::load(file);
        if (!configuration)
            continue;
        run.configuration = std::move(*configuration);
        run.started = QDateTime::fromString(name.left(19), kNameFormat);
        run.outcome = readOutcome(run.folder);
        runs.push_back(std::move(run));
    }
    return runs;
}

profiler::Result<void> removeRun(const RunRecord& run)
{
    if (isBeingTrained(run.folder))
        return profiler::fail<"run.in_training", "the run is still in progress">(
            profiler::Error::Code::Unavailable, run.folder.string(), "stop it first, in the window that runs it");
    std::error_code failed;
    std::filesystem::remove_all(run.folder, failed);
    if (failed)
        return ioError<"run.not_removed", "the run cannot be removed: {why}">(failed.message(), run.folder);
    return {};
}

} // namespace app
