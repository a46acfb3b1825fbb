#include "advisor/experiment/trainer_process.h"

#include "advisor/runner/child_process.h"
#include "profiler/os/connections.h"
#include "profiler/os/files.h"
#include "profiler/os/process.h"
#include "trainer/config/training_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

namespace advisor {

namespace {

namespace fs = std::filesystem;
namespace protocol = config::protocol;
namespace os = profiler::os;
using profiler::Error;
using profiler::message;
using profiler::MessageParameter;
using profiler::Result;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Each text ends with {said}: what the trainer itself reported, or nothing.
profiler::Message ofSignal(int signal, const MessageParameter& said)
{
    const MessageParameter number("signal", signal), name("name", ::strsignal(signal));
    switch (signal) {
    case SIGKILL:
        return message<"trainer.killed",
                       "The trainer was killed (signal {signal}), by another process or because the machine ran out of "
                       "memory. A smaller batch or fewer loader workers need less memory.{said}">({number, said});
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
        return message<"trainer.terminated", "Another process asked the trainer to exit (signal {signal}).{said}">(
            {number, said});
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGABRT:
        return message<"trainer.crashed", "The trainer crashed (signal {signal}, {name}).{said}">({number, name, said});
    default:
        return message<"trainer.signal", "The trainer was killed by signal {signal} ({name}).{said}">(
            {number, name, said});
    }
}

profiler::Message ofStatus(int status, const MessageParameter& said)
{
    using config::protocol::Exit;
    switch (static_cast<Exit>(status)) {
    case Exit::Done:
        return message<"trainer.done", "The trainer ended.{said}">({said});
    case Exit::BadInput:
        return message<"trainer.bad_input", "The trainer cannot use this configuration or its data.{said}">({said});
    case Exit::WrongUsage:
        return message<"trainer.wrong_usage",
                       "The trainer rejected its command line; it may be of another version.{said}">({said});
    case Exit::Failed:
        return message<"trainer.failed", "The training failed.{said}">({said});
    }
    return message<"trainer.ended", "The trainer exited with status {status}.{said}">({{"status", status}, said});
}

// LibTorch's libraries are a gigabyte, which takes time to read from a cold disk.
constexpr std::chrono::seconds kDescribeLimit{30};
constexpr std::size_t kLongestDescription = 16 << 20;

bool canRun(const fs::path& path)
{
    std::error_code error;
    return fs::is_regular_file(path, error) && profiler::os::canExecute(path);
}

std::optional<fs::path> firstThatRuns(const std::vector<fs::path>& paths)
{
    for (const fs::path& path : paths)
        if (canRun(path))
            return path;
    return std::nullopt;
}

/// Looks in the folder of this program, or at its place in the build tree.
std::vector<fs::path> nearThisProgram(const char* name)
{
    std::error_code error;
    const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
    if (error)
        return {};
    std::vector<fs::path> result = {folder / name};
    for (fs::path tree = folder; tree.has_relative_path(); tree = tree.parent_path()) {
        if (!fs::exists(tree / "CMakeCache.txt", error))
            continue;
        result.push_back(tree / "bin" / name);
        break;
    }
    return result;
}

std::vector<fs::path> inPath(const char* name)
{
    std::vector<fs::path> result;
    const char* folders = std::getenv("PATH");
    std::istringstream list(folders ? folders : "");
    for (std::string folder; std::getline(list, folder, ':');)
        if (!folder.empty())
            result.push_back(fs::path(folder) / name);
    return result;
}

struct Program {
    const char* name;
    const char* variable; ///< the environment variable that may name it
    std::string hint;
};

Result<fs::path> find(const Program& program)
{
    if (const char* chosen = std::getenv(program.variable); chosen && *chosen) {
        if (canRun(chosen))
            return fs::absolute(chosen);
        return profiler::fail<"program.bad_variable", "{variable} does not name an executable program">(
            Error::Code::NotFound, chosen, fmt::format("unset it, or set it to the path of {}", program.name),
            {{"variable", program.variable}});
    }
    if (const auto near = firstThatRuns(nearThisProgram(program.name)))
        return *near;
    if (const auto found = firstThatRuns(inPath(program.name)))
        return *found;
    return profiler::fail<"program.not_found", "{program} was not found">(Error::Code::NotFound, {}, program.hint,
                                                                          {{"program", program.name}});
}

// A turn of a million steps is a line of some ten megabytes; a longer line is not a valid record.
constexpr std::size_t kLongestLine = std::size_t{64} << 20;

protocol::Notice unreadable(const std::string& why)
{
    const auto message =
        profiler::message<"trainer.bad_record", "A record of the trainer cannot be read: {why}">({{"why", why}});
    return {protocol::Notice::Severity::Warning, message.text, {}, {}, 1, message.id, {{"why", why, why}}};
}

} // namespace

std::string TrainerExit::message() const
{
    return asMessage().text;
}

profiler::Message TrainerExit::asMessage() const
{
    std::string said;
    if (!lastError.empty())
        said = ' ' + lastError;
    else if ((status != 0 || signal != 0) && !lastOutput.empty())
        said = " Its last output: " + lastOutput.substr(lastOutput.rfind('\n') + 1);
    profiler::Message how = signal != 0 ? ofSignal(signal, {"said", said}) : ofStatus(status, {"said", said});
    for (const MessageParameter& parameter : {MessageParameter("status", status), MessageParameter("signal", signal),
                                              MessageParameter("error", lastErrorId)})
        if (!how.find(parameter.name))
            how.parameters.push_back(parameter);
    return how;
}

profiler::Message noAnswer(std::chrono::seconds patience)
{
    return profiler::message<"trainer.no_answer", "The trainer did not answer for {time}">(
        {{"time", static_cast<double>(patience.count()) * 1e6, std::to_string(patience.count()) + " s"}});
}

std::string commandForTrainer()
{
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    for (const fs::path& part : program)
        if (part == "site-packages" || part == "dist-packages")
            return "pip install 'stepscope[trainer]'";
    if (const char* image = std::getenv("APPDIR"); image && program.native().starts_with(std::string(image) + '/'))
        return "pip install 'stepscope[trainer]'"; // an AppImage cannot be extended
    for (fs::path tree = program.parent_path(); tree.has_relative_path(); tree = tree.parent_path())
        if (fs::exists(tree / "CMakeCache.txt", error))
            return "packaging/build release -- stepscope-train";
    return "sudo apt-get install stepscope-trainer";
}

Result<fs::path> findTrainer()
{
    return find({"stepscope-train", "STEPSCOPE_TRAINER",
                 fmt::format("install it ({}), or set STEPSCOPE_TRAINER to its path", commandForTrainer())});
}

Result<fs::path> findCommandLineProgram()
{
    return find({"stepscope-cli", "STEPSCOPE_CLI", "reinstall Stepscope, or set STEPSCOPE_CLI to its path"});
}

Result<config::protocol::Description> describeTrainer(const fs::path& program)
{
    const auto failed = [&](profiler::Message what) {
        return tl::unexpected(Error{Error::Code::Unavailable, std::move(what), program.string(), {}});
    };
    ChildCommand command;
    command.program = program;
    command.arguments = {"--describe"};
    command.joinErrors = false;
    auto process = ChildProcess::start(command);
    if (!process)
        return tl::unexpected(process.error());
    std::string text;
    const auto until = Clock::now() + kDescribeLimit;
    while (true) {
        // Check before reading, so that everything it wrote before it exited is read.
        const bool ended = process->status().has_value();
        const bool open = profiler::os::readAvailable(process->output(), text);
        if (ended)
            break;
        if (Clock::now() > until || text.size() > kLongestDescription)
            return failed(
                message<"trainer.describes_not", "The trainer did not describe its capabilities within {limit}">(
                    {{"limit", kDescribeLimit.count() * 1e6, fmt::format("{} s", kDescribeLimit.count())}}));
        profiler::os::waitForAny(std::array{open ? process->output() : process->end()}, std::chrono::milliseconds(100));
    }
    if (const auto end = profiler::os::exitStatus(*process->status()); !end.isSuccess()) {
        TrainerExit exit;
        exit.status = end.status;
        exit.signal = end.signal;
        return failed(exit.asMessage());
    }
    auto description = config::protocol::parseDescription(text);
    if (!description)
        return failed(
            message<"trainer.bad_description", "The trainer's description of its capabilities cannot be read: {why}">(
                {{"why", description.error()}}));
    return std::move(*description);
}

ScratchFiles::~ScratchFiles()
{
    std::error_code ignored;
    for (const fs::path& folder : m_folders)
        fs::remove_all(folder, ignored);
}

Result<fs::path> ScratchFiles::folderFor(const fs::path& wanted)
{
    std::error_code ignored;
    // The trainer creates missing folders itself; this code creates folders only inside existing ones.
    fs::path parent = fs::absolute(wanted, ignored).parent_path();
    while (parent.has_relative_path() && !fs::is_directory(parent, ignored))
        parent = parent.parent_path();
    auto folder = profiler::os::createTemporaryFolder(parent / ".stepscope-");
    if (!folder)
        return profiler::fail<"experiment.no_folder",
                              "No folder can be created for the output of a measured training: {why}">(
            Error::Code::Unavailable, parent.string(),
            "set run.log_file and run.checkpoint_path to a place that you can write to",
            {{"why", std::strerror(errno)}});
    m_folders.push_back(std::move(*folder));
    return m_folders.back();
}

Result<void> ScratchFiles::redirect(config::TrainingConfig& config)
{
    for (const config::Knob& knob : config::knobs()) {
        const bool isFolder = knob.path == config::PathKind::NewFolder;
        if (knob.type != config::KnobType::Path || !(isFolder || knob.path == config::PathKind::NewFile))
            continue;
        const fs::path wanted = config.text(knob.key);
        if (wanted.empty() || config.unmetCondition(knob))
            continue;
        // The new folder is created inside an existing folder.
        const auto folder = folderFor(isFolder ? wanted / "files" : wanted);
        if (!folder)
            return tl::unexpected(folder.error());
        if (const auto set = config.set(knob.key, (*folder / (isFolder ? "files" : wanted.filename())).string()); !set)
            return tl::unexpected(configError(Error::Code::Invalid, set.error()));
    }
    return {};
}

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
