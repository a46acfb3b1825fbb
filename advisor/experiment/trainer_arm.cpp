#include "advisor/experiment/trainer_arm.h"

#include "trainer/config/keys.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace advisor {

namespace protocol = config::protocol;
using profiler::Error;
using Why = Interruption::Why;

namespace {

// How late a cancellation may be noticed.
constexpr std::chrono::milliseconds kHeartbeat{50};
// Between two words about writing or scanning a data set, or while libraries are read from a cold disk.
constexpr std::chrono::seconds kStartPatience{120};

Interruption interruption(Why why, std::string what, std::string where = {}, std::string mend = {})
{
    const auto code = why == Why::Cancelled ? Error::Code::Cancelled : Error::Code::Unavailable;
    return {why, {code, std::move(what), std::move(where), std::move(mend)}};
}

} // namespace

Outcome<TrainerArm> TrainerArm::start(const std::filesystem::path& program, const config::TrainingConfig& config,
                                      std::string name)
{
    auto process = TrainerProcess::start(config, {.program = program, .trace = {}, .turns = true});
    if (!process)
        return tl::unexpected(Interruption{Why::Failed, process.error()});
    TrainerArm arm;
    arm.m_process = std::move(*process);
    arm.m_name = std::move(name);
    return arm;
}

std::int64_t stepsToDrop(const std::array<config::TrainingConfig, 2>& configs)
{
    std::int64_t drop = 0;
    for (const auto& config : configs)
        drop = std::max(drop, config[config::key::workers] * config[config::key::prefetchFactor] + 1);
    return drop;
}

Interruption TrainerArm::died()
{
    // Its last words came before its end.
    while (m_process->next(std::chrono::milliseconds(0))) {
    }
    const auto exit = m_process->exited();
    return interruption(Why::Failed, exit ? exit->message() : "The trainer takes no more commands", m_name);
}

template <class Record>
Outcome<Record> TrainerArm::waitFor(const Bounds& bounds, std::chrono::seconds patience)
{
    auto heard = Bounds::Clock::now();
    for (;;) {
        if (bounds.stop.stop_requested())
            return tl::unexpected(interruption(Why::Cancelled, "The experiment was cancelled"));
        const auto now = Bounds::Clock::now();
        if (now >= bounds.deadline)
            return tl::unexpected(interruption(Why::OutOfTime, "The time for the experiment is over"));
        if (now - heard >= patience)
            return tl::unexpected(
                interruption(Why::Failed, fmt::format("The trainer did not answer for {} s", patience.count()), m_name,
                             "run the training by itself and see on its timeline where it hangs"));
        const auto progress = m_process->next(kHeartbeat);
        if (!progress) {
            if (m_process->exited())
                return tl::unexpected(died());
            continue;
        }
        if (const auto* record = std::get_if<Record>(&*progress))
            return *record;
        if (const auto* preparing = std::get_if<protocol::Preparing>(&*progress)) {
            heard = Bounds::Clock::now();
            if (bounds.preparing)
                bounds.preparing(*preparing);
        }
    }
}

Outcome<protocol::Hello> TrainerArm::hello(const Bounds& bounds)
{
    return waitFor<protocol::Hello>(bounds, kStartPatience);
}

Outcome<protocol::TurnResult> TrainerArm::take(const protocol::Turn& turn, const Bounds& bounds,
                                               std::chrono::seconds patience)
{
    if (const auto sent = m_process->send(turn); !sent && m_process->exited())
        return tl::unexpected(died());
    auto result = waitFor<protocol::TurnResult>(bounds, patience);
    if (!result)
        return result;
    double seconds = 0;
    for (const double unit : result->seconds)
        seconds += unit;
    if (result->samples <= 0 || !(seconds > 0))
        return tl::unexpected(
            interruption(Why::Failed, "The trainer did no work in its turn", m_name + ", " + turn.what,
                         "see that the data set has images, also to validate with where validation is timed"));
    return result;
}

} // namespace advisor
