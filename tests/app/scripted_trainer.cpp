#include "profiler/capture/recorder.h"
#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <string>
#include <thread>
#include <unistd.h>

// Implements the trainer's protocol without training. STEPSCOPE_SCRIPT selects a failure: "train" (none), "crash",
// "killed", "garbage", "deaf" (ignores Stop), "refuse" (bad input), "mute" (sends nothing); or how turns behave:
// "quick" (they report durations but take no time), "stuck" (the same, but with one worker they never end).
namespace {

using namespace std::chrono_literals;
namespace protocol = config::protocol;
using profiler::ActivityKind;

struct Arguments {
    std::string config, trace;
    int progress = 1;
    bool turns = false, describe = false;
};

Arguments parse(int argc, char** argv)
{
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--turns")
            arguments.turns = true;
        else if (name == "--describe")
            arguments.describe = true;
        else if (name == "--config")
            arguments.config = argv[++i];
        else if (name == "--trace")
            arguments.trace = argv[++i];
        else if (name == "--progress-fd")
            arguments.progress = std::atoi(argv[++i]);
    }
    return arguments;
}

std::string script()
{
    const char* chosen = std::getenv("STEPSCOPE_SCRIPT");
    return chosen ? chosen : "train";
}

/// Reads commands from stdin without waiting longer than given.
class Commands {
public:
    std::optional<protocol::Command> next(std::chrono::milliseconds most)
    {
        pollfd watched{STDIN_FILENO, POLLIN, 0};
        if (m_text.find('\n') == std::string::npos && ::poll(&watched, 1, static_cast<int>(most.count())) > 0) {
            char buffer[4096];
            const auto got = ::read(STDIN_FILENO, buffer, sizeof buffer);
            if (got <= 0)
                std::exit(0); // the parent process has exited
            m_text.append(buffer, static_cast<std::size_t>(got));
        }
        const auto end = m_text.find('\n');
        if (end == std::string::npos)
            return std::nullopt;
        const auto parsed = protocol::parseCommand(m_text.substr(0, end));
        m_text.erase(0, end + 1);
        return parsed ? std::optional(*parsed) : std::nullopt;
    }

private:
    std::string m_text;
};

class Trainer {
public:
    Trainer(Arguments arguments, config::TrainingConfig config)
        : m_arguments(std::move(arguments)), m_config(std::move(config))
    {
    }

    int train()
    {
        startTrace();
        protocol::Hello hello;
        hello.pid = ::getpid();
        hello.totalSteps = steps();
        hello.stepsPerEpoch = steps();
        hello.device = "cpu";
        tell(hello);
        for (std::int64_t step = 0; step < steps() && !m_stopped; ++step) {
            oneStep(step);
            misbehave(step);
            obey();
        }
        tell(protocol::EpochProgress{0, 0.5, 0.6, 0.8, 0.75, 0.5, 0.1});
        if (m_recorder)
            static_cast<void>(m_recorder->finish());
        tell(protocol::Done{m_done, 1.0, 3000, 1 << 20, m_stopped, 0.5, 0.75});
        return 0;
    }

    /// Twice as fast with workers; AdamW reaches a lower loss.
    int takeTurns()
    {
        protocol::Hello hello;
        hello.device = "cpu";
        tell(hello);
        for (;;) {
            const auto command = m_commands.next(1000ms);
            if (!command)
                continue;
            if (std::holds_alternative<protocol::Stop>(*command))
                return 0;
            if (const auto* turn = std::get_if<protocol::Turn>(&*command))
                takeTurn(*turn);
        }
    }

private:
    /// Trainings by epochs have no number of steps and never end in a test.
    [[nodiscard]] std::int64_t steps() const
    {
        const auto asked = m_config[config::key::steps];
        return asked > 0 ? asked : 100000;
    }
    [[nodiscard]] bool isFast() const { return m_config[config::key::workers] > 0; }

    void tell(const protocol::Progress& progress)
    {
        const std::string line = protocol::toLine(progress);
        if (::write(m_arguments.progress, line.data(), line.size()) < 0)
            std::exit(0);
    }

    void startTrace()
    {
        if (m_arguments.trace.empty())
            return;
        auto recorder = profiler::capture::Recorder::start({.path = m_arguments.trace});
        if (!recorder)
            std::exit(3);
        m_recorder = std::move(*recorder);
        m_recorder->setMetadata("config", m_config.toJson());
        m_recorder->setMetadata("host.cores", "2");
        m_lane = &m_recorder->nameThisThread("main thread", profiler::TrackKind::MainThread);
    }

    void slice(ActivityKind kind, std::string_view name, std::chrono::microseconds length, std::int64_t value)
    {
        if (m_lane)
            m_lane->open(kind, m_lane->intern(name), value);
        std::this_thread::sleep_for(length);
        if (m_lane)
            m_lane->close();
    }

    /// In periodic windows like the real trainer; none with the default windows, which few tests reach.
    [[nodiscard]] bool recordsOperators(std::int64_t step) const
    {
        const std::int64_t every = m_config[config::key::captureOpsEvery];
        return m_config[config::key::captureLevel] != "always" && every > 0 && every < 50 &&
               step % every >= every - m_config[config::key::captureOpsWindow];
    }

