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

/// The arms of an experiment as its driver sees them: programs that train and take turns. The driver knows neither how
/// an arm is started nor what kind of program it is; TrainerArms are our own trainer, ProgramArms Python programs.
namespace advisor {

/// Why an experiment ended early.
struct Interruption {
    enum class Why { Cancelled, OutOfTime, Failed };
    Why why = Why::Failed;
    profiler::Error error;
};
template <class T>
using Outcome = tl::expected<T, Interruption>;

/// What ends any wait for an arm.
struct RunLimits {
    using Clock = std::chrono::steady_clock;
    std::stop_token stop;
    Clock::time_point deadline = Clock::time_point::max();
    std::function<void(const config::protocol::Preparing&)>
        preparing; ///< called while a data set is written or scanned
};

/// A started program that takes turns. Its calls block; it is used by one thread.
class Arm {
public:
    virtual ~Arm() = default;
    /// Waits until it is ready for turns.
    virtual Outcome<config::protocol::Hello> hello(const RunLimits& bounds) = 0;
    /// @param patience  an answer that takes longer is a hang
    virtual Outcome<config::protocol::TurnResult> take(const config::protocol::Turn& turn, const RunLimits& bounds,
                                                       std::chrono::seconds patience) = 0;
    /// Ends it and waits until it and its children are gone: their memory is then free for the next one.
    virtual void finish() = 0;
    /// Its process; those that this one started belong to it as well. Empty: none on this machine.
    [[nodiscard]] virtual std::vector<std::int64_t> processes() const = 0;
};

/// A setting in steps that was changed to fit a shorter training.
struct RescaledSetting {
    std::string key, from, to;
    friend bool operator==(const RescaledSetting&, const RescaledSetting&) = default;
};

/// The two programs that are compared: arm 0 is the baseline (A), arm 1 the change (B).
class Arms {
public:
    virtual ~Arms() = default;
    /// As errors and progress call it: "the baseline".
    [[nodiscard]] virtual std::string name(std::size_t arm) const = 0;
    /// As progress says that both are being started: "starting the trainers".
    [[nodiscard]] virtual std::string startingText() const = 0;
    /// @param seed  0, 1, …: both arms of one seed begin with equal weights and see the same samples
    virtual Outcome<std::unique_ptr<Arm>> start(std::size_t arm, std::size_t seed) = 0;
    /// Steps at the start of a turn that do not count, equal for both arms: their batches were ready before the turn.
    /// Asked for after each hello: an arm may not know it earlier.
    [[nodiscard]] virtual std::int64_t stepsToDrop() const = 0;
    /// Steps of an arm's whole training; 0: not known.
    [[nodiscard]] virtual std::int64_t plannedSteps(std::size_t arm, const config::protocol::Hello& hello) const = 0;
    /// From the next start on, the arm's training is so long: what its schedule counts in steps is rescaled from
    /// `planned` steps to these.
    /// @return what was rescaled
    virtual Outcome<std::vector<RescaledSetting>> setLength(std::size_t arm, std::int64_t steps,
                                                            std::int64_t planned) = 0;
    /// Causes of a slow beginning that the arm's settings bring with them: "autotuning", "compilation".
    [[nodiscard]] virtual std::vector<std::string> warmUpCauses(std::size_t arm) const = 0;
};

} // namespace advisor
