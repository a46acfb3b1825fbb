#include "trainer/session/progress.h"

#include "profiler/os/connections.h"
#include "profiler/os/files.h"
#include "trainer/session/machine.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>

namespace trainer {

using namespace config::protocol;
using Record = config::protocol::Progress;
using Clock = std::chrono::steady_clock;
namespace os = profiler::os;

Notice notice(Notice::Severity severity, const profiler::Message& what, std::string where, std::string hint,
              std::int64_t count)
{
    Notice made{severity, what.text, std::move(where), std::move(hint), count, what.id, {}};
    for (const profiler::MessageParameter& parameter : what.parameters)
        made.parameters.push_back({parameter.name, parameter.value, parameter.text});
    return made;
}

profiler::Message messageOf(const config::ConfigError& error)
{
    return {error.id,
            {{"key", error.key}, {"value", error.value}, {"allowed", error.allowed}, {"where", error.where}},
            error.message()};
}

void Progress::inform(const profiler::Message& what, std::string where, std::string hint, std::int64_t count)
{
    report(notice(Notice::Severity::Info, what, std::move(where), std::move(hint), count));
}

void Progress::warn(const profiler::Message& what, std::string where, std::string hint, std::int64_t count)
{
    report(notice(Notice::Severity::Warning, what, std::move(where), std::move(hint), count));
}

void Progress::fail(const profiler::Message& what, std::string where, std::string hint)
{
    report(notice(Notice::Severity::Error, what, std::move(where), std::move(hint)));
}

std::string sentence(const Notice& notice)
{
    return notice.what + (notice.where.empty() ? "" : " (" + notice.where + ")") +
           (notice.hint.empty() ? "" : ": " + notice.hint);
}

namespace {

constexpr auto kBetweenReports = std::chrono::milliseconds(50);
constexpr const char* kHint = "it is skipped; repair or remove it";

class DescriptorProgress final : public trainer::Progress {
public:
    explicit DescriptorProgress(int descriptor) : m_descriptor(descriptor)
    {
        std::signal(SIGPIPE, SIG_IGN); // a reader that exits must not end the training
        os::setNonBlocking(descriptor);
        os::setInherited(descriptor, false);
    }

    void report(const Record& record) override
    {
        const bool mayWait = !std::holds_alternative<StepProgress>(record);
        // A partial line must be finished first, otherwise the reader could not find the start of the next one.
        m_pending += m_pending.empty() || mayWait ? toLine(record) : "";
        const auto giveUp = Clock::now() + (mayWait ? std::chrono::seconds(1) : std::chrono::seconds(0));
        while (!m_pending.empty()) {
            const os::Transfer written = os::writeAll(m_descriptor, m_pending);
            m_pending.erase(0, written.bytes);
            if (written.error != 0 && written.error != EAGAIN)
                m_pending.clear(); // no reader is left
            else if (Clock::now() >= giveUp)
                break;
            else if (!m_pending.empty())
                os::waitForRoom(m_descriptor, std::chrono::milliseconds(100));
        }
    }

private:
    int m_descriptor;
    std::string m_pending; // bytes that did not fit into the pipe
};

class TerminalProgress final : public trainer::Progress {
public:
    void report(const Record& record) override
    {
        std::visit([&](const auto& held) { print(held); }, record);
    }

private:
    static void line(const std::string& text) { fmt::print(stderr, "{}\n", text); }

