#pragma once

#include "advisor/experiment/trainer_process.h"

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace advisor {

/// Why an experiment ended before its time.
struct Interruption {
    enum class Why { Cancelled, OutOfTime, Failed };
    Why why = Why::Failed;
    profiler::Error error;
};
template <class T>
using Outcome = tl::expected<T, Interruption>;

/// What ends any waiting for a trainer.
struct Bounds {
    using Clock = std::chrono::steady_clock;
    std::stop_token stop;
    Clock::time_point deadline = Clock::time_point::max();
    std::function<void(const config::protocol::Preparing&)>
        preparing; ///< called while a data set is written or scanned
};

/// One arm of an experiment: a resident trainer that takes turns. Starting, waiting and taking turns block.
class TrainerArm {
public:
    /// @param name  as errors call it: "baseline"
    static Outcome<TrainerArm> start(const std::filesystem::path& program, const config::TrainingConfig& config,
                                     std::string name);

    /// Waits until it is ready for turns.
    Outcome<config::protocol::Hello> hello(const Bounds& bounds);
    /// @param patience  an answer that takes longer is a hang
    Outcome<config::protocol::TurnResult> take(const config::protocol::Turn& turn, const Bounds& bounds,
                                               std::chrono::seconds patience);

private:
    TrainerArm() = default;
    Interruption died();
    template <class Record>
    Outcome<Record> waitFor(const Bounds& bounds, std::chrono::seconds patience);

    std::unique_ptr<TrainerProcess> m_process;
    std::string m_name;
};

/// Steps whose batches lie ready when a parked loader goes on, and one that is under way: they do not count. The larger
/// number of both configurations: arms that drop as many stay at the same batches.
std::int64_t stepsToDrop(const std::array<config::TrainingConfig, 2>& configs);

} // namespace advisor
