#include "app/services/tuning_service.h"

#include "advisor/change/program_setup.h"
#include "advisor/experiment/trainer_process.h"
#include "advisor/runner/unified_diff.h"
#include "advisor/tuner/tuner.h"
#include "app/configuration/configuration_model.h"
#include "app/document/trace_document.h"
#include "app/look/display_text.h"
#include "app/services/job_guard.h"
#include "app/services/journal.h"
#include "app/services/notices.h"
#include "app/services/trust_store.h"
#include "profiler/formats/format.h"

#include <QSaveFile>
#include <QTemporaryDir>
#include <algorithm>
#include <system_error>
#include <utility>

namespace app {

namespace {

/// The journal already contains this change, from any rule.
bool holds(const Journal& journal, const advisor::Toggle& toggle)
{
    return std::any_of(journal.changes.begin(), journal.changes.end(),
                       [&](const KeptChange& kept) { return kept.toggle == toggle; });
}

using TuneReport = std::function<void(const advisor::TuneProgress&)>;

profiler::Error noRoom(const QTemporaryDir& folder)
{
    return profiler::makeError<"files.no_temporary", "No space for temporary files">(
        profiler::Error::Code::Io, folder.path().toStdString(), "free disk space, or set TMPDIR");
}

/// Blocks until the program is tuned. Its output is kept only if tuning fails.
profiler::Result<std::shared_ptr<const ProgramTuned>>
tuneProgramIn(const QTemporaryDir& folder, const ProgramMeasurement& what, std::chrono::seconds budget,
              const TuneReport& report, const std::stop_token& stop)
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
    auto result = advisor::tuneProgram(plan, report, stop);
    advisor::change::closeLogs(plan.setup, result ? nullptr : &result.error());
    if (!result)
        return tl::unexpected(result.error());
    return std::make_shared<const ProgramTuned>(ProgramTuned{what, std::move(*result)});
}

/// The plan and the folder of its recordings.
profiler::Result<advisor::TuneResult> tuneIn(const QTemporaryDir& folder, advisor::TunePlan plan,
                                             const TuneReport& report, const std::stop_token& stop)
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
    return advisor::tune(plan, report, stop);
}

} // namespace

TuningService::TuningService(Notices* notices, ConfigurationModel* configuration, TrustStore* trust, JobGuard* jobs,
                             const TraceDocument* document, JournalStore* journal)
    : m_notices(notices), m_configuration(configuration), m_trust(trust), m_jobs(jobs), m_document(document),
      m_journal(journal)
{
}

TuningService::~TuningService()
{
    m_thread.cancel();
}

void TuningService::start(std::chrono::seconds budget)
{
    if (!m_jobs->mayStart())
        return;
    if (!m_document->program().id.isEmpty())
        return startProgram(budget);
    if (!m_configuration->commitEdits())
        return;
    m_trust->passTraining([this, budget] {
        if (!m_jobs->mayStart())
            return;
        m_program.reset();
        m_start = m_configuration->get();
        advisor::TunePlan plan;
        plan.start = m_start;
        plan.budget = budget;
        m_thread.start(
            [this, plan = std::move(plan)](const std::stop_token& stop, const Background::Post& post) {
                const QTemporaryDir folder;
                const auto report = [&](const advisor::TuneProgress& progress) {
                    post([this, progress] { take(progress); });
                };
                post([this, result = tuneIn(folder, plan, report, stop)] { end(result); });
            },
            [this](const profiler::Error& error) { end(tl::unexpected(error)); });
        begin(budget);
    });
}

void TuningService::startProgram(std::chrono::seconds budget)
{
    auto recorded = recordedProgram(*m_document);
    if (!recorded) {
        emit m_notices->noticed(asQString(recorded.error().what.text), detailOf(recorded.error()), true);
        return;
    }
    // Its kept changes and rules are ignored: tuning starts with the recorded program.
    passRecorded(m_trust, m_jobs, m_document, std::move(*recorded), [this, budget](ProgramMeasurement what) {
        m_program = what;
        m_thread.start(
            [this, budget, what = std::move(what)](const std::stop_token& stop, const Background::Post& post) {
                const QTemporaryDir folder;
                const auto report = [&](const advisor::TuneProgress& progress) {
                    post([this, progress] { take(progress); });
                };
                post([this, result = tuneProgramIn(folder, what, budget, report, stop)] { endProgram(result); });
            },
            [this](const profiler::Error& error) { endProgram(tl::unexpected(error)); });
        begin(budget);
    });
}