    void print(const Hello& hello)
    {
        line(fmt::format("LibTorch {} on {}: {} parameters, {} training and {} validation samples, {} steps per epoch",
                         hello.torchVersion, hello.device, hello.parameters, hello.trainSamples,
                         hello.validationSamples, hello.stepsPerEpoch));
    }
    void print(const Preparing& preparing)
    {
        if (!due() && preparing.done != preparing.total)
            return;
        line(preparing.total > 0 ? fmt::format("{}: {} of {}", preparing.what, preparing.done, preparing.total)
                                 : preparing.what);
    }
    void print(const StepProgress& step)
    {
        if (!due())
            return;
        const std::string loss = step.loss ? fmt::format(", loss {:.4f}", *step.loss) : "";
        line(fmt::format("step {}: {:.2f} ms, {:.0f} samples/s{}", step.step, step.stepSeconds * 1e3,
                         step.samplesPerSecond, loss));
    }
    void print(const EpochProgress& epoch)
    {
        using config::protocol::metricText;
        line(fmt::format("epoch {}: {:.2f} s, loss {:.4f}, {}; validation {:.2f} s, loss {:.4f}, {}", epoch.epoch,
                         epoch.epochSeconds, epoch.trainLoss, metricText(epoch.metric, epoch.trainAccuracy),
                         epoch.validationSeconds, epoch.validationLoss,
                         metricText(epoch.metric, epoch.validationAccuracy)));
    }
    void print(const TurnResult& turn)
    {
        double sum = 0;
        for (const double seconds : turn.seconds)
            sum += seconds;
        line(fmt::format("{} {}: {:.3f} s, {} samples", turn.seconds.size(), turn.what, sum, turn.samples));
    }
    void print(const Notice& notice)
    {
        const char* severity = notice.severity == Notice::Severity::Error     ? "error: "
                               : notice.severity == Notice::Severity::Warning ? "warning: "
                                                                              : "";
        line(severity + sentence(notice));
    }
    void print(const Done& done)
    {
        line(fmt::format("{} after {} steps: {:.2f} s, {:.0f} samples/s, loss {:.4f}, peak {:.0f} MB {}",
                         done.stopped ? "stopped" : "done", done.steps, done.seconds, done.samplesPerSecond,
                         done.finalLoss, static_cast<double>(done.peakBytes) / 1e6,
                         done.peakOf == "tensors" ? "in tensors" : "of process memory"));
    }

    bool due()
    {
        const auto now = Clock::now();
        if (now - m_last < std::chrono::seconds(1))
            return false;
        m_last = now;
        return true;
    }
    Clock::time_point m_last{};
};

} // namespace

std::unique_ptr<Progress> progressToDescriptor(int descriptor)
{
    return std::make_unique<DescriptorProgress>(descriptor);
}

std::unique_ptr<Progress> progressToTerminal()
{
    return std::make_unique<TerminalProgress>();
}

void BadSamples::add(data::Split split, std::span<const data::BadSample> bad)
{
    for (const data::BadSample& sample : bad) {
        if (!m_seen.emplace(split, sample.index).second || m_seen.size() > kNamed)
            continue;
        m_reported = m_seen.size();
        m_progress.warn(sample.what, {}, kHint, static_cast<std::int64_t>(m_reported));
    }
}

void BadSamples::reportTotal()
{
    if (m_reported == m_seen.size())
        return;
    m_reported = m_seen.size();
    m_progress.warn(profiler::message<"training.bad_samples", "some samples cannot be loaded">(), {},
                    "they are skipped; repair or remove them", static_cast<std::int64_t>(m_reported));
}

void StepReports::add(std::int64_t step, std::int64_t epoch, std::int64_t samples, double seconds,
                      std::optional<double> loss)
{
    m_next.step = step;
    m_next.epoch = epoch;
    ++m_next.steps;
    m_seconds += seconds;
    m_samples += samples;
    if (loss)
        m_next.loss = loss;
    if (std::chrono::steady_clock::now() - m_last >= kBetweenReports)
        flush();
}

void StepReports::setTotals(std::int64_t samples, double seconds, double learningRate, std::int64_t skipped)
{
    m_next.samples = samples;
    m_next.seconds = seconds;
    m_next.learningRate = learningRate;
    m_next.skipped = skipped;
}

void StepReports::flush()
{
    if (m_next.steps == 0)
        return;
    m_last = std::chrono::steady_clock::now();
    m_next.stepSeconds = m_seconds / static_cast<double>(m_next.steps);
    m_next.samplesPerSecond = m_seconds > 0 ? static_cast<double>(m_samples) / m_seconds : 0;
    m_next.dropped = m_recording.dropped();
    m_progress.report(m_next);
    m_recording.sampleSpeed(m_next.samplesPerSecond);
    m_recording.sampleMemory(residentBytes(), peakResidentBytes());
    m_next.steps = m_samples = 0;
    m_seconds = 0;
}

} // namespace trainer
