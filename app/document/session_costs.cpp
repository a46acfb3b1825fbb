#include "app/document/session.h"
#include "app/document/session_state.h"
#include "app/services/level_costs.h"

// The recording overhead on this machine: stored when a run has measured it, or measured on request.
namespace app {

void Session::connectLevelCosts()
{
    connect(&m->levelCosts, &LevelCostMeasurer::measured, this,
            [this](const config::TrainingConfig& run, const profiler::analysis::RecordingCost& cost,
                   std::optional<double> otherLoad) {
                keepLevelCost(run, cost, otherLoad);
                emit levelCostsChanged();
            });
    connect(&m->levelCosts, &LevelCostMeasurer::progressed, this, &Session::levelCostsProgressed);
    connect(&m->levelCosts, &LevelCostMeasurer::ended, this, [this](const QString& message) {
        emit levelCostsProgressed({}, 1);
        emit busyChanged();
        if (!message.isEmpty())
            emit noticed(tr("The recording overhead was not measured."), message, true);
    });
    connect(this, &Session::analysedChanged, this, [this] {
        if (!m->ownRun || !m->analysed || !m->traceConfiguration)
            return;
        if (const auto cost = profiler::analysis::recordingCost(m->analysed->facts.steps)) {
            keepLevelCost(*m->traceConfiguration, *cost);
            emit levelCostsChanged();
        }
    });
}

void Session::measureLevelCosts()
{
    // A training at the same time would share the CPU with it.
    if (!mayStart() || !takeEdits())
        return;
    passGate([this] {
        if (!mayStart())
            return;
        m->levelCosts.start(m->configuration);
        emit levelCostsProgressed({}, 0);
        emit busyChanged();
    });
}

void Session::cancelLevelCosts()
{
    m->levelCosts.cancel();
}

bool Session::measuringLevelCosts() const
{
    return m->levelCosts.isMeasuring();
}

} // namespace app
