#pragma once

#include "profiler/model/result.h"
#include "trainer/config/protocol.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

/// The arms of an experiment as the driver sees them: programs that train and take turns. The driver does not know how
/// an arm is started or what kind of program it is; TrainerArms run our own trainer, ProgramArms run Python programs.
namespace advisor {

/// Why an experiment ended early.
struct Interruption {
    enum class Why { Cancelled, OutOfTime, Failed };
    Why why = Why::Failed;
    profiler::Error error;
};
template <class T>
using Outcome = tl::expected<T, Interruption>;

/// The conditions that end any wait for an arm.
struct RunLimits {
    using Clock = std::chrono::steady_clock;
    std::stop_token stop;
    Clock::time_point deadline = Clock::time_point::max();
    std::function<void(const config::protocol::Preparing&)> preparing; ///< called while a dataset is written or scanned
};

/// A started program that takes turns. Its calls block; only one thread may use it.
class Arm {
public:
    virtual ~Arm() = default;
    /// Waits until the program is ready for turns.
    virtual Outcome<config::protocol::Hello> hello(const RunLimits& limits) = 0;
    /// @param patience if an answer takes longer, the program counts as hanging
    virtual Outcome<config::protocol::TurnResult> take(const config::protocol::Turn& turn, const RunLimits& limits,
                                                       std::chrono::seconds patience) = 0;
    /// Ends the program and waits until it and its children have exited, so that their memory is free for the next one.
    virtual void finish() = 0;
    /// Its process ids; child processes of these belong to the arm as well. Empty: no process on this machine.
    [[nodiscard]] virtual std::vector<std::int64_t> processes() const = 0;
};

/// A setting in steps that was rescaled to a shorter training run.
struct RescaledSetting {
    std::string key, from, to;
    friend bool operator==(const RescaledSetting&, const RescaledSetting&) = default;
};

/// The two programs to compare: arm 0 is the baseline (A), arm 1 the change (B).
class Arms {
public:
    virtual ~Arms() = default;
    /// The name of an arm in errors and progress: "the baseline".
    [[nodiscard]] virtual std::string name(std::size_t arm) const = 0;
    /// The progress text while both arms start: "starting the trainers".
    [[nodiscard]] virtual std::string startingText() const = 0;
    /// @param seed 0, 1, …: with the same seed, both arms begin with equal weights and see the same samples
    virtual Outcome<std::unique_ptr<Arm>> start(std::size_t arm, std::size_t seed) = 0;
    /// Steps at the start of a turn that are not timed, equal for both arms, because their batches were loaded before
    /// the turn. Queried after each hello: an arm may not know the number earlier.
    [[nodiscard]] virtual std::int64_t stepsToDrop() const = 0;
    /// Steps of an arm's whole training run; 0: unknown.
    [[nodiscard]] virtual std::int64_t plannedSteps(std::size_t arm, const config::protocol::Hello& hello) const = 0;
    /// Sets the length of the arm's training runs from the next start on: settings in steps are rescaled from `planned`
    /// to `steps` steps.
    /// @return the rescaled settings
    virtual Outcome<std::vector<RescaledSetting>> setLength(std::size_t arm, std::int64_t steps,
                                                            std::int64_t planned) = 0;
    /// Causes of a slow start that follow from the arm's settings: "autotuning", "compilation".
    [[nodiscard]] virtual std::vector<std::string> warmUpCauses(std::size_t arm) const = 0;
    /// Whether the arms were found to make updates with different numbers of samples. Known once both have said hello.
    [[nodiscard]] virtual bool haveOtherBatches() const { return false; }
    /// False if an arm was found to train in the same way with different seeds: more seeds then show nothing.
    [[nodiscard]] virtual bool seedsVary() const { return true; }
};

} // namespace advisor
