#pragma once

#include "app/services/background.h"
#include "profiler/analysis/recording_cost.h"
#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <QObject>
#include <string>
#include <vector>

namespace app {

/// Measures the overhead of the recording levels. For each level, a short training of the configuration runs on a
/// separate thread, alternating windows of steps with and without operators. Its trace goes to a temporary folder and
/// is removed. GUI thread.
class LevelCostMeasurer : public QObject {
    Q_OBJECT
public:
    explicit LevelCostMeasurer(QObject* parent = nullptr);
    ~LevelCostMeasurer() override;

    /// The levels that record operators.
    static const std::vector<std::string>& levels();

    [[nodiscard]] bool isMeasuring() const { return m_measuring; }
    /// @param steps  maximum number of steps per training; half of them record operators
    void start(const config::TrainingConfig& configuration, int steps = 600);
    void cancel(); ///< ends with ended() once the trainer is gone

signals:
    /// @param configuration  configuration of the run; its level is the measured one
    /// @param otherLoad      share of all cores used by other processes at that time; none: unknown
    void measured(const config::TrainingConfig& configuration, const profiler::analysis::RecordingCost& cost,
                  std::optional<double> otherLoad);
    void progressed(const QString& level, double share); ///< of all levels
    /// @param message  empty on success or if the user cancelled
    void ended(const QString& message);

private:
    void end(const QString& message);

    bool m_measuring = false;
    Background m_thread;
};

} // namespace app
