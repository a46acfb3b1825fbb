// A trainer that trains nothing: it speaks the protocol, takes the requested time, and misbehaves on demand.
// Variables:
//   SCRIPT_STEP_US         duration of a step (epoch, validation) without loader workers: 10000
//   SCRIPT_CHANGED_KEY     "batch.size": below, "with loader workers" means that this key differs from its default
//   SCRIPT_SPEEDUP         with loader workers, a step is this many times faster: 1
//   SCRIPT_NOISE           standard deviation of the logarithm of each turn's speed: 0. The same in each run of a test
//   SCRIPT_WARM_UP_STEPS   the first steps take ten times as long: 0
//   SCRIPT_REAL_TIME       1: steps really take their time; otherwise they only report it
//   SCRIPT_LOSS_FACTOR     with loader workers losses are multiplied by it, from the second step on: 1
//   SCRIPT_SEED_NOISE      standard deviation of the logarithm of each seed's losses, equal in both arms: 0
//   SCRIPT_LOSS_NOISE      the same, independently for each start: 0
//   SCRIPT_LOST            1: with loader workers, losses are NaN from the second step on
//   SCRIPT_VALIDATION      samples to validate with: 0
//   SCRIPT_PEAK_BYTES      of the baseline: 1000000000; with loader workers SCRIPT_PEAK_FACTOR times as much
//   SCRIPT_DO_AT           "start", "turn 3" (counted from 1): where it does SCRIPT_DO; only with loader workers if
//   SCRIPT_DO_IN_B SCRIPT_DO              "exit 3", "signal 9", "hang", "garbage", "close" (its progress), "flood"
//   SCRIPT_DO_WITH         "loader.workers=2": it does so only with this setting
//   SCRIPT_IGNORE_STOP     1: it ignores Stop and the end of its input
//   SCRIPT_ONE_FITS        1: it is killed at its start while another one runs, as if out of memory
//   SCRIPT_GROWING_PEAK    1: peak memory grows with the steps, until it is SCRIPT_PEAK_BYTES after thirty
//   SCRIPT_FASTER_BY       share by which each step is faster than the one before it: 0
//   SCRIPT_TRACE           the file that it writes as its trace, if a trace is requested; it exits after that
//   SCRIPT_DESCRIBE        what --describe prints, instead of a description
//   SCRIPT_LOG             each start and turn is appended to this file as a line

#include "trainer/config/knobs.h"
#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <limits>
#include <numeric>
#include <poll.h>
#include <random>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace {

namespace protocol = config::protocol;
namespace key = config::key;

std::string text(const char* name, const char* fallback = "")
{
    const char* value = std::getenv(name);
    return value ? value : fallback;
}

double number(const char* name, double fallback)
{
    const std::string value = text(name);
    return value.empty() ? fallback : std::strtod(value.c_str(), nullptr);
}

class ScriptedTrainer {
public:
    ScriptedTrainer(config::TrainingConfig config, int progress, bool turns, std::string trace)
        : m_config(std::move(config)), m_progress(progress), m_takesTurns(turns), m_trace(std::move(trace)),
          m_random(2 * startsBefore() + (changed() ? 1 : 0))
    {
        std::mt19937_64 seed(static_cast<std::uint64_t>(m_config[key::seed]));
        std::normal_distribution<double> normal;
        m_logLoss = number("SCRIPT_SEED_NOISE", 0) * normal(seed);
        if (const double noise = number("SCRIPT_LOSS_NOISE", 0); noise > 0)
            m_logLoss += noise * m_normal(m_random);
    }

    int run()
    {
        log(startWord());
        log(fmt::format("trains {} seed {} for {} steps", changed() ? "b" : "a", m_config[key::seed],
                        m_config[key::steps]));
        writeFiles();
        if (m_config[key::findMax])
            log("searches for a batch");
        misbehaveAt("start");
        if (text("SCRIPT_ONE_FITS") == "1")
            takeAllMemory();
        report(protocol::Preparing{"looking at the images", 3, 3});
        if (!m_trace.empty()) {
            std::filesystem::copy_file(text("SCRIPT_TRACE"), m_trace);
            return train(1);
        }
        protocol::Hello hello;
        hello.pid = getpid();
        hello.device = "scripted";
        hello.trainSamples = m_config[key::datasetSamples];
        hello.validationSamples = static_cast<std::int64_t>(number("SCRIPT_VALIDATION", 0));
        hello.stepsPerEpoch = 10;
        report(hello);
        if (!m_takesTurns)
            return train(std::numeric_limits<std::int64_t>::max());
        for (std::string line; std::getline(std::cin, line);) {
            const auto command = protocol::parseCommand(line);
            if (command && std::holds_alternative<protocol::Stop>(*command) && !ignoresStop())
                return end();
            if (const auto* turn = command ? std::get_if<protocol::Turn>(&*command) : nullptr)
                take(*turn);
        }
        while (ignoresStop())
            std::this_thread::sleep_for(std::chrono::hours(1));
        return 0;
    }

private:
    /// Keeps an exclusive lock until it exits.
    static void takeAllMemory()
    {
        const int memory = ::open(text("SCRIPT_LOG").c_str(), O_RDONLY | O_CLOEXEC);
        if (::flock(memory, LOCK_EX | LOCK_NB) != 0)
            ::raise(SIGKILL);
    }

