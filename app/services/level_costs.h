#pragma once

#include "app/services/background.h"
#include "profiler/analysis/recording_cost.h"
#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <QDateTime>
#include <QObject>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// The overhead of recording operators on this machine: the stored measurements, and the measurer that makes them.
namespace app {

class ConfigurationModel;
class JobGuard;
class Notices;
class TraceDocument;
class TrustStore;

/// The overhead of recording operators on this machine in the last measurement, by level, workload and device.
struct LevelCost {
    profiler::analysis::RecordingCost cost;
    QDateTime when;
    std::optional<double> otherLoad; ///< share of all cores used by other processes at that time; none: unknown
};

/// For the level, workload and device of this configuration; none if it was never measured here.
std::optional<LevelCost> levelCost(const config::TrainingConfig& configuration);
/// The same for another level.
std::optional<LevelCost> levelCost(const config::TrainingConfig& configuration, const std::string& level);
/// Share of the steps that record operators with these settings, [0, 1].
double recordedShare(const config::TrainingConfig& configuration);
/// Stored in the settings, replacing the previous measurement. Only for runs on this machine.
/// @param otherLoad  as in LevelCost
void keepLevelCost(const config::TrainingConfig& configuration, const profiler::analysis::RecordingCost& cost,
                   std::optional<double> otherLoad = {});

/// Measures how much CPU other processes use while this process and its children work, which makes measurements noisy.
/// Reads /proc/stat and /proc/self/stat.
class OtherLoad {
public:
    /// Starts the measurement.
    OtherLoad();

    /// Share of all cores used by other processes since the start, [0, 1]. Children count as this process after they
    /// were waited for. None if the kernel does not report it or no time has passed.
    [[nodiscard]] std::optional<double> share() const;

private:
    /// Clock ticks since boot.
    struct Ticks {
        std::int64_t busy = 0, all = 0; ///< of all cores
        std::int64_t own = 0;           ///< of this process and its children
    };
    static std::optional<Ticks> read();

    std::optional<Ticks> m_before;
};

/// Measures the overhead of the recording levels and stores it. A complete training run has measured
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