void TuningService::begin(std::chrono::seconds budget)
{
    m_running = true;
    m_stopping = false;
    m_budget = budget;
    m_progress.reset();
    m_result.reset();
    m_programResult.reset();
    m_trouble.clear();
    m_jobs->begin(Job::Tuning, [this] { stop(); });
    emit started();
}

void TuningService::stop()
{
    if (!m_running)
        return;
    m_stopping = true;
    m_thread.requestStop();
    m_jobs->setStopping(Job::Tuning);
}

const advisor::TuneOutcome* TuningService::outcome() const
{
    if (m_programResult)
        return &m_programResult->result;
    return m_result ? &*m_result : nullptr;
}

Origin TuningService::origin() const
{
    return m_program ? m_program->origin : originOf(m_start);
}

bool TuningService::isOfDocument() const
{
    if (!m_document->isMachine(thisMachine()))
        return false;
    if (isOfProgram())
        return origin() == m_document->program();
    std::vector<advisor::Toggle> found;
    if (m_result)
        for (const config::Difference& one : config::difference(m_result->start, m_result->best))
            found.push_back({one.key, one.a, one.b});
    const config::TrainingConfig* shown = m_journal->training();
    return shown && m_journal->all().isResultOf(*shown, m_start, found);
}

void TuningService::take(const advisor::TuneProgress& progress)
{
    m_progress = progress;
    emit progressed(progress);
}

void TuningService::end(const profiler::Result<advisor::TuneResult>& result)
{
    if (result)
        m_result = *result;
    endWith(result ? nullptr : &result.error());
}

void TuningService::endProgram(const profiler::Result<std::shared_ptr<const ProgramTuned>>& result)
{
    if (result)
        m_programResult = *result;
    endWith(result ? nullptr : &result.error());
}

/// @param error  null on success
void TuningService::endWith(const profiler::Error* error)
{
    m_running = m_stopping = false;
    m_progress.reset();
    if (error && error->code != profiler::Error::Code::Cancelled)
        m_trouble = QString::fromStdString(error->message());
    std::vector<advisor::ExperimentResult> measured;
    if (const auto* tuned = outcome())
        for (const advisor::TuneTrial& trial : tuned->trials)
            if (trial.result)
                measured.push_back(*trial.result);
    m_journal->addPredictions(measured, isOfProgram() ? origin() : Origin());
    m_jobs->end(Job::Tuning);
    emit ended();
}

void TuningService::apply()
{
    if (!m_result || m_jobs->isBusy())
        return;
    const config::TrainingConfig& current = m_configuration->get();
    if (workloadOf(m_result->start) != workloadOf(current)) {
        emit m_notices->noticed(tr("Not applied: another model was tuned."),
                                tr("Tune the model that is configured now."), true);
        return;
    }
    UndoStep step;
    for (const config::Difference& found : config::difference(m_result->start, m_result->best))
        if (const std::string now = current.text(found.key); now != found.b)
            step.knobs.push_back({found.key, now, found.b});
    if (step.knobs.empty())
        return;
    // When the result is applied again, changes already in the journal are restored with it.
    config::TrainingConfig applied = current;
    for (const config::Difference& knob : step.knobs)
        static_cast<void>(applied.set(knob.key, knob.b));
    const Journal& journal = m_journal->all();
    const Journal known = journal.inForce(applied);
    for (const advisor::TuneTrial& trial : m_result->trials)
        if (trial.outcome == advisor::TuneTrial::Outcome::Kept && trial.result && !holds(known, trial.change))
            step.kept.push_back({journal.freeName(asQString(trial.rule), step.kept), asQString(trial.title),
                                 trial.change, *trial.result});
    step.place = journal.changes.size();
    step.text = tr("apply tuning result");
    m_configuration->push(std::move(step));
}

void TuningService::saveConfiguration(const std::filesystem::path& path)
{
    if (!m_result)
        return;
    emit m_notices->outdated();
    if (const auto saved = m_result->best.save(path); !saved)
        emit m_notices->noticed(tr("Could not save the configuration."), asQString(saved.error().message()), true);
}

void TuningService::savePatch(const std::filesystem::path& path)
{
    if (!m_programResult)
        return;
    emit m_notices->outdated();
    const std::string diff =
        advisor::runner::diffInFolder(m_programResult->result.patch.diff, m_programResult->what.folder);
    QSaveFile out(asQString(path.string()));
    if (!out.open(QIODevice::WriteOnly) || out.write(QByteArray::fromStdString(diff)) < 0 || !out.commit())
        emit m_notices->noticed(tr("Could not save the patch."), out.errorString(), true);
    else
        emit m_notices->noticed(tr("Patch saved."), asQString(path.string()), false);
}

} // namespace app
