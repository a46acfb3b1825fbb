#include "app/session/experiment_controller.h"

#include "advisor/batch_facts.h"

#include <algorithm>
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

const advisor::ExperimentResult* ExperimentController::newest(const QString& ruleId) const
{
    const auto found =
        std::find_if(m_all.rbegin(), m_all.rend(), [&](const Measured& one) { return one.rule == ruleId; });
    return found == m_all.rend() ? nullptr : &found->result;
}

void ExperimentController::start(const advisor::RuleAdvice& advice, const config::TrainingConfig& baseline)
{
    if (isRunning())
        return;
    m_rule = QString::fromStdString(advice.id);
    m_title = QString::fromStdString(advice.advice.title);
    forget(m_rule);
    m_progress.reset();
    m_stopping = m_abandoned = false;
    m_thread.start(
        [this, plan = planFor(advice, baseline)](const std::stop_token& stop, const Background::Post& post) {
            const auto tell = [&](const advisor::ExperimentProgress& progress) {
                post([this, progress] { take(progress); });
            };
            post([this, result = advisor::runExperiment(plan, tell, stop)] { end(result); });
        },
        [this](const profiler::Error& error) { end(tl::unexpected(error)); });
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
    if (std::exchange(m_abandoned, false)) { // it may have been done before it was asked to stop
        emit failed(rule, {});
        return;
    }
    if (result) {
        m_all.push_back({rule, m_title, *result});
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
    std::erase_if(m_all, [&](const Measured& one) { return one.rule == ruleId && one.onScreen; });
    m_results.erase(ruleId);
}

void ExperimentController::select(const std::function<bool(const advisor::ExperimentResult&)>& isOnScreen)
{
    m_results.clear();
    for (Measured& one : m_all) {
        one.onScreen = isOnScreen(one.result);
        if (one.onScreen)
            m_results.insert_or_assign(one.rule, one.result);
    }
}

std::vector<ExperimentController::Measured> ExperimentController::elsewhere() const
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
