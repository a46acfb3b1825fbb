#include "advisor/tuner/record_training.h"

#include "advisor/experiment/config_error.h"
#include "advisor/experiment/scratch_files.h"
#include "advisor/experiment/trainer_process.h"

#include <fmt/format.h>
#include <optional>

namespace advisor {

using profiler::Error;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kToStop{60};
// Maximum time between two reports while libraries are read from a cold disk, data is scanned, or the first step is
// compiled.
constexpr std::chrono::seconds kPatience{300};

profiler::Result<void> outcome(const TrainerExit& exit)
{
    if (exit.signal != 0 || exit.status != 0)
        return tl::unexpected(Error{Error::Code::Unavailable, exit.asMessage(), {}, {}});
    return {};
}

} // namespace

profiler::Result<void> recordTraining(const std::filesystem::path& trainer, const config::TrainingConfig& config,
                                      const std::filesystem::path& file, std::chrono::milliseconds least,
                                      const std::stop_token& stop)
{
    config::TrainingConfig recorded = config;
    if (const auto set = recorded.set(config::key::captureEnabled.name, "true"); !set)
        return tl::unexpected(configError(Error::Code::Invalid, set.error()));
    ScratchFiles scratch;
    if (const auto moved = scratch.redirect(recorded); !moved)
        return tl::unexpected(moved.error());
    auto process = TrainerProcess::start(recorded, {.program = trainer, .trace = file, .turns = false});
    if (!process)
        return tl::unexpected(process.error());
    std::optional<Clock::time_point> firstStep, stopSent;
    auto heard = Clock::now();
    bool killed = false;
    for (;;) {
        const auto progress = (*process)->next(std::chrono::milliseconds(50));
        const auto now = Clock::now();
        if (progress)
            heard = now;
        else if (now - heard > kPatience && !stopSent)
            return tl::unexpected(Error{Error::Code::Unavailable,
                                        noAnswer(kPatience),
                                        {},
                                        "run the training alone and check on its timeline where it hangs"});
        if (progress && std::holds_alternative<config::protocol::StepProgress>(*progress) && !firstStep)
            firstStep = now;
        if (stop.stop_requested()) // the trace is not needed: the trainer is killed when it goes out of scope
            return profiler::fail<"tune.recording_cancelled", "The recording was cancelled">(Error::Code::Cancelled);
        if (!stopSent && firstStep && now - *firstStep > least) {
            static_cast<void>((*process)->send(config::protocol::Stop{})); // it may have exited just now
            stopSent = now;
        }
        if (stopSent && !killed && now - *stopSent > kToStop) {
            (*process)->kill(); // what it has recorded so far can be read
            killed = true;
        }
        if (progress)
            continue;
        if (const auto exit = (*process)->exited())
            return killed ? profiler::Result<void>() : outcome(*exit);
    }
}

} // namespace advisor
