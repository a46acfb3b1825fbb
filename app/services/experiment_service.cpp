#include "app/services/experiment_service.h"

#include "advisor/change/apply.h"
#include "advisor/change/program_setup.h"
#include "advisor/knob_changes.h"
#include "app/configuration/configuration_model.h"
#include "app/document/trace_document.h"
#include "app/look/display_text.h"
#include "app/services/job_guard.h"
#include "app/services/notices.h"
#include "app/services/training_service.h"
#include "app/services/trust_store.h"

#include <system_error>
#include <utility>

namespace app {

namespace {

using ExperimentReport = std::function<void(const advisor::ExperimentProgress&)>;

/// The measurement for an advice that has a toggle.
advisor::ExperimentPlan planFor(const advisor::RuleAdvice& advice, const config::TrainingConfig& baseline)
{
    advisor::ExperimentPlan plan;
    plan.baseline = baseline;
    if (advice.advice.toggle)
        plan.changes = advisor::changesOf(*advice.advice.toggle, baseline);
    plan.objective = advice.advice.objective;
    plan.measure = advice.advice.measure;
    plan.predicted = advice.advice.saving;
    return plan;
}

/// Blocks until the change is measured. The output of the programs is kept only if they fail.
profiler::Result<JournalStore::Measured> measureProgram(const ProgramMeasurement& what, const advisor::Toggle& change,
                                                        const ExperimentReport& report, const std::stop_token& stop)
{
    advisor::ProgramPlan plan;
    plan.setup = programOf(what);
    if (const auto ready = advisor::change::prepareProgram(plan.setup); !ready)
        return tl::unexpected(ready.error());
    const advisor::change::ChangeRequest request{
        .changes = {{change.key, change.to}}, .kept = what.kept, .advice = &what.rules, .patcher = {}};
    if (const auto set = advisor::change::setChanges(plan, *what.trace, request); !set)
        return tl::unexpected(set.error());
    const advisor::change::WantedChange wanted{change.key, change.to};
    if (const auto patch = advisor::change::patchProgram(*what.trace, {wanted});
        patch && advisor::change::isApplied(*patch, wanted))
        return profiler::fail<"measure.applied", "The program already contains this change">(
            profiler::Error::Code::Invalid, patch->appliedFiles.front().string(), "revert the change, then measure it");
    if (const auto made = advisor::change::makeLogFolder(plan.setup); !made)
        return tl::unexpected(made.error());
    auto result = advisor::runProgramExperiment(plan, report, stop);
    advisor::change::closeLogs(plan.setup, result ? nullptr : &result.error());
    if (!result)
        return tl::unexpected(result.error());
    JournalStore::Measured measured;
    measured.result = std::move(result->measured);
    measured.program = what.origin;
    measured.refused = result->isRefused;
    if (result->program.failure)
        for (const std::string& line : result->program.failure->traceback)
            measured.traceback << QString::fromStdString(line);
    return measured;
}

} // namespace

ExperimentService::ExperimentService(Notices* notices, ConfigurationModel* configuration, TrustStore* trust,
                                     JobGuard* jobs, const TraceDocument* document, JournalStore* journal,
                                     const TrainingService* training)
    : m_notices(notices), m_configuration(configuration), m_trust(trust), m_jobs(jobs), m_document(document),
      m_journal(journal), m_training(training)
{
    connect(document, &TraceDocument::traceReplaced, this, &ExperimentService::abandon);
}

ExperimentService::~ExperimentService()
{
    m_thread.cancel();
}

void ExperimentService::start(const advisor::RuleAdvice& advice)
{
    // A training at the same time would share the CPU with both arms and skew the results.
    if (!advice.advice.toggle || !m_jobs->mayStart())
        return;
    if (!m_document->program().id.isEmpty())
        return startProgram(advice);
    if (!m_configuration->commitEdits())
        return;
    if (m_configuration->get().text(advice.advice.toggle->key) == advice.advice.toggle->to) {
        emit m_notices->noticed(tr("Not measured: the configuration already contains this change."),
                                tr("Run the training again to see its effect."), false);
        return;
    }
    m_trust->passTraining([this, advice] {
        if (!m_jobs->mayStart())
            return;
        run(advice,
            [plan = planFor(advice, m_configuration->get())](const ExperimentReport& report,
                                                             const std::stop_token& stop) -> Outcome {
                auto result = advisor::runExperiment(plan, report, stop);
                if (!result)
                    return tl::unexpected(result.error());
                JournalStore::Measured measured;
                measured.result = std::move(*result);
                return measured;
            });
    });
}

void ExperimentService::startProgram(const advisor::RuleAdvice& advice)
{
    auto what = recordedProgram(*m_document);
    if (!what) {
        emit m_notices->noticed(asQString(what.error().what.text), detailOf(what.error()), true);
        return;
    }
    for (const KeptChange& kept : m_journal->shown().changes)
        if (kept.toggle.key != advice.advice.toggle->key)
            what->kept.push_back({kept.toggle.key, kept.toggle.to});
    passRecorded(m_trust, m_jobs, m_document, std::move(*what), [this, advice](ProgramMeasurement isolated) {
        run(advice, [what = std::move(isolated), change = *advice.advice.toggle](const ExperimentReport& report,
                                                                                 const std::stop_token& stop) {
            return measureProgram(what, change, report, stop);
        });
    });
}

void ExperimentService::run(const advisor::RuleAdvice& advice, Run measure)
{
    m_rule = asQString(advice.id);
    m_title = asQString(advice.advice.title);
    m_journal->forget(m_rule);
    m_progress.reset();
    m_stopping = m_abandoned = false;
    m_thread.start(
        [this, measure = std::move(measure)](const std::stop_token& stop, const Background::Post& post) {
            const auto report = [&](const advisor::ExperimentProgress& progress) {
                post([this, progress] { take(progress); });
            };
            post([this, result = measure(report, stop)] { end(result); });
        },
        [this](const profiler::Error& error) { end(tl::unexpected(error)); });
    m_jobs->begin(Job::Experiment, [this] { cancel(); });
    emit started(m_rule);
}

void ExperimentService::take(const advisor::ExperimentProgress& progress)
{
    m_progress = progress;
    emit progressed(m_rule, progress);
}

void ExperimentService::end(const Outcome& result)
{
    const QString rule = std::exchange(m_rule, {});
    m_progress.reset();
    m_stopping = false;
    const bool isAbandoned = std::exchange(m_abandoned, false); // it may have finished before the stop request
    if (result && !isAbandoned) {
        JournalStore::Measured measured = *result;
        measured.rule = rule;
        measured.title = m_title;
        m_journal->add(measured);
        m_jobs->end(Job::Experiment);
        emit finished(rule, measured.result);
        return;
    }
    m_jobs->end(Job::Experiment);
    const bool isCancelled = isAbandoned || result.error().code == profiler::Error::Code::Cancelled;
    emit failed(rule, isCancelled ? QString() : asQString(result.error().message()));
}

void ExperimentService::cancel()
{
    if (!isRunning())
        return;
    m_stopping = true;
    m_thread.requestStop();
    m_jobs->setStopping(Job::Experiment);
}

void ExperimentService::abandon()
{
    if (!isRunning())
        return;
    m_abandoned = true;
    cancel();
    emit m_notices->noticed(tr("Measurement stopped: it belonged to the previous trace."), {}, false);
}

std::optional<std::chrono::seconds> ExperimentService::expectedDuration(const advisor::RuleAdvice& advice) const
{
    double us = 0;
    const auto& epochs = m_training->epochHistory();
    const std::string& measure = advice.advice.measure;
    if (measure == "steps" && m_document->analysed())
        us = m_document->analysed()->facts.statistics.steadyMeanUs;
    else if (!epochs.empty())
        us = 1e6 * (measure == "epoch" ? epochs.back().epochSeconds : epochs.back().validationSeconds);
    if (us <= 0)
        return std::nullopt;
    const double validationUs = epochs.empty() ? 0 : 1e6 * epochs.back().validationSeconds;
    const bool isProgram = !m_document->program().id.isEmpty();
    return advisor::expectedDuration(planFor(advice, isProgram ? config::TrainingConfig() : m_configuration->get()), us,
                                     validationUs);
}

} // namespace app
