#pragma once

#include "app/session/background.h"
#include "profiler/analysis/recording_cost.h"
#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <QObject>
#include <string>
#include <vector>

namespace app {

/// Measures what the levels of recording cost: for each a short training of the configuration, on a thread of its own,
/// in which windows with operators and steps without take turns. Its trace goes to a temporary folder and is removed.
/// GUI thread.
class LevelCostMeasurer : public QObject {
    Q_OBJECT
public:
    explicit LevelCostMeasurer(QObject* parent = nullptr);
    ~LevelCostMeasurer() override;

    /// Those that record operators.
    static const std::vector<std::string>& levels();

    [[nodiscard]] bool isMeasuring() const { return m_measuring; }
    /// @param steps  of each training, at most; half of them record operators
    void start(const config::TrainingConfig& configuration, int steps = 600);
    void cancel(); ///< ends with ended() once the trainer is gone

signals:
    /// @param configuration  what was run; its level is the one that was measured
    /// @param otherLoad      share of all cores that other processes used meanwhile; none: not known
    void measured(const config::TrainingConfig& configuration, const profiler::analysis::RecordingCost& cost,
                  std::optional<double> otherLoad);
    void progressed(const QString& level, double share); ///< of all levels
    /// @param message  empty when all went well or the user cancelled
    void ended(const QString& message);

private:
    void end(const QString& message);

    bool m_measuring = false;
    Background m_thread;
};

} // namespace app
