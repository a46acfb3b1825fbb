#include "advisor/experiment/trainer_arm.h"

#include "advisor/experiment/trainer_process.h"
#include "trainer/config/knobs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace advisor {

namespace protocol = config::protocol;
namespace key = config::key;
using profiler::Error;
using Why = Interruption::Why;

namespace {

// Maximum delay before a cancellation is noticed.
constexpr std::chrono::milliseconds kHeartbeat{50};
// Maximum time between two reports while a dataset is written or scanned, or while libraries are read from a cold disk.
constexpr std::chrono::seconds kStartPatience{120};
// A trainer that was asked to stop is killed after this time.
constexpr std::chrono::seconds kStopPatience{60};

Interruption interruption(Why why, profiler::Message what, std::string where = {}, std::string hint = {})
{
    const auto code = why == Why::Cancelled ? Error::Code::Cancelled : Error::Code::Unavailable;
    return {why, {code, std::move(what), std::move(where), std::move(hint)}};
}

} // namespace

Outcome<std::unique_ptr<Arm>> TrainerArm::start(const std::filesystem::path& program,
                                                const config::TrainingConfig& config, std::string name)
{
    auto process = TrainerProcess::start(config, {.program = program, .trace = {}, .turns = true});
    if (!process)
        return tl::unexpected(Interruption{Why::Failed, process.error()});
    auto arm = std::unique_ptr<TrainerArm>(new TrainerArm);
    arm->m_process = std::move(*process);
    arm->m_name = std::move(name);
    return arm;
}

Interruption TrainerArm::died()
{
    // Its last messages arrive before the end of the process is noticed.
    while (m_process->next(std::chrono::milliseconds(0))) {
    }
    const auto exit = m_process->exited();
    return interruption(
        Why::Failed,
        exit ? exit->asMessage()
             : profiler::message<"trainer.takes_no_commands", "The trainer no longer accepts commands">(),
        m_name);
}

template <class Record>
Outcome<Record> TrainerArm::waitFor(const RunLimits& limits, std::chrono::seconds patience)
{
    auto heard = RunLimits::Clock::now();
    for (;;) {
        if (limits.stop.stop_requested())
            return tl::unexpected(interruption(
                Why::Cancelled, profiler::message<"experiment.cancelled", "The experiment was cancelled">()));
        const auto now = RunLimits::Clock::now();
        if (now >= limits.deadline)
            return tl::unexpected(
                interruption(Why::OutOfTime, profiler::message<"experiment.time_is_over", "Time budget used up">()));
        if (now - heard >= patience)
            return tl::unexpected(interruption(Why::Failed, noAnswer(patience), m_name,
                                               "run the training alone and check on its timeline where it hangs"));
        const auto progress = m_process->next(kHeartbeat);
        if (!progress) {
            if (m_process->exited())
                return tl::unexpected(died());
            continue;
        }
        if (const auto* record = std::get_if<Record>(&*progress))
            return *record;
        if (const auto* preparing = std::get_if<protocol::Preparing>(&*progress)) {
            heard = RunLimits::Clock::now();
            if (limits.preparing)
                limits.preparing(*preparing);
        }
    }
}

Outcome<protocol::Hello> TrainerArm::hello(const RunLimits& limits)
{
    return waitFor<protocol::Hello>(limits, kStartPatience);
}

Outcome<protocol::TurnResult> TrainerArm::take(const protocol::Turn& turn, const RunLimits& limits,
                                               std::chrono::seconds patience)
{
    if (const auto sent = m_process->send(turn); !sent && m_process->exited())
        return tl::unexpected(died());
    auto result = waitFor<protocol::TurnResult>(limits, patience);
    if (!result)
        return result;
    double seconds = 0;
    for (const double unit : result->seconds)
        seconds += unit;
    if (result->samples <= 0 || !(seconds > 0))
        return tl::unexpected(
            interruption(Why::Failed, profiler::message<"trainer.no_work", "The trainer did no work in its turn">(),
                         m_name + ", " + turn.what,
                         "check that the dataset contains images, and images for validation if validations are timed"));
    return result;
}

