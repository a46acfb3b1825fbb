#include "app/session/tune_controller.h"

#include "advisor/experiment/trainer_process.h"
#include "advisor/tuner/record_training.h"
#include "profiler/io/formats/format.h"

#include <QTemporaryDir>

namespace app {

namespace {

/// The plan and the folder that its recordings lie in.
profiler::Result<advisor::TuneResult> tuneIn(const QTemporaryDir& folder, advisor::TunePlan plan,
                                             const std::function<void(const advisor::TuneProgress&)>& tell,
                                             const std::stop_token& stop)
{
    const auto trainer = advisor::findTrainer();
    if (!trainer)
        return tl::unexpected(trainer.error());
    if (!folder.isValid())
        return profiler::fail<"files.no_temporary", "There is no room for temporary files">(
            profiler::Error::Code::Io, folder.path().toStdString(), "make room, or set TMPDIR");
    plan.trainer = *trainer;
    plan.record =
        [&, recordings =
                0](const config::TrainingConfig& configuration,
                   const std::stop_token& stopped) mutable -> profiler::Result<std::shared_ptr<const profiler::Trace>> {
        const std::filesystem::path file = folder.filePath(QString("%1.sstrace").arg(++recordings)).toStdString();
        const auto recorded =
            advisor::recordTraining(plan.trainer, configuration, file, advisor::kRecordForRules, stopped);
        if (!recorded)
            return tl::unexpected(recorded.error());
        return profiler::formats::openTrace(file);
    };
    return advisor::tune(plan, tell, stop);
}

} // namespace

TuneController::TuneController(QObject* parent) : QObject(parent), m_thread(this) {}

TuneController::~TuneController()
{
    m_thread.cancel();
}

void TuneController::start(const config::TrainingConfig& configuration, std::chrono::seconds budget)
{
    if (m_running)
        return;
    m_running = true;
    m_stopping = false;
    m_start = configuration;
    m_budget = budget;
    m_progress.reset();
    m_result.reset();
    m_trouble.clear();
    advisor::TunePlan plan;
    plan.start = configuration;
    plan.budget = budget;
    m_thread.start(
        [this, plan = std::move(plan)](const std::stop_token& stop, const Background::Post& post) {
            const QTemporaryDir folder;
            const auto tell = [&](const advisor::TuneProgress& progress) {
                post([this, progress] { take(progress); });
            };
            post([this, result = tuneIn(folder, plan, tell, stop)] { end(result); });
        },
        [this](const profiler::Error& error) { end(tl::unexpected(error)); });
}

void TuneController::stop()
{
    if (!m_running)
        return;
    m_stopping = true;
    m_thread.requestStop();
}

void TuneController::take(const advisor::TuneProgress& progress)
{
    m_progress = progress;
    emit progressed(progress);
}

void TuneController::end(const profiler::Result<advisor::TuneResult>& result)
{
    m_running = m_stopping = false;
    m_progress.reset();
    if (result)
        m_result = *result;
    else if (result.error().code != profiler::Error::Code::Cancelled)
        m_trouble = QString::fromStdString(result.error().message());
    emit ended();
}

} // namespace app
