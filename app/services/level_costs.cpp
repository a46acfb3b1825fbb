#include "app/services/level_costs.h"

#include "advisor/experiment/trainer_process.h"
#include "app/configuration/configuration_model.h"
#include "app/document/trace_document.h"
#include "app/services/job_guard.h"
#include "app/services/notices.h"
#include "app/services/trust_store.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/formats/container/trace_reader.h"

#include <QByteArray>
#include <QFile>
#include <QList>
#include <QSettings>
#include <QTemporaryDir>
#include <algorithm>
#include <cmath>
#include <utility>

namespace app {

namespace {

using profiler::Error;
using profiler::Result;
using profiler::analysis::RecordingCost;

// time, ratio, low, high, steps with, steps without; from the second version also the spread and the load of other
// processes, which is empty if unknown
constexpr int kKeptFields = 8, kKeptFieldsOfFirstVersion = 6;

QString settingsKey(const config::TrainingConfig& configuration, const std::string& level)
{
    return QStringLiteral("level_costs/%1/%2/%3")
        .arg(QString::fromStdString(configuration[config::key::workload]),
             QString::fromStdString(configuration[config::key::device]), QString::fromStdString(level));
}

QByteArray kernelFile(const char* path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

// Operators are recorded in half of the steps, in short alternating windows, because the load of the machine changes
// every second.
constexpr int kEvery = 10, kWindow = 5;
// With one-second steps, a minute gives thirty pairs, which is enough, and a longer wait is not acceptable.
constexpr std::chrono::seconds kLongest{60};
constexpr std::chrono::seconds kUntilFirstStep{300}; ///< time to scan the data and build the model before training
constexpr std::chrono::seconds kUntilEnd{10};        ///< time limit after a stop request, the same as for a run
                                                     ///< (TrainingService::stop)
constexpr std::chrono::milliseconds kPoll{50};

/// The measuring run: the same training with different recording settings and length.
config::TrainingConfig measuredRun(config::TrainingConfig configuration, const std::string& level, int steps)
{
    const std::pair<std::string_view, std::string> settings[] = {
        {config::key::captureEnabled.name, "true"},
        {config::key::captureLevel.name, level},
        {config::key::captureOpsEvery.name, std::to_string(kEvery)},
        {config::key::captureOpsWindow.name, std::to_string(kWindow)},
        {config::key::steps.name, std::to_string(steps)},
        {config::key::checkpointEvery.name, "0"},
        {config::key::logFile.name, ""}};
    for (const auto& [key, value] : settings)
        static_cast<void>(configuration.set(key, value)); // all values are valid according to the knob table
    return configuration;
}

Error cancelled()
{
    return profiler::makeError<"work.cancelled", "cancelled">(Error::Code::Cancelled);
}

/// Follows the trainer until it exits and reports its steps. Asks it to stop when its time is up, and kills it if it
/// does not.
Result<void> follow(advisor::TrainerProcess& trainer, const std::stop_token& stop,
                    const std::function<void(double)>& report)
{
    using Clock = std::chrono::steady_clock;
    auto until = Clock::now() + kUntilFirstStep;
    bool began = false, askedToStop = false;
    for (;;) {
        if (stop.stop_requested()) {
            trainer.kill();
            return tl::unexpected(cancelled());
        }
        if (Clock::now() > until) {
            if (std::exchange(askedToStop, true)) {
                trainer.kill();
                return profiler::fail<"trainer.does_not_end", "the trainer did not stop on request">(
                    Error::Code::Unavailable);
            }
            until = Clock::now() + kUntilEnd;
            static_cast<void>(trainer.send(config::protocol::Stop{}));
        }
        if (const auto progress = trainer.next(kPoll)) {
            if (const auto* step = std::get_if<config::protocol::StepProgress>(&*progress)) {
                if (!std::exchange(began, true) && !askedToStop)
                    until = Clock::now() + kLongest;
                report(static_cast<double>(step->step));
            }
        } else if (const auto exit = trainer.exited()) {
            if (exit->status == 0 && exit->signal == 0)
                return {};
            return tl::unexpected(Error{Error::Code::Unavailable, exit->asMessage(), {}, {}});
        }
    }
}

Result<RecordingCost> measureCost(const config::TrainingConfig& configuration, const std::stop_token& stop,
                                  const std::function<void(double)>& report)
{
    const auto program = advisor::findTrainer();
    if (!program)
        return tl::unexpected(program.error());
    const QTemporaryDir folder;
    if (!folder.isValid())
        return profiler::fail<"files.no_temporary_folder", "cannot create a temporary folder">(
            Error::Code::Io, folder.errorString().toStdString(), "free disk space");
    const std::filesystem::path trace = folder.filePath("trace.sstrace").toStdString();
    auto trainer = advisor::TrainerProcess::start(configuration, {*program, trace, false});
    if (!trainer)
        return tl::unexpected(trainer.error());
    if (const auto followed = follow(**trainer, stop, report); !followed)
        return tl::unexpected(followed.error());
    const auto read = profiler::container::readTrace(trace);
    if (!read)
        return tl::unexpected(read.error());
    const auto cost = profiler::analysis::recordingCost(profiler::analysis::findSteps(**read));
    if (!cost)
        return profiler::fail<"overhead.too_few_steps", "too few steady-state steps to measure the recording overhead">(
            Error::Code::Unavailable, {},
            "run this configuration for more steps: a training run also measures the "
            "overhead");
    return *cost;
}

} // namespace

std::optional<LevelCost> levelCost(const config::TrainingConfig& configuration)
{
    return levelCost(configuration, configuration[config::key::captureLevel]);
}

std::optional<LevelCost> levelCost(const config::TrainingConfig& configuration, const std::string& level)
{
    const QStringList kept = QSettings().value(settingsKey(configuration, level)).toStringList();
    if (kept.size() != kKeptFields && kept.size() != kKeptFieldsOfFirstVersion)
        return std::nullopt;
    LevelCost known{
        {kept[1].toDouble(), kept[2].toDouble(), kept[3].toDouble(), kept[4].toLongLong(), kept[5].toLongLong()},
        QDateTime::fromString(kept[0], Qt::ISODate),
        std::nullopt};
    if (kept.size() == kKeptFields) {
        known.cost.spread = kept[6].toDouble();
        if (!kept[7].isEmpty())
            known.otherLoad = kept[7].toDouble();
    }
    const auto& cost = known.cost;
    // The settings file of the user may contain anything.
    const bool sound = known.when.isValid() && std::isfinite(cost.ratio) && cost.low > 0 && cost.low <= cost.ratio &&
                       cost.ratio <= cost.high && std::isfinite(cost.high);
    return sound ? std::optional(known) : std::nullopt;
}

double recordedShare(const config::TrainingConfig& configuration)
{
    const auto every = configuration[config::key::captureOpsEvery],
               window = configuration[config::key::captureOpsWindow];
    return every <= 0 ? 0 : std::min(1.0, static_cast<double>(window) / static_cast<double>(every));
}

void keepLevelCost(const config::TrainingConfig& configuration, const profiler::analysis::RecordingCost& cost,
                   std::optional<double> otherLoad)
{
    constexpr int kDigits = 6;
    const auto text = [](double value) { return QString::number(value, 'g', kDigits); };
    QSettings().setValue(settingsKey(configuration, configuration[config::key::captureLevel]),
                         QStringList{QDateTime::currentDateTime().toString(Qt::ISODate), text(cost.ratio),
                                     text(cost.low), text(cost.high), QString::number(cost.with),
                                     QString::number(cost.without), text(cost.spread),
                                     otherLoad ? text(*otherLoad) : QString()});
}

OtherLoad::OtherLoad() : m_before(read()) {}

std::optional<OtherLoad::Ticks> OtherLoad::read()
{
    // "cpu  user nice system idle iowait irq softirq steal …": the first line is the sum of all cores.
    const QByteArray machine = kernelFile("/proc/stat");
    const QList<QByteArray> fields = machine.left(machine.indexOf('\n')).simplified().split(' ');
    // The process name may contain spaces and parentheses, so the fields start after the last closing one.
    const QByteArray own = kernelFile("/proc/self/stat");
    const QList<QByteArray> ownFields = own.mid(own.lastIndexOf(')') + 2).split(' ');
    constexpr qsizetype kIdle = 4, kIoWait = 5, kSteal = 8;       // in /proc/stat, after "cpu"
    constexpr qsizetype kUserTime = 11, kChildrenSystemTime = 14; // in /proc/self/stat, after the name: utime … cstime
    if (fields.size() <= kSteal || fields[0] != "cpu" || ownFields.size() <= kChildrenSystemTime)
        return std::nullopt;
    Ticks ticks;
    for (qsizetype i = 1; i <= kSteal; ++i) {
        const std::int64_t value = fields[i].toLongLong();
        ticks.all += value;
        if (i != kIdle && i != kIoWait)
            ticks.busy += value;
    }
    for (qsizetype i = kUserTime; i <= kChildrenSystemTime; ++i)
        ticks.own += ownFields[i].toLongLong();
    return ticks;
}

std::optional<double> OtherLoad::share() const
{
    const auto now = read();
    if (!m_before || !now || now->all <= m_before->all)
        return std::nullopt;
    const std::int64_t others = (now->busy - m_before->busy) - (now->own - m_before->own);
    return std::clamp(static_cast<double>(others) / static_cast<double>(now->all - m_before->all), 0.0, 1.0);
}

LevelCostMeasurer::LevelCostMeasurer(Notices* notices, ConfigurationModel* configuration, TrustStore* trust,
                                     JobGuard* jobs, const TraceDocument* document)
    : m_notices(notices), m_configuration(configuration), m_trust(trust), m_jobs(jobs)
{
    connect(document, &TraceDocument::analysedChanged, this, [this, document] {
        const auto& run = document->configuration();
        if (!document->isOwnRun() || !document->analysed() || !run)
            return;
        if (const auto cost = profiler::analysis::recordingCost(document->analysed()->facts.steps)) {
            keepLevelCost(*run, *cost);
            emit changed();
        }
    });
}

LevelCostMeasurer::~LevelCostMeasurer()
{
    m_thread.cancel();
}

const std::vector<std::string>& LevelCostMeasurer::levels()
{
    static const std::vector<std::string> s_levels = {"standard", "full"};
    return s_levels;
}

void LevelCostMeasurer::measure()
{
    // A training at the same time would share the CPU with it.
    if (!m_jobs->mayStart() || !m_configuration->commitEdits())
        return;
    m_trust->passTraining([this] {
        if (m_jobs->mayStart())
            start(m_configuration->get());
    });
}

void LevelCostMeasurer::start(const config::TrainingConfig& configuration, int steps)
{
    if (m_measuring)
        return;
    m_measuring = true;
    m_jobs->begin(Job::RecordingCost, [this] { cancel(); });
    emit progressed({}, 0);
    m_thread.start(
        [this, configuration, steps](const std::stop_token& stop, const Background::Post& post) {
            QString message;
            for (std::size_t i = 0; i < levels().size() && message.isEmpty() && !stop.stop_requested(); ++i) {
                const config::TrainingConfig run = measuredRun(configuration, levels()[i], steps);
                const auto report = [&, name = QString::fromStdString(levels()[i])](double done) {
                    const double all =
                        (static_cast<double>(i) + std::min(1.0, done / steps)) / static_cast<double>(levels().size());
                    post([this, name, all] { emit progressed(name, all); });
                };
                report(0);
                const OtherLoad load;
                if (const auto cost = measureCost(run, stop, report))
                    post([this, run, found = *cost, others = load.share()] {
                        keepLevelCost(run, found, others);
                        emit changed();
                        emit measured(run, found, others);
                    });
                else if (cost.error().code != Error::Code::Cancelled)
                    message = QString::fromStdString(cost.error().message());
            }
            post([this, message] { end(message); });
        },
        [this](const Error& error) { end(QString::fromStdString(error.message())); });
}

void LevelCostMeasurer::end(const QString& message)
{
    m_measuring = false;
    emit progressed({}, 1);
    m_jobs->end(Job::RecordingCost);
    if (!message.isEmpty())
        emit m_notices->noticed(tr("The recording overhead was not measured."), message, true);
    emit ended(message);
}

void LevelCostMeasurer::cancel()
{
    m_thread.requestStop();
}

} // namespace app
