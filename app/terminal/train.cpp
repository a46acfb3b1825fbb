#include "advisor/advice.h"
#include "advisor/experiment/trainer_process.h"
#include "app/terminal/commands.h"
#include "app/terminal/inputs.h"
#include "app/terminal/interrupt.h"
#include "app/terminal/output.h"
#include "profiler/formats/container/sealed_writer.h"

#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stop_token>

namespace app::terminal {

using namespace advisor;

namespace {

namespace protocol = config::protocol;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// Frequent enough to show progress, rare enough to be readable in a log.
constexpr auto kLineEvery = std::chrono::seconds(1);
constexpr auto kPollEvery = std::chrono::milliseconds(100);

/// Prints what the trainer reports, and keeps what the result needs.
class Report {
public:
    explicit Report(std::ostream& lines) : m_lines(lines) {}

    void take(const protocol::Progress& progress)
    {
        std::visit([this](const auto& record) { on(record); }, progress);
    }
    [[nodiscard]] const std::optional<protocol::Done>& done() const { return m_done; }
    /// Reports something that the trainer does not know.
    void take(const profiler::Message& message)
    {
        m_lines << message.text << '\n';
        m_notices.push_back(messageJson(message));
    }
    [[nodiscard]] Json json(const std::filesystem::path& trace) const
    {
        return {{"schema", 1},
                {"trace", trace.string()},
                {"steps", m_done->steps},
                {"seconds", m_done->seconds},
                {"samples_per_s", m_done->samplesPerSecond},
                {"peak_bytes", m_done->peakBytes},
                {"peak_bytes_of", m_done->peakOf},
                {"stopped", m_done->stopped},
                {"final_loss", m_done->finalLoss},
                {"validation_accuracy", m_done->validationAccuracy},
                {"epochs", m_epochs},
                {"notices", m_notices}};
    }

private:
    void on(const protocol::Hello& hello)
    {
        m_lines << fmt::format("{} · LibTorch {} · {} training samples · {} parameters\n", hello.device,
                               hello.torchVersion, hello.trainSamples, hello.parameters);
    }
    void on(const protocol::Preparing& preparing)
    {
        if (!isDue())
            return;
        m_lines << preparing.what;
        if (preparing.total > 0)
            m_lines << fmt::format(" · {} of {}", preparing.done, preparing.total);
        m_lines << std::endl;
    }
    void on(const protocol::StepProgress& step)
    {
        if (!isDue())
            return;
        m_lines << fmt::format("step {} · epoch {} · {} per step · {:.0f} samples/s", step.step, step.epoch,
                               timeText(step.stepSeconds * 1e6), step.samplesPerSecond);
        if (step.loss)
            m_lines << fmt::format(" · loss {:.4f}", *step.loss);
        if (step.dropped > 0)
            m_lines << fmt::format(" · {} events dropped", step.dropped);
        m_lines << std::endl;
    }
    void on(const protocol::EpochProgress& epoch)
    {
        m_lines << fmt::format("epoch {} · {:.1f} s · loss {:.4f}, validation {:.4f} · {}, validation {}\n",
                               epoch.epoch, epoch.epochSeconds, epoch.trainLoss, epoch.validationLoss,
                               protocol::metricText(epoch.metric, epoch.trainAccuracy),
                               protocol::metricText(epoch.metric, epoch.validationAccuracy));
        m_epochs.push_back({{"epoch", epoch.epoch},
                            {"train_loss", epoch.trainLoss},
                            {"validation_loss", epoch.validationLoss},
                            {"metric", epoch.metric},
                            {"train_accuracy", epoch.trainAccuracy},
                            {"validation_accuracy", epoch.validationAccuracy},
                            {"seconds", epoch.epochSeconds},
                            {"validation_seconds", epoch.validationSeconds}});
    }
    void on(const protocol::TurnResult&) {}
    void on(const protocol::Notice& notice)
    {
        // The end of the run is reported once, with the exit status of the trainer.
        if (notice.severity == protocol::Notice::Severity::Error)
            return;
        take(errorOf(notice).asMessage());
    }
    void on(const protocol::Done& done) { m_done = done; }

