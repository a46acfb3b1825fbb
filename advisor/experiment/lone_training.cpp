#include "advisor/experiment/lone_training.h"

#include "advisor/experiment/warm_up.h"
#include "trainer/config/keys.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor {

namespace protocol = config::protocol;
using profiler::Error;
using Clock = Bounds::Clock;
using Why = Interruption::Why;

namespace {

// More than anyone waits for: it is ended before.
constexpr std::string_view kEndless = "1000000000";
constexpr double kWarmSeconds = 1.2;
constexpr std::int64_t kWarmSteps = 5, kFewestSteps = 5;
constexpr std::chrono::milliseconds kHeartbeat{50};
constexpr std::chrono::seconds kToStop{60};

/// Adds up reports of steps: those that do not count, then those that do.
class Timing {
public:
    explicit Timing(const LoneSpan& span) : m_span(span) {}

    void add(const protocol::StepProgress& progress)
    {
        const std::int64_t samples = progress.samples - m_samples;
        m_samples = progress.samples;
        const double seconds = progress.stepSeconds * static_cast<double>(progress.steps);
        if (!m_warm) {
            m_result.dropped += progress.steps;
            m_dropSeconds += seconds;
            m_warm = m_span.drop > 0 ? m_result.dropped >= m_span.drop
                                     : m_result.dropped >= kWarmSteps && m_dropSeconds >= kWarmSeconds;
            return;
        }
        m_result.steps += progress.steps;
        m_result.samples += samples;
        m_result.seconds += seconds;
    }
    [[nodiscard]] bool isDone() const
    {
        if (m_span.count > 0)
            return m_result.steps >= m_span.count;
        return m_result.steps >= kFewestSteps && m_result.seconds >= std::chrono::duration<double>(m_span.time).count();
    }
    [[nodiscard]] const LoneResult& result() const { return m_result; }

private:
    const LoneSpan& m_span;
    LoneResult m_result;
    bool m_warm = false;
    double m_dropSeconds = 0;
    std::int64_t m_samples = 0;
};

Interruption failed(std::string what, const std::string& where, std::string mend = {})
{
    return {Why::Failed, {Error::Code::Unavailable, std::move(what), where, std::move(mend)}};
}

/// Its ranks end with it, and the memory is free for the next one.
void end(TrainerProcess& process)
{
    static_cast<void>(process.send(protocol::Stop{})); // it may have ended just now
    const auto begin = Clock::now();
    for (bool killed = false; !process.exited();) {
        while (process.next(kHeartbeat)) {
        }
        if (!killed && Clock::now() - begin > kToStop) {
            process.kill();
            killed = true;
        }
    }
}

std::optional<Interruption> ofBounds(const Bounds& bounds)
{
    if (bounds.stop.stop_requested())
        return Interruption{Why::Cancelled, {Error::Code::Cancelled, "The experiment was cancelled", {}, {}}};
    if (Clock::now() >= bounds.deadline)
        return Interruption{Why::OutOfTime, {Error::Code::Unavailable, "The time for the experiment is over", {}, {}}};
    return std::nullopt;
}

Outcome<LoneResult> timed(TrainerProcess& process, const std::string& name, const LoneSpan& span, const Bounds& bounds)
{
    Timing timing(span);
    auto heard = Clock::now();
    for (;;) {
        if (auto over = ofBounds(bounds))
            return tl::unexpected(std::move(*over));
        const auto progress = process.next(kHeartbeat);
        if (!progress) {
            if (const auto exit = process.exited())
                return tl::unexpected(failed(exit->message(), name));
            if (Clock::now() - heard > kFirstPatience)
                return tl::unexpected(failed(fmt::format("The trainer did not answer for {} s", kFirstPatience.count()),
                                             name,
                                             "run the training by itself and see on its timeline where it hangs"));
            continue;
        }
        heard = Clock::now();
        if (const auto* preparing = std::get_if<protocol::Preparing>(&*progress); preparing && bounds.preparing)
            bounds.preparing(*preparing);
        if (const auto* steps = std::get_if<protocol::StepProgress>(&*progress))
            timing.add(*steps);
        if (timing.isDone())
            break;
    }
    if (timing.result().samples <= 0 || !(timing.result().seconds > 0))
        return tl::unexpected(failed("The trainer did no work", name, "see that the data set has samples"));
    return timing.result();
}

} // namespace

Outcome<LoneResult> trainAlone(const std::filesystem::path& program, const config::TrainingConfig& config,
                               const std::string& name, const LoneSpan& span, const Bounds& bounds)
{
    config::TrainingConfig endless = config;
    if (const auto set = endless.set(config::key::steps.name, kEndless); !set)
        return tl::unexpected(failed(set.error().message(), name));
    auto process = TrainerProcess::start(endless, {.program = program, .trace = {}, .turns = false});
    if (!process)
        return tl::unexpected(Interruption{Why::Failed, process.error()});
    auto result = timed(**process, name, span, bounds);
    end(**process);
    return result;
}

} // namespace advisor
