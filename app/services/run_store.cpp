#include "app/services/run_store.h"

#include "app/look/display_text.h"
#include "app/services/experiment_result_json.h"
#include "app/services/notices.h"
#include "profiler/formats/container/sealed_writer.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <QStandardPaths>
#include <algorithm>
#include <utility>

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

void RunStore::reload()
{
    if (m_current)
        return;
    m_reading.start(
        [this, root = runsRoot()](const std::stop_token& stop, const Background::Post& post) {
            auto runs = readRuns(root, stop);
            if (!stop.stop_requested())
                post([this, runs = std::move(runs)] { take(runs); });
        },
        [this](const profiler::Error& error) {
            emit m_notices->noticed(tr("The list of runs cannot be read."), asQString(error.message()), true);
        });
}

void RunStore::take(std::vector<RunRecord> runs)
{
    // A training that was started in the meantime has newer state here.
    if (m_current) {
        std::erase_if(runs, [&](const RunRecord& run) { return run.folder == m_current->folder; });
        runs.insert(runs.begin(), *m_current);
    }
    m_all = std::move(runs);
    emit changed();
}

void RunStore::open(const RunRecord& run)
{
    m_current = run;
    m_lock = lockRun(run);
    m_all.insert(m_all.begin(), run);
    emit changed();
}

void RunStore::close(const RunOutcome& outcome)
{
    if (!m_current)
        return;
    m_current->outcome = outcome;
    if (const auto saved = saveOutcome(*m_current); !saved)
        emit m_notices->noticed(tr("The result of the run could not be saved."), asQString(saved.error().message()),
                                true);
    for (RunRecord& run : m_all)
        if (run.folder == m_current->folder)
            run = *m_current;
    m_current.reset();
    m_lock.reset();
    emit changed();
}

QString RunStore::titleOf(const config::TrainingConfig& configuration) const
{
    const QString workload = asQString(configuration.text("workload"));
    const auto baseline = std::find_if(m_all.rbegin(), m_all.rend(), [&](const RunRecord& run) {
        return run.configuration.text("workload") == configuration.text("workload");
    });
    if (baseline == m_all.rend())
        return workload;
    const auto changes = config::difference(baseline->configuration, configuration);
    if (changes.empty())
        return workload;
    if (changes.size() > 1)
        return tr("%1 · %2 changes").arg(workload).arg(changes.size());
    const std::string_view label = config::findKnob(changes[0].key)->label;
    return QString("%1 · %2 = %3").arg(workload, asQString(label), asQString(changes[0].b));
}

bool RunStore::contains(const std::filesystem::path& trace) const
{
    return std::any_of(m_all.begin(), m_all.end(), [&](const RunRecord& run) { return run.trace() == trace; });
}

void RunStore::remove(const RunRecord& run)
{
    emit m_notices->outdated();
    const auto end = [this, run](const profiler::Result<void>& result) { endRemoval(run, result); };
    addTask([this, run, end] {
        m_work.start(
            [run, end](const std::stop_token&, const Background::Post& post) {
                post([end, result = removeRun(run)] { end(result); });
            },
            [end](const profiler::Error& error) { end(tl::unexpected(error)); });
    });
}

void RunStore::seal(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace)
{
    const auto end = [this](const profiler::Result<void>& sealed) {
        // A run without recording has no trace, and the user may have removed the run.
        if (!sealed && sealed.error().code != profiler::Error::Code::NotFound)
            emit m_notices->noticed(tr("The trace of the run was not compressed and stays as it was recorded."),
                                    asQString(sealed.error().message()), false);
        nextTask();
    };
    addTask([this, path, end, trace = std::move(trace)] {
        m_work.start(
            [path, end, trace](const std::stop_token& stop, const Background::Post& post) {
                using profiler::container::sealTrace;
                profiler::container::WriteOptions options;
                options.stop = stop;
                // The content stays the same, and so does its time, by which bookmarks belong to the trace.
                std::error_code unknown;
                const auto modified = std::filesystem::last_write_time(path, unknown);
                const auto sealed = trace ? sealTrace(*trace, path, options) : sealTrace(path, options);
                if (sealed && !unknown)
                    std::filesystem::last_write_time(path, modified, unknown);
                post([end, sealed] { end(sealed); });
            },
            [end](const profiler::Error& error) { end(tl::unexpected(error)); });
    });
}

void RunStore::addTask(std::function<void()> task)
{
    m_tasks.push_back(std::move(task));
    if (!m_busy)
        nextTask();
}

void RunStore::nextTask()
{
    m_busy = !m_tasks.empty();
    if (!m_busy)
        return;
    const auto task = std::move(m_tasks.front());
    m_tasks.erase(m_tasks.begin());
    task();
}

void RunStore::endRemoval(const RunRecord& run, const profiler::Result<void>& result)
{
    if (result) {
        std::erase_if(m_all, [&](const RunRecord& known) { return known.folder == run.folder; });
        emit changed();
    } else {
        emit m_notices->noticed(tr("Could not delete the run: %1.").arg(asQString(result.error().what.text)),
                                detailOf(result.error()), true);
        reload(); // its trace may be missing although its folder exists
    }
    nextTask();
}

} // namespace app
