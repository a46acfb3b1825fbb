#include "app/services/tune_controller.h"

#include "advisor/change/program_setup.h"
#include "advisor/experiment/trainer_process.h"
#include "advisor/tuner/record_training.h"
#include "profiler/formats/format.h"

#include <QTemporaryDir>
#include <system_error>
#include <utility>

namespace app {

namespace {

using Tell = std::function<void(const advisor::TuneProgress&)>;

profiler::Error noRoom(const QTemporaryDir& folder)
{
    return profiler::makeError<"files.no_temporary", "No space for temporary files">(
        profiler::Error::Code::Io, folder.path().toStdString(), "free disk space, or set TMPDIR");
}

/// Blocks until the program is tuned. Its output is kept only if tuning fails.
profiler::Result<std::shared_ptr<const ProgramTuned>> tuneProgramIn(const QTemporaryDir& folder,
                                                                    const ProgramMeasurement& what,
                                                                    std::chrono::seconds budget, const Tell& tell,
                                                                    const std::stop_token& stop)
{
    if (!folder.isValid())
        return tl::unexpected(noRoom(folder));
    auto setup = setupOf(what);
    if (!setup)
        return tl::unexpected(setup.error());
    advisor::ProgramTunePlan plan;
    plan.setup = std::move(*setup);
    plan.budget = budget;
    plan.trace = what.trace;
    plan.record = [&folder, recordings = 0](const advisor::ProgramSetup& program,
                                            const advisor::ProgramVariant& variant,
                                            const std::stop_token& stopped) mutable {
        const std::filesystem::path file = folder.filePath(QString("%1.sstrace").arg(++recordings)).toStdString();
        return advisor::change::recordVariant(program, variant, file, stopped).and_then([&] {
            return profiler::formats::openTrace(file);
        });
    };
    auto result = advisor::tuneProgram(plan, tell, stop);
    if (!result && result.error().code != profiler::Error::Code::Cancelled)
        return tl::unexpected(advisor::change::namingLogs(result.error(), plan.setup));
    std::error_code ignored;
    std::filesystem::remove_all(plan.setup.logs, ignored);
    if (!result)
        return tl::unexpected(result.error());
    return std::make_shared<const ProgramTuned>(ProgramTuned{what, std::move(*result)});
}

/// The plan and the folder of its recordings.
profiler::Result<advisor::TuneResult> tuneIn(const QTemporaryDir& folder, advisor::TunePlan plan, const Tell& tell,
                                             const std::stop_token& stop)
{
    const auto trainer = advisor::findTrainer();
    if (!trainer)
        return tl::unexpected(trainer.error());
    if (!folder.isValid())
        return tl::unexpected(noRoom(folder));
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
    begin(budget);
    m_start = configuration;
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

void TuneController::startProgram(ProgramMeasurement what, std::chrono::seconds budget)
{
    if (m_running)
        return;
    begin(budget);
    m_program = what;
    m_thread.start(
        [this, budget, what = std::move(what)](const std::stop_token& stop, const Background::Post& post) {
            const QTemporaryDir folder;
            const auto tell = [&](const advisor::TuneProgress& progress) {
                post([this, progress] { take(progress); });
            };
            post([this, result = tuneProgramIn(folder, what, budget, tell, stop)] { endProgram(result); });
        },
        [this](const profiler::Error& error) { endProgram(tl::unexpected(error)); });
}

void TuneController::begin(std::chrono::seconds budget)
{
    m_running = true;
    m_stopping = false;
    m_budget = budget;
    m_progress.reset();
    m_result.reset();
    m_program.reset();
    m_programResult.reset();
    m_trouble.clear();
}

const advisor::TuneOutcome* TuneController::outcome() const
{
    if (m_programResult)
        return &m_programResult->result;
    return m_result ? &*m_result : nullptr;
}

Origin TuneController::origin() const
{
    return m_program ? m_program->origin : originOf(m_start);
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
    if (result)
        m_result = *result;
    endWith(result ? nullptr : &result.error());
}

void TuneController::endProgram(const profiler::Result<std::shared_ptr<const ProgramTuned>>& result)
{
    if (result)
        m_programResult = *result;
    endWith(result ? nullptr : &result.error());
}

/// @param error  null on success
void TuneController::endWith(const profiler::Error* error)
{
    m_running = m_stopping = false;
    m_progress.reset();
    if (error && error->code != profiler::Error::Code::Cancelled)
        m_trouble = QString::fromStdString(error->message());
    emit ended();
}

} // namespace app