    [[nodiscard]] bool changed() const
    {
        const std::string name = text("SCRIPT_CHANGED_KEY");
        return name.empty() ? m_config[key::workers] > 0 : m_config.text(name) != config::TrainingConfig().text(name);
    }
    /// "loader.workers=2"
    [[nodiscard]] bool has(const std::string& assignment) const
    {
        const auto at = assignment.find('=');
        return m_config.text(assignment.substr(0, at)) == assignment.substr(at + 1);
    }
    [[nodiscard]] std::string startWord() const { return changed() ? "start b" : "start a"; }
    static bool ignoresStop() { return text("SCRIPT_IGNORE_STOP") == "1"; }

    int end()
    {
        protocol::Done done;
        done.steps = m_steps;
        done.stopped = true;
        report(done);
        return 0;
    }

    /// Sends this many reports of ten steps each, unless it is stopped earlier or its input ends.
    int train(std::int64_t most)
    {
        for (std::int64_t reports = 1; reports <= most && !isStopped(); ++reports) {
            misbehaveAt(fmt::format("turn {}", reports));
            protocol::TurnResult done;
            for (int i = 0; i < 10; ++i)
                once({"steps", 0, 1}, true, speedNow(), done);
            protocol::StepProgress progress;
            progress.step = m_steps - 1;
            progress.steps = 10;
            progress.stepSeconds = std::accumulate(done.seconds.begin(), done.seconds.end(), 0.0) / 10;
            progress.samples = m_steps * m_config[key::batchSize];
            report(progress);
        }
        return end();
    }

    /// A command or the end of the input, within a millisecond.
    static bool isStopped()
    {
        pollfd input{STDIN_FILENO, POLLIN, 0};
        return ::poll(&input, 1, 1) > 0;
    }

    double speedNow()
    {
        return (changed() ? number("SCRIPT_SPEEDUP", 1) : 1) * std::exp(number("SCRIPT_NOISE", 0) * m_normal(m_random));
    }

    void take(const protocol::Turn& turn)
    {
        log(fmt::format("turn {} {} {} {}", changed() ? "b" : "a", turn.what, turn.drop, turn.count));
        misbehaveAt(fmt::format("turn {}", ++m_turns));
        const double speed = speedNow();
        protocol::TurnResult result;
        result.what = turn.what;
        for (std::int64_t i = 0; i < turn.drop + turn.count; ++i)
            once(turn, i >= turn.drop, speed, result);
        const double share = text("SCRIPT_GROWING_PEAK") == "1" ? std::min(1.0, static_cast<double>(m_steps) / 30) : 1;
        result.peakBytes = static_cast<std::int64_t>(share * number("SCRIPT_PEAK_BYTES", 1e9) *
                                                     (changed() ? number("SCRIPT_PEAK_FACTOR", 1) : 1));
        report(result);
    }

