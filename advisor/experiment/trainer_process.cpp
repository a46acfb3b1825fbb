#include "advisor/experiment/trainer_process.h"

#include "advisor/experiment/output_tail.h"
#include "advisor/runner/child_process.h"
#include "profiler/os/pipes.h"
#include "profiler/os/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>

namespace advisor {

namespace protocol = config::protocol;
namespace os = profiler::os;
using profiler::Error;
using profiler::Result;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

// A turn of a million steps is a line of some ten megabytes; a longer line is not a valid record.
constexpr std::size_t kLongestLine = std::size_t{64} << 20;

protocol::Notice unreadable(const std::string& why)
{
    const auto message =
        profiler::message<"trainer.bad_record", "A record of the trainer cannot be read: {why}">({{"why", why}});
    return {protocol::Notice::Severity::Warning, message.text, {}, {}, 1, message.id, {{"why", why, why}}};
}

} // namespace

Error errorOf(const protocol::Notice& notice)
{
    profiler::Message what{notice.id, {}, notice.what};
    for (const protocol::NoticeValue& value : notice.parameters) {
        profiler::MessageParameter parameter(value.name, value.text);
        parameter.value = value.value;
        what.parameters.push_back(std::move(parameter));
    }
    return {Error::Code::Io, std::move(what), notice.where, notice.hint};
}

struct TrainerProcess::State {
    ChildProcess process;
    OutputTail output;
    std::string pending;      // unprocessed progress output
    std::size_t given = 0;    // start of the part that was not returned yet
    std::size_t searched = 0; // no line ends before this position
    bool progressOpen = true, outputOpen = true;
    std::string lastError, lastErrorId;

    void readAll();
    void readOutput();
    std::optional<std::string> takeLine();
    protocol::Progress read(const std::string& line);
    void wait(milliseconds most);
};

void TrainerProcess::State::readOutput()
{
    if (!outputOpen)
        return;
    std::string text;
    outputOpen = profiler::os::readAvailable(process.output(), text);
    output.add(text);
}

void TrainerProcess::State::readAll()
{
    readOutput();
    if (progressOpen)
        progressOpen = profiler::os::readAvailable(process.extra(), pending);
}

std::optional<std::string> TrainerProcess::State::takeLine()
{
    const auto end = pending.find('\n', searched);
    if (end != std::string::npos) {
        std::string line = pending.substr(given, end - given);
        searched = given = end + 1;
        return line;
    }
    pending.erase(0, std::exchange(given, 0));
    searched = pending.size();
    // The last line of a killed trainer may be incomplete.
    if (pending.empty() || (progressOpen && pending.size() < kLongestLine))
        return std::nullopt;
    searched = 0;
    return std::exchange(pending, {});
}

protocol::Progress TrainerProcess::State::read(const std::string& line)
{
    auto progress = protocol::parseProgress(line);
    if (!progress)
        return unreadable(progress.error());
    if (const auto* notice = std::get_if<protocol::Notice>(&*progress))
        if (notice->severity == protocol::Notice::Severity::Error) {
            lastError = errorOf(*notice).message();
            lastErrorId = notice->id;
        }
    return std::move(*progress);
}

void TrainerProcess::State::wait(milliseconds most)
{
    // A closed pipe would end every wait at once.
    os::waitForAny(std::array{progressOpen ? process.extra() : -1, outputOpen ? process.output() : -1, process.end()},
                   most);
}

TrainerProcess::TrainerProcess() : m(std::make_unique<State>()) {}
TrainerProcess::~TrainerProcess() = default;

Result<std::unique_ptr<TrainerProcess>> TrainerProcess::start(const config::TrainingConfig& config,
                                                              const TrainerOptions& options)
{
    ChildCommand command;
    command.program = options.program;
    command.file = config.toJson();
    command.fileOption = "--config";
    command.extraOption = "--progress-fd";
    if (!options.trace.empty())
        command.arguments = {"--trace", options.trace.string()};
    if (options.turns)
        command.arguments.emplace_back("--turns");
    auto process = ChildProcess::start(command);
    if (!process) {
        Error error = std::move(process.error());
        error.what = profiler::message<"trainer.not_started", "The trainer could not be started. {why}">(
            {{"why", error.what.text}, {"error", error.what.id}});
        return tl::unexpected(std::move(error));
    }
    auto trainer = std::unique_ptr<TrainerProcess>(new TrainerProcess);
    trainer->m->process = std::move(*process);
    return trainer;
}

int TrainerProcess::progressDescriptor() const
{
    return m->process.extra();
}

std::int64_t TrainerProcess::pid() const
{
    return m->process.pid();
}

std::optional<protocol::Progress> TrainerProcess::next(milliseconds timeout)
{
    const auto until = Clock::now() + timeout;
    for (;;) {
        // Check before reading, so that everything it wrote before it exited is read.
        const bool ended = m->process.status().has_value();
        // Return the available records before reading more, so that excess output waits in the pipe and not in memory.
        for (int round = 0; round < 2; ++round) {
            while (const auto line = m->takeLine())
                if (line->find_first_not_of(" \t\r") != std::string::npos)
                    return m->read(*line);
            if (round == 0)
                m->readAll();
        }
        const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
        if (ended || left <= milliseconds::zero())
            return std::nullopt;
        m->wait(left);
    }
}

Result<void> TrainerProcess::send(const protocol::Command& command)
{
    if (os::sendAll(m->process.input(), toLine(command), milliseconds(0)))
        return {};
    return profiler::fail<"trainer.takes_no_command", "The trainer accepts no commands">(Error::Code::Unavailable,
                                                                                         std::strerror(errno));
}

void TrainerProcess::kill()
{
    m->process.kill();
}

std::optional<TrainerExit> TrainerProcess::exited()
{
    const auto status = m->process.status();
    m->readOutput();
    if (!status)
        return std::nullopt;
    TrainerExit exit;
    const os::ExitStatus end = os::exitStatus(*status);
    exit.signal = end.signal;
    exit.status = end.status;
    exit.lastOutput = m->output.lastLines();
    exit.lastError = m->lastError;
    exit.lastErrorId = m->lastErrorId;
    return exit;
}

} // namespace advisor
