#pragma once

#include "profiler/model/message.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// What else happens on the machine while an experiment's arms take their turns: CPU time of other processes, clock and
/// thermal changes, page-cache misses, swapping. It decides which pairs are repeated, and names the source of the noise
/// when there is no verdict.
namespace advisor {

/// CPU time of all processes of one name.
struct CpuShare {
    std::string name;
    double cores = 0; ///< mean over the time; 1: one core all the time
    friend bool operator==(const CpuShare&, const CpuShare&) = default;
};

/// What happened during one turn.
struct TurnConditions {
    double seconds = 0;
    double ownCores = 0;                ///< used by the experiment's arms and their children
    double otherCores = 0;              ///< used by everything else, whether its processes are visible or not
    std::vector<CpuShare> others{};     ///< by name, most first
    double clockLow = 0, clockHigh = 0; ///< MHz of the cores' mean, at the ends of the turn; 0: not known
    double hottest = 0;                 ///< °C of the hottest sensor; 0: not known
    std::int64_t throttled = 0;         ///< thermal throttle events
    std::int64_t majorFaults = 0;       ///< of the experiment's processes: pages that were not in memory
    std::int64_t readBytes = 0;         ///< fetched from storage by them: page-cache misses
    std::int64_t swappedBytes = 0;      ///< in and out, of the whole machine
};

/// Observes the machine during turns. Used by one thread.
class MachineMonitor {
public:
    virtual ~MachineMonitor() = default;
    /// Cores of the machine.
    [[nodiscard]] virtual double cores() const = 0;
    /// Start of a turn.
    /// @param own  the arms' processes, see Arm::processes()
    virtual void begin(std::span<const std::int64_t> own) = 0;
    /// End of the turn.
    /// @param own  the arms' processes now: a program that ends within a turn is started again
    virtual TurnConditions end(std::span<const std::int64_t> own) = 0;
};

/// Reads /proc and /sys at both ends of a turn (some milliseconds each, outside of what is timed). What a kernel does
/// not offer stays unknown.
/// @param root  folder that holds proc and sys; tests have their own
std::unique_ptr<MachineMonitor> systemMonitor(std::filesystem::path root = "/");

/// The rule for repeating a pair, fixed in advance and equal for both arms: a turn is disturbed when other processes
/// used more than a tenth of the cores that the arms need, or when the machine swapped more than 4 MiB.
/// @param needed  cores: the most that either arm has used in a turn so far
bool isDisturbed(const TurnConditions& turn, double cores, double needed);
/// A tenth: at two cores a disturbance of this size moves a turn by about five percent, the difference that an
/// experiment has to find.
inline constexpr double kDisturbedShare = 0.1;
inline constexpr std::int64_t kDisturbedSwap = std::int64_t{4} << 20;
/// Repeated pairs of an experiment at most: as many as there are before its first look. On a machine that is always
/// busy, repeating would not help.
inline constexpr std::size_t kMostRepeatedPairs = 6;
/// The same for whole seeds of a screening, which last longer.
inline constexpr std::size_t kMostRepeatedSeeds = 2;

/// What happened during the pairs. Conditions of several turns are means of the shares, sums of the counts, and the
/// extremes of clock and temperature.
struct NoiseReport {
    std::size_t repeatedPairs = 0;  ///< measured again because a disturbance hit them
    std::size_t disturbedPairs = 0; ///< kept although one did: the limit of repetitions was reached
    double cores = 0;               ///< of the machine
    double neededCores = 0;         ///< most that either arm used in a turn
    TurnConditions turns{};         ///< of the pairs that count
    TurnConditions disturbed{};     ///< of the turns that a disturbance hit, whether their pairs count or not
    std::size_t crowdedTurns = 0;   ///< of these, by other processes
    std::size_t swappedTurns = 0;   ///< of these, by swapping
};
/// Adds a turn of a pair that counts.
void add(NoiseReport& report, const TurnConditions& turn);
/// Adds a turn for which isDisturbed() holds.
void addDisturbed(NoiseReport& report, const TurnConditions& turn);

/// Why there is no verdict: the strongest disturbance of the pairs that count, with its measured size.
profiler::Message noiseSource(const NoiseReport& report);
/// What hit the disturbed turns: "cc1plus used 1.3 of 2 cores", "the machine swapped 50 MB", or both. Its value is
/// "processes", "swapping" or "processes and swapping".
profiler::MessageParameter disturbanceCause(const NoiseReport& report);

} // namespace advisor
