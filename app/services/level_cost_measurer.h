#pragma once

#include "app/services/background.h"
#include "profiler/analysis/recording_cost.h"
#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <QObject>
#include <string>
#include <vector>

namespace app {

class ConfigurationModel;
class JobGuard;
class Notices;
class TraceDocument;
class TrustStore;

/// Measures the overhead of the recording levels and stores it; see level_costs.h. A complete training run has measured
/// its own, which is stored, too. On request, for each level, a short training of the configuration runs on a
/// separate thread, alternating windows of steps with and without operators. Its trace goes to a temporary folder and
/// is removed. GUI thread.
class LevelCostMeasurer : public QObject {
    Q_OBJECT
public:
    /// All of them must outlive the measurer.
    LevelCostMeasurer(Notices* notices, ConfigurationModel* configuration, TrustStore* trust, JobGuard* jobs,
                      const TraceDocument* document);
    ~LevelCostMeasurer() override;

    /// The levels that record operators.
    static const std::vector<std::string>& levels();

    [[nodiscard]] bool isMeasuring() const { return m_measuring; }
    /// Measures the current configuration when no other job is running and the user allows its code.
    void measure();
    /// @param steps  maximum number of steps per training; half of them record operators
    void start(const config::TrainingConfig& configuration, int steps = 600);
    void cancel(); ///< ends with ended() once the trainer is gone

signals:
    void changed(); ///< a cost was stored
    /// @param configuration  configuration of the run; its level is the measured one
    /// @param otherLoad      share of all cores used by other processes at that time; none: unknown
    void measured(const config::TrainingConfig& configuration, const profiler::analysis::RecordingCost& cost,
                  std::optional<double> otherLoad);
    void progressed(const QString& level, double share); ///< of all levels; share 1: ended
    /// @param message  empty on success or if the user cancelled
    void ended(const QString& message);

private:
    void end(const QString& message);

    Notices* m_notices;
    ConfigurationModel* m_configuration;
    TrustStore* m_trust;
    JobGuard* m_jobs;
    bool m_measuring = false;
    Background m_thread{this};
};

} // namespace app