void TrainerArm::finish()
{
    static_cast<void>(m_process->send(protocol::Stop{})); // it may have exited just now
    const auto begin = RunLimits::Clock::now();
    for (bool killed = false; !m_process->exited();) {
        while (m_process->next(kHeartbeat)) {
        }
        if (!killed && RunLimits::Clock::now() - begin > kStopPatience) {
            m_process->kill();
            killed = true;
        }
    }
}

TrainerArms::TrainerArms(std::filesystem::path program, std::array<config::TrainingConfig, 2> configs,
                         std::array<std::string, 2> names)
    : m_program(std::move(program)), m_configs(std::move(configs)), m_names(std::move(names))
{
}

Outcome<std::unique_ptr<Arm>> TrainerArms::start(std::size_t arm, std::size_t seed)
{
    return TrainerArm::start(m_program, withSeedOfStart(m_configs.at(arm), seed), m_names.at(arm));
}

std::int64_t TrainerArms::stepsToDrop() const
{
    std::int64_t drop = 0;
    for (const config::TrainingConfig& config : m_configs)
        drop = std::max(drop, config[key::workers] * config[key::prefetchFactor] + 1);
    return drop;
}

std::int64_t TrainerArms::plannedSteps(std::size_t arm, const protocol::Hello& hello) const
{
    const config::TrainingConfig& config = m_configs.at(arm);
    return config[key::steps] > 0 ? config[key::steps] : config[key::epochs] * hello.stepsPerEpoch;
}

Outcome<std::vector<RescaledSetting>> TrainerArms::setLength(std::size_t arm, std::int64_t steps, std::int64_t planned)
{
    config::TrainingConfig& config = m_configs.at(arm);
    std::vector<RescaledSetting> rescaled;
    const auto set = [&](std::string_view name, std::int64_t value) -> Outcome<void> {
        if (const auto done = config.set(name, std::to_string(value)); !done)
            return tl::unexpected(
                interruption(Why::Failed, configError(Error::Code::Invalid, done.error()).what, m_names.at(arm)));
        return {};
    };
    for (const config::Knob& knob : config::knobs()) {
        if (!knob.scalesWithLength || planned <= 0)
            continue;
        const auto before = std::get<std::int64_t>(config.value(knob.key));
        if (before <= 0)
            continue;
        const auto after = std::max<std::int64_t>(
            1, std::llround(static_cast<double>(before) * static_cast<double>(steps) / static_cast<double>(planned)));
        if (after == before)
            continue;
        if (const auto done = set(knob.key, after); !done)
            return tl::unexpected(done.error());
        rescaled.push_back({std::string(knob.key), std::to_string(before), std::to_string(after)});
    }
    if (const auto done = set(key::steps.name, steps); !done)
        return tl::unexpected(done.error());
    return rescaled;
}

std::vector<std::string> TrainerArms::warmUpCauses(std::size_t arm) const
{
    const config::TrainingConfig& config = m_configs.at(arm);
    const auto knobs = config::knobs();
    const auto hasCause = [&](config::WarmUp cause) {
        return std::any_of(knobs.begin(), knobs.end(), [&](const config::Knob& knob) {
            return knob.warmUp == cause && config.value(knob.key) == config::Value(true);
        });
    };
    std::vector<std::string> causes;
    if (hasCause(config::WarmUp::Autotuning))
        causes.emplace_back("autotuning");
    if (hasCause(config::WarmUp::Compilation))
        causes.emplace_back("compilation");
    return causes;
}

config::TrainingConfig withSeedOfStart(config::TrainingConfig config, std::size_t start)
{
    constexpr std::int64_t kSeeds = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1; // in the format of the
                                                                                                // knobs
    const std::int64_t seed = (config[key::seed] + static_cast<std::int64_t>(start)) % kSeeds;
    static_cast<void>(config.set(key::seed.name, std::to_string(seed)));
    return config;
}

} // namespace advisor