    void oneStep(std::int64_t step)
    {
        namespace phase = profiler::phase;
        if (m_lane)
            m_lane->open(ActivityKind::Step, m_lane->intern("step"), step);
        if (m_lane)
            m_lane->open(ActivityKind::Phase, m_lane->intern(phase::kDataWait), step);
        // The longest part by far, also on a busy machine. With "stuck", its saving must lead to two workers.
        slice(ActivityKind::LoaderStage, profiler::stage::kDecode, script() == "stuck" ? 40ms : 12ms, step);
        if (m_lane)
            m_lane->close();
        if (m_lane && recordsOperators(step)) {
            m_lane->push(ActivityKind::CpuOp, m_lane->intern("aten::linear"), step);
            m_lane->pop();
        }
        slice(ActivityKind::Phase, phase::kForward, 1ms, step);
        slice(ActivityKind::Phase, phase::kBackward, 2ms, step);
        slice(ActivityKind::Phase, phase::kOptimizer, 1ms, step);
        if (m_lane)
            m_lane->close();
        m_done = step + 1;
        tell(protocol::StepProgress{step, 0, 1, 0.010, 3200, 2.0 / static_cast<double>(step + 1), 0});
    }

    void misbehave(std::int64_t step)
    {
        const std::string how = script();
        if (step != 10 || how == "train")
            return;
        if (how == "crash") {
            std::fputs("the tensors have no shape\n", stderr);
            std::abort();
        }
        if (how == "killed")
            std::raise(SIGKILL);
        if (how == "garbage") {
            const char* lines = "this is no record\n{\"type\": \"step\", \"step\": \n\xff\xfe\n";
            if (::write(m_arguments.progress, lines, std::strlen(lines)) < 0)
                std::exit(1);
        }
    }

    void obey()
    {
        bool paused = false;
        do {
            const auto command = m_commands.next(paused ? 100ms : 0ms);
            if (!command)
                continue;
            if (std::holds_alternative<protocol::Pause>(*command))
                paused = true;
            else if (std::holds_alternative<protocol::Resume>(*command))
                paused = false;
            else if (std::holds_alternative<protocol::Stop>(*command) && script() != "deaf")
                m_stopped = true;
        } while (paused && !m_stopped);
    }

    /// Duration of a step in seconds.
    double takeStep()
    {
        const std::chrono::duration<double> length = isFast() ? 1ms : 2ms;
        if (script() == "stuck" && m_config[config::key::workers] == 1)
            for (;;)
                std::this_thread::sleep_for(100ms);
        if (script() == "stuck" || script() == "quick")
            return length.count() * (1 + 0.001 * static_cast<double>(++m_quickSteps % 7));
        const auto begin = std::chrono::steady_clock::now();
        std::this_thread::sleep_for(length);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

    void takeTurn(const protocol::Turn& turn)
    {
        protocol::TurnResult result;
        result.what = turn.what;
        for (std::int64_t i = 0; i < turn.count; ++i) {
            result.seconds.push_back(takeStep());
            result.losses.push_back(m_config[config::key::optimizer] == "adamw" ? 0.4 : 0.5);
            result.samples += m_config[config::key::batchSize];
        }
        result.peakBytes = 1 << 20;
        tell(result);
    }

    Arguments m_arguments;
    config::TrainingConfig m_config;
    Commands m_commands;
    std::unique_ptr<profiler::capture::Recorder> m_recorder;
    profiler::capture::ThreadBuffer* m_lane = nullptr;
    std::int64_t m_done = 0, m_quickSteps = 0;
    bool m_stopped = false;
};

protocol::Description description()
{
    protocol::Description description;
    description.workloads = {{"convnet", "Small convnet", "Three convolutions."},
                             {"resnet18", "ResNet-18", "Eighteen layers."}};
    description.datasets = {{"generated_images", "Generated images", "JPEG files."}};
    description.optimizers = {{"sgd", "SGD", "Momentum."}, {"adamw", "AdamW", "Decoupled decay."}};
    description.gpuReason = "This machine has no NVIDIA driver.";
    description.torchVersion = "scripted";
    description.cores = 2;
    return description;
}

} // namespace

int main(int argc, char** argv)
{
    const Arguments arguments = parse(argc, argv);
    if (arguments.describe) {
        std::puts(protocol::toJson(description()).c_str());
        return 0;
    }
    if (script() == "refuse") {
        std::fputs("dataset.path: there is no such folder\n", stderr);
        return static_cast<int>(protocol::Exit::BadInput);
    }
    if (script() == "mute")
        for (;;)
            std::this_thread::sleep_for(100ms);
    const auto config = config::TrainingConfig::load(arguments.config);
    if (!config)
        return static_cast<int>(protocol::Exit::BadInput);
    Trainer trainer(arguments, *config);
    return arguments.turns ? trainer.takeTurns() : trainer.train();
}
