#include "app/services/experiment_controller.h"

#include "advisor/change/apply.h"
#include "advisor/change/program_setup.h"
#include "advisor/evidence/batch_facts.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace app {

namespace {

using Tell = std::function<void(const advisor::ExperimentProgress&)>;

advisor::ProgramSetup programOf(const ProgramMeasurement& what)
{
    advisor::ProgramSetup setup;
    setup.arms[0].command = what.command;
    setup.folder = what.folder;
    setup.environment = what.environment;
    setup.isolation = what.isolation;
    return setup;
}

/// Blocks until the change is measured. The output of the programs is kept only if they fail.
profiler::Result<ExperimentController::Measured> measureProgram(const ProgramMeasurement& what,
                                                                const advisor::Toggle& change, const Tell& tell,
                                                                const std::stop_token& stop)
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
    auto result = advisor::runProgramExperiment(plan, tell, stop);
    if (!result && result.error().code != profiler::Error::Code::Cancelled)
        return tl::unexpected(advisor::change::namingLogs(result.error(), plan.setup));
    std::error_code ignored;
    std::filesystem::remove_all(plan.setup.logs, ignored);
    if (!result)
        return tl::unexpected(result.error());
    ExperimentController::Measured measured;
    measured.result = std::move(result->measured);
    measured.program = what.origin;
    measured.refused = result->isRefused;
    if (result->program.failure)
        for (const std::string& line : result->program.failure->traceback)
            measured.traceback << QString::fromStdString(line);
    return measured;
}

} // namespace

profiler::Result<advisor::ProgramSetup> setupOf(const ProgramMeasurement& what)
{
    advisor::ProgramSetup setup = programOf(what);
    if (const auto ready = advisor::change::prepareProgram(setup); !ready)
        return tl::unexpected(ready.error());
    if (const auto made = advisor::change::makeLogFolder(setup); !made)
        return tl::unexpected(made.error());
    return setup;
}

ExperimentController::ExperimentController(QObject* parent) : QObject(parent), m_thread(this) {}

ExperimentController::~ExperimentController()
{
    m_thread.cancel();
}

advisor::ExperimentPlan ExperimentController::planFor(const advisor::RuleAdvice& advice,
                                                      const config::TrainingConfig& baseline)
{
    advisor::ExperimentPlan plan;
    plan.baseline = baseline;
    if (advice.advice.toggle)
        plan.changes = advisor::changesOf(*advice.advice.toggle, baseline);
    plan.judgedBy = advice.advice.judgedBy;
    plan.measure = advice.advice.measure;
    plan.predicted = advice.advice.saving;
    return plan;
}

const advisor::ExperimentResult* ExperimentController::result(const QString& ruleId) const
{
    const auto found = m_results.find(ruleId);
    return found == m_results.end() ? nullptr : &found->second;
}

const ExperimentController::Measured* ExperimentController::measured(const QString& ruleId) const
{
    const auto found = std::find_if(m_all.rbegin(), m_all.rend(),
                                    [&](const Measured& one) { return one.rule == ruleId && one.onScreen; });
    return found == m_all.rend() ? nullptr : &*found;
}

const ExperimentController::Measured* ExperimentController::newest(const QString& ruleId) const
{
    const auto found =
        std::find_if(m_all.rbegin(), m_all.rend(), [&](const Measured& one) { return one.rule == ruleId; });
    return found == m_all.rend() ? nullptr : &*found;
}

void ExperimentController::start(const advisor::RuleAdvice& advice, const config::TrainingConfig& baseline)
{
    run(advice, [plan = planFor(advice, baseline)](const Tell& tell, const std::stop_token& stop) -> Outcome {
        auto result = advisor::runExperiment(plan, tell, stop);
        if (!result)
            return tl::unexpected(result.error());
        Measured measured;
        measured.result = std::move(*result);
        return measured;
    });
}

void ExperimentController::startProgram(const advisor::RuleAdvice& advice, ProgramMeasurement what)
{
    if (!advice.advice.toggle)
        return;
    run(advice,
        [what = std::move(what), change = *advice.advice.toggle](const Tell& tell, const std::stop_token& stop) {
            return measureProgram(what, change, tell, stop);
        });
}

void ExperimentController::run(const advisor::RuleAdvice& advice, Run measure)
{
    if (isRunning())
        return;
    m_rule = QString::fromStdString(advice.id);
    m_title = QString::fromStdString(advice.advice.title);
    forget(m_rule);
    m_progress.reset();
    m_stopping = m_abandoned = false;
    m_thread.start(
        [this, measure = std::move(measure)](const std::stop_token& stop, const Background::Post& post) {
            const auto tell = [&](const advisor::ExperimentProgress& progress) {
                post([this, progress] { take(progress); });
            };
            post([this, result = measure(tell, stop)] { end(result); });
        },
        [this](const profiler::Error& error) { end(tl::unexpected(error)); });
}

void ExperimentController::take(const advisor::ExperimentProgress& progress)
{
    m_progress = progress;
    emit progressed(m_rule, progress);
}

void ExperimentController::end(const Outcome& result)
{
    const QString rule = std::exchange(m_rule, {});
    m_progress.reset();
    m_stopping = false;
    if (std::exchange(m_abandoned, false)) { // it may have finished before the stop request
        emit failed(rule, {});
        return;
    }
    if (result) {
        Measured measured = *result;
        measured.rule = rule;
        measured.title = m_title;
        m_all.push_back(measured);
        m_results.insert_or_assign(rule, measured.result);
        emit finished(rule, measured.result);
        return;
    }
    const bool cancelled = result.error().code == profiler::Error::Code::Cancelled;
    emit failed(rule, cancelled ? QString() : QString::fromStdString(result.error().message()));
}

void ExperimentController::cancel()
{
    m_stopping = isRunning();
    m_thread.requestStop();
}

void ExperimentController::forget(const QString& ruleId)
{
    std::erase_if(m_all, [&](const Measured& one) { return one.rule == ruleId && one.onScreen; });
    m_results.erase(ruleId);
}

void ExperimentController::select(const std::function<bool(const Measured&)>& isOnScreen)
{
    m_results.clear();
    for (Measured& one : m_all) {
        one.onScreen = isOnScreen(one);
        if (one.onScreen)
            m_results.insert_or_assign(one.rule, one.result);
    }
}

std::vector<ExperimentController::Measured> ExperimentController::otherResults() const
{
    std::vector<Measured> found;
    std::copy_if(m_all.begin(), m_all.end(), std::back_inserter(found),
                 [](const Measured& one) { return !one.onScreen; });
    return found;
}

void ExperimentController::abandon()
{
    if (isRunning()) {
        m_abandoned = true;
        cancel();
    }
}

} // namespace app
