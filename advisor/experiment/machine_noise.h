#pragma once

#include "profiler/model/message.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Observes the machine while an experiment's arms take their turns: CPU time of other processes, clock and thermal
/// changes, page-cache misses, swapping. This determines which pairs are repeated, and names the source of the noise if
/// there is no verdict.
namespace advisor {

/// CPU time of all processes of one name.
struct CpuShare {
    std::string name;
    double cores = 0; ///< mean over the turn; 1: one core all the time
    friend bool operator==(const CpuShare&, const CpuShare&) = default;
};

/// Conditions during one turn.
struct TurnConditions {
    double seconds = 0;
    double ownCores = 0;                ///< used by the experiment's arms and their children
    double otherCores = 0;              ///< used by everything else, whether or not its processes are visible
    std::vector<CpuShare> others{};     ///< by name, largest first
    double clockLow = 0, clockHigh = 0; ///< mean clock of the cores in MHz, at the ends of the turn; 0: unknown
    double hottest = 0;                 ///< °C of the hottest sensor; 0: unknown
    std::int64_t throttled = 0;         ///< thermal throttle events
    std::int64_t majorFaults = 0;       ///< of the experiment's processes: accesses to pages that were not in memory
    std::int64_t readBytes = 0;         ///< read from storage by these processes: page-cache misses
    std::int64_t swappedBytes = 0;      ///< in and out, for the whole machine
};

/// Observes the machine during turns. Not thread-safe.
class MachineMonitor {
public:
    virtual ~MachineMonitor() = default;
    /// Number of cores of the machine.
    [[nodiscard]] virtual double cores() const = 0;
    /// Start of a turn.
    /// @param own  the arms' processes, see Arm::processes()
    virtual void begin(std::span<const std::int64_t> own) = 0;
    /// End of the turn.
    /// @param own the arms' processes now: a program that exits within a turn is restarted
    virtual TurnConditions end(std::span<const std::int64_t> own) = 0;
};

/// Reads /proc and /sys at both ends of a turn (some milliseconds each, outside of the timed part). Values that the
/// kernel does not provide remain unknown.
/// @param root folder that contains proc and sys; tests use their own
std::unique_ptr<MachineMonitor> systemMonitor(std::filesystem::path root = "/");

/// The rule for repeating a pair, fixed in advance and equal for both arms: a turn is disturbed if other processes used
/// more than a tenth of the cores that the arms need, or if the machine swapped more than 4 MiB.
/// @param needed cores: the maximum that either arm has used in a turn so far
bool isDisturbed(const TurnConditions& turn, double cores, double needed);
/// 10 %: with two cores, a disturbance of this size changes a turn by about 5 %, the size of the differences that an
/// experiment has to detect.
inline constexpr double kDisturbedShare = 0.1;
inline constexpr std::int64_t kDisturbedSwap = std::int64_t{4} << 20;
/// Maximum number of repeated pairs per experiment: the number of pairs before the first look. On a machine that is
/// always busy, repeating does not help.
inline constexpr std::size_t kMostRepeatedPairs = 6;
/// The same for whole seeds of a screening, which take longer.
inline constexpr std::size_t kMostRepeatedSeeds = 2;

/// Conditions during all pairs. Conditions of several turns are combined as means of the shares, sums of the counts,
/// and extremes of clock and temperature.
struct NoiseReport {
    std::size_t repeatedPairs = 0;  ///< repeated because of a disturbance
    std::size_t disturbedPairs = 0; ///< kept despite a disturbance, because the limit of repetitions was reached
    double cores = 0;               ///< number of cores of the machine
    double neededCores = 0;         ///< maximum that either arm used in a turn
    TurnConditions turns{};         ///< in pairs that count
    TurnConditions disturbed{};     ///< in disturbed turns, whether or not their pairs count
    std::size_t crowdedTurns = 0;   ///< number of disturbed turns caused by other processes
    std::size_t swappedTurns = 0;   ///< number of disturbed turns caused by swapping
};
/// Adds a turn of a pair that counts.
void add(NoiseReport& report, const TurnConditions& turn);
/// Adds a turn for which isDisturbed() is true.
void addDisturbed(NoiseReport& report, const TurnConditions& turn);

/// Why there is no verdict: the strongest disturbance of the pairs that count, with its measured size.
profiler::Message noiseSource(const NoiseReport& report);
/// The cause of the disturbed turns: "cc1plus used 1.3 of 2 cores", "the machine swapped 50 MB", or both. Its value is
/// "processes", "swapping" or "processes and swapping".
profiler::MessageParameter disturbanceCause(const NoiseReport& report);

} // namespace advisor