    void once(const protocol::Turn& turn, bool timed, double speed, protocol::TurnResult& result)
    {
        const bool cold = static_cast<double>(m_steps) < number("SCRIPT_WARM_UP_STEPS", 0);
        const double faster = std::pow(1 - number("SCRIPT_FASTER_BY", 0), static_cast<double>(m_steps));
        const double seconds = number("SCRIPT_STEP_US", 10'000) * 1e-6 / speed * (cold ? 10 : 1) * faster;
        if (text("SCRIPT_REAL_TIME") == "1")
            std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
        const double loss = lossNow();
        m_steps += turn.what == "steps" ? 1 : 0;
        if (!timed)
            return;
        result.seconds.push_back(seconds);
        result.samples += m_config[key::batchSize];
        if (turn.what != "epoch")
            result.losses.push_back(loss);
    }

    [[nodiscard]] double lossNow() const
    {
        const double loss = (1 + 1.0 / (1 + static_cast<double>(m_steps))) * std::exp(m_logLoss);
        if (!changed() || m_steps == 0)
            return loss;
        return text("SCRIPT_LOST") == "1" ? std::numeric_limits<double>::quiet_NaN()
                                          : loss * number("SCRIPT_LOSS_FACTOR", 1);
    }

    void misbehaveAt(const std::string& where)
    {
        if (text("SCRIPT_DO_AT") != where || (text("SCRIPT_DO_IN_B") == "1" && !changed()))
            return;
        if (const std::string only = text("SCRIPT_DO_WITH"); !only.empty() && !has(only))
            return;
        const std::string what = text("SCRIPT_DO");
        if (what == "hang") {
            std::this_thread::sleep_for(std::chrono::hours(1));
        } else if (what == "garbage") {
            const std::string record = toLine(protocol::StepProgress{});
            write("{\"type\": \"nonsense\"}\nno json at all\n\n" + record.substr(0, 9));
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            write(record.substr(9));
        } else if (what == "flood") {
            for (int i = 0; i < 100'000; ++i)
                std::fputs(fmt::format("line {} of a flood\n", i).c_str(), i % 2 ? stdout : stderr);
            std::fputs("caf\xc3\xa9 \xff\x1b[31m 10 %\r 20 %\r\n", stdout);
        } else if (what == "close") {
            ::close(m_progress);
            m_progress = -1;
        } else if (what.starts_with("exit ")) {
            std::fputs("the last words\n", stderr);
            report(protocol::Notice{protocol::Notice::Severity::Error,
                                    "There is no such folder",
                                    "/nowhere",
                                    "choose another",
                                    1,
                                    "scripted.no_folder",
                                    {}});
            write("{\"type\": \"st"); // the stream ends in the middle of a record
            std::exit(std::atoi(what.c_str() + 5));
        } else if (what.starts_with("signal ")) {
            std::signal(std::atoi(what.c_str() + 7), SIG_DFL);
            ::raise(std::atoi(what.c_str() + 7));
        }
    }

    /// Number of starts of this arm in the log: each start has different noise.
    [[nodiscard]] std::uint64_t startsBefore() const
    {
        std::uint64_t count = 0;
        std::ifstream log(text("SCRIPT_LOG"));
        for (std::string line; std::getline(log, line);)
            count += line == startWord() ? 1 : 0;
        return count;
    }

    /// Like the trainer: starts a new log, and writes a checkpoint.
    void writeFiles() const
    {
        const std::string file = m_config[key::logFile], folder = m_config[key::checkpointPath];
        if (!file.empty()) {
            std::ofstream(file) << "step\n";
            log("writes " + file);
        }
        if (m_config[key::checkpointEvery] > 0) {
            std::filesystem::create_directories(folder);
            std::ofstream(std::filesystem::path(folder) / "step5.checkpoint") << "state\n";
            log("writes " + folder);
        }
    }

    static void log(const std::string& line)
    {
        if (const std::string path = text("SCRIPT_LOG"); !path.empty())
            if (std::FILE* file = std::fopen(path.c_str(), "ae")) {
                std::fputs((line + "\n").c_str(), file);
                std::fclose(file);
            }
    }

    void report(const protocol::Progress& record) const { write(toLine(record)); }
    void write(const std::string& bytes) const
    {
        for (std::size_t done = 0; m_progress >= 0 && done < bytes.size();) {
            const ssize_t written = ::write(m_progress, bytes.data() + done, bytes.size() - done);
            if (written <= 0)
                return;
            done += static_cast<std::size_t>(written);
        }
    }

    config::TrainingConfig m_config;
    int m_progress;
    bool m_takesTurns;
    std::string m_trace; // file to write; empty: none
    std::int64_t m_steps = 0;
    double m_logLoss = 0; // offset of the losses of this start
    int m_turns = 0;
    std::mt19937_64 m_random;
    std::normal_distribution<double> m_normal;
};

int describe()
{
    protocol::Description description;
    description.workloads = {{"convnet", "Small convnet", "Two convolutions"}};
    description.torchVersion = "scripted";
    description.cores = 2;
    const std::string instead = text("SCRIPT_DESCRIBE");
    if (instead == "hang")
        std::this_thread::sleep_for(std::chrono::hours(1));
    std::fputs("a warning that is no part of it\n", stderr);
    std::fputs(instead.empty() ? toJson(description).c_str() : instead.c_str(), stdout);
    return instead == "fail" ? 3 : 0;
}

} // namespace

int main(int argc, char** argv)
{
    config::TrainingConfig config;
    int progress = -1;
    bool turns = false;
    std::string trace;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        if (option == "--describe")
            return describe();
        turns = turns || option == "--turns";
        if (option == "--trace")
            trace = argv[++i];
        if (option == "--progress-fd")
            progress = std::atoi(argv[++i]);
        if (option == "--config") {
            auto loaded = config::TrainingConfig::load(argv[++i]);
            if (!loaded) {
                std::fputs(loaded.error().message().c_str(), stderr);
                return static_cast<int>(protocol::Exit::BadInput);
            }
            config = *loaded;
        }
    }
    return ScriptedTrainer(config, progress, turns, trace).run();
}
