#include "app/session/experiment_controller.h"

#include "advisor/batch_facts.h"

#include <utility>

namespace app {

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

void ExperimentController::start(const advisor::RuleAdvice& advice, const config::TrainingConfig& baseline)
{
    if (isRunning())
        return;
    m_rule = QString::fromStdString(advice.id);
    m_results.erase(m_rule);
    m_progress.reset();
    m_stopping = m_forgotten = false;
    m_thread.start([this, plan = planFor(advice, baseline)](const std::stop_token& stop, const Background::Post& post) {
        const auto tell = [&](const advisor::ExperimentProgress& progress) {
            post([this, progress] { take(progress); });
        };
        post([this, result = advisor::runExperiment(plan, tell, stop)] { end(result); });
    });
}

void ExperimentController::take(const advisor::ExperimentProgress& progress)
{
    m_progress = progress;
    emit progressed(m_rule, progress);
}

void ExperimentController::end(const profiler::Result<advisor::ExperimentResult>& result)
{
    const QString rule = std::exchange(m_rule, {});
    m_progress.reset();
    m_stopping = false;
    if (m_forgotten) { // it may have been done before it heard
        emit failed(rule, {});
        return;
    }
    if (result) {
        m_results.insert_or_assign(rule, *result);
        emit finished(rule, *result);
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
    m_results.erase(ruleId);
}

void ExperimentController::forgetAll()
{
    m_results.clear();
    if (isRunning()) {
        m_forgotten = true;
        cancel();
    }
}

} // namespace app