    bool isDue()
    {
        const auto now = Clock::now();
        if (now - m_lastLine < kLineEvery)
            return false;
        m_lastLine = now;
        return true;
    }

    std::ostream& m_lines;
    Clock::time_point m_lastLine{};
    std::optional<protocol::Done> m_done;
    Json m_epochs = Json::array(), m_notices = Json::array();
};

/// Follows the trainer until it exits and passes interrupts on.
TrainerExit follow(TrainerProcess& trainer, Report& report)
{
    int forwarded = interrupts();
    for (;;) {
        if (const auto progress = trainer.next(kPollEvery)) {
            report.take(*progress);
        } else if (const auto exit = trainer.exited()) {
            while (const auto last = trainer.next(std::chrono::milliseconds(0)))
                report.take(*last);
            return *exit;
        }
        if (const int now = interrupts(); now != forwarded) {
            // A terminal sends Ctrl-C to the trainer as well; a second request does no harm. The trainer may already
            // have exited.
            if (now == 1)
                static_cast<void>(trainer.send(protocol::Stop{}));
            else
                trainer.kill();
            forwarded = now;
        }
    }
}

/// Seals the trace. If that fails, or is interrupted, the trace stays as the trainer left it.
void seal(const std::filesystem::path& trace, Report& report)
{
    std::stop_source stop;
    const auto sealed = profiler::container::sealTrace(trace, {.progress =
                                                                   [&stop, before = interrupts()](double) {
                                                                       if (interrupts() != before)
                                                                           stop.request_stop();
                                                                   },
                                                               .stop = stop.get_token(),
                                                               .threads = 0,
                                                               .metadata = {}});
    if (!sealed)
        report.take(profiler::message<"train.not_sealed", "the trace was not compressed: {why}">(
            {{"why", sealed.error().message()}, {"error", sealed.error().what.id}}));
}

int result(const TrainOptions& options, const Report& report, const TrainerExit& exit, const Streams& streams)
{
    if (exit.signal != 0 || exit.status != 0 || !report.done()) {
        const auto usage = static_cast<int>(protocol::Exit::WrongUsage);
        streams.err << exit.message() << '\n';
        return exit.signal == 0 && exit.status == usage ? kWrongUsage : kBadInput;
    }
    if (options.json) {
        streams.out << jsonText(report.json(options.trace)) << '\n';
        return kDone;
    }
    const protocol::Done& done = *report.done();
    streams.out << fmt::format("{} {} steps in {:.1f} s · {:.0f} samples/s · loss {:.4f} · peak {} {} · {}\n",
                               done.stopped ? "Stopped after" : "Done:", done.steps, done.seconds,
                               done.samplesPerSecond, done.finalLoss, bytesText(done.peakBytes),
                               done.peakOf == "tensors" ? "of tensor memory" : "of process memory",
                               options.trace.string());
    return kDone;
}

} // namespace

int train(const TrainOptions& options, const Streams& streams)
{
    if (const auto named = checkTraceName(options.trace, "train"); !named) {
        streams.err << named.error().message() << '\n';
        return kWrongUsage;
    }
    const auto loaded = loadConfiguration(options.config, streams);
    if (!loaded)
        return loaded.error();
    const auto config = withAssignments(*loaded, options.assignments, streams);
    if (!config)
        return config.error();
    const auto program = findTrainer();
    if (!program) {
        streams.err << program.error().message() << '\n';
        return kBadInput;
    }
    catchInterrupts();
    auto trainer = TrainerProcess::start(*config, {.program = *program, .trace = options.trace, .turns = false});
    if (!trainer) {
        streams.err << trainer.error().message() << '\n';
        return kBadInput;
    }
    Report report(options.json ? streams.err : streams.out);
    const TrainerExit exit = follow(**trainer, report);
    std::error_code unknown;
    // A trainer that was killed leaves its last events in the ring file next to the trace, and both stay.
    if (exit.signal == 0 && std::filesystem::exists(options.trace, unknown))
        seal(options.trace, report);
    return result(options, report, exit, streams);
}

} // namespace app::terminal
